import type { HistoryEntry } from '../../src/automation-workflows/runs/engine/history.ts';
import type { JournalEntry, Journal } from '../../src/automation-workflows/runs/engine/journal.ts';
import type { LeftWait, Progress } from '../../src/automation-workflows/runs/engine/progress.ts';
import type { Projection } from '../shared/projection.ts';
import { fallbackDelayMs } from '../shared/timers.ts';

/** Schema of a run's object. A step that has landed is never edited. */
export const runSchemaSteps = [
  `CREATE TABLE run (id INTEGER PRIMARY KEY, organization_id INTEGER NOT NULL, progress TEXT NOT NULL)`,
  `CREATE TABLE history (
     id INTEGER PRIMARY KEY, node_id TEXT NOT NULL, visit INTEGER NOT NULL, attempt INTEGER NOT NULL, status TEXT NOT NULL, entry TEXT NOT NULL
   )`,
] as const;

/** A run that has not waited yet. */
interface FirstAdvance {
  id: number;
  organizationId: number;
  progress: Progress;
  entries: HistoryEntry[];
}

/** One row: the JSON of a `FirstAdvance`. */
const firstAdvanceSchema = 'CREATE TABLE IF NOT EXISTS first_advance (run TEXT NOT NULL)';
/** In characters of JSON. A longer run gets its tables. */
const maxFirstAdvanceLength = 100_000;
const maxFirstAdvanceEntries = 500;

interface RunRow extends Record<string, SqlStorageValue> {
  id: number;
  organization_id: number;
  progress: string;
}

/**
 * A run's progress and history. Until the run waits, fails or is asked about (its first advance), they are in memory, since the run can begin
 * again from its D1 row. The intent and the result of a side effect write them, as one row, unless it comes out the same when it is taken again.
 * Then they are in tables.
 */
export class StoredJournal implements Journal {
  readonly #storage: DurableObjectStorage;
  readonly #projection: Projection;
  readonly #whenFirstAdvanceEnds: () => void;
  /** Null: the run is in tables, or there is none. Undefined: not read yet. */
  #first: FirstAdvance | null | undefined;
  #isFirstAdvanceStored = false;
  /** How many records of the first advance are stored. */
  #storedEntries = 0;

  /** `whenFirstAdvanceEnds` creates the object's tables and calls `writeTables`. */
  constructor(storage: DurableObjectStorage, projection: Projection, whenFirstAdvanceEnds: () => void) {
    this.#storage = storage;
    this.#projection = projection;
    this.#whenFirstAdvanceEnds = whenFirstAdvanceEnds;
  }

  /** Begins the first advance of a new run. Nothing is stored. */
  begin(id: number, organizationId: number, progress: Progress): void {
    this.#first = { id, organizationId, progress, entries: [] };
    this.#isFirstAdvanceStored = false;
    this.#storedEntries = 0;
  }

  /** Whether the run has not waited yet, and so has no tables. */
  isFirstAdvance(): boolean {
    return this.#firstAdvance() !== null;
  }

  isFirstAdvanceStored(): boolean {
    return this.#isFirstAdvanceStored;
  }

  /** Forgets a run in its first advance. What is stored of it is deleted with the object. */
  forget(): void {
    this.#first = null;
  }

