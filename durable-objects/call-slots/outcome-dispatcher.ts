import { callCampaignObject } from '../../src/campaigns/rpc.ts';
import { parseOwner } from '../../src/calls/contract.ts';
import { finalizeUnanswered } from '../../src/calls/post-call/finalize-unanswered.ts';
import { getSettings } from '../../src/settings.ts';
import { withCallObject } from '../../src/calls/rpc.ts';
import type { StoredAttempt } from './stored-attempt.ts';
import { isRetryExhausted, retryAt, toUnanswered } from './retry-limits.ts';
import type { SlotStore } from './slot-store.ts';
import type { CallSlotsDependencies } from './dependencies.ts';
import { toAttemptReport, toCallEnd, toUnansweredCall } from './views.ts';

const maxReportsPerMessage = 500;
const maxOutcomesPerRound = 100;
const wakeAfterMs = 2 * 60_000;

/**
 * Passes the progress and the ends of attempts on: to their owners, to the objects of their conversations, and to the rows of unanswered
 * calls.
 */
export class OutcomeDispatcher {
  readonly #store: SlotStore;
  readonly #deps: CallSlotsDependencies;
  /** Has the dispatcher run again soon. */
  readonly #requestRun: () => void;
  readonly #running = new Set<string>();

  constructor(store: SlotStore, deps: CallSlotsDependencies, requestRun: () => void) {
    this.#store = store;
    this.#deps = deps;
    this.#requestRun = requestRun;
  }

  /** Reports attempts to their campaigns, at most one message to each campaign at a time. */
  async reportToOwners(): Promise<void> {
    const owners = this.#store.listOwnersToReport();
    await Promise.all(owners.map((owner) => this.#runExclusive(owner, () => this.#reportToOwner(owner))));
  }

  async #reportToOwner(name: string): Promise<void> {
    const unreported = this.#store.listUnreported(name, maxReportsPerMessage);
    if (!unreported.length) return;
    const owner = parseOwner(name);
    if (owner.kind === 'campaign') {
      const reports = unreported.map(toAttemptReport);
      await callCampaignObject(this.#deps.env(), this.#deps.organizationId(), owner.id, (object) => object.applyReports(reports));
    }
    this.#store.transaction(() => {
      for (const { key, seq, reportLevel } of unreported) {
        const current = this.#store.attempts.find(key);
        // The owner may have requested it anew during the report.
        if (current?.seq === seq && current.reportedLevel < reportLevel)
          // A report that is repeated changes nothing.
          this.#store.saveLazily(current, { ...current, reportedLevel: reportLevel });
      }
    });
    // There may be more to report, or new reports.
    this.#requestRun();
  }

  /** Completes the rows of unanswered calls that are over, and notifies the objects of the others. */
  async dispatchOutcomes(): Promise<void> {
    await this.#runExclusive('outcomes', async () => {
      const due = (followUp: StoredAttempt['followUp']) =>
        this.#store.attempts.listOpen((attempt) => attempt.followUp === followUp && attempt.checkAt === null, maxOutcomesPerRound);
      const [silent, talks] = [due('silent'), due('talk')];
      if (!silent.length && !talks.length) return;
      await Promise.all([this.#finalizeUnanswered(silent), ...talks.map((attempt) => this.#notifyCallEnded(attempt))]);
      this.#requestRun();
    });
  }

  async #finalizeUnanswered(attempts: StoredAttempt[]): Promise<void> {
    if (!attempts.length) return;
    const done = new Set(await finalizeUnanswered(await this.#deps.context(), attempts.map(toUnansweredCall)));
    this.#store.markFollowUpsDone([...done]);
    // A call that cannot be finalized holds up no other.
    for (const attempt of attempts.filter(({ key }) => !done.has(key))) {
      if (!this.#isRetryExhausted(attempt)) {
        this.#store.postponeFollowUps([attempt.key], retryAt(attempt, this.#deps.now()));
        continue;
      }
      // Its row is complete. A journey that waits for the call reads the row by itself.
      this.#deps.log().error('the finalization of a call was given up', undefined, { key: attempt.key, run_id: attempt.runId });
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
      this.#deps.log().error('the object of a call could not be notified that its line has ended', error, { run_id: attempt.runId });
      if (!this.#isRetryExhausted(attempt)) return this.#store.postponeFollowUps([attempt.key], retryAt(attempt, this.#deps.now()));
      return this.#store.update(attempt.key, (current) => (current.followUp === 'talk' ? toUnanswered(current, error) : current));
    }
    // After a crash the object is notified again, and knows.
    this.#store.updateLazily(attempt.key, (current) =>
      current.followUp === 'talk' ? { ...current, followUp: 'watch' as const, checkAt: this.#deps.now() + wakeAfterMs } : current,
    );
  }

  /** Does `work` unless work under the same name is in progress. A failure is logged; the maintenance timer repeats the work. */
  async #runExclusive(name: string, work: () => Promise<void>): Promise<void> {
    if (this.#running.has(name)) return;
    this.#running.add(name);
    try {
      await work();
    } catch (error) {
      this.#deps.log().error('the call slots could not pass an outcome on', error, { to: name });
    } finally {
      this.#running.delete(name);
    }
  }
}
