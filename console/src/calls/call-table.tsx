import { Table } from '@mantine/core';
import { formatDuration } from '../parts/format.ts';
import { Moment } from '../parts/moment.tsx';
import { WideTable } from '../parts/wide-table.tsx';
import { StateBadge } from '../parts/state-badge.tsx';
import { texts } from '../texts/english.ts';
import type { Call } from './queries.ts';

const words = texts.calls;

export const CallTable = ({ calls }: { calls: Call[] }) => (
  <WideTable label={words.title} minWidth={640}>
    <Table.Thead>
      <Table.Tr>
        <Table.Th>{words.number}</Table.Th>
        <Table.Th>{words.agent}</Table.Th>
        <Table.Th>{words.outcome}</Table.Th>
        <Table.Th>{words.disposition}</Table.Th>
        <Table.Th>{words.talk}</Table.Th>
        <Table.Th>{words.started}</Table.Th>
      </Table.Tr>
    </Table.Thead>
    <Table.Tbody>
      {calls.map((call) => (
        <Table.Tr key={call.id}>
          <Table.Td>{call.phone ?? texts.none}</Table.Td>
          <Table.Td>{call.workflow_name}</Table.Td>
          <Table.Td>
            <StateBadge state={call.outcome ?? call.status} />
          </Table.Td>
          <Table.Td>{call.disposition ?? texts.none}</Table.Td>
          <Table.Td>{formatDuration(call.talk_seconds)}</Table.Td>
          <Table.Td>
            <Moment at={call.started_at ?? call.created_at} />
          </Table.Td>
        </Table.Tr>
      ))}
    </Table.Tbody>
  </WideTable>
);
