import { Anchor, Button, Group, Select, Skeleton, Table, Text, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Moment } from '../parts/moment.tsx';
import { Problem } from '../parts/problem.tsx';
import { WideTable } from '../parts/wide-table.tsx';
import { StateBadge } from '../parts/state-badge.tsx';
import { texts } from '../texts/english.ts';
import { rowsQuery } from './queries.ts';

const states = ['pending', 'scheduled', 'dialing', 'in_call', 'completed', 'failed', 'skipped'];
const words = texts.campaigns;

/** The rows in the order of the source, each with what came of it and why. */
export function CampaignRows({ id, isLive }: { id: number; isLive: boolean }) {
  const [state, setState] = useState<string | null>(null);
  const found = useInfiniteQuery(rowsQuery(id, state, isLive));
  const rows = found.data?.pages.flatMap((page) => page.runs) ?? [];
  return (
    <section aria-labelledby="rows">
      <Group justify="space-between" align="end" mb="sm">
        <Title order={2} size="h3" id="rows">
          {words.rowsTitle}
        </Title>
        <Group align="end">
          <Select
            label={words.state}
            placeholder={words.anyState}
            clearable
            data={states.map((value) => ({ value, label: texts.states[value] ?? value }))}
            value={state}
            onChange={setState}
          />
          <Anchor href={`/api/v1/campaign/${id}/report?format=xlsx`} download>
            {words.report}
          </Anchor>
        </Group>
      </Group>
      {found.error && <Problem error={found.error} retry={() => void found.refetch()} />}
      {found.isPending && <Skeleton height={160} aria-label={texts.loading} />}
      {rows.length > 0 && (
        <WideTable label={words.rowsTitle} minWidth={720}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.row}</Table.Th>
              <Table.Th>{words.phone}</Table.Th>
              <Table.Th>{words.state}</Table.Th>
              <Table.Th>{words.attempts}</Table.Th>
              <Table.Th>{texts.calls.disposition}</Table.Th>
              <Table.Th>{words.reason}</Table.Th>
              <Table.Th>{words.nextAttempt}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={row.id}>
                <Table.Td>{row.row_number}</Table.Td>
                <Table.Td>{row.phone ?? texts.none}</Table.Td>
                <Table.Td>
                  <StateBadge state={row.outcome && row.state === 'failed' ? row.outcome : row.state} />
                </Table.Td>
                <Table.Td>{row.attempts}</Table.Td>
                <Table.Td>{row.result?.disposition ?? texts.none}</Table.Td>
                <Table.Td>
                  <Text size="sm">{row.reason ?? ''}</Text>
                </Table.Td>
                <Table.Td>
                  <Moment at={row.next_attempt_at} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </WideTable>
      )}
      {found.hasNextPage && (
        <Button mt="md" variant="default" loading={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          {words.more}
        </Button>
      )}
    </section>
  );
}
