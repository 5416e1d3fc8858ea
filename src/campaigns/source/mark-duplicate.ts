import type { SeenPhones } from './seen-phones.ts';
import type { CampaignSourceRow } from './campaign-source.ts';

/** The row, pending, unless another row had its number before. */
export function markDuplicate(row: Omit<CampaignSourceRow, 'state' | 'reason'>, seen: SeenPhones): CampaignSourceRow {
  const before = seen.claim(row.phone, row.row_number);
  // A source that is read once more after an interruption finds its own rows.
  if (before === undefined || before === row.row_number) return { ...row, state: 'pending', reason: null };
  return { ...row, state: 'skipped', reason: `duplicate: row ${before} has the same number` };
}
