import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, answerOf, type Schemas } from '../api/client.ts';
import { Moment } from '../parts/moment.tsx';
import { Problem } from '../parts/problem.tsx';
import { texts } from '../texts/english.ts';
import { Section } from './section.tsx';

const words = texts.home;
const againMs = 30_000;

/** What does not go on without a person: records that stand still, and calls after which somebody has to decide. */
export function Attention({ isAdmin }: { isAdmin: boolean }) {
  const proposals = useQuery({
    queryKey: ['suppression-proposals', 'open'],
    queryFn: () => answerOf(api.GET('/api/v1/contacts/suppressions/proposals', { params: { query: { state: 'open', limit: 1 } } })),
    refetchInterval: againMs,
  });
  return (
    <Section title={words.attention}>
      <Stack>
        {proposals.error && <Problem error={proposals.error} retry={() => void proposals.refetch()} />}
        {proposals.data && proposals.data.total > 0 && <Text>{words.proposals(proposals.data.total)}</Text>}
        {isAdmin ? <Stuck /> : <Text>{words.adminsOnly}</Text>}
      </Stack>
    </Section>
  );
}

function Stuck() {
  const found = useQuery({
    queryKey: ['stuck'],
    queryFn: () => answerOf(api.GET('/api/v1/operations/stuck', { params: { query: { limit: 10 } } })),
    refetchInterval: againMs,
  });
  if (found.error) return <Problem error={found.error} retry={() => void found.refetch()} />;
  if (!found.data) return <Skeleton height={60} aria-label={texts.loading} />;
  if (found.data.stuck.length === 0) return <Text>{words.nothingStuck}</Text>;
  return found.data.stuck.map((record) => <StuckItem key={record.id} record={record} />);
}

function StuckItem({ record }: { record: Schemas['StuckRecord'] }) {
  const queries = useQueryClient();
  const retry = useMutation({
    mutationFn: () => api.POST('/api/v1/operations/stuck/{stuck_id}/retry', { params: { path: { stuck_id: record.id } } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['stuck'] }),
  });
  return (
    <div>
      <Group justify="space-between" wrap="nowrap" align="start">
        <div>
          <Text fw={600}>{record.name}</Text>
          <Text size="sm">
            {record.why} ({words.since} <Moment at={record.since} />)
          </Text>
          <Text size="sm">{record.what_to_do}</Text>
        </div>
        {record.retry && (
          <Button
            variant="default"
            size="xs"
            loading={retry.isPending}
            onClick={() => retry.mutate()}
            aria-label={`${words.retry}: ${record.name}`}
          >
            {words.retry}
          </Button>
        )}
      </Group>
      {retry.error && <Problem error={retry.error} />}
    </div>
  );
}
