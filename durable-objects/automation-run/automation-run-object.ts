import type { Context } from '../../src/accounts/context.ts';
import { backgroundContext, OrganizationGoneError } from '../../src/accounts/organizations.ts';
import { admitHeld } from '../../src/automation-workflows/runs/admit.ts';
import { announceRunEnded } from '../../src/automation-workflows/runs/announce-ended.ts';
import { exitBeforeStart } from '../../src/automation-workflows/runs/exit-at-start.ts';
import { archiveHistory, historyRecord } from '../../src/automation-workflows/runs/history.ts';
import { advance } from '../../src/automation-workflows/runs/interpreter.ts';
import { withdrawJourneyCall } from '../../src/automation-workflows/runs/journey-call.ts';
import { deadlineOf, loadRunFacts, type LoadedRun } from '../../src/automation-workflows/runs/load-run.ts';
import { begin, cutShort, end, wakeAt, type Progress } from '../../src/automation-workflows/runs/progress.ts';
import { projectProgress } from '../../src/automation-workflows/runs/project.ts';
import { liveRun, type LiveRun } from '../../src/automation-workflows/runs/records.ts';
import { resume, type RetryAnswer } from '../../src/automation-workflows/runs/resume.ts';
import { reviveRun } from '../../src/automation-workflows/runs/revive-store.ts';
import type { OuterEnding } from '../../src/automation-workflows/runs/stop.ts';
import type { OfferedEvent, Surroundings } from '../../src/automation-workflows/runs/surroundings.ts';
import { liveSurroundings } from '../../src/automation-workflows/runs/live-surroundings.ts';
import { tellRunOrNote } from '../../src/automation-workflows/runs/tell-run.ts';
import { metTrouble, waitingRecord } from '../../src/automation-workflows/runs/wait-out.ts';
import { offer, release, type Offer } from '../../src/automation-workflows/runs/wake.ts';
import { isLive, type HistoryRecord } from '../../src/automation-workflows/schemas.ts';
import { cannotGoOn } from '../../src/automation-workflows/runs/cannot-go-on.ts';
import { isQueryBudgetSpent } from '../../src/database/invocation.ts';
import { PayloadGoneError } from '../../src/database/payload.ts';
import { troubleOf } from '../../src/library/platform-trouble.ts';
import { isRecord } from '../../src/library/json.ts';
import { LivingObject } from '../shared/living-object.ts';
import type { Timer } from '../shared/timers.ts';
import { runSchemaSteps, StoredJournal } from './journal.ts';

/** A burst of steps yields after this long, so that stop and history are answered in between; or when it has asked much of D1. */
const burstMs = 5000;
/** A shorter sleep is not worth reading the run again. */
const forgottenAfterMs = 500;
/** A retry that died on its way is gone through with after this. */
const retryAgainMs = 30_000;
const failedKeptMs = 30 * 86_400_000;

export type StartAnswer = 'started' | 'running' | 'ended' | 'unknown';

/**
 * One run of a journey, named `{organization_id}/{run_id}`. It is started by its D1 row, walks on alarms, projects its state
 * into that row, and deletes itself once the row says how it ended and the history is in R2.
 * Timers: `advance` (the next step or the end of a sleep), `withdraw` (calls that it has gone on without), `retry` (a person's retry
 * that is under way) and `finish` (what follows an end).
 */
export class AutomationRunObject extends LivingObject {
  readonly #journal = new StoredJournal(this.ctx.storage, this.projection);
  #loaded: LoadedRun | null = null;
  /** How many runs of the workflow waited for their turn when the row was last written; null: not known. */
  #heldRuns: number | null = null;

  protected schemaSteps() {
    return runSchemaSteps;
  }

