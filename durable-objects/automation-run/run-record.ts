import type { Progress } from '../../src/automation-workflows/runs/engine/progress.ts';
import type { ObjectStore } from '../shared/object-store.ts';
import type { Revisions } from '../shared/projection.ts';
import type { AlarmDelay } from '../shared/timers.ts';
import { adoptEarlierForm } from './earlier-forms.ts';
import { HistoryTable } from './history-table.ts';
import { RecordTimers } from './record-timers.ts';
import type { RunDocument } from './run-document.ts';

const recordSchema = 'CREATE TABLE IF NOT EXISTS run_record (record TEXT NOT NULL)';
/** In characters of JSON. A longer record gives its history to the table. */
const maxRecordLength = 32_000;

/** The stored state of a run. Changes are made in memory and stored by `flush`, as one row. */
export class RunRecord implements ObjectStore {
  readonly timers: RecordTimers;
  readonly revisions: Revisions;
  readonly history: HistoryTable;
  readonly #storage: DurableObjectStorage;
  /** Null: there is no run. Undefined: not read yet. */
  #document: RunDocument | null | undefined;
  #isStored = false;
  #hasChanged = false;

  constructor(storage: DurableObjectStorage, alarmDelay: AlarmDelay) {
    this.#storage = storage;
    this.history = new HistoryTable(storage);
    this.timers = new RecordTimers(storage, this, alarmDelay);
    this.revisions = this.#openRevisions();
  }

  /** The run; null: there is none. Read from storage once after each load. */
  find(): Readonly<RunDocument> | null {
    if (this.#document === undefined) this.#document = this.#read();
    return this.#document;
  }

  /** The run, which exists. */
  get(): Readonly<RunDocument> {
    const document = this.find();
    if (!document) throw new Error('the object has no run');
    return document;
  }

  /** Whether the run has left its first advance. */
  exists(): boolean {
    const document = this.find();
    return document !== null && !document.isFirstAdvance;
  }

  isStored(): boolean {
    return this.find() !== null && this.#isStored;
  }

  /** Begins a run, in memory only. */
  begin(id: number, organizationId: number, progress: Progress): void {
    this.#document = {
      id,
      organizationId,
      progress,
      entries: [],
      movedEntries: 0,
      isFirstAdvance: true,
      timers: [],
      revision: 1,
      projected: 0,
    };
    this.#isStored = false;
    this.#hasChanged = true;
  }

  /** Ends the first advance. */
  create(): void {
    this.change({ isFirstAdvance: undefined });
  }

  migrate(): void {}

  change(change: Partial<RunDocument>): void {
    Object.assign(this.get(), change);
    this.#hasChanged = true;
  }

  /** Stores what has changed. */
  flush(): void {
    const document = this.#document;
    if (!document || !this.#hasChanged) return;
    const whole = JSON.stringify(document);
    const isLong = whole.length > maxRecordLength && document.entries.length > 0 && !document.isFirstAdvance;
    const { entries, movedEntries } = document;
    const kept = isLong ? { entries: [], movedEntries: movedEntries + entries.length } : { entries, movedEntries };
    const text = isLong ? JSON.stringify({ ...document, ...kept }) : whole;
    this.#storage.transactionSync(() => {
      if (isLong) this.history.write(entries);
      const { sql } = this.#storage;
      if (!this.#isStored) sql.exec(recordSchema);
      sql.exec(this.#isStored ? 'UPDATE run_record SET record = ?' : 'INSERT INTO run_record (record) VALUES (?)', text);
    });
    // After the transaction: when it fails, nothing has moved.
    Object.assign(document, kept);
    this.#isStored = true;
    this.#hasChanged = false;
  }

  forget(): void {
    this.#document = undefined;
    this.#hasChanged = false;
  }

  #read(): RunDocument | null {
    const { sql } = this.#storage;
    const tables = sql
      .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE name IN ('run_record', 'first_advance', 'schema_step')")
      .toArray()
      .map(({ name }) => name);
    this.#isStored = tables.includes('run_record');
    if (this.#isStored) return JSON.parse(sql.exec<{ record: string }>('SELECT record FROM run_record').one().record) as RunDocument;
    if (tables.length === 0) return null;
    this.#storage.transactionSync(() => {
      this.#document = adoptEarlierForm(sql, tables.includes('first_advance') ? 'first_advance' : 'tables');
      this.#hasChanged = true;
      this.flush();
    });
    return this.#document ?? null;
  }

  #openRevisions(): Revisions {
    return {
      read: () => this.get(),
      raise: () => this.change({ revision: this.get().revision + 1 }),
      markProjected: (revision) => {
        if (revision > this.get().projected) this.change({ projected: revision });
      },
      transaction: (write) => write(),
      flush: () => this.flush(),
    };
  }
}
