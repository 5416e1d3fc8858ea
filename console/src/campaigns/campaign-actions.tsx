import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../api/client.ts';
import { Problem } from '../parts/problem.tsx';
import { useMay } from '../shell/session.ts';
import { texts } from '../texts/english.ts';
import type { Campaign } from './queries.ts';

type Action = 'start' | 'pause' | 'resume' | 'cancel';

const actionsByState: Partial<Record<string, Action[]>> = {
  draft: ['start', 'cancel'],
  syncing: ['pause', 'cancel'],
  running: ['pause', 'cancel'],
  paused: ['resume', 'cancel'],
};
const words = texts.campaigns;

/** What can be done with a campaign in its state. Its end asks first. */
export function CampaignActions({ campaign }: { campaign: Campaign }) {
  const [isAsking, ask] = useDisclosure();
  const mayOperate = useMay('operate', 'write', 'admin', 'owner');
  const queries = useQueryClient();
  const act = useMutation({
    mutationFn: (action: Action) =>
      api.POST(`/api/v1/campaign/{campaign_id}/${action}` as '/api/v1/campaign/{campaign_id}/pause', {
        params: { path: { campaign_id: campaign.id } },
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['campaign', campaign.id] }),
    onSuccess: ask.close,
  });
  const actions = mayOperate ? (actionsByState[campaign.state] ?? []) : [];
  return (
    <Stack gap="sm">
      <Group>
        {actions
          .filter((action) => action !== 'cancel')
          .map((action) => (
            <Button key={action} loading={act.isPending && act.variables === action} onClick={() => act.mutate(action)}>
              {words[action]}
            </Button>
          ))}
        {actions.includes('cancel') && (
          <Button variant="default" onClick={ask.open}>
            {words.cancel}
          </Button>
        )}
      </Group>
      {act.error && !isAsking && <Problem error={act.error} />}
      <Modal opened={isAsking} onClose={ask.close} title={words.cancel} closeButtonProps={{ 'aria-label': texts.close }}>
        <Stack>
          <Text>{words.cancelAsk}</Text>
          {act.error && <Problem error={act.error} />}
          <Group justify="end">
            <Button variant="default" onClick={ask.close}>
              {words.keep}
            </Button>
            <Button color="red" loading={act.isPending} onClick={() => act.mutate('cancel')}>
              {words.cancel}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </Stack>
  );
}