  /** Starts the run, or makes sure that it goes on. Repeatable; a run whose row says that it ended is never begun again. */
  async start(organizationId: number, runId: number): Promise<StartAnswer> {
    if (!this.exists()) {
      const context = await this.#context(organizationId);
      const loaded = context && (await loadRunFacts(context, runId));
      if (!loaded) return 'unknown';
      if (!isLive(loaded.row.state)) return 'ended';
      // Another call may have made the object during the await.
      if (!this.exists()) {
        this.#loaded = loaded;
        this.ctx.storage.transactionSync(() => {
          this.create();
          this.#journal.init(runId, organizationId, begin(loaded.graph, this.clock(), loaded.origin.event?.id ?? null));
          this.timers.set('advance', this.clock());
        });
        await this.timers.arm();
        return 'started';
      }
    }
    await this.timers.arm();
    return isLive(this.#journal.progress().state) ? 'running' : 'ended';
  }

  /** The run as it is now, projected before it is told; null when the object is gone and D1 has the last word. */
  async snapshot(): Promise<LiveRun | null> {
    if (!this.exists()) return null;
    await this.project();
    return this.exists() ? liveRun(this.#journal.progress(), this.clock()) : null;
  }

  /** Whether the run has ended, with its row brought up to date. False when there is no object. */
  async hasEnded(): Promise<boolean> {
    if (!this.exists()) return false;
    await this.project();
    return !this.exists() || !isLive(this.#journal.progress().state);
  }

  /** A page of the history, oldest first; null when the object is gone and R2 has it. */
  history(page: { limit: number; offset: number }): { records: HistoryRecord[]; total: number } | null {
    if (!this.exists()) return null;
    const entries = this.#journal.entries('ORDER BY id LIMIT ? OFFSET ?', page.limit, page.offset);
    return { records: entries.map(historyRecord), total: this.#journal.count() };
  }

  /**
   * Ends the run from any live state. False when it had ended already; true again for the same `request`, whose first answer was lost.
   */
  async stop(ending: OuterEnding, request: string, why?: string): Promise<boolean> {
    if (!this.exists()) return false;
    const progress = this.#journal.progress();
    if (!isLive(progress.state)) return this.#repeatedStop(progress, request);
    const now = this.clock();
    const sleeping = waitingRecord(this.#journal, progress);
    const error = ending.error ? { ...ending.error, node_id: progress.nodeId } : null;
    const cut = sleeping && { ...sleeping, status: 'skipped' as const, completedAt: now, output: withReason(sleeping.output, why) };
    this.#journal.commit({ ...cutShort(progress, { ...ending, error }, now), stoppedBy: request }, cut ?? undefined);
    this.timers.clear('advance');
    this.timers.set('finish', now);
    // Before the projection, which may die: what follows the end must not wait for the alarm of the sleep that is cut short.
    await this.timers.arm();
    await this.project();
    return true;
  }

  async #repeatedStop(progress: Progress, request: string): Promise<boolean> {
    if (progress.stoppedBy !== request) return false;
    await this.project();
    return true;
  }

  /** Offers an event (JSON of an OfferedEvent) to a run that sleeps for one at the record `waitId`. */
  async offerEvent(json: string, waitId: number): Promise<Offer> {
    if (!this.exists()) return 'stale';
    const answer = await offer(this.#journal, JSON.parse(json) as OfferedEvent, waitId, (await this.#surroundings()).run);
    if (answer === 'taken') await this.#goOn();
    return answer;
  }

  /** Says that the run which this one may be waiting for has ended; it looks for itself. */
  async childEnded(runId: number): Promise<void> {
    await this.#lookAgain('run', runId);
  }

  /** Says that the call which this run may be waiting for is settled: ended with its talk, or given back. It looks for itself. */
  async callSettled(callRunId: number): Promise<void> {
    await this.#lookAgain('call', callRunId);
  }

  async #lookAgain(kind: 'run' | 'call', runId: number): Promise<void> {
    if (!this.exists()) return;
    const progress = this.#journal.progress();
    const { wait } = progress;
    if (wait?.kind !== kind || wait.runId !== runId) return;
    this.#journal.commit({ ...progress, wait: { ...wait, pokes: wait.pokes + 1 } });
    await this.#goOn();
  }

  /** Has a run that was held while its workflow was paused take the step that was held. False when there is no such object. */
  async release(): Promise<boolean> {
    if (!this.exists()) return false;
    const progress = this.#journal.progress();
    if (progress.wait?.kind === 'paused') {
      release(this.#journal, progress, progress.wait, this.clock());
      await this.#goOn();
    }
    await this.project();
    return true;
  }

  /** The person is gone, and an ended run's object goes with what it knows of them. `busy`: the run lives, or what follows its end is under way. */
  async erase(): Promise<'gone' | 'busy'> {
    if (!this.exists()) return 'gone';
    await this.project();
    if (!this.exists()) return 'gone';
    const { state, toldEnds = 0, retries = 0, leftCalls = [] } = this.#journal.progress();
    const isSettled = !isLive(state) && toldEnds > retries && leftCalls.length === 0;
    // A failed run that is only kept has its next timer in days; history under way to R2 would come back after its erasure.
    if (!isSettled || (this.timers.earliest() ?? Infinity) <= this.clock()) return 'busy';
    await this.vanish();
    return 'gone';
  }

  /** Has a failed run go on from the node where it failed, on the given version of its workflow. Repeatable. */
  async retry(version: number): Promise<RetryAnswer> {
    if (!this.exists()) return { refused: 'gone', state: null };
    await this.project();
    const { state, retryVersion } = this.#journal.progress();
    if (state !== 'failed') return { refused: 'state', state };
    // Of several at once the first is the one; the others find it under way.
    if (retryVersion !== undefined) return { refused: 'state', state: 'running' };
    this.ctx.storage.transactionSync(() => {
      this.#journal.keep({ retryVersion: version });
      this.timers.set('retry', this.clock() + retryAgainMs);
    });
    return this.#retry();
  }

  protected async onTimer(timer: Timer): Promise<void> {
    if (timer.kind === 'retry') await this.#retry();
    else if (timer.kind === 'advance') await this.#advance().catch((error: unknown) => this.#cannotGoOn(error));
    else if (timer.kind === 'withdraw') await this.#withdraw();
    else await this.#finish();
  }

  async #goOn(): Promise<void> {
    this.timers.set('advance', this.clock());
    await this.timers.arm();
  }

  async #advance(): Promise<void> {
    const next = await this.#walk().catch((error: unknown) => this.#waitOut(error));
    if (next === null) return;
    await this.project();
    // A sleeping run holds no memory, and wakes with the settings of then.
    if (next - this.clock() > forgottenAfterMs) this.#loaded = null;
  }

  /** Trouble met before a step could be taken, or while what a sleep waits for was looked up, is waited out as that of a step is. */
  #waitOut(error: unknown): null {
    if (troubleOf(error) === null || !this.exists()) throw error;
    const trouble = metTrouble(this.#journal.progress(), error, { now: this.clock(), random: this.random });
    this.log.error('a run waits for the platform', error, { tries: trouble.tries });
    this.#journal.keep({ trouble });
    this.timers.set('advance', trouble.nextTryAt);
    return null;
  }

  /** Takes steps, and sets the timer of the next one; answers when (epoch ms) that is, null for a run that has ended. */
  async #walk(): Promise<number | null> {
    const { context, loaded, run } = await this.#surroundings();
    const startedAt = Date.now();
    await this.#exitIfDue(context, loaded);
    await advance(this.#journal, { ...run, shouldYield: () => Date.now() - startedAt > burstMs || isQueryBudgetSpent() });
    if (this.#journal.progress().failing) this.#journal.keep({ failing: undefined });
    const progress = this.#journal.progress();
    if (progress.leftCalls?.length) this.timers.ensure('withdraw', this.clock());
    const next = wakeAt(progress, run.deadline);
    if (next === null) {
      this.timers.clear('advance');
      this.timers.ensure('finish', this.clock());
      return null;
    }
    this.timers.set('advance', Math.max(next, this.clock()));
    return next;
  }

  /** The platform's trouble passes, and is tried again until the deadline. What would fail in the same way again ends the run, with the reason. */
  async #cannotGoOn(error: unknown): Promise<void> {
    const isGone = error instanceof PayloadGoneError;
    if (!this.exists() || (!isGone && troubleOf(error) !== null)) throw error;
    const now = this.clock();
    const { failing } = this.#journal.progress();
    const { since, tries } = failing ?? { since: now, tries: 0 };
    if (!isGone && now - since < this.settings.GIVE_UP_AFTER_HOURS * 3_600_000) {
      this.#journal.keep({ failing: { since, tries: tries + 1, nextTryAt: null } });
      throw error;
    }
    const deadline = this.#loaded && deadlineOf(this.#loaded, this.#journal.progress());
    this.#loaded = null;
    const nextTryAt = cannotGoOn(this.#journal, (error as Error).message, {
      now,
      deadline,
      giveUpAfterHours: this.settings.GIVE_UP_AFTER_HOURS,
    });
    this.log.error('a run cannot go on', error, { next_try_at: nextTryAt });
    if (nextTryAt === null) {
      this.timers.clear('advance');
      this.timers.ensure('finish', now);
      return;
    }
    this.timers.set('advance', nextTryAt);
    await this.project();
  }

  async #withdraw(): Promise<void> {
    const { context } = await this.#load();
    await this.#withdrawLeftCalls(context);
    if (this.exists() && !this.#journal.progress().leftCalls?.length) this.timers.clear('withdraw');
  }

  /** Nobody is called for a run that has ended, or has gone on without the call. */
  async #withdrawLeftCalls(context: Context): Promise<void> {
    const { leftCalls = [] } = this.#journal.progress();
    if (!leftCalls.length) return;
    const { id } = this.#journal.identity();
    for (const item of leftCalls) await withdrawJourneyCall(context, id, item);
    if (!this.exists()) return;
    this.#journal.keep({ leftCalls: (this.#journal.progress().leftCalls ?? []).slice(leftCalls.length) });
  }

  /** At the very beginning: an event that ends the run may have been handled before the run was there. */
  async #exitIfDue(context: Context, loaded: LoadedRun): Promise<void> {
    const { stepCount, visits, nodeId } = this.#journal.progress();
    if (!loaded.settings.exit_on.length || stepCount > 0 || nodeId !== loaded.graph.startId || visits[nodeId] !== 1) return;
    const event = await exitBeforeStart(context, loaded);
    const progress = this.#journal.progress();
    if (event && isLive(progress.state)) this.#journal.commit(end(progress, { state: 'completed', outcome: 'exited' }, this.clock()));
  }

