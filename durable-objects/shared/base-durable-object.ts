import { DurableObject } from 'cloudflare:workers';
import type { Context } from '../../src/context.ts';
import { backgroundContext, OrganizationGoneError } from '../../src/accounts/organizations/background-context.ts';
import { runInvocation, isQueryBudgetSpent } from '../../src/database/query-budget.ts';
import { systemClock, type Clock } from '../../src/library/time/clock.ts';
import { Logger } from '../../src/library/platform/log.ts';
import { getSettings, type Settings } from '../../src/settings.ts';
import { Projection, projectionSchema } from './projection.ts';
import { Timers, type Timer } from './timers.ts';

/** Alarm work stops after this long, or when it has asked much of D1, and goes on in the next alarm: deploys end long handlers, and D1 refuses beyond a number of queries. */
const alarmBudgetMs = 20_000;

/** Numbered schema steps. A step that has landed is never edited; a change is a new step. */
export type SchemaSteps = readonly string[];

const timerSchema =
  'CREATE TABLE timer (kind TEXT NOT NULL, subject TEXT NOT NULL, due INTEGER NOT NULL, attempts INTEGER NOT NULL, PRIMARY KEY (kind, subject))';

/**
 * What every object with a life of its own shares: schema steps, timers behind one alarm, and repair at start.
 * The constructor creates nothing, so that a stray look-up leaves no ghost: `create` makes the tables, and an object
 * without them answers that it is gone.
 */
export abstract class BaseDurableObject extends DurableObject<Env> {
  protected abstract schemaSteps(): SchemaSteps;
  protected readonly timers: Timers;
  protected readonly projection: Projection;
  #exists: boolean | undefined;
  protected clock: Clock = systemClock;
  protected random: () => number = Math.random;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.timers = new Timers(state.storage, () => this.clock());
    this.projection = new Projection(state.storage, this.timers, () => this.clock());
    void state.blockConcurrencyWhile(async () => {
      if (!this.exists()) return;
      this.migrate();
      // An alarm that fired and died with the object is set again, and so is one that stands later than a timer set just before a crash.
      if (this.timers.earliest() !== null) await this.timers.arm();
    });
  }

  protected get settings(): Settings {
    return getSettings(this.env);
  }

  protected get log(): Logger {
    return new Logger(this.settings.LOG_LEVEL, { object: this.ctx.id.name ?? this.ctx.id.toString() });
  }

  /** The context of the object's organization. Throws `OrganizationGoneError`. */
  protected async requireContext(organizationId: number): Promise<Context> {
    const context = await this.findContext(organizationId);
    if (!context) throw new OrganizationGoneError(organizationId);
    return context;
  }

  /** The context of an organization; null: there is no such organization. */
  protected findContext(organizationId: number): Promise<Context | null> {
    return backgroundContext(this.env, organizationId, (work) => this.ctx.waitUntil(work));
  }

  /** Whether the object was made and has not gone; asked of the storage once a waking. */
  protected exists(): boolean {
    this.#exists ??= this.ctx.storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'schema_step'").toArray().length > 0;
    return this.#exists;
  }

  /** Removes everything, the alarm included: from now on the object answers that it is gone. */
  protected async destroy(): Promise<void> {
    await this.ctx.storage.deleteAll();
    this.#exists = undefined;
  }

  /** The organization is being deleted: nothing is left, whatever the object was doing. Repeatable. */
  async deleteAllData(): Promise<void> {
    if (this.exists()) await this.destroy();
  }

  /** Makes the tables of a new object. Call inside a transaction that also writes what the object is. */
  protected create(): void {
    this.#exists = undefined;
    this.ctx.storage.sql.exec('CREATE TABLE schema_step (number INTEGER PRIMARY KEY)');
    this.ctx.storage.sql.exec(timerSchema);
    this.ctx.storage.sql.exec(projectionSchema);
    this.projection.init();
    this.migrate();
  }

  private migrate(): void {
    const { sql } = this.ctx.storage;
    const done = sql.exec<{ done: number }>('SELECT coalesce(max(number), 0) AS done FROM schema_step').one().done;
    for (const [index, step] of this.schemaSteps().entries()) {
      if (index < done) continue;
      sql.exec(step);
      sql.exec('INSERT INTO schema_step (number) VALUES (?)', index + 1);
    }
  }

  /** Writes the state into the object's row in D1, unless the row has a later revision. */
  protected abstract writeProjection(revision: number): Promise<void>;

  /** Brings the row in D1 up to date. What an answer tells has been projected before. */
  protected async project(): Promise<void> {
    if (this.exists()) await this.projection.send((revision) => this.writeProjection(revision));
  }

  /** The work of one due timer. Throwing puts it off; it is done when it cleared or moved its own row. */
  protected abstract onTimer(timer: Timer): Promise<void>;

  override alarm(): Promise<void> {
    return runInvocation(() => this.#runDueTimers());
  }

  async #runDueTimers(): Promise<void> {
    if (!this.exists()) return;
    const startedAt = Date.now();
    const failed = new Set<string>();
    try {
      // Read anew each time: the work of one timer sets, moves and clears others.
      const isSpent = () => Date.now() - startedAt >= alarmBudgetMs || isQueryBudgetSpent();
      for (let timer = this.#nextDueTimer(failed); timer && !isSpent(); timer = this.#nextDueTimer(failed)) {
        try {
          await (this.projection.isTimer(timer.kind) ? this.project() : this.onTimer(timer));
          // Left as it was, it would be due again at once, for ever, and nothing else would get its turn.
          if (this.exists() && this.timers.isUnchanged(timer)) throw new Error('the work of a timer neither moved nor cleared it');
        } catch (error) {
          // It was made or woken while its organization was taken away, and no row leads to it any more.
          if (error instanceof OrganizationGoneError) return void (await this.deleteAllData());
          this.log.error('timer failed', error, { kind: timer.kind, attempts: timer.attempts });
          failed.add(timer.kind + timer.subject);
          if (this.exists()) this.timers.reschedule(timer, this.random);
        }
      }
    } finally {
      if (this.exists()) await this.timers.arm();
    }
  }

  #nextDueTimer(failed: Set<string>): Timer | undefined {
    if (!this.exists()) return undefined;
    return this.timers.due(this.clock()).find((timer) => !failed.has(timer.kind + timer.subject));
  }
}
