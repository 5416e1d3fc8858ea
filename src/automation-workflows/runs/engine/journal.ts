import type { HistoryEntry } from './history.ts';
import type { Progress } from './progress.ts';

/** A record to be written: a new one, or the one with its id. */
export type JournalEntry = Omit<HistoryEntry, 'id'> & { id?: number | undefined };

/** Where a run keeps its progress and history: an object's SQLite, or memory in a dry run. Every call is one transaction. */
export interface Journal {
  progress(): Progress;
  /** Writes progress and, with it, a record. Answers the record's id, which progress may be made of. */
  commit(progress: Progress | ((recordId: number) => Progress), entry?: JournalEntry): number;
  /** The record of a visit and attempt that was begun but not finished, as after a crash. */
  unfinishedEntry(nodeId: string, visit: number, attempt: number): HistoryEntry | null;
  entry(id: number): HistoryEntry | null;
}
