import type { HistoryEntry } from './history.ts';
import type { Entry, Journal } from './journal.ts';
import type { Progress } from './progress.ts';

/** How much of inputs and outputs a journal in memory keeps. */
const keptLength = 8 * 1024 * 1024;
const leftOut = { _cut: 'left out: the history of this dry run is over 8 MiB' };

/** A dry run lives in one request, so its journal lives in memory. */
export class MemoryJournal implements Journal {
  readonly entries: HistoryEntry[] = [];
  #progress: Progress;
  #left = keptLength;

  constructor(progress: Progress) {
    this.#progress = progress;
  }

  progress(): Progress {
    return this.#progress;
  }

  commit(progress: Progress | ((recordId: number) => Progress), entry?: Entry): number {
    const recordId = entry ? this.#write(entry) : 0;
    this.#progress = typeof progress === 'function' ? progress(recordId) : progress;
    return recordId;
  }

  #write(entry: Entry): number {
    const id = entry.id ?? this.entries.length + 1;
    if (entry.id === undefined) this.#left -= JSON.stringify([entry.input, entry.output]).length;
    this.entries[id - 1] = this.#left < 0 ? { ...entry, id, input: leftOut, output: leftOut } : { ...entry, id };
    return id;
  }

  unfinished(): null {
    return null;
  }

  entry(id: number): HistoryEntry | null {
    return this.entries[id - 1] ?? null;
  }
}
