import { Group, Progress, Stack, Text } from '@mantine/core';
import { formatCount } from '../parts/format.ts';
import { texts } from '../texts/english.ts';
import type { Campaign } from './queries.ts';

/** How many rows are done, as a bar and in words. */
export function CampaignProgress({
  campaign,
}: {
  campaign: Pick<Campaign, 'name' | 'total_rows' | 'completed_rows' | 'failed_rows' | 'skipped_rows'>;
}) {
  const { total_rows: all, completed_rows: completed, failed_rows: failed, skipped_rows: skipped } = campaign;
  const share = (rows: number) => (all === 0 ? 0 : (rows / all) * 100);
  const words = texts.campaigns.rows(completed + failed + skipped, all);
  return (
    <Stack gap={4}>
      <Progress.Root size="sm" aria-hidden>
        <Progress.Section value={share(completed)} color="green" />
        <Progress.Section value={share(failed)} color="red" />
        <Progress.Section value={share(skipped)} color="gray" />
      </Progress.Root>
      <Group gap="xs">
        <Text size="sm">{words}</Text>
        {failed > 0 && (
          <Text size="sm">
            {texts.states['failed']} {formatCount(failed)}
          </Text>
        )}
        {skipped > 0 && (
          <Text size="sm">
            {texts.states['skipped']} {formatCount(skipped)}
          </Text>
        )}
      </Group>
    </Stack>
  );
}
