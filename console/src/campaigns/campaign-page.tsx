import { Group, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { formatCount, formatShare } from '../parts/format.ts';
import { Moment } from '../parts/moment.tsx';
import { Problem } from '../parts/problem.tsx';
import { StateBadge } from '../parts/state-badge.tsx';
import { PageTitle } from '../shell/shell.tsx';
import { texts } from '../texts/english.ts';
import { CampaignActions } from './campaign-actions.tsx';
import { CampaignProgress } from './campaign-progress.tsx';
import { CampaignRows } from './campaign-rows.tsx';
import { campaignQuery, isMoving, progressQuery } from './queries.ts';

const route = getRouteApi('/campaigns/$campaignId');
const words = texts.campaigns;

/** A campaign as it is now: how far it is, what it waits for, what came of its calls, and its rows. */
export function CampaignPage() {
  const id = Number(route.useParams().campaignId);
  const found = useQuery(campaignQuery(id));
  if (found.error) return <Problem error={found.error} retry={() => void found.refetch()} />;
  if (!found.data) return <Skeleton height={200} aria-label={texts.loading} />;
  const campaign = found.data;
  return (
    <Stack>
      <Group justify="space-between" align="start">
        <div>
          <PageTitle>{campaign.name}</PageTitle>
          <Group gap="sm">
            <StateBadge state={campaign.state} />
            <Text>{campaign.workflow_name}</Text>
          </Group>
          {campaign.state_reason && <Text mt="xs">{campaign.logs[0]?.message ?? campaign.state_reason}</Text>}
        </div>
        <CampaignActions campaign={campaign} />
      </Group>
      <CampaignProgress campaign={campaign} />
      <Numbers id={id} isLive={isMoving(campaign.state)} />
      <CampaignRows id={id} isLive={isMoving(campaign.state)} />
    </Stack>
  );
}

function Numbers({ id, isLive }: { id: number; isLive: boolean }) {
  const { data, error, refetch } = useQuery(progressQuery(id, isLive));
  if (error) return <Problem error={error} retry={() => void refetch()} />;
  if (!data) return <Skeleton height={80} aria-label={texts.loading} />;
  const outcomes = Object.entries(data.outcomes).filter(([, count]) => count > 0);
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} component="dl" m={0}>
      <Fact label={words.inFlight} value={formatCount(data.in_flight)} />
      <Fact label={words.reached} value={formatShare(data.reached_share)} />
      <Fact
        label={words.outcomes}
        value={outcomes.map(([outcome, count]) => `${texts.states[outcome] ?? outcome} ${formatCount(count)}`).join(' · ') || texts.none}
      />
      {data.waiting?.waiting_for ? (
        <Fact label={words.waitsFor} value={data.waiting.waiting_for} />
      ) : (
        <Fact
          label={data.next_window_at ? words.nextWindow : words.nextAttempt}
          value={<Moment at={data.next_window_at ?? data.next_attempt_at} />}
        />
      )}
    </SimpleGrid>
  );
}

const Fact = ({ label, value }: { label: string; value: React.ReactNode }) => (
  <div>
    <Text component="dt" size="sm">
      {label}
    </Text>
    <Title component="dd" order={3} size="h4" m={0}>
      {value}
    </Title>
  </div>
);
