import { conflict } from '../../src/library/errors.ts';
import { publish } from '../../src/outbox/published-events.ts';
import type { SessionReport } from '../../src/simtest/contract.ts';
import { endSilentSessions, readLoadTestFacts, projectLoadTest, stopPendingSessions } from '../../src/simtest/load-tests/object-store.ts';
import { computeStatistics, type LiveStatistics, type LoadTestStatistics } from '../../src/simtest/load-tests/statistics.ts';
import { allowedConcurrency, nextIncreaseAt } from '../../src/simtest/load-tests/ramp.ts';
import type { LoadTestRpc } from '../../src/simtest/load-tests/rpc.ts';
import { callTestSessionObject, type TestSessionRpc } from '../../src/simtest/sessions/rpc.ts';
import { BaseDurableObject } from '../shared/base-durable-object.ts';
import { TableStore } from '../shared/object-store.ts';
import { type AlarmDelay, fallbackDelayMs, type Timer } from '../shared/timers.ts';
import { loadTestSchemaSteps, LoadTestStore, type LoadTest, type SessionReference } from './load-test-store.ts';

/** How often sessions are stopped again that were stopped and have not reported their end. */
const stopIntervalMs = 5000;
const watchIntervalMs = 60_000;
/** The time for the conclusion and the checks after a conversation of maximum length. */
const maxSilenceMs = 120_000;

/**
 * One load test: starts its sessions and counts their results. `LoadTestRpc` documents the methods.
 *
 * Timers: `start` (starts sessions), `stop` (stops running sessions), `watch` (checks sessions that have been silent for long), `finish` (writes the
 * final statistics and deletes the object).
 */
export class LoadTestObject extends BaseDurableObject implements LoadTestRpc {
  readonly #store = new LoadTestStore(this.ctx.storage.sql);

  protected openStore(storage: DurableObjectStorage, alarmDelay: AlarmDelay) {
    return new TableStore(storage, { steps: loadTestSchemaSteps }, alarmDelay);
  }

  async begin(organizationId: number, loadTestId: number): Promise<void> {
    if (!this.exists()) {
      const context = await this.findContext(organizationId);
      const facts = context && (await readLoadTestFacts(context.database, organizationId, loadTestId));
      // Another call may have made the object during the awaits.
      if (facts?.status === 'running' && !this.exists())
        this.ctx.storage.transactionSync(() => {
          const now = this.clock();
          this.create();
          this.#store.init(facts, now);
          this.timers.set('start', now);
          this.timers.set('watch', now + watchIntervalMs);
          this.timers.set('project', now);
        });
    }
    if (this.exists()) await this.timers.arm();
  }

