import { DurableObject } from 'cloudflare:workers';
import type { Context } from '../../src/context.ts';
import { backgroundContext, OrganizationGoneError } from '../../src/accounts/organizations/background-context.ts';
import { runInvocation, isQueryBudgetSpent } from '../../src/database/query-budget.ts';
import { systemClock, type Clock } from '../../src/library/time/clock.ts';
import { Logger } from '../../src/library/platform/log.ts';
import { getSettings, type Settings } from '../../src/settings.ts';
import type { ObjectStore } from './object-store.ts';
import { Projection } from './projection.ts';
import type { AlarmDelay, Timer, Timers } from './timers.ts';

/**
 * An alarm works for this long, or until its budget of D1 queries is spent; the next alarm continues. Deploys end long handlers, and D1
 * bounds the queries of an invocation.
 */
const alarmBudgetMs = 20_000;

/**
 * The base of all Durable Objects with state: schema steps, timers behind one alarm, and repair after a crash.
 * The constructor creates no tables, so that looking up an object that was never created leaves nothing behind. `create` makes the tables;
 * an object without tables does not exist.
 */
export abstract class BaseDurableObject<Store extends ObjectStore = ObjectStore> extends DurableObject<Env> {
  protected readonly objectStore: Store;
  protected readonly timers: Timers;
  protected readonly projection: Projection;
  protected clock: Clock = systemClock;
  protected random: () => number = Math.random;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.objectStore = this.openStore(state.storage, (due) => this.alarmDelay(due));
    this.timers = this.objectStore.timers;
    this.projection = new Projection(this.objectStore.revisions, this.timers, () => this.clock());
    void state.blockConcurrencyWhile(async () => {
      if (!this.exists()) return;
      this.objectStore.migrate();
      // The alarm may have fired and been lost with the object, or a timer may have been set just before a crash.
      if (this.timers.earliest() !== null) await this.timers.arm();
    });
  }

  /** Opens the object's storage. Called before the fields of a subclass are there. */
  protected abstract openStore(storage: DurableObjectStorage, alarmDelay: AlarmDelay): Store;

  /** How many ms after a timer is due the alarm fires. The same for the same timer, until that is near. */
  protected alarmDelay(_due: number): number {
    return 0;
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

  /** Whether the object was created and not destroyed. Read from storage once after each load. */
  protected exists(): boolean {
    return this.objectStore.exists();
  }

  /** Deletes all storage and the alarm. From now on the object does not exist. */
  protected async destroy(): Promise<void> {
    // Before, so that nothing in memory is stored again; and after, so that the storage is read anew.
    this.objectStore.forget();
    await this.ctx.storage.deleteAll();
    this.objectStore.forget();
  }

  /** Deletes the object's data because its organization is being deleted. Repeatable. */
  async deleteAllData(): Promise<void> {
    if (this.exists()) await this.destroy();
  }

  /** Makes the storage of a new object. Call it in the transaction that writes the object's first rows. */
  protected create(): void {
    this.objectStore.create();
  }

  /** Writes the state into the object's D1 row, unless the row has a higher revision. */
  protected abstract writeProjection(revision: number): Promise<void>;

  /** The kinds of timers whose work ends with a projection. */
  protected readonly kindsThatProject: readonly string[] = [];

  /** Brings the D1 row up to date. Call it before an answer that shows the state. */
  protected async project(): Promise<void> {
    if (this.exists()) await this.projection.send((revision) => this.writeProjection(revision), this.kindsThatProject);
  }

  /** Does the work of one due timer, and clears or moves that timer. A timer whose work throws is tried again with backoff. */
  protected abstract onTimer(timer: Timer): Promise<void>;

  override alarm(): Promise<void> {
    return runInvocation(() => this.#runDueTimers());
  }

  async #runDueTimers(): Promise<void> {
    if (!this.exists()) return;
    const startedAt = Date.now();
    const failed = new Set<string>();
    try {
      // Read again each time: the work of one timer sets, moves and clears others.
      const isSpent = () => Date.now() - startedAt >= alarmBudgetMs || isQueryBudgetSpent();
      for (let timer = this.#nextDueTimer(failed); timer && !isSpent(); timer = this.#nextDueTimer(failed)) {
        try {
          await (this.projection.isTimer(timer.kind) ? this.project() : this.onTimer(timer));
          // An unchanged timer would be due again at once, forever, and keep out the others.
          if (this.exists() && this.timers.isUnchanged(timer)) throw new Error('the work of a timer neither moved nor cleared it');
        } catch (error) {
          // The object was created or woken while its organization was being deleted. No row refers to it any more.
          if (error instanceof OrganizationGoneError) return void (await this.deleteAllData());
          this.log.error('timer failed', error, { kind: timer.kind, attempts: timer.attempts });
          failed.add(timer.kind + timer.subject);
          if (this.exists()) this.timers.reschedule(timer, this.clock(), this.random);
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
