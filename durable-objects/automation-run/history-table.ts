import type { HistoryEntry } from '../../src/automation-workflows/runs/engine/history.ts';

/** Objects of earlier versions have the same table, so the columns are never changed. */
const historySchema = `CREATE TABLE IF NOT EXISTS history (
  id INTEGER PRIMARY KEY, node_id TEXT NOT NULL, visit INTEGER NOT NULL, attempt INTEGER NOT NULL, status TEXT NOT NULL, entry TEXT NOT NULL
)`;

/** The older part of a long history. The table is made by the first `write`. */
export class HistoryTable {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Writes records, over those of the same ids. */
  write(entries: readonly HistoryEntry[]): void {
    const { sql } = this.#storage;
    sql.exec(historySchema);
    for (const entry of entries)
      sql.exec(
        `INSERT INTO history (id, node_id, visit, attempt, status, entry) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET status = excluded.status, entry = excluded.entry`,
        entry.id,
        entry.nodeId,
        entry.visit,
        entry.attempt,
        entry.status,
        JSON.stringify({ ...entry, id: undefined }),
      );
  }

  find(id: number): HistoryEntry | null {
    return this.#read('WHERE id = ?', id)[0] ?? null;
  }

  findStarted(nodeId: string, visit: number, attempt: number): HistoryEntry | null {
    return this.#read("WHERE node_id = ? AND visit = ? AND attempt = ? AND status = 'started' LIMIT 1", nodeId, visit, attempt)[0] ?? null;
  }

  /** A page, oldest first. */
  page(offset: number, limit: number): HistoryEntry[] {
    return this.#read('ORDER BY id LIMIT ? OFFSET ?', limit, offset);
  }

  #read(clause: string, ...parameters: (string | number)[]): HistoryEntry[] {
    return this.#storage.sql
      .exec<{ id: number; entry: string }>(`SELECT id, entry FROM history ${clause}`, ...parameters)
      .toArray()
      .map(({ id, entry }) => Object.assign(JSON.parse(entry) as HistoryEntry, { id }));
  }
}
