import type { HistoryEntry } from './history.ts';
import type { Progress } from './progress.ts';

/** A history record to write; with an `id`, it replaces the record of that id. */
export type JournalEntry = Omit<HistoryEntry, 'id'> & { id?: number | undefined };

/** Stores a run's progress and history: in an object's SQLite, or in memory during a dry run. Every call is one transaction. */
export interface Journal {
  progress(): Progress;
  /** Writes progress and, in the same transaction, a history record. Answers the record's id; `progress` may be computed from that id. */
  commit(progress: Progress | ((recordId: number) => Progress), entry?: JournalEntry): number;
  /** The record of an attempt that was begun and not finished, because the object crashed. */
  unfinishedEntry(nodeId: string, visit: number, attempt: number): HistoryEntry | null;
  entry(id: number): HistoryEntry | null;
  /** The records that are in memory only, because a crash would begin before them; null: everything is stored. */
  unstoredEntries(): readonly HistoryEntry[] | null;
}