  /** What follows an end: the row tells it, whoever waits for it hears of it, the history goes to R2, and the object goes. */
  async #finish(): Promise<void> {
    await this.project();
    const { context, run } = await this.#load();
    const progress = this.#journal.progress();
    if (isLive(progress.state)) return this.timers.clear('finish');
    await this.#withdrawLeftCalls(context);
    if (!this.exists()) return;
    const ends = (progress.retries ?? 0) + 1;
    // A failed run comes here once more when it has been kept long enough.
    if ((progress.toldEnds ?? 0) < ends) {
      await this.#tellEnd(context, run, progress);
      if (!this.exists()) return;
      this.#journal.keep({ toldEnds: ends });
    }
    await archiveHistory(this.env.FILES, context.organization.id, run.row.id, this.#journal.count(), (offset, limit) =>
      this.#journal.entries('ORDER BY id LIMIT ? OFFSET ?', limit, offset),
    );
    // During the awaits another alarm may have come to the end of this, or a person may have had the run go on.
    if (!this.exists()) return;
    if (isLive(this.#journal.progress().state)) return this.timers.clear('finish');
    const keepUntil = (progress.endedAt ?? 0) + failedKeptMs;
    if (progress.state === 'failed' && this.clock() < keepUntil) {
      this.timers.set('finish', keepUntil);
      return;
    }
    await this.vanish();
  }

  /** Triggers on the end fire, the next run that waits for its turn begins, and the run that waits for this one hears of it. */
  async #tellEnd(context: Context, run: LoadedRun, progress: Progress): Promise<void> {
    if (progress.state !== 'cancelled' && !run.origin.isTest) await announceRunEnded(context, run, progress);
    // The settings may have changed since they were loaded; the row says whether somebody waits.
    if (this.#heldRuns ?? run.settings.max_active_runs) await admitHeld(context, run.origin.workflowId);
    const parentId = run.row.parent_run_id;
    if (parentId !== null) await tellRunOrNote(context, { id: parentId, of: 'run', ended_id: run.row.id });
  }

  /** The row is revived first, under the revision that the object then has: done again after a crash, it finds its own work. */
  async #retry(): Promise<RetryAnswer> {
    const { id, organizationId } = this.#journal.identity();
    const { retryVersion: version } = this.#journal.progress();
    if (version === undefined) {
      this.timers.clear('retry');
      return { refused: 'state', state: this.#journal.progress().state };
    }
    const context = await this.#context(organizationId);
    if (!context) throw new OrganizationGoneError(organizationId);
    const revived = await reviveRun(context.database, organizationId, {
      id,
      version,
      now: this.clock(),
      revision: this.projection.revision() + 1,
    });
    const progress = this.#journal.progress();
    // During the await the alarm may have gone through with the same retry.
    if (progress.state !== 'failed' || progress.retryVersion !== version) return { refused: 'state', state: progress.state };
    this.timers.clear('retry');
    if (revived !== 'revived') {
      this.#journal.keep({ retryVersion: undefined });
      await this.timers.arm();
      return { refused: revived, state: 'failed' };
    }
    this.#loaded = null;
    this.#journal.commit(resume(progress, this.clock()));
    this.projection.isWritten();
    this.timers.clear('finish');
    await this.#goOn();
    return { refused: null, state: 'running' };
  }

  protected async writeProjection(revision: number): Promise<void> {
    const { id } = this.#journal.identity();
    const { context, run } = await this.#load();
    const progress = this.#journal.progress();
    const wake = wakeAt(progress, deadlineOf(run, progress));
    const { isAccepted, workflowStatus, heldRuns } = await projectProgress(context, id, progress, {
      revision,
      wakeAt: wake === null ? null : Math.max(wake, this.clock()),
    });
    this.#heldRuns = heldRuns;
    this.#journal.forgetLeft(progress.leftWaits ?? []);
    const now = this.#journal.progress();
    if (!isAccepted && isLive(now.state)) {
      // The row was ended before this object showed itself (see endRun): what it says is final.
      this.#journal.commit(cutShort(now, { state: 'cancelled' }, this.clock()));
      this.timers.clear('advance');
      this.timers.ensure('finish', this.clock());
    } else if (workflowStatus === 'active' && now.wait?.kind === 'paused') {
      // The workflow went on between the look at it and this hold, too early for the hold to be found.
      release(this.#journal, now, now.wait, this.clock());
      await this.#goOn();
    }
  }

  async #surroundings(): Promise<{ context: Context; loaded: LoadedRun; run: Surroundings }> {
    const { context, run: loaded } = await this.#load();
    if (loaded.gone !== null) throw new PayloadGoneError(loaded.gone);
    const deadline = deadlineOf(loaded, this.#journal.progress());
    return { context, loaded, run: liveSurroundings(context, loaded, deadline, { now: () => this.clock(), random: this.random }) };
  }

  async #load(): Promise<{ context: Context; run: LoadedRun }> {
    const { id, organizationId } = this.#journal.identity();
    const context = await this.#context(organizationId);
    if (!context) throw new OrganizationGoneError(organizationId);
    const loaded = this.#loaded ?? (await loadRunFacts(context, id));
    if (!loaded) {
      // As after a restore of D1 to an earlier moment: without its row nobody can ever ask for this run.
      await this.vanish();
      throw new Error(`run ${id} has no row; its object is gone, too`);
    }
    // What is gone may be put back.
    this.#loaded = loaded.gone === null ? loaded : null;
    return { context, run: loaded };
  }

  #context(organizationId: number): Promise<Context | null> {
    return backgroundContext(this.env, organizationId, (work) => this.ctx.waitUntil(work));
  }
}

const withReason = (output: unknown, why: string | undefined): unknown =>
  why === undefined ? output : { ...(isRecord(output) ? output : {}), ended_by: why };
