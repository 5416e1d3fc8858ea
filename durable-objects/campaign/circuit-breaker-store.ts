import { CircuitBreaker, maxCountedCalls } from '../../src/campaigns/dialing/circuit-breaker.ts';
import type { EndedCall, CircuitBreakerTrip } from '../../src/campaigns/dialing/circuit-breaker.ts';
import type { Campaign } from './campaign-store.ts';

/** The circuit breaker of a campaign. After an eviction it is rebuilt from the stored calls. */
export class CircuitBreakerStore {
  readonly #sql: SqlStorage;
  #breaker: CircuitBreaker | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  count(campaign: Campaign, call: EndedCall & { attempt: number }, now: number): void {
    // A breaker that is enabled later starts empty, as after a resume.
    if (!campaign.configs.circuit_breaker.enabled) return;
    // Loaded before the call is stored, so that the call is not counted twice.
    const breaker = this.#load(campaign, now);
    this.#sql.exec(
      'INSERT OR IGNORE INTO ended_call (ended_at, number, attempt, is_failure) VALUES (?, ?, ?, ?)',
      call.endedAt,
      call.rowNumber,
      call.attempt,
      call.isFailure ? 1 : 0,
    );
    breaker.count(call);
  }

  /** Why the breaker trips at `now`; null: it does not. */
  tripAt(campaign: Campaign, now: number): CircuitBreakerTrip | null {
    this.#sql.exec('DELETE FROM ended_call WHERE ended_at <= ?', now - windowMs(campaign));
    return this.#load(campaign, now).tripAt(now, campaign.configs.circuit_breaker);
  }

  /** Forgets all calls, on resume. */
  clear(): void {
    this.#sql.exec('DELETE FROM ended_call');
    this.#breaker = null;
  }

  #load(campaign: Campaign, now: number): CircuitBreaker {
    if (this.#breaker) return this.#breaker;
    const breaker = new CircuitBreaker(campaign.breakerClearedAt);
    const calls = this.#sql
      .exec<{ ended_at: number; number: number; attempt: number; is_failure: number; outcome: string | null; reason: string | null }>(
        `SELECT e.ended_at, e.number, e.attempt, e.is_failure, r.outcome, r.reason FROM ended_call e CROSS JOIN campaign_row r
         WHERE e.ended_at > ? AND r.number = e.number ORDER BY e.ended_at DESC LIMIT ?`,
        now - windowMs(campaign),
        maxCountedCalls,
      )
      .toArray();
    for (const call of calls.toReversed())
      breaker.count({
        key: toCallKey(call.number, call.attempt),
        endedAt: call.ended_at,
        isFailure: call.is_failure === 1,
        rowNumber: call.number,
        outcome: call.outcome ?? 'failed',
        reason: call.reason,
      });
    this.#breaker = breaker;
    return breaker;
  }
}

export const toCallKey = (rowNumber: number, attempt: number): string => `${rowNumber}:${attempt}`;

const windowMs = ({ configs }: Campaign): number => configs.circuit_breaker.window_seconds * 1000;
