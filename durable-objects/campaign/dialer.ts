import { campaignOwner, maxRequestedCalls } from '../../src/campaigns/rows/attempt-keys.ts';
import type { CampaignProgress } from '../../src/campaigns/rpc.ts';
import { RowWindows } from '../../src/campaigns/dialing/calling-windows.ts';
import type { RequestedCall } from '../../src/calls/contract.ts';
import { withCallSlots } from '../../src/calls/slots/call-slots.ts';
import type { Timers } from '../shared/timers.ts';
import { DialRequests } from './dial-requests.ts';
import type { RequestedRow } from './dial-requests.ts';
import { TimeZoneGroups } from './time-zone-groups.ts';
import type { Campaign, CampaignStore } from './campaign-store.ts';
import type { RowStore } from './row-store.ts';

/** What is asked for is asked for again this often, in case a word was lost on either side. */
const checkIntervalMs = 10 * 60_000;
/** What a withdrawal gives back is told within this. */
const returnTimeoutMs = 2000;
const timeZonePageSize = 500;
/** Moments that lie close together are one alarm. */
const alarmGranularityMs = 250;

/** What the dialer needs of the object that it belongs to. */
export interface DialerDependencies {
  storage: DurableObjectStorage;
  timers: Timers;
  campaign: CampaignStore;
  rows: RowStore;
  env(): Env;
  now(): number;
  /** Runs a transaction that changes what the campaign's row shows. */
  change<Result>(transaction: () => Result): Result;
  /** Rows have ended undialled. */
  onRowsEnded(): void;
  /** Nothing will be dialled until a person does something. */
  onBlocked(reason: string, detail: string): void;
  /** No calling window is open until a moment. */
  onWindowsClosed(opening: number): void;
}

/**
 * Asks the organization's call slots for what is to be called, and takes it back. The intent is written first; what was not answered is asked
 * for again under the same key. Timers: `ask`, `check`, `withdraw` and `withdraw_calls`.
 */
export class Dialer {
  readonly requests: DialRequests;
  readonly timeZoneGroups: TimeZoneGroups;
  readonly #deps: DialerDependencies;
  #windows: { text: string; windows: RowWindows } | null = null;
  #currentRound: Promise<void> | null = null;
  #isRoundRequested = false;

  constructor(around: DialerDependencies) {
    this.#deps = around;
    this.timeZoneGroups = new TimeZoneGroups(around.storage.sql, around.rows);
    this.requests = new DialRequests(around.storage.sql, around.rows, this.timeZoneGroups);
  }

