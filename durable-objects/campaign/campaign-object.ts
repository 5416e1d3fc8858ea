import type { Context } from '../../src/context.ts';
import { readCurrentOrganization } from '../../src/accounts/organizations/background-context.ts';
import { applyConfigChange } from '../../src/campaigns/configs/apply-config-change.ts';
import { toRowCounts } from '../../src/campaigns/rows/row-states.ts';
import { markCampaignSyncing, projectCampaign, findCampaign, type CampaignRow } from '../../src/campaigns/store.ts';
import type {
  CampaignChange,
  CampaignProgress,
  CampaignRpc,
  LiveCampaign,
  LiveState,
  RedialRow,
  RowRecord,
  RowsPage,
  RowsQuery,
} from '../../src/campaigns/rpc.ts';
import { findBlockingReason, type BlockingReason } from '../../src/campaigns/lifecycle/blocking-reason.ts';
import { describeWait } from '../../src/campaigns/queries/describe-wait.ts';
import { actAs, type Actor } from '../../src/database/audit/actor.ts';
import { conflict, notFound } from '../../src/library/errors.ts';
import { publish } from '../../src/outbox/published-events.ts';
import type { RowOutcome } from '../../src/calls/attempt/outcomes.ts';
import type { AttemptReport } from '../../src/calls/contract.ts';
import { BaseDurableObject } from '../shared/base-durable-object.ts';
import { TableStore } from '../shared/object-store.ts';
import { type AlarmDelay, fallbackDelayMs, type Timer } from '../shared/timers.ts';
import { publishCampaignCompleted } from './publish-completed.ts';
import { CircuitBreakerStore } from './circuit-breaker-store.ts';
import { Dialer } from './dialer.ts';
import { CampaignLifecycle } from './lifecycle.ts';
import { readSource } from './read-source.ts';
import { campaignSchemaSteps, campaignTimers } from './schema.ts';
import { CampaignStore, type Campaign, type UnshownChange } from './campaign-store.ts';
import { RowStore } from './row-store.ts';
import { applyReports, removeContact } from './apply-reports.ts';
import { addPersonChange, toStateText } from './unshown-changes.ts';
import { toLiveCampaign, toCampaignProgress } from './views.ts';
import { noOpenings, findOpenings, toShownTally, type WindowOpenings } from './time-zone-groups.ts';

/** The row's counts may be this old; its state never is. */
const projectionIntervalMs = 1000;
const endPageSize = 2000;
/** How often a failing source is read, over half an hour, before the campaign fails. */
const maxReadAttempts = 12;
const maxLogsShown = 100;
/** The states that webhook endpoints are told of. */
const webhookStates: ReadonlySet<string> = new Set(['paused', 'completed', 'failed', 'cancelled']);

/**
 * One campaign from its start on: its rows, and when each is called. `CampaignRpc` documents the methods.
 *
 * Its timers are listed in `campaignTimers`.
 */
