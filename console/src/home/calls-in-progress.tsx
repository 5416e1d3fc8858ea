import { Skeleton, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { CallTable } from '../calls/call-table.tsx';
import { callsQuery } from '../calls/queries.ts';
import { Problem } from '../parts/problem.tsx';
import { useSession } from '../shell/session.ts';
import { texts } from '../texts/english.ts';
import { Section } from './section.tsx';

const shownCalls = 10;

export function CallsInProgress() {
  const { organization } = useSession();
  const found = useInfiniteQuery(callsQuery('live', shownCalls));
  const page = found.data?.pages[0];
  return (
    <Section title={texts.home.calls}>
      {found.error && <Problem error={found.error} retry={() => void found.refetch()} />}
      {found.isPending && <Skeleton height={60} aria-label={texts.loading} />}
      {page && <Text mb="sm">{texts.home.slots(page.total, organization.plan.concurrent_call_limit)}</Text>}
      {page && page.calls.length === 0 && <Text>{texts.home.noCalls}</Text>}
      {page && page.calls.length > 0 && <CallTable calls={page.calls} />}
    </Section>
  );
}