  windows({ configs }: Campaign): RowWindows {
    const text = JSON.stringify(configs.schedule_config);
    if (this.#windows?.text !== text)
      this.#windows = { text, windows: new RowWindows(configs.schedule_config, this.timeZoneGroups.zones()) };
    return this.#windows.windows;
  }

  /** Asks for all there is room for, one request at a time; who comes meanwhile is served by the same round. Sets the timer for what is next. */
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

  /** Once all rows are there, and only where it counts: by whose clock each is called. */
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

  /** A request may or may not have arrived. */
  async #requestUnanswered(): Promise<void> {
    const campaign = this.#readRunning();
    if (!campaign || campaign.answeredBatch === campaign.batch) return;
    const unheard = this.requests.requestedRows(campaign.answeredBatch).filter(({ state }) => state === 'pending');
    if (await this.#requestAgain(campaign, unheard)) this.#deps.campaign.write({ answeredBatch: campaign.batch });
  }

  /** False when it was in vain, since what had been asked for was taken back meanwhile. */
  async #requestAgain(campaign: Campaign, rows: RequestedRow[]): Promise<boolean> {
    for (let left = rows; left.length > 0;) {
      const current = this.#deps.campaign.read();
      if (current.epoch !== campaign.epoch) return false;
      const portion = this.requests.repeatBatch(current, left, this.windows(current), this.#deps.now());
      if (portion.calls.length > 0 && !(await this.#sendRequest(current, portion.calls))) return false;
      left = portion.left;
    }
    return true;
  }

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
    const portion = campaign.batch + 1;
    const { calls, hasEnded } = this.#deps.storage.transactionSync(() => {
      const chosen = this.requests.chooseNextBatch(campaign, windows, now);
      if (chosen.calls.length > 0) {
        this.#deps.campaign.write({ batch: portion });
        this.#deps.timers.ensure('check', now + checkIntervalMs);
      }
      return chosen;
    });
    if (hasEnded) this.#deps.change(() => this.#deps.onRowsEnded());
    if (calls.length === 0 || !(await this.#sendRequest(campaign, calls))) return false;
    this.#deps.campaign.write({ answeredBatch: portion });
    return true;
  }

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

  /** Whoever is full is woken by what ends. */
  #setTimer(): void {
    const { timers } = this.#deps;
    const campaign = this.#readRunning();
    const now = this.#deps.now();
    const hasRoom = campaign !== null && this.requests.count() < maxRequestedCalls(campaign.configs.max_concurrency);
    const next = hasRoom ? this.requests.nextDialAt(this.windows(campaign), now) : null;
    const due = next === null ? null : Math.max(now, Math.ceil(next / alarmGranularityMs) * alarmGranularityMs);
    if (due !== timers.dueAt('ask'))
      this.#deps.change(() => {
        if (due === null) timers.clear('ask');
        else timers.set('ask', due);
      });
    const opening = campaign && this.requests.nextWindowAt(this.windows(campaign), now);
    if (opening !== null) this.#deps.onWindowsClosed(opening);
  }

  /** Asks for everything that is out once more: the slots tell what has ended, and give back what must not be called. */
  async repeatRequests(): Promise<void> {
    const campaign = this.#deps.campaign.read();
    const asked = this.requests.requestedRows();
    const wasAsked = await this.#requestAgain(campaign, asked);
    this.#deps.change(() => {
      if (asked.length > 0) this.#deps.timers.set('check', this.#deps.now() + (wasAsked ? checkIntervalMs : returnTimeoutMs));
      else this.#deps.timers.clear('check');
    });
  }

  /** Has the slots dial nothing more of what was asked for before the last pause. */
  async withdraw(): Promise<void> {
    const { timers, campaign: stored } = this.#deps;
    const campaign = stored.read();
    const { organizationId, epoch } = campaign;
    if (campaign.withdrawnEpoch < epoch)
      await withCallSlots(this.#deps.env(), organizationId, (slots) => slots.withdraw(organizationId, campaignOwner(campaign.id), epoch));
    const now = stored.read();
    if (now.withdrawnEpoch < epoch) stored.write({ withdrawnEpoch: epoch });
    if (now.epoch !== epoch || timers.dueAt('withdraw') === null) return;
    this.#deps.change(() => {
      timers.clear('withdraw');
      if (now.state !== 'running' && this.requests.count() > 0) timers.set('check', this.#deps.now() + returnTimeoutMs);
    });
    await timers.arm();
  }

  /** Takes back the calls of contacts that are gone. */
  async withdrawDeletedContacts(): Promise<void> {
    const { id, organizationId } = this.#deps.campaign.read();
    const keys = this.requests.keysOfDeletedContacts(id);
    if (keys.length > 0) await withCallSlots(this.#deps.env(), organizationId, (slots) => slots.withdrawCalls(organizationId, keys));
    this.#deps.change(() => this.#deps.timers.clear('withdraw_calls'));
  }

  /** How the campaign stands among all who want calls. */
  async readQueueStatus(): Promise<CampaignProgress['waiting']> {
    const { id, organizationId } = this.#deps.campaign.read();
    const standing = await withCallSlots(this.#deps.env(), organizationId, (slots) => slots.getOwnerStatus(campaignOwner(id)));
    const { queued, live, organizationLive, limit, waitingFor } = standing;
    return { queued, live, organization_live: organizationLive, limit, waiting_for: waitingFor };
  }
}
