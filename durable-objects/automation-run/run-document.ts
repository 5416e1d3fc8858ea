import type { HistoryEntry } from '../../src/automation-workflows/runs/engine/history.ts';
import type { Progress } from '../../src/automation-workflows/runs/engine/progress.ts';
import type { Timer } from '../shared/timers.ts';

/** Everything that a run's object stores: one row of JSON, so that what changes together is one written row. Fields are never renamed. */
export interface RunDocument {
  id: number;
  organizationId: number;
  progress: Progress;
  /** The latest history records. */
  entries: HistoryEntry[];
  /** How many older records are in the table `history`. */
  movedEntries: number;
  /** The run has not waited yet, has no timers, and begins again from its D1 row when nothing is stored. */
  isFirstAdvance?: true | undefined;
  /** The row of the ended run has its history, so that nothing is to be archived. */
  isHistoryInRow?: true;
  timers: Timer[];
  revision: number;
  projected: number;
}
