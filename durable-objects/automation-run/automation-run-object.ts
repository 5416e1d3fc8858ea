import type { Context } from '../../src/context.ts';
import { backgroundContext, OrganizationGoneError } from '../../src/accounts/organizations/background-context.ts';
import { parseDefinition } from '../../src/automation-workflows/definitions/definition.ts';
import { archiveHistory, historyRecord, packHistory } from '../../src/automation-workflows/runs/engine/history.ts';
import { advance } from '../../src/automation-workflows/runs/engine/interpreter.ts';
import { withdrawJourneyCall } from '../../src/automation-workflows/runs/effects/journey-call.ts';
import {
  startProgress,
  abortProgress,
  endProgress,
  nextWakeAt,
  type Progress,
  deadlineOf,
  resumeFailed,
  type VersionMove,
} from '../../src/automation-workflows/runs/engine/progress.ts';
import { toLiveRun } from '../../src/automation-workflows/runs/queries/records.ts';
import type { RunDependencies } from '../../src/automation-workflows/runs/engine/dependencies.ts';
import type { JournalEntry } from '../../src/automation-workflows/runs/engine/journal.ts';
import { createLiveDependencies } from '../../src/automation-workflows/runs/effects/live-dependencies.ts';
import { notifyRunOrRecordFailure } from '../../src/automation-workflows/runs/lifecycle/notify-run.ts';
import { nextPlatformRetry, findWaitingEntry } from '../../src/automation-workflows/runs/engine/platform-retry.ts';
import { wakeDelay } from '../../src/automation-workflows/runs/waits/wake-delay.ts';
import { deliverEvent, endHold } from '../../src/automation-workflows/runs/waits/wake.ts';
import { isLive } from '../../src/automation-workflows/run-states.ts';
import { retryOrFailRun } from '../../src/automation-workflows/runs/engine/retry-or-fail-run.ts';
import { isQueryBudgetSpent, runInvocation } from '../../src/database/query-budget.ts';
import { PayloadGoneError } from '../../src/database/payload.ts';
import { platformErrorKind } from '../../src/library/platform/platform-errors.ts';
import { isRecord } from '../../src/library/json/json.ts';
import { BaseDurableObject } from '../shared/base-durable-object.ts';
import { fallbackDelayMs, type AlarmDelay, type Timer } from '../shared/timers.ts';
import { RunRecord } from './run-record.ts';
import { SharedWrite } from './shared-write.ts';
import { StoredJournal } from './stored-journal.ts';
import type { RunEvent } from '../../src/automation-workflows/runs/cause.ts';
import type { WriteTogether } from '../../src/automation-workflows/runs/engine/shared-projections.ts';
import type { RunFacts } from '../../src/automation-workflows/runs/store.ts';
import { loadReadRun, loadRun, type LoadedRun, projectProgress } from '../../src/automation-workflows/runs/engine/run-row.ts';
import type {
  RetryAnswer,
  ExternalEnding,
  EventDelivery,
  LiveRun,
  StartAnswer,
  RunObject,
  HistoryPage,
} from '../../src/automation-workflows/rpc.ts';
import { admitHeldRuns } from '../../src/automation-workflows/runs/admission/start-runs.ts';
import { findNodeObstacle, type MoveAnswer } from '../../src/automation-workflows/runs/moves/move-obstacle.ts';
import { runVersionsStatement, setRunVersion } from '../../src/automation-workflows/runs/moves/store.ts';
import { findExitBeforeStart } from '../../src/automation-workflows/runs/exits/exit-rules.ts';
import { publish } from '../../src/outbox/published-events.ts';
import { fireRunEnded } from '../../src/automation-workflows/triggers/events/fire-internal-event.ts';
import { reviveRun } from '../../src/automation-workflows/runs/lifecycle/store.ts';

/** Steps run in a row for this long at most, so that `stop` and `history` are answered in between. */
const maxBurstMs = 5000;
/** Before a wait that is longer than this, the loaded run is dropped from memory. */
const unloadAfterMs = 500;
/** When a retry whose object crashed is completed. */
const retryRecoveryMs = 30_000;
const failedRetentionMs = 30 * 86_400_000;
/** More history records than ever fit into the run's row. */
const maxPackedEntries = 50;

