import { callCampaignObject } from '../../src/campaigns/rpc.ts';
import { parseOwner } from '../../src/calls/contract.ts';
import { finalizeUnanswered } from '../../src/calls/post-call/finalize-unanswered.ts';
import { getSettings } from '../../src/settings.ts';
import { withCallObject } from '../../src/calls/rpc.ts';
import type { StoredAttempt } from './attempt-rows.ts';
import { isRetryExhausted, retryAt, toUnanswered } from './retry-limits.ts';
import type { SlotStore } from './slot-store.ts';
import type { CallSlotsDependencies } from './dependencies.ts';
import { toAttemptReport, toCallEnd, toUnansweredCall } from './views.ts';

const maxReportsPerMessage = 500;
const maxOutcomesPerRound = 100;
const wakeAfterMs = 2 * 60_000;

/** Hands on what follows from attempts: to their owners, to the objects of talks, and to the rows of calls that nobody talked on. */
export class OutcomeDispatcher {
  readonly #store: SlotStore;
  readonly #deps: CallSlotsDependencies;
  /** Has it called again soon. */
  readonly #requestRun: () => void;
  readonly #running = new Set<string>();

  constructor(store: SlotStore, deps: CallSlotsDependencies, again: () => void) {
    this.#store = store;
    this.#deps = deps;
    this.#requestRun = again;
  }

  /** Campaigns hear of their attempts; each of them one message at a time. */
  async reportToOwners(): Promise<void> {
    const owners = this.#store.listOwnersToReport();
    await Promise.all(owners.map((owner) => this.#runExclusive(owner, () => this.#reportToOwner(owner))));
  }

  async #reportToOwner(name: string): Promise<void> {
    const untold = this.#store.rows.select('owner = ? AND level > told ORDER BY seq LIMIT ?', name, maxReportsPerMessage);
    if (!untold.length) return;
    const owner = parseOwner(name);
    if (owner.kind === 'campaign') {
      const reports = untold.map(toAttemptReport);
      await callCampaignObject(this.#deps.env(), this.#deps.organizationId(), owner.id, (object) => object.applyReports(reports));
    }
    this.#store.transaction(() => {
      for (const { key, seq, reportLevel } of untold) {
        const current = this.#store.rows.find(key);
        // It may have been asked for anew while it was told.
        if (current?.seq === seq && current.reportedLevel < reportLevel)
          this.#store.save(current, { ...current, reportedLevel: reportLevel });
      }
    });
    // More of it, or what has happened meanwhile.
    this.#requestRun();
  }

  /** What follows from calls that are over: their rows, or the objects of their talks. */
  async dispatchOutcomes(): Promise<void> {
    await this.#runExclusive('settle', async () => {
      // In the words of the index, which is not used otherwise.
      const due = "settling IN ('silent', 'talk') AND settling = ? AND check_at IS NULL ORDER BY seq LIMIT ?";
      const silent = this.#store.rows.select(due, 'silent', maxOutcomesPerRound);
      const talks = this.#store.rows.select(due, 'talk', maxOutcomesPerRound);
      if (!silent.length && !talks.length) return;
      await Promise.all([this.#finalizeUnanswered(silent), ...talks.map((attempt) => this.#notifyCallEnded(attempt))]);
      this.#requestRun();
    });
  }

  async #finalizeUnanswered(attempts: StoredAttempt[]): Promise<void> {
    if (!attempts.length) return;
    const done = new Set(await finalizeUnanswered(await this.#deps.context(), attempts.map(toUnansweredCall)));
    this.#store.markFollowUpsDone([...done]);
    // One that cannot be settled holds up no other.
    for (const attempt of attempts.filter(({ key }) => !done.has(key))) {
      if (!this.#isRetryExhausted(attempt)) {
        this.#store.postponeFollowUps([attempt.key], retryAt(attempt, this.#deps.now()));
        continue;
      }
      // Its row is complete. A journey that waits for it looks for itself.
      this.#deps.log().error('what follows from a call was given up', undefined, { key: attempt.key, run_id: attempt.runId });
      this.#store.markFollowUpsDone([attempt.key]);
    }
  }

  #isRetryExhausted(attempt: StoredAttempt): boolean {
    return isRetryExhausted(attempt, this.#deps.now(), getSettings(this.#deps.env()).GIVE_UP_AFTER_HOURS);
  }

  async #notifyCallEnded(attempt: StoredAttempt): Promise<void> {
    const organizationId = this.#deps.organizationId();
    try {
      await withCallObject(this.#deps.env(), organizationId, attempt.runId!, (object) =>
        object.callEnded(organizationId, attempt.runId!, toCallEnd(attempt)),
      );
    } catch (error) {
      this.#deps.log().error('the object of a call did not hear that its line has ended', error, { run_id: attempt.runId });
      if (!this.#isRetryExhausted(attempt)) return this.#store.postponeFollowUps([attempt.key], retryAt(attempt, this.#deps.now()));
      return this.#store.update(attempt.key, (current) => (current.settling === 'talk' ? toUnanswered(current, error) : current));
    }
    this.#store.update(attempt.key, (current) =>
      current.settling === 'talk' ? { ...current, settling: 'watch' as const, checkAt: this.#deps.now() + wakeAfterMs } : current,
    );
  }

  /** Does `work` unless the same is under way; a failure is logged and made good by `tend`. */
  async #runExclusive(name: string, work: () => Promise<void>): Promise<void> {
    if (this.#running.has(name)) return;
    this.#running.add(name);
    try {
      await work();
    } catch (error) {
      this.#deps.log().error('call slots could not hand something on', error, { to: name });
    } finally {
      this.#running.delete(name);
    }
  }
}
