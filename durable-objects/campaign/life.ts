import type { Trip } from '../../src/campaigns/circuit-breaker.ts';
import { countsOf, isEnd, rowStates } from '../../src/campaigns/row-states.ts';
import { skipReason } from '../../src/campaigns/rows/after-report.ts';
import type { Ending } from '../../src/campaigns/rows/after-report.ts';
import type { LogEntry } from '../../src/campaigns/rows/live-campaign.ts';
import type { Standstill } from '../../src/campaigns/standstill.ts';
import type { CampaignRow } from '../../src/campaigns/store.ts';
import { toTimestamp } from '../../src/library/clock.ts';
import type { Timers } from '../shared/timers.ts';
import type { StoredBreaker } from './breaker.ts';
import type { StoredCampaign } from './stored-campaign.ts';
import type { StoredRows } from './stored-rows.ts';

/** What is done at once has its timer after this, in case it came to nothing. */
const againMs = 1000;

type Entry = Partial<LogEntry> & Pick<LogEntry, 'event' | 'message'>;

/** How a campaign goes from state to state, each time with its log and the timers that the state has. Call everything in a transaction. */
export class Life {
  readonly #campaign: StoredCampaign;
  readonly #rows: StoredRows;
  readonly #breaker: StoredBreaker;
  readonly #timers: Timers;
  readonly #now: () => number;

  constructor(
    { campaign, rows, breaker }: { campaign: StoredCampaign; rows: StoredRows; breaker: StoredBreaker },
    timers: Timers,
    now: () => number,
  ) {
    this.#campaign = campaign;
    this.#rows = rows;
    this.#breaker = breaker;
    this.#timers = timers;
    this.#now = now;
  }

  begin(row: CampaignRow, act: string): void {
    const { id, organization_id, name, agent_id, source_type, source_id, source_options } = row;
    const { retry_config, max_concurrency, schedule_config, circuit_breaker } = row;
    this.#campaign.init({
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
      portion: 0,
      answeredPortion: 0,
      zonedUntil: 0,
      breakerClearedAt: 0,
      lastAct: act,
      ending: null,
    });
    this.log({ event: 'started', message: 'Started; the source is being read' });
    this.#timers.set('sync', this.#now());
  }

  /** All rows are there. */
  synced(standstill: Standstill | null): void {
    const { state } = this.#campaign.read();
    if (state !== 'syncing' && state !== 'paused') return;
    this.#campaign.write({ isSynced: true, ...(state === 'syncing' && { state: 'running' }) });
    this.#timers.clear('sync');
    const { total_rows, failed_rows, skipped_rows } = countsOf(this.#rows.tally().rows);
    this.log({ event: 'synced', message: `The source was read: ${total_rows} rows`, details: { total_rows, failed_rows, skipped_rows } });
    if (this.completeIfDone() || state === 'paused') return;
    if (standstill) this.stall(standstill.reason, standstill.detail);
    else this.#timers.set('ask', this.#now());
  }

  unreadable(because: string): void {
    const ending = { word: 'source_unreadable', because: 'the source could not be read to its end' };
    this.#end('failed', skipReason({ ...ending, because }), ending);
    this.#timers.set('close', this.#now());
    this.log({ level: 'error', event: ending.word, message: because });
  }

  pause(act: string): void {
    this.#campaign.write({ lastAct: act });
    this.#halt(null, { event: 'paused', message: 'Paused; calls under way go on' });
  }

  /** It cannot go on until somebody has mended something and resumes. `stateReason` begins with a word. */
  stall(stateReason: string, message: string): void {
    this.#halt(stateReason, { level: 'error', event: stateReason.split(':')[0]!, message });
  }

  trip(trip: Trip): void {
    const message = `${trip.failed_calls} of the last ${trip.ended_calls} calls failed; look at the reasons and resume`;
    this.#halt('circuit_breaker', { level: 'error', event: 'circuit_breaker', message, details: { ...trip } });
  }

  goOn(act: string, standstill: Standstill | null): void {
    const { isSynced } = this.#campaign.read();
    if (standstill) {
      this.#campaign.write({ lastAct: act, stateReason: standstill.reason });
      this.log({ level: 'error', event: standstill.reason, message: standstill.detail });
      return;
    }
    const now = this.#now();
    this.#breaker.clear();
    this.#campaign.write({ lastAct: act, state: isSynced ? 'running' : 'syncing', stateReason: null, breakerClearedAt: now });
    this.log({ event: 'resumed', message: 'Resumed' });
    this.#timers.set(isSynced ? 'ask' : 'sync', now);
  }

  cancel(act: string): void {
    this.#campaign.write({ lastAct: act });
    this.#end('cancelled', null, { word: 'cancelled', because: 'the campaign was cancelled' });
    this.#timers.set('close', this.#now() + againMs);
    this.log({ event: 'cancelled', message: 'Cancelled; calls under way go on, nobody else is called' });
  }

  /** True when the last row has ended. */
  completeIfDone(): boolean {
    const { state, isSynced } = this.#campaign.read();
    const { rows } = this.#rows.tally();
    if (!isSynced || (state !== 'running' && state !== 'paused')) return false;
    if (rowStates.some((name) => !isEnd(name) && rows[name] > 0)) return false;
    const now = this.#now();
    this.#campaign.write({ state: 'completed', stateReason: null, completedAt: now });
    this.log({ event: 'completed', message: 'The last row has ended', details: { ...countsOf(rows) } });
    for (const kind of ['ask', 'check', 'withdraw', 'withdraw_calls']) this.#timers.clear(kind);
    this.#timers.set('finish', now);
    this.#timers.set('project', now);
    return true;
  }

  sleepsUntil(opening: number): void {
    const at = toTimestamp(opening);
    const message = `No calling window is open; the next one opens at ${at}`;
    if (this.#campaign.logs(1)[0]?.message !== message) this.log({ event: 'window_closed', message, details: { next_window_at: at } });
  }

  log(entry: Entry): void {
    this.#campaign.log({ at: this.#now(), level: 'info', details: {}, ...entry });
  }

  #halt(stateReason: string | null, entry: Entry): void {
    this.#campaign.write({ state: 'paused', stateReason });
    this.#stopDialing();
    this.log(entry);
  }

  #end(state: 'failed' | 'cancelled', stateReason: string | null, ending: Ending): void {
    this.#campaign.write({ state, stateReason, completedAt: this.#now(), ending });
    this.#stopDialing();
  }

  /** What the slots have is taken back under a higher epoch. */
  #stopDialing(): void {
    const now = this.#now();
    this.#campaign.write({ epoch: this.#campaign.read().epoch + 1 });
    this.#timers.clear('ask');
    this.#timers.clear('sync');
    this.#timers.set('withdraw', now + againMs);
    this.#timers.set('project', now);
  }
}
