import type { CircuitBreakerTrip } from '../../src/campaigns/dialing/circuit-breaker.ts';
import { toRowCounts, isTerminal, rowStates } from '../../src/campaigns/rows/row-states.ts';
import { toSkipReason } from '../../src/campaigns/rows/apply-report.ts';
import type { EndReason } from '../../src/campaigns/rows/apply-report.ts';
import type { LogEntry } from '../../src/campaigns/rpc.ts';
import type { BlockingReason } from '../../src/campaigns/lifecycle/blocking-reason.ts';
import type { CampaignRow } from '../../src/campaigns/store.ts';
import { toTimestamp } from '../../src/library/time/clock.ts';
import { fallbackDelayMs, type Timers } from '../shared/timers.ts';
import type { CircuitBreakerStore } from './circuit-breaker-store.ts';
import type { CampaignStore } from './campaign-store.ts';
import type { RowStore } from './row-store.ts';
import { campaignTimers } from './schema.ts';

type NewLogEntry = Partial<LogEntry> & Pick<LogEntry, 'event' | 'message'>;

/** The state changes of a campaign, each with its log entry and timers. Call every method in a transaction. */
export class CampaignLifecycle {
  readonly #store: CampaignStore;
  readonly #rows: RowStore;
  readonly #breaker: CircuitBreakerStore;
  readonly #timers: Timers;
  readonly #now: () => number;

  constructor(
    { campaign, rows, breaker }: { campaign: CampaignStore; rows: RowStore; breaker: CircuitBreakerStore },
    timers: Timers,
    now: () => number,
  ) {
    this.#store = campaign;
    this.#rows = rows;
    this.#breaker = breaker;
    this.#timers = timers;
    this.#now = now;
  }

