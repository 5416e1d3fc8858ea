import type { Context } from '../../src/context.ts';
import { CompactSeenPhones } from '../../src/campaigns/source/seen-phones.ts';
import type { CampaignSource, CampaignSourceRow } from '../../src/campaigns/source/campaign-source.ts';
import { openCampaignSource } from '../../src/campaigns/source/open-source.ts';
import { UnreadableFileError } from '../../src/library/text/unreadable-file.ts';
import type { Campaign } from './campaign-store.ts';
import type { RowStore } from './row-store.ts';

export type SourceReadResult = { end: 'read' } | { end: 'stopped' } | { end: 'unreadable'; reason: string };

/**
 * Reads the rows of a campaign's source after the last stored row, and gives them to `onBatch` until that returns false. `unreadable`: no later
 * try will succeed. Throws an error that a later try may not meet.
 */
export async function readSource(
  context: Context,
  campaign: Campaign,
  rows: RowStore,
  onBatch: (batch: CampaignSourceRow[]) => boolean,
): Promise<SourceReadResult> {
  // Rebuilt in memory for each reading, since an index over phone numbers would cost every row.
  const seen = new CompactSeenPhones();
  for (const { phone, number } of rows.phones()) seen.claim(phone, number);
  let source: CampaignSource | undefined;
  try {
    source = await openCampaignSource(context, campaign.source);
    for await (const batch of source.batches(seen, rows.lastRow())) if (!onBatch(batch)) return { end: 'stopped' };
    return { end: 'read' };
  } catch (error) {
    if (error instanceof UnreadableFileError) return { end: 'unreadable', reason: error.message };
    throw error;
  } finally {
    await source?.close();
  }
}
