import { Anchor, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CampaignProgress } from '../campaigns/campaign-progress.tsx';
import { campaignsQuery } from '../campaigns/queries.ts';
import { Problem } from '../parts/problem.tsx';
import { texts } from '../texts/english.ts';
import { Section } from './section.tsx';

const words = texts.home;

export function RunningCampaigns() {
  const found = useInfiniteQuery(campaignsQuery({ state: 'running' }));
  const campaigns = found.data?.pages.flatMap((page) => page.campaigns) ?? [];
  return (
    <Section title={words.running}>
      {found.error && <Problem error={found.error} retry={() => void found.refetch()} />}
      {found.isPending && <Skeleton height={60} aria-label={texts.loading} />}
      <Stack>
        {campaigns.map((campaign) => (
          <div key={campaign.id}>
            <Anchor component={Link} to="/campaigns/$campaignId" params={{ campaignId: String(campaign.id) } as never}>
              {campaign.name}
            </Anchor>
            <CampaignProgress campaign={campaign} />
          </div>
        ))}
      </Stack>
      {found.data && campaigns.length === 0 && <Text>{words.nothingRuns}</Text>}
      <Group mt="sm">
        <Anchor component={Link} to="/campaigns" size="sm">
          {words.allCampaigns}
        </Anchor>
      </Group>
    </Section>
  );
}
