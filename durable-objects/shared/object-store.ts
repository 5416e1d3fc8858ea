import type { Revisions } from './projection.ts';
import { projectionSchema, RevisionTable } from './revision-table.ts';
import type { AlarmDelay, Timers } from './timers.ts';
import { timerSchema, TimerTable } from './timer-table.ts';

/** What the base of all objects keeps: whether the object exists, its timers, and the revisions of its D1 row. */
export interface ObjectStore {
  readonly timers: Timers;
  readonly revisions: Revisions;
  /** Whether the object was created and not destroyed. Read from storage once after each load. */
  exists(): boolean;
  create(): void;
  /** Brings the storage of an object of an earlier version up to date. */
  migrate(): void;
  /** Forgets what is in memory, because the storage is deleted. */
  forget(): void;
}

/** Numbered schema steps. A step that has landed is never edited; a change is a new step. */
export type SchemaSteps = readonly string[];

export interface ObjectSchema {
  steps: SchemaSteps;
  /**
   * The tables of a new object, as the steps would leave them: for objects that live so briefly that tables cost more than rows. Such an
   * object has no projection. Without it, the steps make the tables.
   */
  newObject?: string;
}

/** An object in tables of its own, made by numbered steps. */
export class TableStore implements ObjectStore {
  readonly timers: Timers;
  readonly revisions: RevisionTable;
  readonly #storage: DurableObjectStorage;
  readonly #schema: ObjectSchema;
  #exists: boolean | undefined;

  constructor(storage: DurableObjectStorage, schema: ObjectSchema, alarmDelay: AlarmDelay) {
    this.#storage = storage;
    this.#schema = schema;
    this.timers = new TimerTable(storage, alarmDelay);
    this.revisions = new RevisionTable(storage);
  }

  exists(): boolean {
    this.#exists ??= this.#storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'schema_step'").toArray().length > 0;
    return this.#exists;
  }

  /** Makes the tables of a new object. Call it in the transaction that writes the object's first rows. */
  create(): void {
    this.#exists = undefined;
    const { sql } = this.#storage;
    const { steps, newObject } = this.#schema;
    sql.exec('CREATE TABLE schema_step (number INTEGER PRIMARY KEY)');
    sql.exec(timerSchema);
    if (newObject !== undefined) {
      sql.exec(newObject);
      sql.exec('INSERT INTO schema_step (number) VALUES (?)', steps.length);
      return;
    }
    sql.exec(projectionSchema);
    this.revisions.init();
    this.migrate();
  }

  migrate(): void {
    const { sql } = this.#storage;
    const done = sql.exec<{ done: number }>('SELECT coalesce(max(number), 0) AS done FROM schema_step').one().done;
    const { steps } = this.#schema;
    if (done >= steps.length) return;
    this.#storage.transactionSync(() => {
      for (const step of steps.slice(done)) sql.exec(step);
      sql.exec('INSERT INTO schema_step (number) VALUES (?)', steps.length);
    });
  }

  forget(): void {
    this.#exists = undefined;
  }
}
