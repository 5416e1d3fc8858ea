import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** What a ledger keeps: something with a number of its own, growing in the order of arrival. */
export interface LedgerEntry {
  id: number;
}

/**
 * Entries in memory and, when a file is given, one JSON line each on disk, read back at the next start. An entry is on disk before it is
 * acted upon, so that what the outside world saw outlives a crash of either side. Only the newest `capacity` entries are kept.
 */
export class Ledger<Entry extends LedgerEntry> {
  readonly #file: string | undefined;
  readonly #capacity: number;
  #entries: Entry[] = [];
  #lastId = 0;
  #linesOnDisk = 0;

  constructor(file?: string, capacity = 10_000) {
    this.#file = file;
    this.#capacity = capacity;
    if (file === undefined) return;
    mkdirSync(dirname(file), { recursive: true });
    this.#entries = readLines<Entry>(file).slice(-capacity);
    this.#lastId = this.#entries.at(-1)?.id ?? 0;
    this.#rewrite();
  }

  append(content: Omit<Entry, 'id'>): Entry {
    this.#lastId += 1;
    const entry = { ...content, id: this.#lastId } as Entry;
    this.#entries.push(entry);
    if (this.#entries.length >= 2 * this.#capacity) this.#entries = this.#entries.slice(-this.#capacity);
    if (this.#file !== undefined) {
      appendFileSync(this.#file, `${JSON.stringify(entry)}\n`);
      this.#linesOnDisk += 1;
      if (this.#linesOnDisk >= 2 * this.#capacity) this.#rewrite();
    }
    return entry;
  }

  /** Oldest first. */
  list(): Entry[] {
    return this.#entries.slice(-this.#capacity);
  }

  /** Forgets the entries that `matches` names, all of them without it. Numbers already given are not given again. */
  forget(matches: (entry: Entry) => boolean = () => true): void {
    this.#entries = this.#entries.filter((entry) => !matches(entry));
    this.#rewrite();
  }

  #rewrite(): void {
    if (this.#file === undefined) return;
    const kept = this.list();
    const replacement = `${this.#file}.new`;
    writeFileSync(replacement, kept.map((entry) => `${JSON.stringify(entry)}\n`).join(''), { mode: 0o600 });
    renameSync(replacement, this.#file);
    this.#linesOnDisk = kept.length;
  }
}

/** The entries of a file. A line that a crash cut short is left out. */
function readLines<Entry>(file: string): Entry[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as Entry];
    } catch {
      return [];
    }
  });
}
