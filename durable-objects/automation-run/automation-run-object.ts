import type { Context } from '../../src/accounts/context.ts';
import { backgroundContext } from '../../src/accounts/organizations.ts';
import { announceRunEnded } from '../../src/automation-workflows/runs/announce-ended.ts';
import { runEffects } from '../../src/automation-workflows/runs/effects.ts';
import { archiveHistory, historyRecord } from '../../src/automation-workflows/runs/history.ts';
import { advance } from '../../src/automation-workflows/runs/interpreter.ts';
import { loadRunFacts, type LoadedRun } from '../../src/automation-workflows/runs/load-run.ts';
import { begin, end, wakeAt, type Progress, type RunFailure } from '../../src/automation-workflows/runs/progress.ts';
import type { LiveRun } from '../../src/automation-workflows/runs/records.ts';
import { scopeOfRun } from '../../src/automation-workflows/runs/scope-of-run.ts';
import { projectRun } from '../../src/automation-workflows/runs/store.ts';
import { isLive, type HistoryRecord } from '../../src/automation-workflows/schemas.ts';
import { openSecrets } from '../../src/automation-workflows/secrets.ts';
import { storePayload } from '../../src/database/payload.ts';
import { LivingObject } from '../shared/living-object.ts';
import type { Timer } from '../shared/timers.ts';
import { runSchemaSteps, StoredJournal } from './journal.ts';

/** A burst of steps yields after this long, so that stop and history are answered in between. */
const burstMs = 5000;
const failedKeptMs = 30 * 86_400_000;

export type StartAnswer = 'started' | 'running' | 'ended' | 'unknown';

/**
 * One run of a journey, named `{organization_id}/{run_id}`. It is started by its D1 row, walks on alarms, projects its state
 * into that row, and deletes itself once the row says how it ended and the history is in R2.
 * Timers: `advance` (the next step or the end of a sleep) and `finish` (what follows an end).
 */
export class AutomationRunObject extends LivingObject {
  readonly #journal = new StoredJournal(this.ctx.storage, this.projection);
  #loaded: LoadedRun | null = null;

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
          this.#journal.init(runId, organizationId, begin(loaded.graph, this.clock()));
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
    return this.exists() ? liveRun(this.#journal.progress()) : null;
  }

  /** A page of the history, oldest first; null when the object is gone and R2 has it. */
  history(page: { limit: number; offset: number }): { records: HistoryRecord[]; total: number } | null {
    if (!this.exists()) return null;
    const entries = this.#journal.entries('ORDER BY id LIMIT ? OFFSET ?', page.limit, page.offset);
    return { records: entries.map(historyRecord), total: this.#journal.count() };
  }

  /** Ends the run from any live state. False when it had ended already. */
  async stop(error: RunFailure | null): Promise<boolean> {
    if (!this.exists()) return false;
    const progress = this.#journal.progress();
    if (!isLive(progress.state)) return false;
    const now = this.clock();
    const sleeping = progress.wait && this.#journal.entry(progress.wait.historyId);
    const ending = { state: 'cancelled' as const, error: error && { ...error, node_id: progress.nodeId } };
    this.#journal.commit(end(progress, ending, now), sleeping ? { ...sleeping, status: 'skipped', completedAt: now } : undefined);
    this.timers.clear('advance');
    this.timers.set('finish', now);
    await this.project();
    await this.timers.arm();
    return true;
  }

  protected async onTimer(timer: Timer): Promise<void> {
    return timer.kind === 'advance' ? this.#advance() : this.#finish();
  }

  async #advance(): Promise<void> {
    const { context, run } = await this.#load();
    const startedAt = Date.now();
    await advance(this.#journal, {
      runId: run.row.id,
      graph: run.graph,
      settings: run.settings,
      deadline: run.deadline,
      organization: { default_country: context.organization.defaultCountry, timezone: context.organization.timezone },
      effects: runEffects(context, run.origin),
      dryRun: false,
      now: () => this.clock(),
      random: this.random,
      scope: (progress, node) => scopeOfRun(context, run.origin, progress, node, this.clock()),
      open: (data) => openSecrets(context.settings.ENCRYPTION_KEY, context.organization.id, data),
      shouldYield: () => Date.now() - startedAt > burstMs,
    });
    const next = wakeAt(this.#journal.progress(), run.deadline);
    if (next === null) {
      this.timers.clear('advance');
      this.timers.ensure('finish', this.clock());
      return;
    }
    this.timers.set('advance', Math.max(next, this.clock()));
    await this.project();
  }

  /** What follows an end: the row tells it, triggers on it fire, the history goes to R2, and the object goes. */
  async #finish(): Promise<void> {
    await this.project();
    const { context, run } = await this.#load();
    const progress = this.#journal.progress();
    if (progress.state !== 'cancelled' && !run.origin.isTest) await announceRunEnded(context, run, progress);
    await archiveHistory(this.env.FILES, context.organization.id, run.row.id, this.#journal.count(), (offset, limit) =>
      this.#journal.entries('ORDER BY id LIMIT ? OFFSET ?', limit, offset),
    );
    const keepUntil = (progress.endedAt ?? 0) + failedKeptMs;
    if (progress.state === 'failed' && this.clock() < keepUntil) {
      this.timers.set('finish', keepUntil);
      return;
    }
    await this.vanish();
  }

  protected async writeProjection(revision: number): Promise<void> {
    const { id, organizationId } = this.#journal.identity();
    const { context, run } = await this.#load();
    const progress = this.#journal.progress();
    const changes = JSON.stringify({ assigned: progress.assigned, outputs: progress.outputs });
    const wake = wakeAt(progress, run.deadline);
    const isAccepted = await projectRun(context.database, organizationId, id, {
      state: progress.state,
      currentNodeId: progress.nodeId,
      outcome: progress.outcome,
      error: progress.error && JSON.stringify(progress.error),
      contextChanges: await storePayload(this.env.FILES, () => `${organizationId}/runs/${id}-${revision}`, changes),
      revision,
      wakeAt: wake === null ? null : Math.max(wake, this.clock()),
      startedAt: progress.startedAt,
      completedAt: progress.endedAt,
    });
    if (isAccepted || !isLive(this.#journal.progress().state)) return;
    // The row was ended before this object showed itself (see cancelRun): what it says is final.
    this.#journal.commit(end(this.#journal.progress(), { state: 'cancelled' }, this.clock()));
    this.timers.clear('advance');
    this.timers.ensure('finish', this.clock());
  }

  async #load(): Promise<{ context: Context; run: LoadedRun }> {
    const { id, organizationId } = this.#journal.identity();
    const context = await this.#context(organizationId);
    if (!context) throw new Error(`organization ${organizationId} of run ${id} is unknown`);
    this.#loaded ??= await loadRunFacts(context, id);
    if (!this.#loaded) {
      // As after a restore of D1 to an earlier moment: without its row nobody can ever ask for this run.
      await this.vanish();
      throw new Error(`run ${id} has no row; its object is gone, too`);
    }
    return { context, run: this.#loaded };
  }

  #context(organizationId: number): Promise<Context | null> {
    return backgroundContext(this.env, organizationId, (work) => this.ctx.waitUntil(work));
  }
}

const liveRun = (progress: Progress): LiveRun => ({
  state: progress.state,
  currentNodeId: progress.nodeId,
  outcome: progress.outcome,
  error: progress.error,
  changes: { assigned: progress.assigned, outputs: progress.outputs },
  startedAt: progress.startedAt,
  endedAt: progress.endedAt,
});
