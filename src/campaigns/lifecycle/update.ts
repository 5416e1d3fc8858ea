import type { z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import { currentActor } from '../../database/audit/actor.ts';
import { retryOnConflict } from '../../database/compare-and-set.ts';
import { conflict } from '../../library/errors.ts';
import { callCampaignObject } from '../rpc.ts';
import { applyConfigChange } from '../configs/apply-config-change.ts';
import { existingCampaign, updateDraftIfUnchanged, type CampaignRow } from '../store.ts';
import { campaignRecord } from '../queries/records.ts';
import type { CampaignPatch, CampaignRecord } from '../schemas.ts';

type CampaignBody = z.infer<typeof CampaignRecord>;

/** Changes a draft in its row, and a paused campaign in its object. Throws 409 in any other state, naming the state. */
export async function updateCampaign(context: Context, id: number, change: CampaignPatch): Promise<CampaignBody> {
  const changed = await retryOnConflict(async () => {
    const row = await existingCampaign(context, id);
    return row.state === 'draft' ? updateDraft(context, row, change) : updateStartedCampaign(context, row, change);
  });
  if (!changed) throw conflict('The campaign keeps being changed by other requests; try again');
  return changed;
}

async function updateDraft({ database, organization }: Context, row: CampaignRow, change: CampaignPatch): Promise<CampaignBody | null> {
  const after = { name: change.name ?? row.name, ...applyConfigChange(row, change, organization) };
  const changed = await updateDraftIfUnchanged(database, row, after);
  return changed && campaignRecord(changed);
}

async function updateStartedCampaign({ bindings, organization }: Context, row: CampaignRow, change: CampaignPatch): Promise<CampaignBody> {
  const live = await callCampaignObject(bindings, organization.id, row.id, (object) => object.snapshot());
  const state = live?.state ?? row.state;
  if (!live || state !== 'paused')
    throw conflict(`The campaign is ${state} and cannot be changed; it can in draft, or when POST /campaign/${row.id}/pause has paused it`);
  const { name, ...configs } = change;
  const actor = currentActor();
  return campaignRecord(
    row,
    await callCampaignObject(bindings, organization.id, row.id, (object) =>
      object.change({ name, configs: Object.keys(configs).length > 0 ? configs : undefined }, actor),
    ),
  );
}