/**
 * One run of a journey, named `{organization_id}/{run_id}`. The run's D1 row starts the object. A run whose steps only decide is mostly completed without
 * one, by whoever starts it (`runs/engine/complete-at-once.ts`). The first steps are taken at once, in memory; a
 * run that ends with them leaves nothing here. Later steps are taken when what the run waits for is there, or on alarms. The object projects its state
 * into the row, and deletes itself once the row shows the end and the history is in the row or in R2. A failed run's object stays for 30 days.
 * Timers:
 * - `advance`: the next step, or the end of a wait
 * - `withdraw`: takes back calls that the run no longer waits for
 * - `retry`: completes a retry that a person asked for
 * - `move`: completes a move to another version
 * - `finish`: the work after the end
 */
export class AutomationRunObject extends BaseDurableObject<RunRecord> implements RunObject {
  readonly #journal = new StoredJournal(this.ctx.storage, this.objectStore, this.projection, () => this.#settle());
  #loaded: LoadedRun | null = null;
  /** How many runs of the workflow were held by `max_active_runs` when the row was last written; null: not known. */
  #heldRuns: number | null = null;
  /** Whether the steps that were due are taken and their result is being shown. No step is under way. */
  #isShowingSteps = false;
  /** By which the row after the next steps is written with those of other runs. */
  readonly #sharedWrite = new SharedWrite();
  /** The advance that is under way: one step at a time. */
  #advancing: Promise<void> | null = null;
  /** How many events are being decided about, by the graph that was loaded for them. */
  #deciding = 0;
  /** The move to another version that is under way. Nothing loads the run meanwhile. */
  #moving: Promise<unknown> | null = null;
  /** How many moves this object has completed since it was started. */
  #moves = 0;

  protected override readonly kindsThatProject = ['advance', 'finish'];

  protected openStore(storage: DurableObjectStorage, alarmDelay: AlarmDelay) {
    return new RunRecord(storage, alarmDelay);
  }

  /** Runs that wait for the same moment do not all call the database in the same second. */
  protected override alarmDelay(due: number): number {
    return wakeDelay(Number(this.ctx.id.name?.split('/')[1] ?? 0), due - this.clock());
  }

