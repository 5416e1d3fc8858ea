import type { HistoryEntry } from './history.ts';
import type { JournalEntry, Journal } from './journal.ts';
import type { Progress } from './progress.ts';

/** How many characters of inputs and outputs the journal keeps. */
const maxKeptLength = 8 * 1024 * 1024;
const omittedValue = { _cut: 'left out: the history of this dry run is over 8 MiB' };

/** The journal of a run that ends within one call: of a dry run, or of a run that is completed at once. */
export class MemoryJournal implements Journal {
  readonly entries: HistoryEntry[] = [];
  #progress: Progress;
  #remainingLength = maxKeptLength;

  constructor(progress: Progress) {
    this.#progress = progress;
  }

  progress(): Progress {
    return this.#progress;
  }

  commit(progress: Progress | ((recordId: number) => Progress), entry?: JournalEntry): number {
    const recordId = entry ? this.#writeEntry(entry) : 0;
    this.#progress = typeof progress === 'function' ? progress(recordId) : progress;
    return recordId;
  }

  #writeEntry(entry: JournalEntry): number {
    const id = entry.id ?? this.entries.length + 1;
    if (entry.id === undefined) this.#remainingLength -= JSON.stringify([entry.input, entry.output]).length;
    this.entries[id - 1] = this.#remainingLength < 0 ? { ...entry, id, input: omittedValue, output: omittedValue } : { ...entry, id };
    return id;
  }

  unfinishedEntry(): null {
    return null;
  }

  entry(id: number): HistoryEntry | null {
    return this.entries[id - 1] ?? null;
  }

  unstoredEntries(): null {
    return null;
  }
}
