import { campaignOwner, mostRequested } from '../../src/campaigns/rows/attempts.ts';
import type { CampaignProgress } from '../../src/campaigns/rows/live-campaign.ts';
import { RowWindows } from '../../src/campaigns/rows/row-windows.ts';
import type { RequestedCall } from '../../src/voice-agents/dialing/contract.ts';
import { callSlots } from '../../src/voice-agents/dialing/slots.ts';
import type { Timers } from '../shared/timers.ts';
import { Asking } from './asking.ts';
import type { AskedRow } from './asking.ts';
import { dueOf } from './due-timers.ts';
import { Lanes } from './lanes.ts';
import type { Campaign, StoredCampaign } from './stored-campaign.ts';
import type { StoredRows } from './stored-rows.ts';

/** What is asked for is asked for again this often, in case a word was lost on either side. */
const checkEveryMs = 10 * 60_000;
/** What a withdrawal gives back is told within this. */
const returnedWithinMs = 2000;
const zonedAtOnce = 500;
/** Moments that lie close together are one alarm. */
const alarmGridMs = 250;

/** What the dialer needs of the object that it belongs to. */
export interface Surroundings {
  storage: DurableObjectStorage;
  timers: Timers;
  campaign: StoredCampaign;
  rows: StoredRows;
  env(): Env;
  now(): number;
  /** Runs a transaction that changes what the campaign's row shows. */
  change<Result>(transaction: () => Result): Result;
  /** Rows have ended undialled. */
  rowsEnded(): void;
  /** Nothing will be dialled until a person does something. */
  standsStill(reason: string, detail: string): void;
  /** No calling window is open until a moment. */
  sleepsUntil(opening: number): void;
}

/**
 * Asks the organization's call slots for what is to be called, and takes it back. The intent is written first; what was not answered is asked
 * for again under the same key. Timers: `ask`, `check`, `withdraw` and `withdraw_calls`.
 */
export class Dialer {
  readonly asking: Asking;
  readonly lanes: Lanes;
  readonly #around: Surroundings;
  #windows: { text: string; windows: RowWindows } | null = null;
  #running: Promise<void> | null = null;
  #isAskedAgain = false;

  constructor(around: Surroundings) {
    this.#around = around;
    this.lanes = new Lanes(around.storage.sql, around.rows);
    this.asking = new Asking(around.storage.sql, around.rows, this.lanes);
  }

  windows({ configs }: Campaign): RowWindows {
    const text = JSON.stringify(configs.schedule_config);
    if (this.#windows?.text !== text) this.#windows = { text, windows: new RowWindows(configs.schedule_config, this.lanes.zones()) };
    return this.#windows.windows;
  }

  /** Asks for all there is room for, one request at a time; who comes meanwhile is served by the same round. Sets the timer for what is next. */
  ask(): Promise<void> {
    this.#isAskedAgain = true;
    this.#running ??= this.#askAll();
    return this.#running;
  }

  async #askAll(): Promise<void> {
    try {
      while (this.#isAskedAgain) {
        this.#isAskedAgain = false;
        await this.#findZones();
        await this.#askUnanswered();
        while (await this.#askNext());
        this.#setTimer();
        await this.#around.timers.arm();
      }
    } finally {
      this.#running = null;
    }
  }

  #askable(): Campaign | null {
    const campaign = this.#around.campaign.read();
    return campaign.state === 'running' ? campaign : null;
  }

