import type { Context } from '../../src/accounts/context.ts';
import { backgroundContext, currentOrganization, OrganizationGoneError } from '../../src/accounts/organizations.ts';
import { changeConfigs } from '../../src/campaigns/change-configs.ts';
import { countsOf } from '../../src/campaigns/row-states.ts';
import { beginCampaign, projectCampaign } from '../../src/campaigns/rows/campaign-object-store.ts';
import type {
  CampaignChange,
  CampaignProgress,
  LiveCampaign,
  LiveState,
  RedialRow,
  RowRecord,
  RowsPage,
  RowsQuery,
} from '../../src/campaigns/rows/live-campaign.ts';
import { waitingFor } from '../../src/campaigns/waiting-for.ts';
import { findCampaign, type CampaignRow } from '../../src/campaigns/store.ts';
import { conflict, notFound } from '../../src/library/errors.ts';
import type { RowOutcome } from '../../src/voice-agents/dialing/call-outcomes.ts';
import type { AttemptReport } from '../../src/voice-agents/dialing/contract.ts';
import { LivingObject } from '../shared/living-object.ts';
import type { Timer } from '../shared/timers.ts';
import { announceCompleted } from './announce-completed.ts';
import { StoredBreaker } from './breaker.ts';
import { Dialer } from './dialer.ts';
import { dueOf, wakeAt } from './due-timers.ts';
import { Life } from './life.ts';
import { lookForStandstill } from './look-for-standstill.ts';
import { readSource } from './read-source.ts';
import { campaignSchemaSteps } from './schema.ts';
import { StoredCampaign, type Campaign } from './stored-campaign.ts';
import { StoredRows } from './stored-rows.ts';
import { takeIn, takeOut } from './take-in.ts';
import { liveCampaign, progressOf } from './views.ts';
import { noOpenings, openingsAt, shownTally, type Openings } from './waiting-rows.ts';

/** Counts in the row lag behind by up to this; states do not. */
const projectEveryMs = 1000;
/** What is done at once has its timer after this, in case it came to nothing. */
const againMs = 1000;
const endedAtOnce = 2000;
/** A source that cannot be read for now is given up after so many tries, which takes half an hour. */
const mostReadings = 12;
const logsShown = 100;

/**
 * One campaign from its start on, named `{organization_id}/{campaign_id}`: its rows, and when which of them is to be called.
 *
 * `act` names one request of a person (a random uuid made once a request): the call is repeated when it broke, and the repetition of what
 * was done is no conflict. Every answer's state has been projected into the row before. A campaign that was never started has no object:
 * acts throw 409 naming `draft`, and what reads answers null.
 *
 * Timers: those of the dialer, `sync` (reading the source), `close` (ending what is not called any more), `finish` (what follows the end).
 */