  /** Ends the first advance: moves the run into the tables, which exist. */
  writeTables(): void {
    const first = this.#firstAdvance();
    if (!first) return;
    this.#storage.sql.exec(
      'INSERT INTO run (id, organization_id, progress) VALUES (?, ?, ?)',
      first.id,
      first.organizationId,
      JSON.stringify(first.progress),
    );
    for (const entry of first.entries) this.#writeEntry(entry);
    this.#storage.sql.exec('DROP TABLE IF EXISTS first_advance');
    this.#first = null;
  }

  #firstAdvance(): FirstAdvance | null {
    if (this.#first === undefined) {
      const { sql } = this.#storage;
      this.#isFirstAdvanceStored = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'first_advance'").toArray().length > 0;
      this.#first = this.#isFirstAdvanceStored
        ? (JSON.parse(sql.exec<{ run: string }>('SELECT run FROM first_advance').one().run) as FirstAdvance)
        : null;
      this.#storedEntries = this.#first?.entries.length ?? 0;
    }
    return this.#first;
  }

  #commitFirst(first: FirstAdvance, progress: Progress | ((recordId: number) => Progress), entry: JournalEntry | undefined): number {
    const recordId = entry ? (entry.id ?? first.entries.length + 1) : 0;
    if (entry) first.entries[recordId - 1] = { ...entry, id: recordId };
    first.progress = typeof progress === 'function' ? progress(recordId) : progress;
    const isOfSideEffect = entry !== undefined && (entry.status === 'started' || entry.id !== undefined);
    if (mustHaveTables(first)) this.#whenFirstAdvanceEnds();
    else if (isOfSideEffect) this.#storeFirst(first);
    return recordId;
  }

  #storeFirst(first: FirstAdvance): void {
    const run = JSON.stringify(first);
    if (run.length > maxFirstAdvanceLength) return this.#whenFirstAdvanceEnds();
    this.#storage.transactionSync(() => {
      const { sql } = this.#storage;
      if (this.#isFirstAdvanceStored) return void sql.exec('UPDATE first_advance SET run = ?', run);
      sql.exec(firstAdvanceSchema);
      sql.exec('INSERT INTO first_advance (run) VALUES (?)', run);
      void this.#storage.setAlarm(Date.now() + fallbackDelayMs);
    });
    this.#isFirstAdvanceStored = true;
    this.#storedEntries = first.entries.length;
  }

  unstoredEntries(): readonly HistoryEntry[] | null {
    return this.#firstAdvance()?.entries.slice(this.#storedEntries) ?? null;
  }

  identity(): { id: number; organizationId: number } {
    const first = this.#firstAdvance();
    if (first) return { id: first.id, organizationId: first.organizationId };
    const row = this.#storage.sql.exec<RunRow>('SELECT * FROM run').one();
    return { id: row.id, organizationId: row.organization_id };
  }

  progress(): Progress {
    const first = this.#firstAdvance();
    if (first) return first.progress;
    return JSON.parse(this.#storage.sql.exec<{ progress: string }>('SELECT progress FROM run').one().progress) as Progress;
  }

  commit(progress: Progress | ((recordId: number) => Progress), entry?: JournalEntry): number {
    const first = this.#firstAdvance();
    if (first) return this.#commitFirst(first, progress, entry);
    return this.#projection.change(() => {
      const recordId = entry ? this.#writeEntry(entry) : 0;
      const written = typeof progress === 'function' ? progress(recordId) : progress;
      this.#storage.sql.exec('UPDATE run SET progress = ?', JSON.stringify(written));
      return recordId;
    });
  }

  /** Changes fields of the progress that the D1 row does not show. The row's revision stays. */
  patchProgress(change: Pick<Progress, 'leftWaits' | 'leftCalls' | 'retryVersion' | 'toldEnds' | 'failing' | 'trouble'>): void {
    if (this.isFirstAdvance()) this.#whenFirstAdvanceEnds();
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
    const first = this.#firstAdvance();
    const isIt = (entry: HistoryEntry) =>
      entry.nodeId === nodeId && entry.visit === visit && entry.attempt === attempt && entry.status === 'started';
    if (first) return first.entries.find(isIt) ?? null;
    return this.#findEntry("node_id = ? AND visit = ? AND attempt = ? AND status = 'started'", nodeId, visit, attempt);
  }

  entry(id: number): HistoryEntry | null {
    const first = this.#firstAdvance();
    if (first) return first.entries[id - 1] ?? null;
    return this.#findEntry('id = ?', id);
  }

  #findEntry(where: string, ...parameters: (string | number)[]): HistoryEntry | null {
    return this.entries(`WHERE ${where} LIMIT 1`, ...parameters)[0] ?? null;
  }

  /** The history of a run in its first advance, oldest first. */
  firstEntries(): readonly HistoryEntry[] {
    return this.#firstAdvance()?.entries ?? [];
  }

  /** History records in the tables. `clause` follows the table's name in the SQL. */
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

/** Whether a run needs timers, or is too long for one row. */
function mustHaveTables({ progress, entries }: FirstAdvance): boolean {
  const isWaiting = progress.wait !== null || progress.retryAt !== null || progress.trouble !== undefined;
  return (progress.endedAt === null && isWaiting) || entries.length > maxFirstAdvanceEntries;
}
