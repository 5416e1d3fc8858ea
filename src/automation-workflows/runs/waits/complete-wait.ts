import { isRecord } from '../../../library/json/json.ts';
import type { StepResult } from '../../nodes/contract.ts';
import type { HistoryEntry } from '../engine/history.ts';
import type { Journal } from '../engine/journal.ts';
import { leaveWait, type Progress, type Wait } from '../engine/progress.ts';
import { applyStepResult } from '../engine/step-result.ts';
import type { RunDependencies } from '../engine/dependencies.ts';

/** The sleep's own record shows what ended it; what it had told while sleeping stays beside that. */
export function completeWait(journal: Journal, progress: Progress, sleep: Wait, result: StepResult, run: RunDependencies): void {
  const entry = requireWaitEntry(journal, sleep);
  const told = isRecord(entry.output) ? entry.output : {};
  const isNext = result.kind === 'next' && isRecord(result.output);
  const before = leaveWait(progress);
  applyStepResult(journal, before, entry, isNext ? { ...result, output: { ...told, ...(result.output as object) } } : result, run);
}

export function requireWaitEntry(journal: Journal, sleep: Wait): HistoryEntry {
  const entry = journal.entry(sleep.historyId);
  if (!entry) throw new Error(`record ${sleep.historyId} of a sleep is not in the history`);
  return entry;
}