  async sessionEnded(report: SessionReport): Promise<void> {
    if (!this.exists()) return;
    if (this.#store.recordEnd(report, this.clock())) this.#continue();
    await this.timers.arm();
  }

  async statistics(): Promise<LiveStatistics | null> {
    if (!this.exists()) return null;
    const counted = this.#store.countedSessions();
    return { statistics: computeStatistics(this.#store.read(), counted, this.clock()), statuses: counted.map(({ status }) => status) };
  }

  async stop(act: string): Promise<void> {
    if (!this.exists()) throw conflict('The load test has ended; only a running one can be stopped');
    const { status, lastAct } = this.#store.read();
    if (lastAct !== act) {
      if (status !== 'running') throw conflict(`The load test is ${status}; only a running one can be stopped`);
      this.#change(() => {
        this.#store.stop(act);
        this.timers.clear('start');
        this.timers.set('stop', this.clock() + fallbackDelayMs);
      });
    }
    await this.timers.arm();
    await this.project();
    // The `stop` timer repeats what fails.
    await this.#stopSessions().catch((error: unknown) => this.log.warn('not all sessions were stopped at once', { error: String(error) }));
    if (this.exists()) await this.timers.arm();
  }

  async wakeStalled(organizationId: number, loadTestId: number): Promise<void> {
    if (!this.exists()) return this.begin(organizationId, loadTestId);
    this.#change(() => {
      const now = this.clock();
      const { status, completedAt } = this.#store.read();
      if (completedAt !== null) return this.timers.set('finish', now);
      this.timers.set('watch', now);
      this.timers.set(status === 'running' ? 'start' : 'stop', now);
    });
    await this.timers.arm();
  }

  protected async onTimer(timer: Timer): Promise<void> {
    switch (timer.kind) {
      case 'start':
        return this.#start(timer);
      case 'stop':
        return this.#stopSessions();
      case 'watch':
        return this.#watch();
      default:
        return this.#finish();
    }
  }

  /** Starts as many sessions as may run. Sessions that were chosen before and have not answered are started again. */
  async #start(timer: Timer): Promise<void> {
    const load = this.#store.read();
    const starting = this.ctx.storage.transactionSync(() => {
      const capacity = this.#freeCapacity(load);
      if (capacity > 0) this.#store.markStarting(capacity, this.clock());
      return this.#store.findStarting();
    });
    const results = await Promise.allSettled(starting.map((session) => this.#startSession(load, session)));
    const failure = results.find((one) => one.status === 'rejected');
    if (failure) throw failure.reason;
    this.#scheduleStart(timer.due + 1);
  }

  async #startSession({ id, organizationId }: LoadTest, session: SessionReference): Promise<void> {
    await callTestSessionObject(this.env, organizationId, session.id, (object) =>
      object.startInLoadTest(organizationId, session.id, `load test ${id}`),
    );
    this.#store.markRunning(session.testIndex);
  }

  #freeCapacity(load: LoadTest): number {
    return Math.max(0, allowedConcurrency(load, this.clock() - load.startedAt) - this.#store.runningCount());
  }

  /** Sets the `start` timer. A load test at its maximum has none: an ended session, or the next step of the ramp, wakes it. */
  #scheduleStart(earliest: number): void {
    const load = this.#store.read();
    const now = this.clock();
    const isDone = load.status !== 'running' || !this.#store.hasPending();
    const step = nextIncreaseAt(load, now - load.startedAt);
    if (!isDone && this.#freeCapacity(load) > 0) this.timers.set('start', Math.max(now, earliest));
    else if (!isDone && step !== null) this.timers.set('start', load.startedAt + step);
    else this.timers.clear('start');
  }

  /** Completes the load test, or schedules the next start. Runs in the same transaction as the write of a session's end. */
  #continue(): void {
    const now = this.clock();
    if (this.#store.haveAllEnded()) {
      this.#change(() => {
        this.#store.complete(now);
        for (const kind of ['start', 'stop']) this.timers.clear(kind);
        this.timers.set('finish', now);
      });
    } else if (this.#store.read().status === 'running' && this.#store.hasPending()) this.timers.set('start', now);
  }

  /** Ends pending sessions and stops running ones, again and again until all have reported their end. */
  async #stopSessions(): Promise<void> {
    if (!this.exists()) return;
    const { id, organizationId, lastAct } = this.#store.read();
    const { database } = await this.requireContext(organizationId);
    const unstarted = await stopPendingSessions(database, organizationId, id, this.clock());
    // The load test may have ended meanwhile, and its object may have gone.
    if (!this.exists() || this.#store.read().completedAt !== null) return;
    this.#store.endUnstarted(unstarted, this.clock());
    this.timers.set('stop', this.clock() + stopIntervalMs);
    this.#continue();
    // A session that has just ended, or is about to start, refuses: it reports its end, or is stopped the next time.
    await this.#callEach(this.#store.findStarted(), async (object, sessionId) => {
      if (!(await object.snapshot())) await object.wakeStalled(organizationId, sessionId);
      await object.stop(lastAct);
    });
  }

  /**
   * Checks the sessions that should have reported their end: wakes their objects and reads the ends from their rows. A session that never started
   * fails.
   */
  async #watch(): Promise<void> {
    const { id, organizationId, maxDurationSeconds } = this.#store.read();
    const silent = this.#store.findStartedBefore(this.clock() - maxDurationSeconds * 1000 - maxSilenceMs);
    if (silent.length > 0) {
      this.log.warn('sessions of a load test are silent', { sessions: silent.length });
      await this.#callEach(silent, (object, sessionId) => object.wakeStalled(organizationId, sessionId));
      const { database } = await this.requireContext(organizationId);
      for (const report of await endSilentSessions(
        database,
        organizationId,
        id,
        silent.map(({ testIndex }) => testIndex),
        this.clock(),
      ))
        await this.sessionEnded(report);
    }
    this.#change(() => this.timers.set('watch', this.clock() + watchIntervalMs));
  }

  async #callEach(sessions: SessionReference[], call: (object: TestSessionRpc, sessionId: number) => Promise<unknown>): Promise<void> {
    const { organizationId } = this.#store.read();
    await Promise.allSettled(sessions.map(({ id }) => callTestSessionObject(this.env, organizationId, id, (object) => call(object, id))));
  }

  async #finish(): Promise<void> {
    await this.project();
    await this.destroy();
  }

  /** Runs a transaction that changes what the row shows. The row follows soon. */
  #change<Result>(transaction: () => Result): Result {
    return this.projection.change(() => {
      this.timers.ensure('project', this.clock());
      return transaction();
    });
  }

  protected async writeProjection(revision: number): Promise<void> {
    const { id, organizationId, status, completedAt } = this.#store.read();
    const context = await this.requireContext(organizationId);
    const statistics = completedAt === null ? null : this.#statistics(completedAt);
    const wakeAt = completedAt === null ? this.clock() + watchIntervalMs : null;
    await projectLoadTest(context.database, organizationId, id, { status, statistics, completedAt, wakeAt, revision });
    if (completedAt !== null) await publish(context, 'webhook_event.recorded', { type: 'load_test.completed' });
  }

  #statistics(now: number): LoadTestStatistics {
    return computeStatistics(this.#store.read(), this.#store.countedSessions(), now);
  }
}
