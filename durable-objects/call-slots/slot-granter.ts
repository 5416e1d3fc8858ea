import type { Clock } from '../../src/library/time/clock.ts';
import { grantAttempt, holdsSlot, isOver, returnAttempt, type CallTimeouts } from '../../src/calls/attempt/attempt.ts';
import { countFreeForOutbound, ownerQueueRank, allocateSlots } from '../../src/calls/slots/allocate-slots.ts';
import type { DialingPolicy } from '../../src/telephony-configs/dialing-policy.ts';
import type { StoredAttempt } from './stored-attempt.ts';
import { markInAnotherCall, type SlotStore } from './slot-store.ts';

const secondMs = 1000;
/** Attempts that are given back stay in memory until that is reported. */
const maxReturnedAtOnce = 1000;

/**
 * Grants free slots to queued attempts, within the plan's limit, the carrier's rate, each owner's limit and the hours between two calls to
 * one person.
 */
export class SlotGranter {
  readonly #store: SlotStore;
  readonly #now: Clock;
  /** Has `grant` called again after this many ms. */
  readonly #scheduleGrant: (ms: number) => void;
  /** When slots were granted within the last second, epoch ms. */
  #grantedAt: number[] = [];

  constructor(store: SlotStore, now: Clock, scheduleGrant: (ms: number) => void) {
    this.#store = store;
    this.#now = now;
    this.#scheduleGrant = scheduleGrant;
  }

  /** Grants slots to the attempts whose turn it is, and answers their keys. */
  grant(policy: DialingPolicy, config: NonNullable<DialingPolicy['config']>, timeouts: CallTimeouts): string[] {
    const now = this.#now();
    const live = this.#store.countLiveCalls();
    this.#grantedAt = this.recentGrants(now);
    const free = Math.min(countFreeForOutbound(policy, live), config.callsPerSecond - this.#grantedAt.length);
    if (free <= 0) {
      this.#scheduleNextGrant(now);
      return [];
    }
    return this.#store.transaction(() => {
      const waiting = new Map(this.#store.attempts.listQueuedLanes().map((lane) => [lane, this.#findReady(lane, now, free, policy)]));
      const lanes = [...waiting].map(([name, ready]) => ({
        name,
        rank: ownerQueueRank(name),
        live: this.#store.attempts.countLive(name),
        maxLive: this.#store.maxConcurrencyOf(name),
        ready: ready.length,
      }));
      const keys: string[] = [];
      for (const [lane, count] of allocateSlots(lanes, free)) {
        for (const attempt of waiting.get(lane)!.slice(0, count)) {
          // Another lane may have just called the same person.
          if (this.#store.attempts.isInCall(attempt.phone)) {
            this.#store.save(attempt, markInAnotherCall(attempt));
            continue;
          }
          const ownNumber = config.fromNumbers[attempt.seq % config.fromNumbers.length]!;
          const by = { configId: config.id, ownNumber, awaitsVerdict: config.machineDetection };
          this.#store.save(attempt, { ...grantAttempt(attempt, by, now, timeouts), grantedAt: now });
          this.#grantedAt.push(now);
          keys.push(attempt.key);
        }
      }
      if (this.#grantedAt.length >= config.callsPerSecond) this.#scheduleNextGrant(now);
      return keys;
    });
  }

  /** At most `limit` attempts of a lane that may be dialled now. Attempts that may not be dialled are given back with the reason. */
  #findReady(lane: string, now: number, limit: number, policy: DialingPolicy): StoredAttempt[] {
    const ready: StoredAttempt[] = [];
    const phones = new Set<string>();
    for (const attempt of this.#store.attempts.candidates(lane, now, limit)) {
      if (attempt.notAfter !== null && attempt.notAfter <= now) {
        this.#store.save(attempt, returnAttempt(attempt, 'window_closed', 'the calling window closed before a call slot was free', now));
        continue;
      }
      const allowedAt = this.nextCallAllowedAt(attempt.phone, policy);
      if (allowedAt > now) {
        const detail = `this person was called less than ${policy.minHoursBetweenCalls} hours ago (min_hours_between_calls)`;
        this.#store.save(attempt, returnAttempt(attempt, 'too_soon', detail, now, allowedAt));
        continue;
      }
      if (phones.has(attempt.phone)) continue;
      phones.add(attempt.phone);
      ready.push(attempt);
    }
    return ready;
  }

  /** When the hours between two calls to a person allow the next one, epoch ms; 0: at any time. */
  nextCallAllowedAt(phone: string, { minHoursBetweenCalls }: DialingPolicy): number {
    if (minHoursBetweenCalls === 0) return 0;
    const last = this.#store.dialledAt(phone);
    return last === null ? 0 : last + minHoursBetweenCalls * 3_600_000;
  }

  /** Gives all queued attempts back: without a telephony configuration nothing can be dialled. */
  returnAll(): void {
    if (this.#store.attempts.listOpen(isOver).length >= maxReturnedAtOnce) return;
    const now = this.#now();
    const detail = 'the organization has no telephony configuration; create one at /organizations/telephony-configs';
    this.#store.transaction(() => {
      for (const attempt of this.#store.attempts.listAnyQueued(maxReturnedAtOnce))
        this.#store.save(attempt, returnAttempt(attempt, 'telephony_not_configured', detail, now));
    });
  }

  /** When calls were granted within the last second. */
  recentGrants(now: number): number[] {
    // A clock that was set back must not stop the granting.
    const recent = this.#grantedAt.filter((at) => at > now - secondMs && at <= now);
    if (recent.length) return recent;
    // After a restart of the object the list is empty, and the rows have the moments.
    return this.#store.attempts
      .listOpen((attempt) => holdsSlot(attempt) && attempt.grantedAt! > now - secondMs && attempt.grantedAt! <= now)
      .map(({ grantedAt }) => grantedAt!);
  }

  /** Schedules the next grant for when the oldest grant of the last second is a second old. */
  #scheduleNextGrant(now: number): void {
    const oldest = this.#grantedAt[0];
    if (oldest !== undefined) this.#scheduleGrant(Math.max(1, oldest + secondMs - now));
  }
}
