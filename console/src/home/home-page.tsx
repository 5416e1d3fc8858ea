import { SimpleGrid, Stack } from '@mantine/core';
import { PageTitle } from '../shell/shell.tsx';
import { useMay } from '../shell/session.ts';
import { texts } from '../texts/english.ts';
import { Attention } from './attention.tsx';
import { CallsInProgress } from './calls-in-progress.tsx';
import { RunningCampaigns } from './running-campaigns.tsx';
import { Today } from './today.tsx';

/** What runs now, what needs a person, and how today goes beside the same day of last week. */
export function HomePage() {
  const isAdmin = useMay('admin', 'owner');
  return (
    <Stack gap="lg">
      <PageTitle>{texts.home.title}</PageTitle>
      <Today />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <RunningCampaigns />
        <Attention isAdmin={isAdmin} />
      </SimpleGrid>
      <CallsInProgress />
    </Stack>
  );
}
