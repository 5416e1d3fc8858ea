import type { HistoryEntry } from '../../src/automation-workflows/runs/engine/history.ts';
import type { JournalEntry, Journal } from '../../src/automation-workflows/runs/engine/journal.ts';
import type { LeftWait, Progress } from '../../src/automation-workflows/runs/engine/progress.ts';
import type { Projection } from '../shared/projection.ts';

/** Schema of a run's object. A step that has landed is never edited. */
export const runSchemaSteps = [
  `CREATE TABLE run (id INTEGER PRIMARY KEY, organization_id INTEGER NOT NULL, progress TEXT NOT NULL)`,
  `CREATE TABLE history (
     id INTEGER PRIMARY KEY, node_id TEXT NOT NULL, visit INTEGER NOT NULL, attempt INTEGER NOT NULL, status TEXT NOT NULL, entry TEXT NOT NULL
   )`,
] as const;

interface RunRow extends Record<string, SqlStorageValue> {
  id: number;
  organization_id: number;
  progress: string;
}

/** A run's progress and history in its object's SQLite. */
export class StoredJournal implements Journal {
  readonly #storage: DurableObjectStorage;
  readonly #projection: Projection;

  constructor(storage: DurableObjectStorage, projection: Projection) {
    this.#storage = storage;
    this.#projection = projection;
  }

  init(id: number, organizationId: number, progress: Progress): void {
    this.#storage.sql.exec(
      'INSERT INTO run (id, organization_id, progress) VALUES (?, ?, ?)',
      id,
      organizationId,
      JSON.stringify(progress),
    );
  }

  identity(): { id: number; organizationId: number } {
    const row = this.#storage.sql.exec<RunRow>('SELECT * FROM run').one();
    return { id: row.id, organizationId: row.organization_id };
  }

  progress(): Progress {
    return JSON.parse(this.#storage.sql.exec<{ progress: string }>('SELECT progress FROM run').one().progress) as Progress;
  }

  commit(progress: Progress | ((recordId: number) => Progress), entry?: JournalEntry): number {
    return this.#projection.change(() => {
      const recordId = entry ? this.#writeEntry(entry) : 0;
      const written = typeof progress === 'function' ? progress(recordId) : progress;
      this.#storage.sql.exec('UPDATE run SET progress = ?', JSON.stringify(written));
      return recordId;
    });
  }

  /** Changes fields of the progress that the D1 row does not show. The row's revision stays. */
  patchProgress(change: Pick<Progress, 'leftWaits' | 'leftCalls' | 'retryVersion' | 'toldEnds' | 'failing' | 'trouble'>): void {
    this.#storage.sql.exec('UPDATE run SET progress = ?', JSON.stringify({ ...this.progress(), ...change }));
  }

  /** Forgets waits whose rows in `run_waiter` are deleted. */
  removeLeftWaits(left: LeftWait[]): void {
    if (!left.length) return;
    const gone = new Set(left.map(({ waitId }) => waitId));
    this.patchProgress({ leftWaits: (this.progress().leftWaits ?? []).filter(({ waitId }) => !gone.has(waitId)) });
  }

  #writeEntry(entry: JournalEntry): number {
    return this.#storage.sql
      .exec<{ id: number }>(
        `INSERT INTO history (id, node_id, visit, attempt, status, entry) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET status = excluded.status, entry = excluded.entry RETURNING id`,
        entry.id ?? null,
        entry.nodeId,
        entry.visit,
        entry.attempt,
        entry.status,
        JSON.stringify({ ...entry, id: undefined }),
      )
      .one().id;
  }

  unfinishedEntry(nodeId: string, visit: number, attempt: number): HistoryEntry | null {
    return this.#findEntry("node_id = ? AND visit = ? AND attempt = ? AND status = 'started'", nodeId, visit, attempt);
  }

  entry(id: number): HistoryEntry | null {
    return this.#findEntry('id = ?', id);
  }

  #findEntry(where: string, ...parameters: (string | number)[]): HistoryEntry | null {
    return this.entries(`WHERE ${where} LIMIT 1`, ...parameters)[0] ?? null;
  }

  /** History records. `clause` follows the table's name in the SQL. */
  entries(clause = '', ...parameters: (string | number)[]): HistoryEntry[] {
    return this.#storage.sql
      .exec<{ id: number; entry: string }>(`SELECT id, entry FROM history ${clause}`, ...parameters)
      .toArray()
      .map(({ id, entry }) => Object.assign(JSON.parse(entry) as HistoryEntry, { id }));
  }

  count(): number {
    return this.#storage.sql.exec<{ total: number }>('SELECT count(*) AS total FROM history').one().total;
  }
}
