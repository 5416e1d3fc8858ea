import type { Context } from '../../src/accounts/context.ts';
import { PhoneMemory } from '../../src/campaigns/source/seen-phones.ts';
import type { CampaignSource, CampaignSourceRow } from '../../src/campaigns/sources/campaign-source.ts';
import { openCampaignSource } from '../../src/campaigns/sources/open-source.ts';
import { UnreadableFile } from '../../src/library/decode-text.ts';
import type { Campaign } from './stored-campaign.ts';
import type { StoredRows } from './stored-rows.ts';

export type Reading = { end: 'read' } | { end: 'stopped' } | { end: 'unreadable'; because: string };

/**
 * Reads the rows of a campaign from its source, behind those that are there, until `take` no longer wants them. What keeps it from reading
 * for now is thrown.
 */
export async function readSource(
  context: Context,
  campaign: Campaign,
  rows: StoredRows,
  take: (batch: CampaignSourceRow[]) => boolean,
): Promise<Reading> {
  // In memory alone: it is read behind the last row or from the beginning again, so nothing needs an index that every row would pay for.
  const seen = new PhoneMemory();
  for (const { phone, number } of rows.phones()) seen.take(phone, number);
  let source: CampaignSource | undefined;
  try {
    source = await openCampaignSource(context, campaign.source);
    for await (const batch of source.batches(seen, rows.last())) if (!take(batch)) return { end: 'stopped' };
    return { end: 'read' };
  } catch (error) {
    if (error instanceof UnreadableFile) return { end: 'unreadable', because: error.message };
    throw error;
  } finally {
    await source?.close();
  }
}
