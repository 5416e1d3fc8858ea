import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** A file of JSON lines. An entry is on disk before `append` returns. Without a path it keeps nothing. */
export class JsonLinesFile<Entry> {
  readonly #path: string | undefined;
  #lines = 0;

  constructor(path: string | undefined) {
    this.#path = path;
    if (path !== undefined) mkdirSync(dirname(path), { recursive: true });
  }

  /** Lines on disk, as far as this object has written or replaced them. */
  get lines(): number {
    return this.#lines;
  }

  append(entry: Entry): void {
    if (this.#path === undefined) return;
    appendFileSync(this.#path, `${JSON.stringify(entry)}\n`);
    this.#lines += 1;
  }

  /** All at once: a crash leaves the old file or the new one. */
  replace(entries: Entry[]): void {
    if (this.#path === undefined) return;
    const replacement = `${this.#path}.new`;
    writeFileSync(replacement, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''), { mode: 0o600 });
    renameSync(replacement, this.#path);
    this.#lines = entries.length;
  }

  /** Oldest first. A line that a crash cut short is left out. */
  read(): Entry[] {
    if (this.#path === undefined) return [];
    let text: string;
    try {
      text = readFileSync(this.#path, 'utf8');
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
}