export class CampaignObject extends BaseDurableObject implements CampaignRpc {
  readonly #store = new CampaignStore(this.ctx.storage.sql);
  readonly #rows = new RowStore(this.ctx.storage.sql);
  readonly #breaker = new CircuitBreakerStore(this.ctx.storage.sql);
  readonly #lifecycle = new CampaignLifecycle({ campaign: this.#store, rows: this.#rows, breaker: this.#breaker }, this.timers, () =>
    this.clock(),
  );
  readonly #dialer: Dialer;
  /** The state that the campaign's row shows for certain; null: unknown. */
  #projectedState: string | null = null;
  /** The state of the latest projection, of which webhook endpoints may have been told. */
  #publishedState: string | null = null;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.#dialer = new Dialer({
      storage: state.storage,
      timers: this.timers,
      campaign: this.#store,
      rows: this.#rows,
      env: () => this.env,
      now: () => this.clock(),
      change: (transaction) => this.#change(transaction),
      onRowsEnded: () => this.#lifecycle.completeIfDone(),
      onBlocked: (reason, detail) => this.#change(() => this.#lifecycle.pauseBlocked(reason, detail)),
      onWindowsClosed: (opening) => this.#lifecycle.logWindowsClosed(opening),
    });
    void state.blockConcurrencyWhile(async () => {
      // The object may have died after it applied a report and before it requested the next calls.
      if (!this.exists() || this.#store.read().state !== 'running') return;
      this.#scheduleRequestAt(this.clock());
      await this.timers.arm();
    });
  }

  protected openStore(storage: DurableObjectStorage, alarmDelay: AlarmDelay) {
    return new TableStore(storage, { steps: campaignSchemaSteps }, alarmDelay);
  }

  async start(organizationId: number, campaignId: number, actionId: string, actor?: Actor): Promise<LiveCampaign> {
    if (!this.exists()) {
      const context = await this.findContext(organizationId);
      if (!context) throw notFound('Campaign');
      await actAs(actor, () => markCampaignSyncing(context.database, organizationId, campaignId, this.clock()));
      const row = await findCampaign(context.database, organizationId, campaignId);
      if (!row) throw notFound('Campaign');
      if (row.state !== 'syncing') throw conflict(wrongStateMessage(row.state, 'started', ['draft']));
      // Another RPC may have created the object during the awaits.
      if (!this.exists()) this.#createFrom(row, actionId);
      await this.timers.arm();
    }
    const { state, lastActionId } = this.#store.read();
    if (lastActionId !== actionId) throw conflict(wrongStateMessage(state, 'started', ['draft']));
    return this.#answer();
  }

  async pause(actionId: string, actor: Actor | null = null): Promise<LiveCampaign> {
    if (this.#isNewAction(actionId, ['running', 'syncing'], 'paused')) this.#changeAs(actor, () => this.#lifecycle.pause(actionId));
    await this.timers.arm();
    await this.#dialer.withdraw();
    return this.#answer();
  }

  async resume(actionId: string, actor: Actor | null = null): Promise<LiveCampaign> {
    if (this.#isNewAction(actionId, ['paused'], 'resumed')) {
      // A withdrawal left over from the pause would withdraw the calls that the resumed campaign requests.
      await this.#dialer.withdraw();
      const campaign = this.#store.read();
      const blocking = campaign.isSynced ? await this.#findBlockingReason(await this.#context(campaign), campaign) : null;
      if (this.#isNewAction(actionId, ['paused'], 'resumed')) this.#changeAs(actor, () => this.#lifecycle.resume(actionId, blocking));
      await this.timers.arm();
    }
    if (this.#store.read().state === 'running') this.#requestCallsSoon();
    return this.#answer();
  }

  async cancel(actionId: string, actor: Actor | null = null): Promise<LiveCampaign> {
    if (this.#isNewAction(actionId, ['syncing', 'running', 'paused'], 'cancelled'))
      this.#changeAs(actor, () => this.#lifecycle.cancel(actionId));
    await this.timers.arm();
    await this.#dialer.withdraw();
    await this.#endUnrequestedRows();
    return this.#answer();
  }

  async change({ name, configs }: CampaignChange, actor: Actor | null = null): Promise<LiveCampaign> {
    const owner = await readCurrentOrganization(await this.#context(this.#requireState(['paused'], 'changed')));
    this.#changeAs(actor, () => {
      const campaign = this.#requireState(['paused'], 'changed');
      const after = configs ? applyConfigChange(campaign.configs, configs, owner) : campaign.configs;
      this.#store.write({ name: name ?? campaign.name, configs: after });
      this.#lifecycle.log({
        event: 'changed',
        message: 'Its settings were changed',
        details: { ...(name && { name }), ...(configs && after) },
      });
      if (!configs) return;
      this.#dialer.timeZoneGroups.resetCursors();
      if (JSON.stringify(after.schedule_config) !== JSON.stringify(campaign.configs.schedule_config))
        this.#rows.resetWindowWaits(this.clock());
      this.#rows.endRetries(after.retry_config);
      this.#lifecycle.completeIfDone();
    });
    await this.timers.arm();
    await this.project();
    return this.#answer();
  }

  async wakeStalled(organizationId: number, campaignId: number): Promise<void> {
    if (!this.exists()) {
      const context = await this.findContext(organizationId);
      const row = context && (await findCampaign(context.database, organizationId, campaignId));
      if (row?.state !== 'syncing' || this.exists()) return;
      this.#createFrom(row, '');
    }
    // The timer may be late: the campaign's row said that work was due.
    this.#change(() => {
      if (this.#store.read().state === 'running') this.#scheduleRequestAt(this.clock());
    });
    await this.project();
    await this.timers.arm();
  }

  async snapshot(): Promise<LiveCampaign | null> {
    return this.exists() ? this.#answer() : null;
  }

  async progress(): Promise<CampaignProgress | null> {
    if (!this.exists()) return null;
    await this.#projectIfStateChanged();
    const campaign = this.#store.read();
    const waiting = await this.#dialer
      .readQueueStatus()
      .catch((error: unknown) => this.log.warn('the call slots did not answer', { error: String(error) }));
    const isRunning = campaign.state === 'running';
    const { requests } = this.#dialer;
    const windows = this.#dialer.windows(campaign);
    const now = this.clock();
    const newRowsOpenAt = isRunning ? requests.newRowsOpenAt(windows, now) : null;
    const describeCurrentWait = ({ queued, waiting_for }: NonNullable<CampaignProgress['waiting']>) =>
      describeWait({
        requested: { queued, waitingFor: waiting_for },
        row: requests.firstWaitingRow(windows),
        newRowsOpenAt,
        now,
      });
    return toCampaignProgress(campaign, this.#rows.tally(), this.#rows.countWaiting(this.#openings(campaign)), {
      next_attempt_at: earlier(this.#rows.nextAttemptAt(), newRowsOpenAt),
      next_window_at: isRunning ? requests.nextWindowAt(windows, now) : null,
      waiting: waiting ? { ...waiting, waiting_for: isRunning ? describeCurrentWait(waiting) : null } : null,
    });
  }

  async rows({ state, limit, offset }: RowsQuery): Promise<RowsPage | null> {
    if (!this.exists()) return null;
    await this.#projectIfStateChanged();
    const openings = this.#openings(this.#store.read());
    const rows = toShownTally(this.#rows.tally().rows, this.#rows.countWaiting(openings));
    const total = state === undefined ? toRowCounts(rows).total_rows : rows[state];
    return { rows: this.#rows.page(state, openings, limit, offset), total };
  }

  async reportRows(afterRowNumber: number, limit: number): Promise<RowRecord[] | null> {
    return this.exists() ? this.#rows.pageAfter(afterRowNumber, this.#openings(this.#store.read()), limit) : null;
  }

  async redialRows(outcomes: RowOutcome[], afterRowNumber: number, limit: number): Promise<RedialRow[] | null> {
    return this.exists() ? this.#rows.redialRows(outcomes, afterRowNumber, limit) : null;
  }

  async countRedialRows(outcomes: RowOutcome[]): Promise<number | null> {
    return this.exists() ? this.#rows.countRedialRows(outcomes) : null;
  }

  async deleteArchived(): Promise<'gone' | 'busy'> {
    if (!this.exists()) return 'gone';
    await this.project();
    const { completedAt } = this.#store.read();
    if (completedAt === null || this.#nextWakeAt() !== null) return 'busy';
    await this.destroy();
    return 'gone';
  }

  async removeContact(contactId: number): Promise<void> {
    if (!this.exists()) return;
    const hasRequestedCall = this.#change(() => {
      const isRequested = removeContact(contactId, { rows: this.#rows, requests: this.#dialer.requests });
      if (isRequested) this.timers.set(campaignTimers.withdrawDeletedContacts, this.clock() + fallbackDelayMs);
      this.#lifecycle.completeIfDone();
      return isRequested;
    });
    await this.timers.arm();
    if (hasRequestedCall) await this.#dialer.withdrawDeletedContacts();
  }

  async pauseForArchivedAgent(): Promise<void> {
    if (!this.exists()) return;
    if (this.#store.read().state === 'running')
      this.#change(() =>
        this.#lifecycle.pauseBlocked('agent_archived', 'The voice agent was archived and takes no calls; restore it and resume'),
      );
    await this.timers.arm();
    await this.#dialer.withdraw();
    await this.#projectIfStateChanged();
  }

  async applyReports(reports: AttemptReport[]): Promise<void> {
    if (!this.exists()) return;
    this.#change(() => {
      const campaign = this.#store.read();
      const now = this.clock();
      const stores = { rows: this.#rows, requests: this.#dialer.requests, breaker: this.#breaker };
      const pause = applyReports(reports, stores, { campaign, windows: this.#dialer.windows(campaign), now, random: this.random });
      if (this.#lifecycle.completeIfDone() || campaign.state !== 'running') return;
      if (pause) return this.#lifecycle.pauseBlocked(pause.stateReason, pause.message);
      const trip = this.#breaker.tripAt(campaign, now);
      if (trip) this.#lifecycle.pauseTripped(trip);
    });
    await this.timers.arm();
    const { state, epoch, withdrawnEpoch } = this.#store.read();
    if (state === 'running') this.#requestCallsSoon();
    // The `withdraw` timer repeats a withdrawal that fails.
    else if (withdrawnEpoch < epoch) this.#runInBackground(this.#dialer.withdraw());
  }

  protected async onTimer(timer: Timer): Promise<void> {
    switch (timer.kind) {
      case campaignTimers.readSource:
        return this.#synchronize(timer);
      case campaignTimers.requestCalls:
        return this.#dialer.requestCalls();
      case campaignTimers.repeatRequests:
        return this.#dialer.repeatRequests();
      case campaignTimers.withdraw:
        return this.#dialer.withdraw();
      case campaignTimers.withdrawDeletedContacts:
        return this.#dialer.withdrawDeletedContacts();
      case campaignTimers.endRows:
        return this.#endUnrequestedRows();
      default:
        return this.#finish();
    }
  }

  #createFrom(row: CampaignRow, actionId: string): void {
    this.ctx.storage.transactionSync(() => {
      this.create();
      this.#rows.forgetTally();
      this.#lifecycle.start(row, actionId);
    });
  }

  /** Reads the rows of the source. A pause stops the reading; a resume continues after the last stored row. */
  async #synchronize(timer: Timer): Promise<void> {
    const campaign = this.#store.read();
    if (campaign.state !== 'syncing') return this.timers.clear(campaignTimers.readSource);
    const context = await this.#context(campaign);
    const reading = await readSource(context, campaign, this.#rows, (batch) => {
      if (this.#store.read().state !== 'syncing') return false;
      this.#change(() => this.#rows.add(batch));
      return true;
    }).catch((error: unknown) => {
      if (timer.attempts + 1 < maxReadAttempts) throw error;
      this.log.error('a source could not be read', error);
      return { end: 'unreadable' as const, reason: 'it could not be read in half an hour of trying; create the campaign again' };
    });
    if (reading.end === 'read') {
      const blocking = await this.#findBlockingReason(context, campaign);
      this.#change(() => this.#lifecycle.completeSync(blocking));
    } else if (reading.end === 'unreadable' && this.#store.read().state === 'syncing')
      this.#change(() => this.#lifecycle.failUnreadable(reading.reason));
    // A pause clears the timer, and a later resume sets it again.
    if (this.#store.read().state !== 'syncing') this.timers.clear(campaignTimers.readSource);
    await this.#projectIfStateChanged();
    if (this.#store.read().state === 'running') this.#requestCallsSoon();
  }

  #findBlockingReason(context: Context, { agentId, configs }: Campaign): Promise<BlockingReason | null> {
    return findBlockingReason(context, { agentId, schedule: configs.schedule_config }, this.clock());
  }

  /** Ends the waiting rows that the call slots do not have. Reports from the slots end the others. */
  async #endUnrequestedRows(): Promise<void> {
    const { ending } = this.#store.read();
    if (!ending) return this.#clearTimer(campaignTimers.endRows);
    for (let after: number | null = 0; after !== null;) {
      const from: number = after;
      after = this.#change(() => this.#rows.endUnrequested(ending, from, endPageSize));
      // Other calls may run between two pages.
      await this.ctx.storage.sync();
    }
    this.#clearTimer(campaignTimers.endRows);
  }

  async #finish(): Promise<void> {
    await this.project();
    const campaign = this.#store.read();
    await publishCampaignCompleted(await this.#context(campaign), campaign, this.#rows.tally());
    this.#clearTimer(campaignTimers.finish);
  }

  /** The closed windows that the rows of a running campaign wait for. */
  #openings(campaign: Campaign): WindowOpenings {
    return campaign.state === 'running'
      ? findOpenings(this.#dialer.timeZoneGroups, this.#dialer.windows(campaign), this.clock())
      : noOpenings;
  }

  /** Clears a timer; the row's `wake_at` follows. */
  #clearTimer(timer: string): void {
    this.#change(() => this.timers.clear(timer));
  }

  /** Whether an action is new and not a repetition of the last one. Throws 409 for a new action that the state does not allow. */
  #isNewAction(actionId: string, from: LiveState[], verb: string): boolean {
    if (this.exists() && this.#store.read().lastActionId === actionId) return false;
    this.#requireState(from, verb);
    return true;
  }

  #requireState(from: LiveState[], verb: string): Campaign {
    if (!this.exists()) throw conflict(wrongStateMessage('draft', verb, from));
    const campaign = this.#store.read();
    if (!from.includes(campaign.state)) throw conflict(wrongStateMessage(campaign.state, verb, from));
    return campaign;
  }

  /** Runs a transaction that changes what the row shows. The row follows within a second. */
  #change<Result>(transaction: () => Result): Result {
    return this.#rows.transaction(
      (changes) => this.projection.change(changes),
      () => {
        this.timers.ensure('project', this.clock() + projectionIntervalMs);
        return transaction();
      },
    );
  }

  /** `#change` in the name of a person. The row shows it by itself, whatever the service or another person changes before it does. */
  #changeAs<Result>(actor: Actor | null, transaction: () => Result): Result {
    if (!actor) return this.#change(transaction);
    return this.#rows.transaction(
      (changes) => this.projection.changeAlone(changes),
      () => {
        const before = this.#store.read();
        this.timers.ensure('project', this.clock() + projectionIntervalMs);
        const result = transaction();
        const change = { actor, revision: this.projection.revision(), projectedState: this.#projectedState };
        this.#store.write({ unshownChanges: addPersonChange(before, this.#store.read(), change) });
        return result;
      },
    );
  }

  protected override async project(): Promise<void> {
    await super.project();
    // A change during the projection is projected within a second.
    if (this.exists() && this.timers.dueAt('project') !== null) this.timers.set('project', this.clock() + projectionIntervalMs);
  }

  protected async writeProjection(revision: number): Promise<void> {
    const context = await this.#context(this.#store.read());
    let shownRevision = 0;
    for (let campaign = this.#store.read(); ; campaign = this.#store.read()) {
      const [next] = campaign.unshownChanges;
      // Nothing is awaited since the campaign was read: what its row shows from here on is no person's change.
      if (!next) return shownRevision < revision ? this.#writeRow(context, campaign, { revision, actor: null }) : undefined;
      await this.#writeRow(context, { ...campaign, ...next.shown }, next);
      const left = this.#store.read().unshownChanges.filter((one) => one.revision > next.revision);
      this.#store.write({ unshownChanges: left });
      shownRevision = next.revision;
    }
  }

  /** Brings the row to a revision, in the name of `actor`; null: of nobody. */
  async #writeRow(context: Context, campaign: Campaign, { revision, actor }: Pick<UnshownChange, 'revision' | 'actor'>): Promise<void> {
    const live = toLiveCampaign(campaign, this.#rows.tally(), []);
    const projection = { ...live, wake_at: this.#nextWakeAt(), revision };
    const isListening = await actAs(actor ?? undefined, () =>
      projectCampaign(context.database, campaign.organizationId, campaign.id, projection),
    );
    if (live.state === this.#publishedState) return;
    this.#publishedState = live.state;
    if (isListening && webhookStates.has(live.state)) await publish(context, 'webhook_event.recorded', { type: `campaign.${live.state}` });
  }

  async #answer(): Promise<LiveCampaign> {
    await this.timers.arm();
    await this.#projectIfStateChanged();
    return toLiveCampaign(this.#store.read(), this.#rows.tally(), this.#store.logs(maxLogsShown));
  }

  /** Projects the state into the row unless the row shows it for certain, and what people have changed. */
  async #projectIfStateChanged(): Promise<void> {
    for (;;) {
      const campaign = this.#store.read();
      const now = toStateText(campaign);
      if (this.#projectedState === now && campaign.unshownChanges.length === 0) return;
      await this.project();
      this.#projectedState = now;
    }
  }

  #requestCallsSoon(): void {
    this.#runInBackground(
      this.#dialer.requestCalls().catch(async (error: unknown) => {
        if (this.#store.read().state === 'running') this.#scheduleRequestAt(this.clock() + fallbackDelayMs);
        await this.timers.arm();
        throw error;
      }),
    );
  }

  /** When the object next has work besides its projection, epoch ms. */
  #nextWakeAt(): number | null {
    return this.timers.earliestExcept('project');
  }

  #scheduleRequestAt(due: number): void {
    if ((this.timers.dueAt(campaignTimers.requestCalls) ?? Infinity) > due) this.timers.set(campaignTimers.requestCalls, due);
  }

  #runInBackground(work: Promise<void>): void {
    this.ctx.waitUntil(work.catch((error: unknown) => this.log.error('background work of a campaign failed', error)));
  }

  #context({ organizationId }: Campaign): Promise<Context> {
    return this.requireContext(organizationId);
  }
}

const earlier = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other);

function wrongStateMessage(state: string, verb: string, from: string[]): string {
  return `This campaign is ${state}; one that can be ${verb} is ${from.join(' or ')}`;
}
