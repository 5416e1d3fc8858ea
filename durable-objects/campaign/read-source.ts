import type { Context } from '../../src/context.ts';
import { CompactSeenPhones } from '../../src/campaigns/source/seen-phones.ts';
import type { CampaignSource, CampaignSourceRow } from '../../src/campaigns/source/campaign-source.ts';
import { openCampaignSource } from '../../src/campaigns/source/open-source.ts';
import { UnreadableFileError } from '../../src/library/text/decode-text.ts';
import type { Campaign } from './campaign-store.ts';
import type { RowStore } from './row-store.ts';

export type SourceReadResult = { end: 'read' } | { end: 'stopped' } | { end: 'unreadable'; because: string };

/**
 * Reads the rows of a campaign from its source, behind those that are there, until `take` no longer wants them. What keeps it from reading
 * for now is thrown.
 */
export async function readSource(
  context: Context,
  campaign: Campaign,
  rows: RowStore,
  take: (batch: CampaignSourceRow[]) => boolean,
): Promise<SourceReadResult> {
  // In memory alone: it is read behind the last row or from the beginning again, so nothing needs an index that every row would pay for.
  const seen = new CompactSeenPhones();
  for (const { phone, number } of rows.phones()) seen.claim(phone, number);
  let source: CampaignSource | undefined;
  try {
    source = await openCampaignSource(context, campaign.source);
    for await (const batch of source.batches(seen, rows.lastRow())) if (!take(batch)) return { end: 'stopped' };
    return { end: 'read' };
  } catch (error) {
    if (error instanceof UnreadableFileError) return { end: 'unreadable', because: error.message };
    throw error;
  } finally {
    await source?.close();
  }
}