  async start(organizationId: number, runId: number, facts?: RunFacts, writeTogether?: WriteTogether): Promise<StartAnswer> {
    if (!this.#isPresent()) {
      const context = await this.#context(organizationId);
      const loaded = context && (await (facts ? loadReadRun(context, facts) : loadRun(context, runId)));
      if (!loaded) return 'unknown';
      if (!isLive(loaded.row.state)) return 'ended';
      // Another call may have begun the run during the await.
      if (!this.#isPresent()) {
        this.#loaded = loaded;
        this.#sharedWrite.keep(writeTogether);
        this.#journal.begin(runId, organizationId, startProgress(loaded.graph, this.clock(), loaded.origin.event?.id ?? null));
        this.#advanceInBackground();
        return 'started';
      }
    }
    if (this.#journal.isFirstAdvance()) {
      this.#advanceInBackground();
      return 'running';
    }
    await this.timers.arm();
    return isLive(this.#journal.progress().state) ? 'running' : 'ended';
  }

  async snapshot(): Promise<LiveRun | null> {
    this.#settle();
    if (!this.exists()) return null;
    await this.#projectEnd();
    return this.exists() ? toLiveRun(this.#journal.progress(), this.clock()) : null;
  }

  async hasEnded(): Promise<boolean> {
    this.#settle();
    if (!this.exists()) return false;
    await this.#projectEnd();
    return !this.exists() || !isLive(this.#journal.progress().state);
  }

  /** Brings the row up to date, and once more if the run ended meanwhile: an end is shown when it is in the row. */
  async #projectEnd(): Promise<void> {
    await this.project();
    if (this.exists() && !isLive(this.#journal.progress().state)) await this.project();
  }

  async history(page: { limit: number; offset: number }): Promise<HistoryPage | null> {
    this.#settle();
    if (!this.exists()) return null;
    const entries = this.#journal.entries(page.offset, page.limit);
    return { records: entries.map(historyRecord), total: this.#journal.count() };
  }

  async stop(ending: ExternalEnding, request: string, reason?: string): Promise<boolean> {
    this.#settle();
    if (!this.exists()) return false;
    const progress = this.#journal.progress();
    if (!isLive(progress.state)) return this.#answerRepeatedStop(progress, request);
    const now = this.clock();
    const waiting = findWaitingEntry(this.#journal, progress);
    const error = ending.error ? { ...ending.error, node_id: progress.nodeId } : null;
    const skipped = waiting && { ...waiting, status: 'skipped' as const, completedAt: now, output: withEndReason(waiting.output, reason) };
    this.#journal.commit({ ...abortProgress(progress, { ...ending, error }, now), stoppedBy: request }, skipped ?? undefined);
    this.timers.clear('advance');
    this.timers.set('finish', now);
    // Before the projection, which may fail: the work after the end must not wait for the alarm of the wait that was cut short.
    await this.timers.arm();
    await this.project();
    return true;
  }

  async #answerRepeatedStop(progress: Progress, request: string): Promise<boolean> {
    if (progress.stoppedBy !== request) return false;
    await this.project();
    return true;
  }

  async deliverEvent(json: string, waitId: number, writeTogether?: WriteTogether): Promise<EventDelivery> {
    this.#settle();
    if (!this.exists()) return 'stale';
    const answer = await this.#decide(json, waitId);
    if (answer !== 'taken') return answer;
    this.#sharedWrite.keep(writeTogether);
    await this.#advanceNow();
    return answer;
  }

  async #decide(json: string, waitId: number): Promise<EventDelivery> {
    const { run } = await this.#loadDependencies();
    this.#deciding += 1;
    try {
      return await deliverEvent(this.#journal, JSON.parse(json) as RunEvent, waitId, run);
    } finally {
      this.#deciding -= 1;
    }
  }

  async childEnded(runId: number): Promise<void> {
    await this.#recheckWait('run', runId);
  }

  async callSettled(callRunId: number): Promise<void> {
    await this.#recheckWait('call', callRunId);
  }

  async #recheckWait(kind: 'run' | 'call', runId: number): Promise<void> {
    this.#settle();
    if (!this.exists()) return;
    const progress = this.#journal.progress();
    const { wait } = progress;
    if (wait?.kind !== kind || wait.runId !== runId) return;
    this.#journal.commit({ ...progress, wait: { ...wait, pokes: wait.pokes + 1 } });
    await this.#advanceNow();
  }

  async releaseHold(): Promise<boolean> {
    this.#settle();
    if (!this.exists()) return false;
    const progress = this.#journal.progress();
    if (progress.wait?.kind === 'paused') {
      endHold(this.#journal, progress, progress.wait, this.clock());
      await this.#advanceNow();
    }
    await this.project();
    return true;
  }

  async erase(): Promise<'gone' | 'busy'> {
    this.#settle();
    if (!this.exists()) return 'gone';
    await this.project();
    if (!this.exists()) return 'gone';
    const { state, toldEnds = 0, retries = 0, leftCalls = [] } = this.#journal.progress();
    const isSettled = !isLive(state) && toldEnds > retries && leftCalls.length === 0;
    // A due timer means that work is under way: a history that is being written to R2 would come back after the erasure.
    if (!isSettled || (this.timers.earliest() ?? Infinity) <= this.clock()) return 'busy';
    await this.destroy();
    return 'gone';
  }

  async retry(version: number): Promise<RetryAnswer> {
    this.#settle();
    if (!this.exists()) return { refused: 'gone', state: null };
    await this.#projectEnd();
    const { state, retryVersion } = this.#journal.progress();
    if (state !== 'failed') return { refused: 'state', state };
    // The first of several requests retries the run; the others find it running.
    if (retryVersion !== undefined) return { refused: 'state', state: 'running' };
    this.timers.set('retry', this.clock() + retryRecoveryMs);
    this.#journal.patchProgress({ retryVersion: version });
    return this.#retry();
  }

  async moveToVersion(version: number, moveId: number): Promise<MoveAnswer | 'no_object'> {
    this.#settle();
    if (!this.exists()) return 'no_object';
    if (this.#moving === null && this.#journal.progress().move) await this.#exclusively(() => this.#completeMove());
    if (!this.exists()) return 'no_object';
    const { movedBy, state } = this.#journal.progress();
    if (movedBy === moveId) return { result: 'moved' };
    if (!isLive(state)) return { result: 'kept', obstacle: 'ended' };
    if (this.#isChanging()) return { result: 'kept', obstacle: 'busy' };
    return this.#exclusively(() => this.#move({ version, moveId }));
  }

  /** Whether steps or decisions are under way with a graph that was loaded before, or the run is between two steps. */
  #isChanging(): boolean {
    const { wait, retryAt, trouble } = this.#journal.progress();
    const isResting = wait !== null || retryAt !== null || trouble !== undefined;
    return !isResting || this.#advancing !== null || this.#deciding > 0 || this.#moving !== null;
  }

  /** Does `work` while nothing loads the run: what waits for it loads the graph that the row names afterwards. */
  async #exclusively<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const working = work();
    const ended = working.then(
      () => {},
      () => {},
    );
    this.#moving = ended;
    try {
      return await working;
    } finally {
      if (this.#moving === ended) this.#moving = null;
    }
  }

  /** The row has the version, so it is changed first. The intent is stored before: whoever loads the run next completes a move that broke off. */
  async #move({ version, moveId }: { version: number; moveId: number }): Promise<MoveAnswer> {
    const { id, organizationId } = this.#journal.identity();
    const context = await this.#requireContext(organizationId);
    const row = await context.database.first(runVersionsStatement(context.database, organizationId, id, version));
    if (!this.exists() || !isLive(this.#journal.progress().state) || !row?.is_live) return { result: 'kept', obstacle: 'ended' };
    if (row.workflow_version === version) return { result: 'same_version' };
    const nodeId = this.#journal.progress().nodeId!;
    const nodeType = typeOfNode(row.target, nodeId);
    const obstacle = findNodeObstacle(typeOfNode(row.own, nodeId), nodeType);
    if (obstacle !== null) return { result: 'kept', obstacle };
    this.timers.set('move', this.clock() + retryRecoveryMs);
    this.#journal.patchProgress({ move: { id: moveId, from: row.workflow_version, to: version, nodeType: nodeType! } });
    await this.timers.arm();
    await this.#completeMove();
    return this.exists() && this.#journal.progress().movedBy === moveId ? { result: 'moved' } : { result: 'kept', obstacle: 'ended' };
  }

  /** Changes the row's version and records the move. A run that ended meanwhile stays on its version. Repeatable. */
  async #completeMove(): Promise<void> {
    const { move } = this.#journal.progress();
    if (!move) return;
    const { id, organizationId } = this.#journal.identity();
    const context = await this.#requireContext(organizationId);
    const isMoved = isLive(this.#journal.progress().state) && (await setRunVersion(context.database, organizationId, id, move.to));
    if (!this.exists()) return;
    this.timers.clear('move');
    const progress = this.#journal.progress();
    if (progress.move?.id !== move.id) return;
    this.#loaded = null;
    this.#moves += 1;
    if (!isMoved) return this.#journal.patchProgress({ move: undefined });
    this.#journal.commit({ ...progress, move: undefined, movedBy: move.id }, this.#buildMoveEntry(progress, move));
    this.objectStore.flush();
    await this.timers.arm();
  }

  async #completeMoveByTimer(): Promise<void> {
    await this.#load();
    if (this.exists()) this.timers.clear('move');
  }

  #buildMoveEntry(progress: Progress, { id, from, to, nodeType }: VersionMove): JournalEntry {
    const now = this.clock();
    const nodeId = progress.nodeId!;
    return {
      nodeId,
      nodeType,
      nodeName: findWaitingEntry(this.#journal, progress)?.nodeName ?? null,
      visit: progress.visits[nodeId] ?? 1,
      attempt: progress.attempt,
      status: 'moved',
      input: null,
      output: { move_id: id, from_version: from, to_version: to },
      error: null,
      startedAt: now,
      completedAt: now,
    };
  }

  async #requireContext(organizationId: number): Promise<Context> {
    const context = await this.#context(organizationId);
    if (!context) throw new OrganizationGoneError(organizationId);
    return context;
  }

  override async deleteAllData(): Promise<void> {
    if (!this.#journal.isFirstAdvance()) return super.deleteAllData();
    await this.#forgetFirstAdvance();
  }

  override async alarm(): Promise<void> {
    if (this.#journal.isFirstAdvance()) await this.#advanceInBackground();
    await super.alarm();
  }

  /** Whether the object has a run. */
  #isPresent(): boolean {
    return this.exists() || this.#journal.isFirstAdvance();
  }

  /** Advances the run beside the call that asks for it. Whatever breaks this off, the alarm or the minute tick goes on. */
  #advanceInBackground(): Promise<void> {
    this.#advancing ??= runInvocation(() => this.#tryAdvance()).finally(() => (this.#advancing = null));
    this.ctx.waitUntil(this.#advancing);
    return this.#advancing;
  }

  async #tryAdvance(): Promise<void> {
    try {
      await this.#advance();
      if (this.exists() && !isLive(this.#journal.progress().state)) await this.#finish();
    } catch (error) {
      if (!this.#isPresent()) return;
      this.log.error('steps of a run failed; its alarm goes on', error);
      this.#settle();
      this.timers.set('advance', this.clock());
    } finally {
      this.#sharedWrite.leave();
    }
    if (this.exists()) await this.timers.arm();
  }

  /** Advances the run because what it waited for is there. */
  async #advanceNow(): Promise<void> {
    const isIdle = this.#advancing === null;
    this.timers.set('advance', this.clock() + (isIdle ? fallbackDelayMs : 0));
    await this.timers.arm();
    if (isIdle && this.exists()) void this.#advanceInBackground();
  }

  /**
   * Stores the run as it is, because it must wait, or somebody asks for it: what was answered must not be forgotten. A run in its first advance gets
   * its timers; its steps go on.
   */
  #settle(): void {
    if (!this.#journal.isFirstAdvance()) return this.objectStore.flush();
    const fallback = this.clock() + fallbackDelayMs;
    this.create();
    this.timers.set('advance', fallback);
    this.objectStore.flush();
    void this.ctx.storage.setAlarm(fallback);
  }

  /**
   * Ends a completed run in its first advance with one write of its row, if nobody is to be told and nothing is left to do. False when the end
   * needs timers.
   */
  async #endAtOnce(context: Context, run: LoadedRun): Promise<boolean> {
    const progress = this.#journal.progress();
    if (progress.state !== 'completed' || progress.leftCalls?.length) return false;
    const { row, settings, origin } = run;
    const isHeard = Boolean(row.has_end_trigger) && !origin.isTest;
    if (isHeard || row.parent_run_id !== null || settings.max_active_runs !== null) return false;
    const { id } = this.#journal.identity();
    const history = this.#packHistory();
    if (history === null) await this.#archiveHistory(context.organization.id, id);
    if (!this.#journal.isFirstAdvance()) return false;
    const { heldRuns } = await projectProgress(context, id, progress, { revision: 1, wakeAt: null, history }, this.#sharedWrite.take());
    await this.#publishEnd(context, run, progress);
    // Somebody asked for the run meanwhile: it has timers now, and ends with them.
    if (!this.#journal.isFirstAdvance()) return false;
    await this.#forgetFirstAdvance();
    // The workflow got the setting while the run was under way. The minute tick starts held runs, too.
    if (heldRuns > 0) await admitHeldRuns(context, origin.workflowId);
    return true;
  }

  /** The history for the run's row; null: it is too long. */
  #packHistory(): string | null {
    return this.#journal.count() > maxPackedEntries ? null : packHistory(this.#journal.entries(0, maxPackedEntries));
  }

  #archiveHistory(organizationId: number, id: number): Promise<void> {
    return archiveHistory(this.env.FILES, organizationId, id, this.#journal.count(), (offset, limit) =>
      this.#journal.entries(offset, limit),
    );
  }

  async #forgetFirstAdvance(): Promise<void> {
    this.#loaded = null;
    if (this.objectStore.isStored()) await this.destroy();
    else this.objectStore.forget();
  }

  protected async onTimer(timer: Timer): Promise<void> {
    await this.#advancing;
    if (!this.exists()) return;
    if (timer.kind === 'retry') await this.#retry();
    else if (timer.kind === 'move') await this.#completeMoveByTimer();
    else if (timer.kind === 'advance') await this.#advanceByAlarm();
    else if (timer.kind === 'withdraw') await this.#withdrawCalls();
    else await this.#finish();
  }

  async #advanceByAlarm(): Promise<void> {
    const advancing = this.#advance().catch((error: unknown) => this.#retryOrFail(error));
    this.#advancing = advancing.then(
      () => {},
      () => {},
    );
    await advancing.finally(() => (this.#advancing = null));
  }

  /** Takes the steps that are due, shows the result in the row, and sets the timer of what comes next. Until then, the timer `advance` stays due. */
  async #advance(): Promise<void> {
    const run = await this.#takeSteps().catch((error: unknown) => this.#scheduleRetry(error));
    if (!run) return;
    this.#isShowingSteps = true;
    await this.project().finally(() => (this.#isShowingSteps = false));
    if (this.exists()) this.#setNextTimer(run);
  }

  #setNextTimer(run: LoadedRun): void {
    const progress = this.#journal.progress();
    if (progress.leftCalls?.length) this.timers.ensure('withdraw', this.clock());
    const next = nextWakeAt(progress, deadlineOf(run, progress));
    if (next === null) {
      this.timers.clear('advance');
      this.timers.ensure('finish', this.clock());
      return;
    }
    this.timers.set('advance', Math.max(next, this.clock()));
    // A waiting run holds no memory, and wakes with the settings that are current then.
    if (next - this.clock() > unloadAfterMs) this.#loaded = null;
  }

  /** Schedules another try after the platform failed outside a step: while the run was loaded, or a wait was checked. Throws other errors. */
  #scheduleRetry(error: unknown): null {
    if (platformErrorKind(error) === null || !this.#isPresent()) throw error;
    this.#settle();
    if (!isLive(this.#journal.progress().state)) {
      this.log.error('the end of a run waits for the platform', error);
      this.timers.clear('advance');
      this.timers.ensure('finish', this.clock());
      return null;
    }
    const retry = nextPlatformRetry(this.#journal.progress(), error, { now: this.clock(), random: this.random });
    this.log.error('a run waits for the platform', error, { tries: retry.tries });
    this.timers.set('advance', retry.nextTryAt);
    this.#journal.patchProgress({ trouble: retry });
    return null;
  }

  /** Takes the steps that are due. Null: the run has left nothing to do. */
  async #takeSteps(): Promise<LoadedRun | null> {
    const { context, loaded, run } = await this.#loadDependencies();
    if (this.#journal.isFirstAdvance() && !isLive(loaded.row.state)) {
      // The object died after it had ended the row, or the row was ended meanwhile. The row is final.
      await this.#forgetFirstAdvance();
      return null;
    }
    const startedAt = Date.now();
    await this.#applyEarlierExit(context, loaded);
    await advance(this.#journal, { ...run, shouldYield: () => Date.now() - startedAt > maxBurstMs || isQueryBudgetSpent() });
    if (this.#journal.isFirstAdvance() && (await this.#endAtOnce(context, loaded))) return null;
    this.#settle();
    if (!this.exists()) return null;
    if (this.#journal.progress().failing) this.#journal.patchProgress({ failing: undefined });
    return loaded;
  }

  /**
   * Decides about an error that no step caused. Errors of the platform are thrown, so that the timer tries again. Other errors are retried for
   * GIVE_UP_AFTER_HOURS, and then fail the run. A missing start payload goes to `retryOrFailRun` at once.
   */
  async #retryOrFail(error: unknown): Promise<void> {
    const isGone = error instanceof PayloadGoneError;
    if (!this.exists() || (!isGone && platformErrorKind(error) !== null)) throw error;
    const now = this.clock();
    const { failing } = this.#journal.progress();
    const { since, tries } = failing ?? { since: now, tries: 0 };
    if (!isGone && now - since < this.settings.GIVE_UP_AFTER_HOURS * 3_600_000) {
      this.#journal.patchProgress({ failing: { since, tries: tries + 1, nextTryAt: null } });
      throw error;
    }
    const deadline = this.#loaded && deadlineOf(this.#loaded, this.#journal.progress());
    this.#loaded = null;
    const nextTryAt = retryOrFailRun(this.#journal, (error as Error).message, {
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

  async #withdrawCalls(): Promise<void> {
    const { context } = await this.#load();
    await this.#withdrawLeftCalls(context);
    if (this.exists() && !this.#journal.progress().leftCalls?.length) this.timers.clear('withdraw');
  }

  /** Takes back the calls of a run that has ended or no longer waits for them, so that nobody is called for it. */
  async #withdrawLeftCalls(context: Context): Promise<void> {
    const { leftCalls = [] } = this.#journal.progress();
    if (!leftCalls.length) return;
    const { id } = this.#journal.identity();
    for (const item of leftCalls) await withdrawJourneyCall(context, id, item);
    if (!this.exists()) return;
    this.#journal.patchProgress({ leftCalls: (this.#journal.progress().leftCalls ?? []).slice(leftCalls.length) });
  }

  /** Before the first step: ends the run if an event that matches `exit_on` was handled before the run was recorded. */
  async #applyEarlierExit(context: Context, loaded: LoadedRun): Promise<void> {
    const { stepCount, visits, nodeId } = this.#journal.progress();
    if (!loaded.settings.exit_on.length || stepCount > 0 || nodeId !== loaded.graph.startId || visits[nodeId] !== 1) return;
    const event = await findExitBeforeStart(context, loaded);
    const progress = this.#journal.progress();
    if (event && isLive(progress.state))
      this.#journal.commit(endProgress(progress, { state: 'completed', outcome: 'exited' }, this.clock()));
  }

  /** The work after the end: projects the row, notifies triggers and the parent run, archives the history to R2, and deletes the object. */
  async #finish(): Promise<void> {
    await this.project();
    const { context, run } = await this.#load();
    const progress = this.#journal.progress();
    if (isLive(progress.state)) return this.timers.clear('finish');
    await this.#withdrawLeftCalls(context);
    if (!this.exists()) return;
    const ends = (progress.retries ?? 0) + 1;
    // A failed run comes here a second time, after `failedRetentionMs`.
    if ((progress.toldEnds ?? 0) < ends) {
      await this.#notifyEnded(context, run, progress);
      if (!this.exists()) return;
      if (this.objectStore.get().isHistoryInRow) return this.destroy();
      this.#journal.patchProgress({ toldEnds: ends });
    }
    if (!this.objectStore.get().isHistoryInRow) await this.#archiveHistory(context.organization.id, run.row.id);
    // During the awaits another alarm may have finished this work, or a person may have retried the run.
    if (!this.exists()) return;
    if (isLive(this.#journal.progress().state)) return this.timers.clear('finish');
    const keepUntil = (progress.endedAt ?? 0) + failedRetentionMs;
    if (progress.state === 'failed' && this.clock() < keepUntil) {
      this.timers.set('finish', keepUntil);
      return;
    }
    await this.destroy();
  }

  /** Fires the triggers on the end, starts runs that `max_active_runs` held, and notifies the parent run. */
  async #notifyEnded(context: Context, run: LoadedRun, progress: Progress): Promise<void> {
    await this.#publishEnd(context, run, progress);
    if (progress.state !== 'cancelled' && !run.origin.isTest) await fireRunEnded(context, run, progress);
    // The settings may have changed since they were loaded; the row has the number of held runs.
    if (this.#heldRuns ?? run.settings.max_active_runs) await admitHeldRuns(context, run.origin.workflowId);
    const parentId = run.row.parent_run_id;
    if (parentId !== null) await notifyRunOrRecordFailure(context, { id: parentId, of: 'run', ended_id: run.row.id });
  }

  async #publishEnd(context: Context, { row }: LoadedRun, { state }: Progress): Promise<void> {
    if (row.has_webhook_endpoint) await publish(context, 'webhook_event.recorded', { type: `run.${state}` });
  }

  /** Revives the row first, with the object's next revision, so that a repeat after a crash finds the row revived by itself. */
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
    // During the await the alarm may have completed the same retry.
    if (progress.state !== 'failed' || progress.retryVersion !== version) return { refused: 'state', state: progress.state };
    this.timers.clear('retry');
    if (revived !== 'revived') {
      this.#journal.patchProgress({ retryVersion: undefined });
      await this.timers.arm();
      return { refused: revived, state: 'failed' };
    }
    this.#loaded = null;
    this.#journal.commit(resumeFailed(progress, this.clock()));
    this.projection.markProjected();
    this.timers.clear('finish');
    await this.#advanceNow();
    return { refused: null, state: 'running' };
  }

  protected async writeProjection(revision: number): Promise<void> {
    const { id } = this.#journal.identity();
    const { context, run } = await this.#load();
    const progress = this.#journal.progress();
    const wake = nextWakeAt(progress, deadlineOf(run, progress));
    // No step of the ended run is under way whose result would change the history. A failed run may be retried.
    const isFinal = this.#isShowingSteps && progress.endedAt !== null && progress.state !== 'failed';
    const history = isFinal ? this.#packHistory() : null;
    const wakeAt = wake === null ? null : Math.max(wake, this.clock());
    const { isAccepted, workflowStatus, heldRuns } = await projectProgress(
      context,
      id,
      progress,
      { revision, wakeAt, history },
      this.#sharedWrite.take(),
    );
    this.#heldRuns = heldRuns;
    if (isAccepted && history !== null) this.objectStore.change({ isHistoryInRow: true });
    this.#journal.removeLeftWaits(progress.leftWaits ?? []);
    const now = this.#journal.progress();
    if (!isAccepted && isLive(now.state)) {
      // `endRun` ended the row before this object first projected. The row is final.
      this.#journal.commit(abortProgress(now, { state: 'cancelled' }, this.clock()));
      this.timers.clear('advance');
      this.timers.ensure('finish', this.clock());
    } else if (workflowStatus === 'active' && now.wait?.kind === 'paused') {
      // The workflow was resumed after the step read its status and before the hold was in the row.
      endHold(this.#journal, now, now.wait, this.clock());
      await this.#advanceNow();
    }
    if (this.#isShowingSteps) this.#setNextTimer(run);
  }

  async #loadDependencies(): Promise<{ context: Context; loaded: LoadedRun; run: RunDependencies }> {
    const { context, run: loaded } = await this.#load();
    if (loaded.missingPayload !== null) throw new PayloadGoneError(loaded.missingPayload);
    const deadline = deadlineOf(loaded, this.#journal.progress());
    return { context, loaded, run: createLiveDependencies(context, loaded, deadline, { now: () => this.clock(), random: this.random }) };
  }

  async #load(): Promise<{ context: Context; run: LoadedRun }> {
    const { id, organizationId } = this.#journal.identity();
    const context = await this.#requireContext(organizationId);
    for (;;) {
      while (this.#moving) await this.#moving;
      if (this.#journal.progress().move) await this.#exclusively(() => this.#completeMove());
      const moves = this.#moves;
      const loaded = this.#loaded ?? (await loadRun(context, id));
      // A run that was moved during the await was loaded with the graph of the version before.
      if (this.#moving !== null || moves !== this.#moves) continue;
      if (!loaded) {
        // D1 was restored to an earlier moment: without a row, nobody can reach this run.
        await this.destroy();
        throw new Error(`run ${id} has no row; its object is gone, too`);
      }
      // A payload that is missing may be restored, so the run is loaded again next time.
      this.#loaded = loaded.missingPayload === null ? loaded : null;
      return { context, run: loaded };
    }
  }

  #context(organizationId: number): Promise<Context | null> {
    return backgroundContext(this.env, organizationId, (work) => this.ctx.waitUntil(work));
  }
}

/** The type of a node in a stored definition; null: it has no such node. */
function typeOfNode(definition: string | null, nodeId: string): string | null {
  const nodes = definition === null ? [] : parseDefinition(JSON.parse(definition)).nodes;
  return nodes.find(({ id }) => id === nodeId)?.type ?? null;
}

const withEndReason = (output: unknown, reason: string | undefined): unknown =>
  reason === undefined ? output : { ...(isRecord(output) ? output : {}), ended_by: reason };
