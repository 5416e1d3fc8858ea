import { Anchor, Button, Group, Select, Skeleton, Table, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Moment } from '../parts/moment.tsx';
import { Problem } from '../parts/problem.tsx';
import { WideTable } from '../parts/wide-table.tsx';
import { StateBadge } from '../parts/state-badge.tsx';
import { PageTitle } from '../shell/shell.tsx';
import { texts } from '../texts/english.ts';
import { CampaignProgress } from './campaign-progress.tsx';
import { campaignsQuery, type Campaign } from './queries.ts';

const route = getRouteApi('/campaigns');
const states = ['draft', 'syncing', 'running', 'paused', 'completed', 'failed', 'cancelled'];
const words = texts.campaigns;

/** All campaigns, the newest first. What is searched for stands in the address, so that it can be kept as a bookmark. */
export function CampaignList() {
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const found = useInfiniteQuery(campaignsQuery(filter));
  const change = (next: typeof filter) => void navigate({ search: { ...filter, ...next }, replace: true });
  const search = useDebouncedCallback((text: string) => change({ search: text || undefined } as typeof filter), 300);
  const campaigns = found.data?.pages.flatMap((page) => page.campaigns) ?? [];
  const isFiltered = Boolean(filter.state ?? filter.search);
  return (
    <>
      <PageTitle>{words.title}</PageTitle>
      <Group mb="md" align="end">
        <TextInput
          label={words.search}
          type="search"
          defaultValue={filter.search}
          onChange={({ currentTarget }) => search(currentTarget.value)}
        />
        <Select
          label={words.state}
          placeholder={words.anyState}
          clearable
          data={states.map((value) => ({ value, label: texts.states[value] ?? value }))}
          value={filter.state ?? null}
          onChange={(state) => change({ state: state ?? undefined } as typeof filter)}
        />
      </Group>
      {found.error && <Problem error={found.error} retry={() => void found.refetch()} />}
      {found.isPending && <Skeleton height={160} aria-label={texts.loading} />}
      {found.data && campaigns.length === 0 && <Text>{isFiltered ? words.noneFound : words.empty}</Text>}
      {campaigns.length > 0 && <CampaignTable campaigns={campaigns} />}
      {found.hasNextPage && (
        <Button mt="md" variant="default" loading={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          {words.more}
        </Button>
      )}
    </>
  );
}

const CampaignTable = ({ campaigns }: { campaigns: Campaign[] }) => (
  <WideTable label={words.title} minWidth={640}>
    <Table.Thead>
      <Table.Tr>
        <Table.Th>{words.name}</Table.Th>
        <Table.Th>{words.state}</Table.Th>
        <Table.Th>{words.progress}</Table.Th>
        <Table.Th>{words.agent}</Table.Th>
        <Table.Th>{words.created}</Table.Th>
      </Table.Tr>
    </Table.Thead>
    <Table.Tbody>
      {campaigns.map((campaign) => (
        <Table.Tr key={campaign.id}>
          <Table.Td>
            <Anchor component={Link} to="/campaigns/$campaignId" params={{ campaignId: String(campaign.id) } as never}>
              {campaign.name}
            </Anchor>
          </Table.Td>
          <Table.Td>
            <StateBadge state={campaign.state} />
          </Table.Td>
          <Table.Td>
            <CampaignProgress campaign={campaign} />
          </Table.Td>
          <Table.Td>{campaign.workflow_name}</Table.Td>
          <Table.Td>
            <Moment at={campaign.created_at} />
          </Table.Td>
        </Table.Tr>
      ))}
    </Table.Tbody>
  </WideTable>
);
