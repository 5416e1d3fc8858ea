import type { Context } from '../../src/context.ts';
import { fireInternalEvent } from '../../src/automation-workflows/triggers/events/fire-internal-event.ts';
import { toRowCounts } from '../../src/campaigns/rows/row-states.ts';
import type { Campaign } from './campaign-store.ts';
import type { StoredTally } from './row-store.ts';

/** Starts the journeys that listen to `campaign.completed`. Repeatable: the campaign is the key of the run that a trigger starts. */
export const publishCampaignCompleted = (
  context: Context,
  { id, name, agentId }: Campaign,
  { rows, outcomes }: StoredTally,
): Promise<void> =>
  fireInternalEvent(context, {
    name: 'campaign.completed',
    key: `campaign:${id}`,
    contactId: null,
    depth: 1,
    data: { campaign_id: id, campaign_name: name, workflow_id: agentId, ...toRowCounts(rows), outcomes },
  });
