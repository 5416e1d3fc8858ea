import { toTimestamp } from '../../library/time/clock.ts';

/** The row that waits for the earliest moment. Moments in epoch ms. */
export interface WaitingRow {
  due: number;
  /** The value of `due` without calling windows; null: `due` itself. */
  notBefore: number | null;
  reason: string | null;
  /** The first moment at or after `due` at which a calling window is open. */
  opensAt: number;
}

export interface CampaignWaitFacts {
  /** The calls that wait at the call slots, and what they wait for; null: the slots did not answer. */
  requested: { queued: number; waitingFor: string | null } | null;
  row: WaitingRow | null;
  /** When the first closed window opens that new rows wait for; null: no new rows wait. */
  newRowsOpenAt: number | null;
  now: number;
}

/** What a running campaign waits for before its next call: a code, a colon and a sentence; null: nothing. Moments in epoch ms. */
export function describeWait({ requested, row, newRowsOpenAt, now }: CampaignWaitFacts): string | null {
  if (requested && requested.queued > 0) return requested.waitingFor;
  const waitingRow = row && { at: Math.max(row.due, row.opensAt), kind: toWaitKind(row) };
  const newRows = newRowsOpenAt === null ? null : { at: newRowsOpenAt, kind: 'calling_window' as const };
  const next = waitingRow && newRows ? (waitingRow.at < newRows.at ? waitingRow : newRows) : (waitingRow ?? newRows);
  return next && next.at > now ? `${next.kind}: ${waitDescriptions[next.kind]} ${toTimestamp(next.at)}` : null;
}

/** What the row waits for: a closed calling window when that lasts longer than the row's own delay. */
function toWaitKind({ due, notBefore, reason, opensAt }: WaitingRow): keyof typeof waitDescriptions {
  if (opensAt > due || (notBefore !== null && due > notBefore) || reason?.startsWith('window_closed')) return 'calling_window';
  if (reason?.startsWith('contact_policy')) return 'contact_policy';
  return reason?.startsWith('too_soon') ? 'min_hours_between_calls' : 'retry_delay';
}

const waitDescriptions = {
  calling_window: 'no calling window is open for whoever is left; the next one opens at',
  min_hours_between_calls: 'whoever is left was called not long ago; the first may be called again at',
  contact_policy: 'the contact policy allows nobody of those left to be called now; the first may be called at',
  retry_delay: 'whoever is left waits for the next attempt; the first is due at',
};
