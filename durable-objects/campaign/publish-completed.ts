import type { Context } from '../../src/context.ts';
import { toRowCounts } from '../../src/campaigns/rows/row-states.ts';
import { publish } from '../../src/outbox/published-events.ts';
import type { Campaign } from './campaign-store.ts';
import type { StoredTally } from './row-tally.ts';

/** Publishes `campaign.completed`. Repeatable: the campaign is the key of the runs that it starts. */
export const publishCampaignCompleted = (
  context: Context,
  { id, name, agentId }: Campaign,
  { rows, outcomes }: StoredTally,
): Promise<void> =>
  publish(context, 'campaign.completed', {
    key: `campaign:${id}`,
    contactId: null,
    depth: 1,
    data: { campaign_id: id, campaign_name: name, workflow_id: agentId, ...toRowCounts(rows), outcomes },
  });