export class CampaignObject extends LivingObject {
  readonly #campaign = new StoredCampaign(this.ctx.storage.sql);
  readonly #rows = new StoredRows(this.ctx.storage.sql);
  readonly #breaker = new StoredBreaker(this.ctx.storage.sql);
  readonly #life = new Life({ campaign: this.#campaign, rows: this.#rows, breaker: this.#breaker }, this.timers, () => this.clock());
  readonly #dialer: Dialer;
  /** The state that the row is known to show. */
  #told: string | null = null;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.#dialer = new Dialer({
      storage: state.storage,
      timers: this.timers,
      campaign: this.#campaign,
      rows: this.#rows,
      env: () => this.env,
      now: () => this.clock(),
      change: (transaction) => this.#change(transaction),
      rowsEnded: () => this.#life.completeIfDone(),
      standsStill: (reason, detail) => this.#change(() => this.#life.stall(reason, detail)),
      sleepsUntil: (opening) => this.#life.sleepsUntil(opening),
    });
    void state.blockConcurrencyWhile(async () => {
      // It may have gone between what it had heard and asking for the next.
      if (!this.exists() || this.#campaign.read().state !== 'running') return;
      this.#askAt(this.clock());
      await this.timers.arm();
    });
  }

  protected schemaSteps() {
    return campaignSchemaSteps;
  }

  /** From draft to syncing; the row says so when it returns. Throws 404 for a campaign that is not there, 409 for one that is no draft. */
  async start(organizationId: number, campaignId: number, act: string): Promise<LiveCampaign> {
    if (!this.exists()) {
      const context = await backgroundContext(this.env, organizationId, (work) => this.ctx.waitUntil(work));
      if (!context) throw notFound('Campaign');
      await beginCampaign(context.database, organizationId, campaignId, this.clock());
      const row = await findCampaign(context.database, organizationId, campaignId);
      if (!row) throw notFound('Campaign');
      if (row.state !== 'syncing') throw conflict(wrongState(row.state, 'started', ['draft']));
      // Another call may have made the object during the awaits.
      if (!this.exists()) this.#make(row, act);
      await this.timers.arm();
    }
    const { state, lastAct } = this.#campaign.read();
    if (lastAct !== act) throw conflict(wrongState(state, 'started', ['draft']));
    return this.#answer();
  }

  /** Nothing is dialled after it has returned. 409 unless running or syncing. */
  async pause(act: string): Promise<LiveCampaign> {
    if (this.#begins(act, ['running', 'syncing'], 'paused')) this.#change(() => this.#life.pause(act));
    await this.timers.arm();
    await this.#dialer.withdraw();
    return this.#answer();
  }

  /** 409 unless paused. A campaign that would stand still for ever stays paused and says why in `state_reason`. */
  async resume(act: string): Promise<LiveCampaign> {
    if (this.#begins(act, ['paused'], 'resumed')) {
      // What was withdrawn must not be withdrawn once more when it has been asked for again.
      await this.#dialer.withdraw();
      const campaign = this.#campaign.read();
      const standstill = campaign.isSynced ? await lookForStandstill(await this.#context(campaign), campaign, this.clock()) : null;
      if (this.#begins(act, ['paused'], 'resumed')) this.#change(() => this.#life.goOn(act, standstill));
      await this.timers.arm();
    }
    if (this.#campaign.read().state === 'running') this.#askSoon();
    return this.#answer();
  }

  /** Ends what is not in a call. 409 for a campaign that has ended. */
  async cancel(act: string): Promise<LiveCampaign> {
    if (this.#begins(act, ['syncing', 'running', 'paused'], 'cancelled')) this.#change(() => this.#life.cancel(act));
    await this.timers.arm();
    await this.#dialer.withdraw();
    await this.#close();
    return this.#answer();
  }

  /** 409 unless paused; 422 and 400 as `changeConfigs`. Writes the changed columns of the row, too. */
  async change({ name, configs }: CampaignChange): Promise<LiveCampaign> {
    const owner = await currentOrganization(await this.#context(this.#inState(['paused'], 'changed')));
    this.#change(() => {
      const campaign = this.#inState(['paused'], 'changed');
      const after = configs ? changeConfigs(campaign.configs, configs, owner) : campaign.configs;
      this.#campaign.write({ name: name ?? campaign.name, configs: after });
      this.#life.log({ event: 'changed', message: 'Its settings were changed', details: { ...(name && { name }), ...(configs && after) } });
      if (!configs) return;
      this.#dialer.lanes.resetCursors();
      if (JSON.stringify(after.schedule_config) !== JSON.stringify(campaign.configs.schedule_config))
        this.#rows.forgetWindows(this.clock());
      this.#rows.endRetries(after.retry_config);
      this.#life.completeIfDone();
    });
    await this.timers.arm();
    await this.project();
    return this.#answer();
  }

  /** Makes sure that it goes on; also makes the object of a campaign whose start broke off. For the minute tick. */
  async poke(organizationId: number, campaignId: number): Promise<void> {
    if (!this.exists()) {
      const context = await backgroundContext(this.env, organizationId, (work) => this.ctx.waitUntil(work));
      const row = context && (await findCampaign(context.database, organizationId, campaignId));
      if (row?.state !== 'syncing' || this.exists()) return;
      this.#make(row, '');
    }
    // The row's word of when it is due may be an old one.
    this.#change(() => {
      if (this.#campaign.read().state === 'running') this.#askAt(this.clock());
    });
    await this.project();
    await this.timers.arm();
  }

  async snapshot(): Promise<LiveCampaign | null> {
    return this.exists() ? this.#answer() : null;
  }

  async progress(): Promise<CampaignProgress | null> {
    if (!this.exists()) return null;
    await this.#tell();
    const campaign = this.#campaign.read();
    const waiting = await this.#dialer
      .standing()
      .catch((error: unknown) => this.log.warn('the call slots did not answer', { error: String(error) }));
    const isRunning = campaign.state === 'running';
    const { asking } = this.#dialer;
    const windows = this.#dialer.windows(campaign);
    const now = this.clock();
    const openingForNew = isRunning ? asking.openingForNew(windows, now) : null;
    const waitingForNow = ({ queued, waiting_for }: NonNullable<CampaignProgress['waiting']>) =>
      waitingFor({ asked: { queued, waitingFor: waiting_for }, row: asking.firstWaiting(windows), openingForNew, now });
    return progressOf(campaign, this.#rows.tally(), this.#rows.waiting(this.#openings(campaign)), {
      next_attempt_at: earlier(this.#rows.nextAttemptAt(), openingForNew),
      next_window_at: isRunning ? asking.nextWindow(windows, now) : null,
      waiting: waiting ? { ...waiting, waiting_for: isRunning ? waitingForNow(waiting) : null } : null,
    });
  }

  async rows({ state, limit, offset }: RowsQuery): Promise<RowsPage | null> {
    if (!this.exists()) return null;
    await this.#tell();
    const openings = this.#openings(this.#campaign.read());
    const rows = shownTally(this.#rows.tally().rows, this.#rows.waiting(openings));
    const total = state === undefined ? countsOf(rows).total_rows : rows[state];
    return { rows: this.#rows.page(state, openings, limit, offset), total };
  }

  /** The next rows behind a number, for the report; fewer than `limit` only at the end. */
  async reportRows(afterRowNumber: number, limit: number): Promise<RowRecord[] | null> {
    return this.exists() ? this.#rows.after(afterRowNumber, this.#openings(this.#campaign.read()), limit) : null;
  }

  /** The next rows behind a number that ended without the person being reached, by one of `outcomes`. */
  async redialRows(outcomes: RowOutcome[], afterRowNumber: number, limit: number): Promise<RedialRow[] | null> {
    return this.exists() ? this.#rows.redial(outcomes, afterRowNumber, limit) : null;
  }

  /** How many such rows there are. */
  async countRedialRows(outcomes: RowOutcome[]): Promise<number | null> {
    return this.exists() ? this.#rows.countRedial(outcomes) : null;
  }

  /** Its rows are archived: an ended campaign's object goes. `busy`: it lives, or something follows from its end. */
  async forget(): Promise<'gone' | 'busy'> {
    if (!this.exists()) return 'gone';
    await this.project();
    const { completedAt } = this.#campaign.read();
    if (completedAt === null || wakeAt(this.ctx.storage.sql) !== null) return 'busy';
    await this.vanish();
    return 'gone';
  }

  /** The contact is gone: its rows end and forget their variables, a queued call of it is withdrawn. */
  async removeContact(contactId: number): Promise<void> {
    if (!this.exists()) return;
    const isAsked = this.#change(() => {
      const found = takeOut(contactId, { rows: this.#rows, asking: this.#dialer.asking });
      if (found) this.timers.set('withdraw_calls', this.clock() + againMs);
      this.#life.completeIfDone();
      return found;
    });
    await this.timers.arm();
    if (isAsked) await this.#dialer.withdrawContacts();
  }

  /** The voice agent takes no more calls: pauses a campaign that is running. */
  async agentArchived(): Promise<void> {
    if (!this.exists()) return;
    if (this.#campaign.read().state === 'running')
      this.#change(() => this.#life.stall('agent_archived', 'The voice agent was archived and takes no calls; restore it and resume'));
    await this.timers.arm();
    await this.#dialer.withdraw();
    await this.#tell();
  }

  /** Takes in what became of attempts; when it returns, slots need not tell them again. Reports come repeated and late. */
  async reports(reports: AttemptReport[]): Promise<void> {
    if (!this.exists()) return;
    this.#change(() => {
      const campaign = this.#campaign.read();
      const now = this.clock();
      const around = { rows: this.#rows, asking: this.#dialer.asking, breaker: this.#breaker };
      const pause = takeIn(reports, around, { campaign, windows: this.#dialer.windows(campaign), now, random: this.random });
      if (this.#life.completeIfDone() || campaign.state !== 'running') return;
      if (pause) return this.#life.stall(pause.stateReason, pause.message);
      const trip = this.#breaker.tripAt(campaign, now);
      if (trip) this.#life.trip(trip);
    });
    await this.timers.arm();
    const { state, epoch, withdrawnEpoch } = this.#campaign.read();
    if (state === 'running') this.#askSoon();
    // Its timer sees to it when this comes to nothing.
    else if (withdrawnEpoch < epoch) this.#afterwards(this.#dialer.withdraw());
  }

  protected async onTimer(timer: Timer): Promise<void> {
    switch (timer.kind) {
      case 'sync':
        return this.#synchronize(timer);
      case 'ask':
        return this.#dialer.ask();
      case 'check':
        return this.#dialer.check();
      case 'withdraw':
        return this.#dialer.withdraw();
      case 'withdraw_calls':
        return this.#dialer.withdrawContacts();
      case 'close':
        return this.#close();
      default:
        return this.#finish();
    }
  }

  #make(row: CampaignRow, act: string): void {
    this.ctx.storage.transactionSync(() => {
      this.create();
      this.#life.begin(row, act);
    });
  }

  /** Reads the source. A pause stops it, and it goes on behind the last row. */
  async #synchronize(timer: Timer): Promise<void> {
    const campaign = this.#campaign.read();
    if (campaign.state !== 'syncing') return this.timers.clear('sync');
    const context = await this.#context(campaign);
    const reading = await readSource(context, campaign, this.#rows, (batch) => {
      if (this.#campaign.read().state !== 'syncing') return false;
      this.#change(() => this.#rows.add(batch));
      return true;
    }).catch((error: unknown) => {
      if (timer.attempts + 1 < mostReadings) throw error;
      this.log.error('a source was given up', error);
      return { end: 'unreadable' as const, because: 'it could not be read in half an hour of trying; create the campaign again' };
    });
    if (reading.end === 'read') {
      const standstill = await lookForStandstill(context, campaign, this.clock());
      this.#change(() => this.#life.synced(standstill));
    } else if (reading.end === 'unreadable' && this.#campaign.read().state === 'syncing')
      this.#change(() => this.#life.unreadable(reading.because));
    // A pause has cleared it; who resumed since then has set it again.
    if (this.#campaign.read().state !== 'syncing') this.timers.clear('sync');
    await this.#tell();
    if (this.#campaign.read().state === 'running') this.#askSoon();
  }

  /** Ends the rows that are not called any more and that the slots do not have; those that they have end by what the slots tell. */
  async #close(): Promise<void> {
    const { ending } = this.#campaign.read();
    if (!ending) return this.#cleared('close');
    for (let after: number | null = 0; after !== null;) {
      const from: number = after;
      after = this.#change(() => this.#rows.endFree(ending, from, endedAtOnce));
      // Others may act between two pages.
      await this.ctx.storage.sync();
    }
    this.#cleared('close');
  }

  async #finish(): Promise<void> {
    await this.project();
    const campaign = this.#campaign.read();
    await announceCompleted(await this.#context(campaign), campaign, this.#rows.tally());
    this.#cleared('finish');
  }

  /** The closed windows that rows of a running campaign wait for. */
  #openings(campaign: Campaign): Openings {
    return campaign.state === 'running' ? openingsAt(this.#dialer.lanes, this.#dialer.windows(campaign), this.clock()) : noOpenings;
  }

  /** Done, which the row's `wake_at` shows. */
  #cleared(timer: string): void {
    this.#change(() => this.timers.clear(timer));
  }

  /** Whether `act` is new. Throws 409 for one that the state does not allow. */
  #begins(act: string, from: LiveState[], verb: string): boolean {
    if (this.exists() && this.#campaign.read().lastAct === act) return false;
    this.#inState(from, verb);
    return true;
  }

  #inState(from: LiveState[], verb: string): Campaign {
    if (!this.exists()) throw conflict(wrongState('draft', verb, from));
    const campaign = this.#campaign.read();
    if (!from.includes(campaign.state)) throw conflict(wrongState(campaign.state, verb, from));
    return campaign;
  }

  /** Runs a transaction that changes what the row shows, which it then does within a second. */
  #change<Result>(transaction: () => Result): Result {
    return this.projection.change(() => {
      this.timers.ensure('project', this.clock() + projectEveryMs);
      return transaction();
    });
  }

  protected override async project(): Promise<void> {
    await super.project();
    // What has changed meanwhile is not left for long.
    if (this.exists() && dueOf(this.ctx.storage.sql, 'project') !== null) this.timers.set('project', this.clock() + projectEveryMs);
  }

  protected async writeProjection(revision: number): Promise<void> {
    const campaign = this.#campaign.read();
    const { database } = await this.#context(campaign);
    const live = liveCampaign(this.#campaign.read(), this.#rows.tally(), []);
    await projectCampaign(database, campaign.organizationId, campaign.id, { ...live, wake_at: wakeAt(this.ctx.storage.sql), revision });
  }

  async #answer(): Promise<LiveCampaign> {
    await this.timers.arm();
    await this.#tell();
    return liveCampaign(this.#campaign.read(), this.#rows.tally(), this.#campaign.logs(logsShown));
  }

  /** Brings the row up to date when it may show another state. */
  async #tell(): Promise<void> {
    for (;;) {
      const { state, stateReason } = this.#campaign.read();
      const now = `${state} ${stateReason}`;
      if (this.#told === now) return;
      await this.project();
      this.#told = now;
    }
  }

  #askSoon(): void {
    this.#afterwards(
      this.#dialer.ask().catch(async (error: unknown) => {
        if (this.#campaign.read().state === 'running') this.#askAt(this.clock() + againMs);
        await this.timers.arm();
        throw error;
      }),
    );
  }

  #askAt(due: number): void {
    if ((dueOf(this.ctx.storage.sql, 'ask') ?? Infinity) > due) this.timers.set('ask', due);
  }

  #afterwards(work: Promise<void>): void {
    this.ctx.waitUntil(work.catch((error: unknown) => this.log.error('what was to follow failed', error)));
  }

  async #context({ organizationId }: Campaign): Promise<Context> {
    const context = await backgroundContext(this.env, organizationId, (work) => this.ctx.waitUntil(work));
    if (!context) throw new OrganizationGoneError(organizationId);
    return context;
  }
}

const earlier = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other);

function wrongState(state: string, verb: string, from: string[]): string {
  return `This campaign is ${state}; one that can be ${verb} is ${from.join(' or ')}`;
}
