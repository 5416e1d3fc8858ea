import { toTimestamp } from '../../library/time/clock.ts';

/** Of the row that waits for the earliest moment: until when, from when it might be called if it were not for the windows, and why it waits. */
export interface WaitingRow {
  due: number;
  notBefore: number | null;
  reason: string | null;
  /** When a calling window is open for it at or after `due`. */
  opensAt: number;
}

export interface CampaignWaitFacts {
  /** Calls that it has asked the call slots for, and what holds those. */
  requested: { queued: number; waitingFor: string | null } | null;
  row: WaitingRow | null;
  /** When the first closed window opens behind which rows stand that were never called; null: there are none. */
  newRowsOpenAt: number | null;
  now: number;
}

/** What a running campaign waits for before it calls the next person: a word, then a sentence; null: nothing. Moments in epoch ms. */
export function describeWait({ requested: asked, row, newRowsOpenAt: openingForNew, now }: CampaignWaitFacts): string | null {
  if (asked && asked.queued > 0) return asked.waitingFor;
  const ofRow = row && { at: Math.max(row.due, row.opensAt), word: toWaitKind(row) };
  const ofNew = openingForNew === null ? null : { at: openingForNew, word: 'calling_window' as const };
  const next = ofRow && ofNew ? (ofRow.at < ofNew.at ? ofRow : ofNew) : (ofRow ?? ofNew);
  return next && next.at > now ? `${next.word}: ${waitDescriptions[next.word]} ${toTimestamp(next.at)}` : null;
}

/** Of a pause of its own and a closed window the one that lasts longer. */
function toWaitKind({ due, notBefore, reason, opensAt }: WaitingRow): keyof typeof waitDescriptions {
  if (opensAt > due || (notBefore !== null && due > notBefore) || reason?.startsWith('window_closed')) return 'calling_window';
  return reason?.startsWith('too_soon') ? 'min_hours_between_calls' : 'retry_delay';
}

const waitDescriptions = {
  calling_window: 'no calling window is open for whoever is left; the next one opens at',
  min_hours_between_calls: 'whoever is left was called not long ago; the first may be called again at',
  retry_delay: 'whoever is left waits for the next attempt; the first is due at',
};
