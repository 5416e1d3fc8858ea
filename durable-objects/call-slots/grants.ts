import type { Clock } from '../../src/library/clock.ts';
import { granted, returnedFor, type Patience } from '../../src/voice-agents/dialing/attempt/attempt.ts';
import { freeForOutbound, laneRank, shareOut } from '../../src/voice-agents/dialing/share-out.ts';
import type { DialingTerms } from '../../src/voice-agents/telephony-configs/dialing-terms.ts';
import type { StoredAttempt } from './attempt-rows.ts';
import { waitingFor, type SlotsBook } from './slots-book.ts';

const secondMs = 1000;

/** Who gets the free slots, and when: within the plan's limit, the carrier's rate, each owner's limit and each person's peace. */
export class Grants {
  readonly #book: SlotsBook;
  readonly #now: Clock;
  /** Has `grant` called again in so many ms. */
  readonly #again: (ms: number) => void;
  /** Of the last second. */
  #grantedAt: number[] = [];

  constructor(book: SlotsBook, now: Clock, again: (ms: number) => void) {
    this.#book = book;
    this.#now = now;
    this.#again = again;
  }

  /** Grants slots to those whose turn it is, and answers the keys of their attempts. */
  grant(terms: DialingTerms, config: NonNullable<DialingTerms['config']>, patience: Patience): string[] {
    const now = this.#now();
    const live = this.#book.liveCalls();
    this.#grantedAt = this.recent(now);
    const free = Math.min(freeForOutbound(terms, live), config.callsPerSecond - this.#grantedAt.length);
    if (free <= 0) {
      this.#paceBy(now);
      return [];
    }
    return this.#book.transaction(() => {
      const waiting = new Map(this.#book.rows.queuedLanes().map((lane) => [lane, this.#ready(lane, now, free, terms)]));
      const lanes = [...waiting].map(([name, ready]) => ({
        name,
        rank: laneRank(name),
        live: this.#book.liveOf(name),
        most: this.#book.mostOf(name),
        ready: ready.length,
      }));
      const keys: string[] = [];
      for (const [lane, count] of shareOut(lanes, free)) {
        for (const attempt of waiting.get(lane)!.slice(0, count)) {
          // Another lane may have just called the same person.
          if (this.#book.rows.isInCall(attempt.phone)) {
            this.#book.save(attempt, waitingFor(attempt));
            continue;
          }
          const ownNumber = config.fromNumbers[attempt.seq % config.fromNumbers.length]!;
          const by = { configId: config.id, ownNumber, awaitsVerdict: config.machineDetection };
          this.#book.save(attempt, { ...granted(attempt, by, now, patience), grantedAt: now });
          this.#grantedAt.push(now);
          keys.push(attempt.key);
        }
      }
      if (this.#grantedAt.length >= config.callsPerSecond) this.#paceBy(now);
      return keys;
    });
  }

  /** Of a lane, those that may be dialled now, at most `limit`; what may not is given back with the reason. */
  #ready(lane: string, now: number, limit: number, terms: DialingTerms): StoredAttempt[] {
    const ready: StoredAttempt[] = [];
    const phones = new Set<string>();
    for (const attempt of this.#book.rows.candidates(lane, now, limit)) {
      if (attempt.notAfter !== null && attempt.notAfter <= now) {
        this.#book.save(attempt, returnedFor(attempt, 'window_closed', 'the calling window closed before a call slot was free', now));
        continue;
      }
      const mayAgainAt = this.#mayCallAgainAt(attempt.phone, terms);
      if (mayAgainAt > now) {
        const detail = `this person was called less than ${terms.minHoursBetweenCalls} hours ago (min_hours_between_calls)`;
        this.#book.save(attempt, returnedFor(attempt, 'too_soon', detail, now, mayAgainAt));
        continue;
      }
      if (phones.has(attempt.phone)) continue;
      phones.add(attempt.phone);
      ready.push(attempt);
    }
    return ready;
  }

  #mayCallAgainAt(phone: string, { minHoursBetweenCalls }: DialingTerms): number {
    if (minHoursBetweenCalls === 0) return 0;
    const last = this.#book.dialledAt(phone);
    return last === null ? 0 : last + minHoursBetweenCalls * 3_600_000;
  }

  /** Without a configuration nothing can be dialled: everybody hears of it. */
  returnAll(): void {
    const now = this.#now();
    const detail = 'the organization has no telephony configuration; create one at /organizations/telephony-configs';
    this.#book.transaction(() => {
      for (const attempt of this.#book.rows.all("state = 'queued' LIMIT 1000"))
        this.#book.save(attempt, returnedFor(attempt, 'telephony_not_configured', detail, now));
    });
  }

  /** When calls were granted within the last second. */
  recent(now: number): number[] {
    // A clock that was set back must not hold everything up.
    const recent = this.#grantedAt.filter((at) => at > now - secondMs && at <= now);
    if (recent.length) return recent;
    // After a waking the memory of the last second is gone, the rows are not.
    return this.#book.rows
      .all('is_live = 1 AND granted_at > ? AND granted_at <= ?', now - secondMs, now)
      .map(({ grantedAt }) => grantedAt!);
  }

  /** More may be dialled when the oldest grant of the last second is a second old. */
  #paceBy(now: number): void {
    const oldest = this.#grantedAt[0];
    if (oldest !== undefined) this.#again(Math.max(1, oldest + secondMs - now));
  }
}
