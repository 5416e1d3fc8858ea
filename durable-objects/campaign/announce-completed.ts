import type { Context } from '../../src/accounts/context.ts';
import { fireInternalEvent } from '../../src/automation-workflows/triggers/fire-internal-event.ts';
import { countsOf } from '../../src/campaigns/row-states.ts';
import type { Campaign } from './stored-campaign.ts';
import type { StoredTally } from './stored-rows.ts';

/** Fires the triggers on `campaign.completed`. Repeatable: a trigger's run is keyed by the campaign. */
export const announceCompleted = (context: Context, { id, name, agentId }: Campaign, { rows, outcomes }: StoredTally): Promise<void> =>
  fireInternalEvent(context, {
    name: 'campaign.completed',
    cause: `campaign:${id}`,
    contactId: null,
    depth: 1,
    data: { campaign_id: id, campaign_name: name, workflow_id: agentId, ...countsOf(rows), outcomes },
  });
