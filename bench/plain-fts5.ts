import { DatabaseSync } from 'node:sqlite';

/** SQLite's full-text search as it comes, over some texts: any word of a question, ranked by BM25. */
export class PlainFts5 {
  readonly #database = new DatabaseSync(':memory:');

  constructor(texts: string[]) {
    this.#database.exec('CREATE VIRTUAL TABLE passage USING fts5(text)');
    const insert = this.#database.prepare('INSERT INTO passage (rowid, text) VALUES (?, ?)');
    for (const [index, text] of texts.entries()) insert.run(index + 1, text);
  }

  /** The places of the best texts, best first. */
  search(question: string, limit: number): number[] {
    const words = question.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
    if (words.length === 0) return [];
    const match = words.map((word) => `"${word}"`).join(' OR ');
    const found = this.#database.prepare('SELECT rowid FROM passage WHERE passage MATCH ? ORDER BY rank LIMIT ?').all(match, limit);
    return found.map(({ rowid }) => Number(rowid) - 1);
  }

  close(): void {
    this.#database.close();
  }
}
