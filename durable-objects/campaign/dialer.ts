import { campaignOwner, maxRequestedCalls } from '../../src/campaigns/rows/attempt-keys.ts';
import type { CampaignProgress } from '../../src/campaigns/rpc.ts';
import { RowWindows } from '../../src/campaigns/dialing/calling-windows.ts';
import type { RequestedCall } from '../../src/calls/contract.ts';
import { withCallSlots } from '../../src/calls/rpc.ts';
import type { Timers } from '../shared/timers.ts';
import { DialRequests, type RequestedRow } from './dial-requests.ts';
import { TimeZoneGroups } from './time-zone-groups.ts';
import type { Campaign, CampaignStore } from './campaign-store.ts';
import type { RowStore } from './row-store.ts';
import { campaignTimers } from './schema.ts';

/** All requested calls are requested again this often, in case a request or a report was lost. */
const checkIntervalMs = 10 * 60_000;
/** The call slots report what a withdrawal gives back within this time. */
const returnTimeoutMs = 2000;
const timeZonePageSize = 500;
/** Due moments within this time share one alarm. */
const alarmGranularityMs = 250;

/** What the campaign's object provides to the dialer. */
export interface DialerDependencies {
  storage: DurableObjectStorage;
  timers: Timers;
  campaign: CampaignStore;
  rows: RowStore;
  env(): Env;
  now(): number;
  /** Runs a transaction that changes what the campaign's row shows. */
  change<Result>(transaction: () => Result): Result;
  /** Some rows have ended without a call. */
  onRowsEnded(): void;
  /** Nothing can be dialled until a person removes the cause. */
  onBlocked(reason: string, detail: string): void;
  /** No calling window is open before `opening` (epoch ms). */
  onWindowsClosed(opening: number): void;
}

/**
 * Requests the calls of a campaign from the organization's call slots, and withdraws them. A request is stored before it is sent. An
 * unanswered request is sent again under the same keys. Timers: `requestCalls`, `repeatRequests`, `withdraw` and `withdrawDeletedContacts`
 * of `campaignTimers`.
 */
export class Dialer {
  readonly requests: DialRequests;
  readonly timeZoneGroups: TimeZoneGroups;
  readonly #deps: DialerDependencies;
  #windows: { text: string; windows: RowWindows } | null = null;
  #currentRound: Promise<void> | null = null;
  #isRoundRequested = false;

  constructor(deps: DialerDependencies) {
    this.#deps = deps;
    this.timeZoneGroups = new TimeZoneGroups(deps.storage.sql, deps.rows);
    this.requests = new DialRequests(deps.storage.sql, deps.rows, this.timeZoneGroups);
  }

  windows({ configs }: Campaign): RowWindows {
    const text = JSON.stringify(configs.schedule_config);
    if (this.#windows?.text !== text)
      this.#windows = { text, windows: new RowWindows(configs.schedule_config, this.timeZoneGroups.zones()) };
    return this.#windows.windows;
  }

  /** Requests as many calls as may be requested, batch by batch. A call during a round extends the round. Sets the timer of the next request. */
  requestCalls(): Promise<void> {
    this.#isRoundRequested = true;
    this.#currentRound ??= this.#requestAll();
    return this.#currentRound;
  }

  async #requestAll(): Promise<void> {
    try {
      while (this.#isRoundRequested) {
        this.#isRoundRequested = false;
        await this.#assignTimeZones();
        await this.#requestUnanswered();
        while (await this.#requestNext());
        this.#setTimer();
        await this.#deps.timers.arm();
      }
    } finally {
      this.#currentRound = null;
    }
  }

  #readRunning(): Campaign | null {
    const campaign = this.#deps.campaign.read();
    return campaign.state === 'running' ? campaign : null;
  }

