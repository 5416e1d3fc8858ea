import type { z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import { currentActor } from '../../database/audit/actor.ts';
import { retryOnConflict } from '../../database/compare-and-set.ts';
import { conflict } from '../../library/errors.ts';
import { callCampaignObject } from '../rpc.ts';
import { applyConfigChange } from '../configs/apply-config-change.ts';
import { requireVersion } from '../../voice-agents/versions/find-version.ts';
import { existingCampaign, setPinnedVersion, updateDraftIfUnchanged, type CampaignRow } from '../store.ts';
import { campaignRecord } from '../queries/records.ts';
import type { CampaignPatch, CampaignRecord } from '../schemas.ts';

type CampaignBody = z.infer<typeof CampaignRecord>;

/** Changes a draft in its row, and a paused campaign in its object. Throws 404 for an unknown version of the agent, and 409 in any other state, naming the state. */
export async function updateCampaign(context: Context, id: number, change: CampaignPatch): Promise<CampaignBody> {
  const changed = await retryOnConflict(async () => {
    const row = await existingCampaign(context, id);
    if (change.definition_id) await requireVersion(context, row.agent_id, change.definition_id);
    return row.state === 'draft' ? updateDraft(context, row, change) : updateStartedCampaign(context, row, change);
  });
  if (!changed) throw conflict('The campaign keeps being changed by other requests; try again');
  return changed;
}

async function updateDraft({ database, organization }: Context, row: CampaignRow, change: CampaignPatch): Promise<CampaignBody | null> {
  const { definition_id = row.definition_id } = change;
  const after = { name: change.name ?? row.name, definition_id, ...applyConfigChange(row, change, organization) };
  const changed = await updateDraftIfUnchanged(database, row, after);
  return changed && campaignRecord(changed);
}

async function updateStartedCampaign(
  { bindings, database, organization }: Context,
  row: CampaignRow,
  change: CampaignPatch,
): Promise<CampaignBody> {
  const live = await callCampaignObject(bindings, organization.id, row.id, (object) => object.snapshot());
  const state = live?.state ?? row.state;
  if (!live || state !== 'paused')
    throw conflict(`The campaign is ${state} and cannot be changed; it can in draft, or when POST /campaign/${row.id}/pause has paused it`);
  const { name, definition_id = row.definition_id, ...configs } = change;
  const actor = currentActor();
  const changed = await callCampaignObject(bindings, organization.id, row.id, (object) =>
    object.change({ name, configs: Object.keys(configs).length > 0 ? configs : undefined }, actor),
  );
  // After the object has agreed to the change: a paused campaign dials nobody meanwhile.
  if (definition_id !== row.definition_id) await setPinnedVersion(database, organization.id, row.id, definition_id);
  return campaignRecord({ ...row, definition_id }, changed);
}
