import { Button, SegmentedControl, Skeleton, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Problem } from '../parts/problem.tsx';
import { PageTitle } from '../shell/shell.tsx';
import { texts } from '../texts/english.ts';
import { CallTable } from './call-table.tsx';
import { callsQuery } from './queries.ts';

const words = texts.calls;

/** The calls of the organization, the newest first. */
export function CallList() {
  const [status, setStatus] = useState<'live' | null>(null);
  const found = useInfiniteQuery(callsQuery(status));
  const calls = found.data?.pages.flatMap((page) => page.calls) ?? [];
  return (
    <>
      <PageTitle>{words.title}</PageTitle>
      <SegmentedControl
        mb="md"
        aria-label={words.status}
        data={[
          { value: '', label: words.all },
          { value: 'live', label: words.live },
        ]}
        value={status ?? ''}
        onChange={(value) => setStatus(value === 'live' ? 'live' : null)}
      />
      {found.error && <Problem error={found.error} retry={() => void found.refetch()} />}
      {found.isPending && <Skeleton height={160} aria-label={texts.loading} />}
      {found.data && calls.length === 0 && <Text>{words.empty}</Text>}
      {calls.length > 0 && <CallTable calls={calls} />}
      {found.hasNextPage && (
        <Button mt="md" variant="default" loading={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          {words.more}
        </Button>
      )}
    </>
  );
}