  /** Assigns the rows of a running campaign to time zone groups, where the schedule goes by contacts' time zones. */
  async #assignTimeZones(): Promise<void> {
    for (;;) {
      const campaign = this.#readRunning();
      if (!campaign?.configs.schedule_config.use_contact_timezone || campaign.timeZonesAssignedUntil === Number.MAX_SAFE_INTEGER) return;
      const { timezone } = campaign.configs.schedule_config;
      this.#deps.change(() => {
        const last = this.timeZoneGroups.assignRows(campaign.timeZonesAssignedUntil, timezone, this.#deps.now(), timeZonePageSize);
        this.#deps.campaign.write({ timeZonesAssignedUntil: last ?? Number.MAX_SAFE_INTEGER });
        this.#deps.onRowsEnded();
      });
      this.#windows = null;
      await this.#deps.storage.sync();
    }
  }

  /** Repeats the requests that were not answered: they may or may not have arrived. */
  async #requestUnanswered(): Promise<void> {
    const campaign = this.#readRunning();
    if (!campaign || campaign.answeredBatch === campaign.batch) return;
    const unanswered = this.requests.requestedRows(campaign.answeredBatch).filter(({ state }) => state === 'pending');
    if (await this.#requestAgain(campaign, unanswered)) this.#deps.campaign.write({ answeredBatch: campaign.batch });
  }

  /** Requests the same attempts again. False: they were withdrawn in the meantime. */
  async #requestAgain(campaign: Campaign, rows: RequestedRow[]): Promise<boolean> {
    for (let left = rows; left.length > 0;) {
      const current = this.#deps.campaign.read();
      if (current.epoch !== campaign.epoch) return false;
      const batch = this.requests.repeatBatch(current, left, this.windows(current), this.#deps.now());
      if (batch.calls.length > 0 && !(await this.#sendRequest(current, batch.calls))) return false;
      left = batch.left;
    }
    return true;
  }

  /** Requests the next batch. False: nothing more can be requested now. */
  async #requestNext(): Promise<boolean> {
    const campaign = this.#readRunning();
    if (!campaign) return false;
    const now = this.#deps.now();
    const windows = this.windows(campaign);
    const window = windows.at(0, now);
    if ('never' in window) {
      this.#deps.onBlocked(window.never.reason, window.never.detail);
      return false;
    }
    const batch = campaign.batch + 1;
    const { calls, hasEnded } = this.#deps.rows.transaction(
      (transaction) => this.#deps.storage.transactionSync(transaction),
      () => {
        const chosen = this.requests.chooseNextBatch(campaign, windows, now);
        if (chosen.calls.length > 0) {
          this.#deps.campaign.write({ batch });
          this.#deps.timers.ensure(campaignTimers.repeatRequests, now + checkIntervalMs);
        }
        return chosen;
      },
    );
    if (hasEnded) this.#deps.change(() => this.#deps.onRowsEnded());
    if (calls.length === 0 || !(await this.#sendRequest(campaign, calls))) return false;
    this.#deps.campaign.write({ answeredBatch: batch });
    return true;
  }

  /** Sends a request. False: the call slots know a later epoch, since the campaign has withdrawn its calls. */
  async #sendRequest(campaign: Campaign, calls: RequestedCall[]): Promise<boolean> {
    const { isStale } = await withCallSlots(this.#deps.env(), campaign.organizationId, (slots) =>
      slots.request(campaign.organizationId, {
        owner: campaignOwner(campaign.id),
        epoch: campaign.epoch,
        maxConcurrency: campaign.configs.max_concurrency,
        calls,
      }),
    );
    if (isStale && this.#deps.campaign.read().epoch === campaign.epoch)
      throw new Error(`the call slots know a later epoch of campaign ${campaign.id} than ${campaign.epoch}`);
    return !isStale;
  }

  /** Sets the timer of the next request. A campaign that has requested as many calls as it may has none: a report wakes it. */
  #setTimer(): void {
    const { timers } = this.#deps;
    const campaign = this.#readRunning();
    const now = this.#deps.now();
    const hasCapacity = campaign !== null && this.requests.count() < maxRequestedCalls(campaign.configs.max_concurrency);
    const next = hasCapacity ? this.requests.nextDialAt(this.windows(campaign), now) : null;
    const due = next === null ? null : Math.max(now, Math.ceil(next / alarmGranularityMs) * alarmGranularityMs);
    if (due !== timers.dueAt(campaignTimers.requestCalls))
      this.#deps.change(() => {
        if (due === null) timers.clear(campaignTimers.requestCalls);
        else timers.set(campaignTimers.requestCalls, due);
      });
    const opening = campaign && this.requests.nextWindowAt(this.windows(campaign), now);
    if (opening !== null) this.#deps.onWindowsClosed(opening);
  }

  /** Requests all requested calls again: the call slots report the attempts that have ended, and give back those that must not be dialled. */
  async repeatRequests(): Promise<void> {
    const campaign = this.#deps.campaign.read();
    const requested = this.requests.requestedRows();
    const wasSent = await this.#requestAgain(campaign, requested);
    this.#deps.change(() => {
      if (requested.length > 0)
        this.#deps.timers.set(campaignTimers.repeatRequests, this.#deps.now() + (wasSent ? checkIntervalMs : returnTimeoutMs));
      else this.#deps.timers.clear(campaignTimers.repeatRequests);
    });
  }

  /** Withdraws the calls that were requested before the last pause: the call slots dial none of them any more. */
  async withdraw(): Promise<void> {
    const { timers, campaign: store } = this.#deps;
    const campaign = store.read();
    const { organizationId, epoch } = campaign;
    if (campaign.withdrawnEpoch < epoch)
      await withCallSlots(this.#deps.env(), organizationId, (slots) => slots.withdraw(organizationId, campaignOwner(campaign.id), epoch));
    const current = store.read();
    if (current.withdrawnEpoch < epoch) store.write({ withdrawnEpoch: epoch });
    if (current.epoch !== epoch || timers.dueAt(campaignTimers.withdraw) === null) return;
    this.#deps.change(() => {
      timers.clear(campaignTimers.withdraw);
      if (current.state !== 'running' && this.requests.count() > 0)
        timers.set(campaignTimers.repeatRequests, this.#deps.now() + returnTimeoutMs);
    });
    await timers.arm();
  }

  /** Withdraws the calls of deleted contacts. */
  async withdrawDeletedContacts(): Promise<void> {
    const { id, organizationId } = this.#deps.campaign.read();
    const keys = this.requests.keysOfDeletedContacts(id);
    if (keys.length > 0) await withCallSlots(this.#deps.env(), organizationId, (slots) => slots.withdrawCalls(organizationId, keys));
    this.#deps.change(() => this.#deps.timers.clear(campaignTimers.withdrawDeletedContacts));
  }

  /** How many calls the campaign has at the call slots, and what its queued calls wait for. */
  async readQueueStatus(): Promise<CampaignProgress['waiting']> {
    const { id, organizationId } = this.#deps.campaign.read();
    const status = await withCallSlots(this.#deps.env(), organizationId, (slots) => slots.getOwnerStatus(campaignOwner(id)));
    const { queued, live, organizationLive, limit, waitingFor } = status;
    return { queued, live, organization_live: organizationLive, limit, waiting_for: waitingFor };
  }
}
