import type { Context } from '../../context.ts';
import { notFound } from '../../library/errors.ts';
import { findCampaign, type CampaignRow } from '../store.ts';

/** Throws 404. */
export async function existingCampaign({ database, organization }: Context, id: number): Promise<CampaignRow> {
  const row = await findCampaign(database, organization.id, id);
  if (!row) throw notFound('Campaign');
  return row;
}
