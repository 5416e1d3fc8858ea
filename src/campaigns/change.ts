import type { z } from '@hono/zod-openapi';
import type { Context } from '../accounts/context.ts';
import { untilCurrent } from '../automation-workflows/optimistic-write.ts';
import { conflict } from '../library/errors.ts';
import { campaignObject } from './campaign-object.ts';
import { changeConfigs } from './change-configs.ts';
import { existingCampaign } from './existing-campaign.ts';
import { campaignRecord } from './records.ts';
import type { CampaignPatch, CampaignRecord } from './schemas.ts';
import { changeDraft, type CampaignRow } from './store.ts';

type Record = z.infer<typeof CampaignRecord>;

/** A draft is changed in its row, a paused campaign in its object. Throws 409 in any other state, naming it. */
export async function changeCampaign(context: Context, id: number, change: CampaignPatch): Promise<Record> {
  const changed = await untilCurrent(async () => {
    const row = await existingCampaign(context, id);
    return row.state === 'draft' ? changedDraft(context, row, change) : changedLive(context, row, change);
  });
  if (!changed) throw conflict('The campaign keeps being changed by other requests; try again');
  return changed;
}

async function changedDraft({ database, organization }: Context, row: CampaignRow, change: CampaignPatch): Promise<Record | null> {
  const after = { name: change.name ?? row.name, ...changeConfigs(row, change, organization) };
  const changed = await changeDraft(database, row, after);
  return changed && campaignRecord(changed);
}

async function changedLive({ bindings, organization }: Context, row: CampaignRow, change: CampaignPatch): Promise<Record> {
  const live = await campaignObject(bindings, organization.id, row.id, (object) => object.snapshot());
  const state = live?.state ?? row.state;
  if (!live || state !== 'paused')
    throw conflict(`The campaign is ${state} and cannot be changed; it can in draft, or when POST /campaign/${row.id}/pause has paused it`);
  const { name, ...configs } = change;
  return campaignRecord(
    row,
    await campaignObject(bindings, organization.id, row.id, (object) =>
      object.change({ name, configs: Object.keys(configs).length > 0 ? configs : undefined }),
    ),
  );
}