  start(row: CampaignRow, actionId: string): void {
    const { id, organization_id, name, agent_id, source_type, source_id, source_options } = row;
    const { retry_config, max_concurrency, schedule_config, circuit_breaker } = row;
    this.#store.init({
      id,
      organizationId: organization_id,
      name,
      agentId: agent_id,
      source: { source_type, source_id, source_options },
      configs: { retry_config, max_concurrency, schedule_config, circuit_breaker },
      state: 'syncing',
      stateReason: null,
      startedAt: row.started_at ?? this.#now(),
      completedAt: null,
      isSynced: false,
      epoch: 1,
      withdrawnEpoch: 1,
      batch: 0,
      answeredBatch: 0,
      timeZonesAssignedUntil: 0,
      breakerClearedAt: 0,
      lastActionId: actionId,
      unshownChanges: [],
      ending: null,
    });
    this.log({ event: 'started', message: 'Started; the source is being read' });
    this.#timers.set(campaignTimers.readSource, this.#now());
  }

  /** All rows of the source are stored: the campaign runs, or pauses for a blocking reason. */
  completeSync(blocking: BlockingReason | null): void {
    const { state } = this.#store.read();
    if (state !== 'syncing' && state !== 'paused') return;
    this.#store.write({ isSynced: true, ...(state === 'syncing' && { state: 'running' }) });
    this.#timers.clear(campaignTimers.readSource);
    const { total_rows, failed_rows, skipped_rows } = toRowCounts(this.#rows.tally().rows);
    this.log({ event: 'synced', message: `The source was read: ${total_rows} rows`, details: { total_rows, failed_rows, skipped_rows } });
    if (this.completeIfDone() || state === 'paused') return;
    if (blocking) this.pauseBlocked(blocking.reason, blocking.detail);
    else this.#timers.set(campaignTimers.requestCalls, this.#now());
  }

  /** The source cannot be read: the campaign fails. `reason` is a sentence. */
  failUnreadable(reason: string): void {
    const ending = { word: 'source_unreadable', because: 'the source could not be read to its end' };
    this.#end('failed', toSkipReason({ ...ending, because: reason }), ending);
    this.#timers.set(campaignTimers.endRows, this.#now());
    this.log({ level: 'error', event: ending.word, message: reason });
  }

  pause(actionId: string): void {
    this.#store.write({ lastActionId: actionId });
    this.#pauseWith(null, { event: 'paused', message: 'Paused; calls under way go on' });
  }

  /** Pauses until a person removes the cause and resumes. `stateReason` begins with a code. */
  pauseBlocked(stateReason: string, message: string): void {
    this.#pauseWith(stateReason, { level: 'error', event: stateReason.split(':')[0]!, message });
  }

  pauseTripped(trip: CircuitBreakerTrip): void {
    const message = `${trip.failed_calls} of the last ${trip.ended_calls} calls failed; look at the reasons and resume`;
    this.#pauseWith('circuit_breaker', { level: 'error', event: 'circuit_breaker', message, details: { ...trip } });
  }

  /** Resumes, or stays paused for a blocking reason. */
  resume(actionId: string, blocking: BlockingReason | null): void {
    const { isSynced } = this.#store.read();
    if (blocking) {
      this.#store.write({ lastActionId: actionId, stateReason: blocking.reason });
      this.log({ level: 'error', event: blocking.reason, message: blocking.detail });
      return;
    }
    const now = this.#now();
    this.#breaker.clear();
    this.#store.write({ lastActionId: actionId, state: isSynced ? 'running' : 'syncing', stateReason: null, breakerClearedAt: now });
    this.log({ event: 'resumed', message: 'Resumed' });
    this.#timers.set(isSynced ? campaignTimers.requestCalls : campaignTimers.readSource, now);
  }

  cancel(actionId: string): void {
    this.#store.write({ lastActionId: actionId });
    this.#end('cancelled', null, { word: 'cancelled', because: 'the campaign was cancelled' });
    this.#timers.set(campaignTimers.endRows, this.#now() + fallbackDelayMs);
    this.log({ event: 'cancelled', message: 'Cancelled; calls under way go on, nobody else is called' });
  }

  /** Completes the campaign when its last row has ended. Returns whether it did. */
  completeIfDone(): boolean {
    const { state, isSynced } = this.#store.read();
    const { rows } = this.#rows.tally();
    if (!isSynced || (state !== 'running' && state !== 'paused')) return false;
    if (rowStates.some((name) => !isTerminal(name) && rows[name] > 0)) return false;
    const now = this.#now();
    const isEmpty = rowStates.every((name) => rows[name] === 0);
    this.#store.write({ state: 'completed', stateReason: isEmpty ? 'source_empty' : null, completedAt: now });
    const message = isEmpty
      ? 'The source has no rows, so nobody is called; create a campaign from a source that has some'
      : 'The last row has ended';
    this.log({ level: isEmpty ? 'warning' : 'info', event: 'completed', message, details: { ...toRowCounts(rows) } });
    for (const kind of [
      campaignTimers.requestCalls,
      campaignTimers.repeatRequests,
      campaignTimers.withdraw,
      campaignTimers.withdrawDeletedContacts,
    ])
      this.#timers.clear(kind);
    this.#timers.set(campaignTimers.finish, now);
    this.#timers.set('project', now);
    return true;
  }

  logWindowsClosed(opening: number): void {
    const at = toTimestamp(opening);
    const message = `No calling window is open; the next one opens at ${at}`;
    if (this.#store.logs(1)[0]?.message !== message) this.log({ event: 'window_closed', message, details: { next_window_at: at } });
  }

  log(entry: NewLogEntry): void {
    this.#store.log({ at: this.#now(), level: 'info', details: {}, ...entry });
  }

  #pauseWith(stateReason: string | null, entry: NewLogEntry): void {
    this.#store.write({ state: 'paused', stateReason });
    this.#stopDialing();
    this.log(entry);
  }

  #end(state: 'failed' | 'cancelled', stateReason: string | null, ending: EndReason): void {
    this.#store.write({ state, stateReason, completedAt: this.#now(), ending });
    this.#stopDialing();
  }

  /** Raises the epoch, so that the call slots give back earlier requests. */
  #stopDialing(): void {
    const now = this.#now();
    this.#store.write({ epoch: this.#store.read().epoch + 1 });
    this.#timers.clear(campaignTimers.requestCalls);
    this.#timers.clear(campaignTimers.readSource);
    this.#timers.set(campaignTimers.withdraw, now + fallbackDelayMs);
    this.#timers.set('project', now);
  }
}
