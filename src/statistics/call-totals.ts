import type { CallGroupRow } from './call-store.ts';

/** What came of a number of calls together. */
export interface CallTotals {
  calls: number;
  answered: number;
  answer_rate: number | null;
  talk_seconds: number;
  average_talk_seconds: number | null;
  transfers: number;
  transfers_taken: number;
  transfer_seconds: number;
  cost_usd: number;
  calls_without_price: number;
  outcomes: Record<string, number>;
  dispositions: Record<string, number>;
}

type SummedName = 'calls' | 'talk_seconds' | 'transfers' | 'transfers_taken' | 'transfer_seconds' | 'cost_micros' | 'unpriced_calls';

/** Adds up rows. `answered` are the calls that a person has answered: their outcome is `completed`. */
export function addCalls(rows: readonly CallGroupRow[]): CallTotals {
  const sum = (name: SummedName) => rows.reduce((total, row) => total + row[name], 0);
  const calls = sum('calls');
  const parts = rows.flatMap((row) => JSON.parse(row.parts) as Part[]);
  const outcomes = countBy(parts, 0);
  const answered = outcomes['completed'] ?? 0;
  const talkSeconds = sum('talk_seconds');
  return {
    calls,
    answered,
    answer_rate: ratio(answered, calls, 10_000),
    talk_seconds: talkSeconds,
    average_talk_seconds: ratio(talkSeconds, answered, 10),
    transfers: sum('transfers'),
    transfers_taken: sum('transfers_taken'),
    transfer_seconds: sum('transfer_seconds'),
    cost_usd: sum('cost_micros') / 1_000_000,
    calls_without_price: sum('unpriced_calls'),
    outcomes,
    dispositions: countBy(
      parts.filter(([, disposition]) => disposition !== ''),
      1,
    ),
  };
}

const ratio = (part: number, total: number, digits: number): number | null =>
  total > 0 ? Math.round((part / total) * digits) / digits : null;

type Part = [outcome: string, disposition: string, calls: number];

/** How many calls have each outcome (`place` 0) or each disposition (1), the most frequent first. */
function countBy(parts: readonly Part[], place: 0 | 1): Record<string, number> {
  const counts = new Map<string, number>();
  for (const part of parts) counts.set(part[place], (counts.get(part[place]) ?? 0) + part[2]);
  return Object.fromEntries([...counts].filter(([, count]) => count !== 0).toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)));
}
