import { JsonLinesFile } from './json-lines-file.ts';

/** An entry of a ledger, with a number that grows in the order of arrival. */
export interface LedgerEntry {
  id: number;
}

/**
 * Entries in memory and, when a file is given, one JSON line each on disk, read back at the next start. An entry is on disk before it is
 * acted upon, so that what the outside world saw outlives a crash of either side. Only the newest `capacity` entries are kept.
 */
export class Ledger<Entry extends LedgerEntry> {
  readonly #file: JsonLinesFile<Entry>;
  readonly #capacity: number;
  #entries: Entry[];
  #lastId: number;

  constructor(path?: string, capacity = 10_000) {
    this.#file = new JsonLinesFile(path);
    this.#capacity = capacity;
    this.#entries = this.#file.read().slice(-capacity);
    this.#lastId = this.#entries.at(-1)?.id ?? 0;
    this.#file.replace(this.#entries);
  }

  append(content: Omit<Entry, 'id'>): Entry {
    this.#lastId += 1;
    const entry = { ...content, id: this.#lastId } as Entry;
    this.#entries.push(entry);
    if (this.#entries.length >= 2 * this.#capacity) this.#entries = this.#entries.slice(-this.#capacity);
    this.#file.append(entry);
    if (this.#file.lines >= 2 * this.#capacity) this.#file.replace(this.list());
    return entry;
  }

  /** Oldest first. */
  list(): Entry[] {
    return this.#entries.slice(-this.#capacity);
  }

  /** Deletes the entries that match, or all. Numbers are not used again. */
  forget(matches: (entry: Entry) => boolean = () => true): void {
    this.#entries = this.#entries.filter((entry) => !matches(entry));
    this.#file.replace(this.list());
  }
}