  /** Once all rows are there, and only where it counts: by whose clock each is called. */
  async #findZones(): Promise<void> {
    for (;;) {
      const campaign = this.#askable();
      if (!campaign?.configs.schedule_config.use_contact_timezone || campaign.zonedUntil === Number.MAX_SAFE_INTEGER) return;
      const { timezone } = campaign.configs.schedule_config;
      this.#around.change(() => {
        const last = this.lanes.assign(campaign.zonedUntil, timezone, this.#around.now(), zonedAtOnce);
        this.#around.campaign.write({ zonedUntil: last ?? Number.MAX_SAFE_INTEGER });
        this.#around.rowsEnded();
      });
      this.#windows = null;
      await this.#around.storage.sync();
    }
  }

  /** A request may or may not have arrived. */
  async #askUnanswered(): Promise<void> {
    const campaign = this.#askable();
    if (!campaign || campaign.answeredPortion === campaign.portion) return;
    const unheard = this.asking.asked(campaign.answeredPortion).filter(({ state }) => state === 'pending');
    if (await this.#askAgain(campaign, unheard)) this.#around.campaign.write({ answeredPortion: campaign.portion });
  }

  /** False when it was in vain, since what had been asked for was taken back meanwhile. */
  async #askAgain(campaign: Campaign, rows: AskedRow[]): Promise<boolean> {
    for (let left = rows; left.length > 0;) {
      const current = this.#around.campaign.read();
      if (current.epoch !== campaign.epoch) return false;
      const portion = this.asking.again(current, left, this.windows(current), this.#around.now());
      if (portion.calls.length > 0 && !(await this.#request(current, portion.calls))) return false;
      left = portion.left;
    }
    return true;
  }

  async #askNext(): Promise<boolean> {
    const campaign = this.#askable();
    if (!campaign) return false;
    const now = this.#around.now();
    const windows = this.windows(campaign);
    const window = windows.at(0, now);
    if ('never' in window) {
      this.#around.standsStill(window.never.reason, window.never.detail);
      return false;
    }
    const portion = campaign.portion + 1;
    const { calls, hasEnded } = this.#around.storage.transactionSync(() => {
      const chosen = this.asking.choose(campaign, windows, now);
      if (chosen.calls.length > 0) {
        this.#around.campaign.write({ portion });
        this.#around.timers.ensure('check', now + checkEveryMs);
      }
      return chosen;
    });
    if (hasEnded) this.#around.change(() => this.#around.rowsEnded());
    if (calls.length === 0 || !(await this.#request(campaign, calls))) return false;
    this.#around.campaign.write({ answeredPortion: portion });
    return true;
  }

  async #request(campaign: Campaign, calls: RequestedCall[]): Promise<boolean> {
    const { isStale } = await callSlots(this.#around.env(), campaign.organizationId, (slots) =>
      slots.request(campaign.organizationId, {
        owner: campaignOwner(campaign.id),
        epoch: campaign.epoch,
        maxConcurrency: campaign.configs.max_concurrency,
        calls,
      }),
    );
    if (isStale && this.#around.campaign.read().epoch === campaign.epoch)
      throw new Error(`the call slots know a later epoch of campaign ${campaign.id} than ${campaign.epoch}`);
    return !isStale;
  }

  /** Whoever is full is woken by what ends. */
  #setTimer(): void {
    const { timers } = this.#around;
    const campaign = this.#askable();
    const now = this.#around.now();
    const hasRoom = campaign !== null && this.asking.count() < mostRequested(campaign.configs.max_concurrency);
    const next = hasRoom ? this.asking.nextMoment(this.windows(campaign), now) : null;
    const due = next === null ? null : Math.max(now, Math.ceil(next / alarmGridMs) * alarmGridMs);
    if (due !== dueOf(this.#around.storage.sql, 'ask'))
      this.#around.change(() => {
        if (due === null) timers.clear('ask');
        else timers.set('ask', due);
      });
    const opening = campaign && this.asking.nextWindow(this.windows(campaign), now);
    if (opening !== null) this.#around.sleepsUntil(opening);
  }

  /** Asks for everything that is out once more: the slots tell what has ended, and give back what must not be called. */
  async check(): Promise<void> {
    const campaign = this.#around.campaign.read();
    const asked = this.asking.asked();
    const wasAsked = await this.#askAgain(campaign, asked);
    this.#around.change(() => {
      if (asked.length > 0) this.#around.timers.set('check', this.#around.now() + (wasAsked ? checkEveryMs : returnedWithinMs));
      else this.#around.timers.clear('check');
    });
  }

  /** Has the slots dial nothing more of what was asked for before the last pause. */
  async withdraw(): Promise<void> {
    const { timers, campaign: stored } = this.#around;
    const campaign = stored.read();
    const { organizationId, epoch } = campaign;
    if (campaign.withdrawnEpoch < epoch)
      await callSlots(this.#around.env(), organizationId, (slots) => slots.withdraw(organizationId, campaignOwner(campaign.id), epoch));
    const now = stored.read();
    if (now.withdrawnEpoch < epoch) stored.write({ withdrawnEpoch: epoch });
    if (now.epoch !== epoch || dueOf(this.#around.storage.sql, 'withdraw') === null) return;
    this.#around.change(() => {
      timers.clear('withdraw');
      if (now.state !== 'running' && this.asking.count() > 0) timers.set('check', this.#around.now() + returnedWithinMs);
    });
    await timers.arm();
  }

  /** Takes back the calls of contacts that are gone. */
  async withdrawContacts(): Promise<void> {
    const { id, organizationId } = this.#around.campaign.read();
    const keys = this.asking.keysWithoutContact(id);
    if (keys.length > 0) await callSlots(this.#around.env(), organizationId, (slots) => slots.withdrawCalls(organizationId, keys));
    this.#around.change(() => this.#around.timers.clear('withdraw_calls'));
  }

  /** How the campaign stands among all who want calls. */
  async standing(): Promise<CampaignProgress['waiting']> {
    const { id, organizationId } = this.#around.campaign.read();
    const standing = await callSlots(this.#around.env(), organizationId, (slots) => slots.standing(campaignOwner(id)));
    const { queued, live, organizationLive, limit, waitingFor } = standing;
    return { queued, live, organization_live: organizationLive, limit, waiting_for: waitingFor };
  }
}
