import { statusEvent } from '../../src/providers/telephony/carrier-events.ts';
import { abandonUnstartedConversation, explainCallEnd } from '../../src/calls/carrier/event-actions.ts';
import { isOver } from '../../src/calls/attempt/attempt.ts';
import { afterListing, afterLookUp, resolveKnownEnd } from '../../src/calls/attempt/after-look-up.ts';
import { afterVerdictTimeout } from '../../src/calls/attempt/after-event.ts';
import { enqueueDialing } from '../../src/outbox/enqueue.ts';
import { withCallObject } from '../../src/calls/rpc.ts';
import { getSettings } from '../../src/settings.ts';
import { loadCarrier } from '../../src/telephony-configs/load-carrier.ts';
import { selectCallRunByKey } from '../../src/calls/placing/store.ts';
import type { StoredAttempt } from './stored-attempt.ts';
import { isRetryExhausted, toUnanswered } from './retry-limits.ts';
import type { SlotStore } from './slot-store.ts';
import type { CallSlotsDependencies } from './dependencies.ts';

const maxParallelChecks = 6;
const maxChecksPerRound = 60;
const maxDecisionsPerRound = 1000;
const wakeIntervalMs = 2 * 60_000;

/** Checks attempts whose carrier has gone silent. A slot is freed only by evidence from the carrier, never by a timeout alone. */
export class SilentAttemptChecker {
  readonly #store: SlotStore;
  readonly #deps: CallSlotsDependencies;
  #grantsToResend: string[] = [];
  #isChecking = false;

  constructor(store: SlotStore, deps: CallSlotsDependencies) {
    this.#store = store;
    this.#deps = deps;
  }

  /** Checks due attempts that can be decided without the carrier. */
  resolveLocally(): void {
    const now = this.#deps.now();
    for (const attempt of this.#store.attempts.listDueChecks(now, maxDecisionsPerRound)) {
      if (attempt.state === 'granted') this.#grantsToResend.push(attempt.key);
      if (attempt.state === 'granted') this.#store.save(attempt, { ...attempt, checkAt: now + this.#deps.timeouts().resendMs });
      else if (isOver(attempt) && attempt.followUp !== 'watch') this.#store.saveLazily(attempt, { ...attempt, checkAt: null });
      else if (attempt.state === 'placed' && attempt.status === 'completed') this.#store.save(attempt, afterVerdictTimeout(attempt));
    }
  }

  /** Checks at most 60 due attempts with the carrier or the object of the call. One round at a time. */
  async checkWithCarriers(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      const keys = this.#grantsToResend.splice(0);
      if (keys.length) await enqueueDialing(this.#deps.env(), this.#deps.organizationId(), keys);
      const due = this.#store.attempts.listDueChecks(this.#deps.now(), maxChecksPerRound).map(({ key }) => key);
      const worker = async () => {
        for (let key = due.shift(); key !== undefined; key = due.shift())
          await this.#checkAttempt(key).catch((error: unknown) => this.#deps.log().error('a call could not be checked', error));
      };
      await Promise.all(Array.from({ length: maxParallelChecks }, worker));
    } catch (error) {
      this.#deps.log().error('granted calls could not be sent to the queue again', error);
    } finally {
      this.#isChecking = false;
    }
  }

  async #checkAttempt(key: string): Promise<void> {
    const now = this.#deps.now();
    // Read anew: the checks before this one took time.
    const attempt = this.#store.attempts.find(key);
    if (!attempt || attempt.checkAt === null || attempt.checkAt > now || attempt.state === 'granted') return;
    const timeouts = this.#deps.timeouts();
    if (isOver(attempt)) return this.#wakeCallObject(attempt, now);
    // The next check is set before the carrier is asked, so that a crash does not ask again at once.
    this.#store.save(attempt, { ...attempt, checkAt: now + timeouts.lookUpIntervalMs });
    const context = await this.#deps.context();
    const carrier = attempt.configId === null ? null : await loadCarrier(context, attempt.configId);
    const configDeleted = { failure: 'the telephony configuration of this call was deleted' };
    if (attempt.state === 'placed') {
      const result = carrier ? resolveKnownEnd(attempt, await carrier.telephony.lookUp(attempt.callId!)) : configDeleted;
      if (carrier && 'call' in result && result.call.status === 'completed' && attempt.isAgentConnected) {
        // As after the carrier's own report of the end: the agent may never have been connected.
        const address = { organizationId: context.organization.id, configId: carrier.id, runId: attempt.runId!, key };
        const event = statusEvent({ ...result.call, at: this.#deps.now() });
        const recordAgentNotConnected = async (attemptKey: string, reason: string) =>
          this.#store.recordAgentNotConnected(attemptKey, reason);
        const call = { context, carrier, address, event, recordAgentNotConnected };
        await abandonUnstartedConversation(call, () => explainCallEnd(call));
      }
      this.#store.update(attempt.key, (current) => afterLookUp(current, result, this.#deps.now(), timeouts));
    } else {
      const { phone: to, ownNumber, submittedAt, key: attemptKey } = attempt;
      // The caller may have died before it reported which run the call has.
      const run = await context.database.first(selectCallRunByKey(context.database, context.organization.id, attemptKey));
      const result = carrier ? await carrier.telephony.list({ to, from: ownNumber!, since: submittedAt!, attemptKey }) : configDeleted;
      const foreignCallIds =
        'calls' in result
          ? this.#store.findForeignCalls(
              attempt,
              result.calls.map(({ callId }) => callId),
            )
          : new Set<string>();
      this.#store.update(attempt.key, (current) =>
        afterListing({ ...current, runId: current.runId ?? run?.id ?? null }, result, foreignCallIds, this.#deps.now(), timeouts),
      );
    }
  }

  async #wakeCallObject(attempt: StoredAttempt, now: number): Promise<void> {
    if (attempt.followUp !== 'watch') return this.#store.saveLazily(attempt, { ...attempt, checkAt: null });
    this.#store.saveLazily(attempt, { ...attempt, checkAt: now + wakeIntervalMs });
    try {
      const isAlive = await withCallObject(this.#deps.env(), this.#deps.organizationId(), attempt.runId!, (object) => object.wakeStalled());
      if (!isAlive) this.#store.markFollowUpsDone([attempt.key]);
    } catch (error) {
      if (!isRetryExhausted(attempt, now, getSettings(this.#deps.env()).GIVE_UP_AFTER_HOURS)) throw error;
      this.#store.update(attempt.key, (current) => (current.followUp === 'watch' ? toUnanswered(current, error) : current));
    }
  }
}
