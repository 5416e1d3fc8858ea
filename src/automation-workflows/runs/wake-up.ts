import { isRecord } from '../../library/json.ts';
import type { StepResult } from '../nodes/contract.ts';
import type { HistoryEntry } from './history.ts';
import type { Journal } from './journal.ts';
import { awake, type Progress, type Sleep } from './progress.ts';
import { settle } from './settle.ts';
import type { Surroundings } from './surroundings.ts';

/** The sleep's own record shows what ended it; what it had told while sleeping stays beside that. */
export function wake(journal: Journal, progress: Progress, sleep: Sleep, result: StepResult, run: Surroundings): void {
  const entry = recordOf(journal, sleep);
  const told = isRecord(entry.output) ? entry.output : {};
  const isNext = result.kind === 'next' && isRecord(result.output);
  const before = awake(progress);
  settle(journal, before, entry, isNext ? { ...result, output: { ...told, ...(result.output as object) } } : result, run);
}

export function recordOf(journal: Journal, sleep: Sleep): HistoryEntry {
  const entry = journal.entry(sleep.historyId);
  if (!entry) throw new Error(`record ${sleep.historyId} of a sleep is not in the history`);
  return entry;
}
