import type { Context } from '../../src/context.ts';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import type { CallEvent } from '../../src/providers/telephony/carrier-events.ts';
import { type CallTimeouts, holdsSlot, returnAttempt, toCallTimeouts } from '../../src/calls/attempt/attempt.ts';
import { afterCorrection, afterMachine, afterStatus, isStrayCall } from '../../src/calls/attempt/after-event.ts';
import {
  type BegunCall,
  type CallsRequest,
  type InboundCall,
  type LineInstruction,
  type Owner,
  ownerName,
  type PlacingReport,
  type RequestedCall,
  type RequestResult,
  type ResponseChannel,
} from '../../src/calls/contract.ts';
import { enqueueDialing } from '../../src/outbox/enqueue.ts';
import { findBlockingReason, type QueueStatus } from '../../src/calls/slots/blocking-reason.ts';
import { countFreeForOutbound } from '../../src/calls/slots/allocate-slots.ts';
import { saveSlotsWakeAt } from '../../src/calls/slots/store.ts';
import { type DialingPolicy, loadDialingPolicy } from '../../src/telephony-configs/dialing-policy.ts';
import type { CallSlotsRpc, CallStandstill, OwnerStatus } from '../../src/calls/rpc.ts';
import { BaseDurableObject } from '../shared/base-durable-object.ts';
import { TableStore } from '../shared/object-store.ts';
import type { AlarmDelay, Timer } from '../shared/timers.ts';
import { slotsSchemaSteps } from './schema.ts';
import { SilentAttemptChecker } from './silent-attempt-checker.ts';
import { decideInstruction, toBegunCall, toCallStatus } from './views.ts';
import { SlotGranter } from './slot-granter.ts';
import { OutcomeDispatcher } from './outcome-dispatcher.ts';
import { ownerQueueName, SlotStore } from './slot-store.ts';
import { explainStandstill, toStalledCall } from './standstill.ts';
import { newAttempt, type StoredAttempt } from './stored-attempt.ts';
import type { CallSlotsDependencies } from './dependencies.ts';

/** Slots that become free and calls that are requested within this time are handled together. */
const coalesceMs = 25;
/** While the slots are not idle, maintenance runs this often, even if an event was missed. */
const maintainIntervalMs = 5000;
const minMaintainDelayMs = 100;
/** The kind of the one timer, as the `timer` table stores it. */
const maintenanceTimer = 'tend';
const policyTtlMs = 60_000;
const wakeMarkIntervalMs = 5 * 60_000;
const wakeMarkAheadMs = 10 * 60_000;
const secondMs = 1000;
/** An RPC answer holds at most 32 MiB. */
const maxBeginAnswerBytes = 8 * 1024 * 1024;
/** How many queued calls a standstill counts, and of how many it says what they wait for. */
const maxCountedCalls = 1000;
const maxExaminedCalls = 50;

/**
 * The call slots of one organization, named by its id. Each attempt to call a person and each inbound call is a row here. The row is the
 * slot while the call is live, and the record of the line until the line has ended. Maintenance is the one timer. `CallSlotsRpc` documents
 * the methods.
 */
export class CallSlotsObject extends BaseDurableObject implements CallSlotsRpc {
  protected readonly store = new SlotStore(
    this.ctx.storage,
    () => this.clock(),
    (checkAt) => this.#onStoreChange(checkAt),
  );
  readonly #granter = new SlotGranter(
    this.store,
    () => this.clock(),
    (ms) => this.#scheduleWorkIn(ms),
  );
  readonly #deps: CallSlotsDependencies = {
    env: () => this.env,
    log: () => this.log,
    now: () => this.clock(),
    timeouts: () => this.#timeouts(),
    organizationId: () => this.#organizationId(),
    context: () => this.#context(),
  };
  readonly #checker = new SilentAttemptChecker(this.store, this.#deps);
  readonly #dispatcher = new OutcomeDispatcher(this.store, this.#deps, () => this.#scheduleWork());
  #policy: { policy: DialingPolicy; readAt: number } | null = null;
  #scheduledWork: { due: number; timeout: ReturnType<typeof setTimeout> } | null = null;
  #maintainDueAt = 0;
  #wakeMarkedAt = 0;
  /** When calls were begun within the last second, epoch ms. */
  #begunAt: number[] = [];
  #policyVersion = 0;
  /** The configuration that is being deleted; null: none. */
  #closingConfigId: number | null = null;
  #isGranting = false;
  #mustGrantAgain = false;

  protected openStore(storage: DurableObjectStorage, alarmDelay: AlarmDelay) {
    return new TableStore(storage, { steps: slotsSchemaSteps }, alarmDelay);
  }

  async request(organizationId: number, request: CallsRequest): Promise<RequestResult> {
    this.#ensureCreated(organizationId);
    const name = ownerName(request.owner);
    const answer = this.store.transaction((): RequestResult => {
      const owner = this.store.upsertOwner(request.owner, request.epoch, request.maxConcurrency);
      if (owner.epoch > request.epoch) return { queued: 0, known: 0, isStale: true };
      const of = { owner: name, lane: ownerQueueName(request.owner), epoch: request.epoch, notBefore: 0 };
      const queued = request.calls.filter((call) => this.store.enqueue(call, of)).length;
      return { queued, known: request.calls.length - queued, isStale: false };
    });
    this.#scheduleWork();
    await this.#scheduleMaintenance();
    return answer;
  }

  async withdraw(organizationId: number, owner: Owner, epoch: number): Promise<void> {
    this.#ensureCreated(organizationId);
    this.store.transaction(() => {
      this.store.upsertOwner(owner, epoch, undefined);
      for (const attempt of this.store.listUnsubmitted(owner)) if (attempt.epoch < epoch) this.store.withdraw(attempt);
    });
    this.#scheduleWork();
    await this.#scheduleMaintenance();
  }

  async withdrawCalls(organizationId: number, keys: string[]): Promise<void> {
    this.#ensureCreated(organizationId);
    this.store.transaction(() => {
      for (const key of keys) {
        const attempt = this.store.attempts.find(key);
        if (attempt && (attempt.state === 'queued' || attempt.state === 'granted')) this.store.withdraw(attempt);
      }
    });
    this.#scheduleWork();
    await this.#scheduleMaintenance();
  }

  async shutDown(): Promise<{ calls: { configId: number; callId: string }[]; unplaced: number }> {
    if (!this.exists()) return { calls: [], unplaced: 0 };
    this.store.transaction(() => {
      const { attempts } = this.store;
      for (const attempt of [...attempts.listOpen(({ state }) => state === 'granted'), ...attempts.listAnyQueued(Number.MAX_SAFE_INTEGER)])
        this.store.withdraw(attempt);
    });
    const live = this.store.attempts.listOpen(holdsSlot);
    const calls = live.flatMap(({ configId, callId }) => (configId === null || callId === null ? [] : [{ configId, callId }]));
    return { calls, unplaced: live.length - calls.length };
  }

  async beginCalls(keys: string[]): Promise<BegunCall[]> {
    if (!this.exists()) return [];
    const { config } = await this.#loadPolicy();
    const now = this.clock();
    const timeouts = this.#timeouts();
    const begun: BegunCall[] = [];
    let bytes = 0;
    this.#begunAt = this.#begunAt.filter((at) => at > now - secondMs && at <= now);
    const room = Math.max(0, (config?.callsPerSecond ?? Infinity) - this.#begunAt.length);
    this.store.transaction(() => {
      for (const key of keys) {
        const attempt = this.store.attempts.find(key);
        if (attempt?.state !== 'granted') continue;
        if (attempt.notAfter !== null && attempt.notAfter <= now) {
          this.store.save(attempt, returnAttempt(attempt, 'window_closed', 'the calling window closed before the call was dialled', now));
        } else if (begun.length >= room || bytes > maxBeginAnswerBytes) {
          this.store.saveLazily(attempt, { ...attempt, checkAt: now + secondMs });
        } else {
          bytes += attempt.initialContext?.length ?? 0;
          begun.push(toBegunCall(this.store.submit(attempt, now, timeouts)));
        }
      }
    });
    this.#begunAt.push(...begun.map(() => now));
    await this.#scheduleMaintenance();
    return begun;
  }

  async filterWanted(keys: string[]): Promise<string[]> {
    if (!this.exists()) return [];
    return keys.filter((key) => {
      const attempt = this.store.attempts.find(key);
      return attempt?.state === 'submitting' && attempt.epoch >= this.store.epochOf(attempt.owner);
    });
  }

  async recordPlacings(placings: PlacingReport[]): Promise<void> {
    if (!this.exists()) return;
    const now = this.clock();
    this.store.transaction(() => {
      for (const placing of placings) this.store.recordPlacing(placing, now, this.#timeouts());
    });
    this.#scheduleWork();
    await this.#scheduleMaintenance();
  }

  async recordAgentNotConnected(key: string, reason: string): Promise<void> {
    if (!this.exists()) return;
    this.store.recordAgentNotConnected(key, reason);
    await this.#scheduleMaintenance();
  }

  async recordEvent(key: string, runId: number, event: CallEvent, channel: ResponseChannel): Promise<LineInstruction> {
    const attempt = this.exists() ? this.store.attempts.find(key) : null;
    if (!attempt || attempt.state === 'queued' || attempt.state === 'granted') return 'ignored';
    if (isStrayCall(attempt, event.callId)) {
      this.log.error('the carrier has two calls for one attempt', new Error('stray call'), { key, run_id: runId });
      return 'hang_up';
    }
    const now = this.clock();
    if (attempt.state === 'ended' && attempt.callId === null && event.kind === 'status' && !event.isTerminal) {
      // The person may already have been called again in its place.
      this.log.error('a call turned up that the carrier was thought not to have', new Error('late call'), { key, run_id: runId });
      return 'hang_up';
    }
    const known = { ...attempt, runId: attempt.runId ?? runId, hasRow: true };
    const after = this.#afterEvent(known, event, now);
    const answer = decideInstruction(after, event, channel);
    // Written before the agent is connected: from then on the end of the line is the end of a conversation.
    const reported = answer === 'talk' ? { ...after, isAgentConnected: true } : after;
    // Without the end of a relay session the carrier is only asked later.
    if (event.kind === 'relay_ended') this.store.saveLazily(attempt, reported);
    else this.store.save(attempt, reported);
    this.#scheduleWork();
    await this.#scheduleMaintenance();
    return answer;
  }

  async correctVerdict(key: string): Promise<void> {
    const attempt = this.exists() ? this.store.attempts.find(key) : null;
    if (attempt) this.store.save(attempt, { ...attempt, ...afterCorrection(attempt, this.clock()) });
  }

  #afterEvent(attempt: StoredAttempt, event: CallEvent, now: number): StoredAttempt {
    const timeouts = this.#timeouts();
    if (event.kind === 'status') return { ...attempt, ...afterStatus(attempt, event, now, timeouts) };
    if (event.kind === 'machine') return { ...attempt, ...afterMachine(attempt, event, now, timeouts) };
    // The line ends soon after its relay session. The carrier is asked early, in case no callback comes.
    if (event.kind === 'relay_ended' && attempt.state === 'placed' && attempt.checkAt !== null)
      return { ...attempt, checkAt: Math.min(attempt.checkAt, now + timeouts.machineVerdictTimeoutMs) };
    return attempt;
  }

  async admitInboundCall(organizationId: number, call: InboundCall): Promise<boolean> {
    this.#ensureCreated(organizationId);
    if (this.store.attempts.find(call.key)) return true;
    const policy = await this.#loadPolicy();
    if (this.store.attempts.find(call.key)) return true;
    if (this.store.countLiveCalls().all >= policy.limit) return false;
    const now = this.clock();
    const requested: RequestedCall = { ...call, initialContext: '{}', name: 'inbound', notAfter: null };
    this.store.attempts.insert({
      ...newAttempt(requested, { owner: 'inbound:0', lane: 'inbound', epoch: 0, notBefore: 0 }),
      seq: this.store.nextSeq(),
      state: 'placed',
      runId: call.runId,
      configId: call.configId,
      ownNumber: call.ownNumber,
      callId: call.callId,
      status: 'ringing',
      answeredBy: 'person',
      isAgentConnected: true,
      hasRow: true,
      grantedAt: now,
      submittedAt: now,
      answeredAt: now,
      checkAt: now + this.#timeouts().carrierSilenceMs,
    });
    await this.#scheduleMaintenance();
    return true;
  }

  async dialingPolicyChanged(): Promise<void> {
    this.#policy = null;
    this.#policyVersion++;
    this.#closingConfigId = null;
    if (!this.exists()) return;
    this.#scheduleWork();
    await this.#scheduleMaintenance();
  }

  async markFinalized(keys: string[]): Promise<void> {
    if (this.exists()) this.store.markFollowUpsDone(keys);
  }

  async getCallStatus(key: string): Promise<{ callStatus: string; reason: string | null } | null> {
    const attempt = this.exists() ? this.store.attempts.find(key) : null;
    if (attempt?.state !== 'queued') return attempt && toCallStatus(attempt);
    const policy = await this.#loadPolicy();
    const waitingFor = this.#findBlockingReason(policy, attempt.lane, this.store.attempts.statusOf([attempt], this.clock()));
    return { ...toCallStatus(attempt), reason: waitingFor ?? attempt.detail };
  }

  async getNextCallAllowedAt(phone: string): Promise<number> {
    return this.exists() ? this.#granter.nextCallAllowedAt(phone, await this.#loadPolicy()) : 0;
  }

  async getOwnerStatus(owner: Owner): Promise<OwnerStatus> {
    if (!this.exists()) return { queued: 0, live: 0, organizationLive: 0, limit: 0, waitingFor: null };
    const policy = await this.#loadPolicy();
    const name = ownerName(owner);
    const queued = this.store.attempts.countQueued(ownerQueueName(owner), name);
    const live = this.store.attempts.listOpen((attempt) => holdsSlot(attempt) && attempt.owner === name).length;
    const organizationLive = this.store.countLiveCalls().all;
    const queue = this.store.attempts.statusOf(this.store.listQueued(owner), this.clock());
    const waitingFor = queued === 0 ? null : this.#findBlockingReason(policy, ownerQueueName(owner), queue);
    return { queued, live, organizationLive, limit: policy.limit, waitingFor };
  }

  async getStandstill(limit: number): Promise<CallStandstill> {
    if (!this.exists()) return { queued: 0, waitingFor: null, stalled: [] };
    const policy = await this.#loadPolicy();
    const now = this.clock();
    const queued = this.store.attempts.listAnyQueued(maxCountedCalls);
    const [first] = queued;
    const waitingFor = first
      ? this.#findBlockingReason(policy, first.lane, this.store.attempts.statusOf(queued.slice(0, maxExaminedCalls), now))
      : null;
    const open = this.store.attempts.listOpen((attempt) => explainStandstill(attempt, now) !== null, limit);
    return { queued: queued.length, waitingFor, stalled: open.map((attempt) => toStalledCall(attempt, now)) };
  }

  async recheckCall(key: string): Promise<boolean> {
    const attempt = this.exists() ? this.store.attempts.find(key) : null;
    const now = this.clock();
    if (!attempt || explainStandstill(attempt, now) === null) return false;
    this.store.saveLazily(attempt, { ...attempt, checkAt: now });
    this.#scheduleWork();
    await this.#scheduleMaintenance();
    return true;
  }

  #findBlockingReason(policy: DialingPolicy, lane: string, queued: QueueStatus['queued']): string | null {
    const { limit, config } = policy;
    const live = this.store.countLiveCalls();
    return findBlockingReason({
      cannotDialReason: this.#cannotDialReason(config),
      queued,
      own: { live: this.store.attempts.countLive(lane), maxLive: this.store.maxConcurrencyOf(lane) },
      plan: { live: live.all, limit, free: countFreeForOutbound(policy, live) },
      rate: { begun: this.#granter.recentGrants(this.clock()).length, perSecond: config?.callsPerSecond ?? 0 },
    });
  }

  #cannotDialReason(config: DialingPolicy['config']): string | null {
    if (config === null) return 'create a telephony configuration at /organizations/telephony-configs';
    return config.id === this.#closingConfigId ? 'the telephony configuration is being deleted' : null;
  }

  async closeConfig(configId: number): Promise<number> {
    const live = this.exists() ? this.store.attempts.listOpen((attempt) => holdsSlot(attempt) && attempt.configId === configId).length : 0;
    if (live === 0) this.#closingConfigId = configId;
    return live;
  }

  async wakeStalled(): Promise<void> {
    if (!this.exists()) return;
    this.timers.set(maintenanceTimer, this.clock());
    await this.timers.arm();
  }

  protected async onTimer(timer: Timer): Promise<void> {
    if (timer.kind !== maintenanceTimer) return this.timers.clear(timer.kind, timer.subject);
    await this.#maintain();
  }

  protected async writeProjection(): Promise<void> {
    const context = await this.#context();
    await saveSlotsWakeAt(context, this.store.attempts.isIdle() ? null : this.clock() + wakeMarkAheadMs);
  }

  #ensureCreated(organizationId: number): void {
    if (this.exists()) return;
    this.ctx.storage.transactionSync(() => {
      this.create();
      this.ctx.storage.sql.exec('INSERT INTO about (organization_id) VALUES (?)', organizationId);
    });
  }

  /** The store has work outside of this object, or an attempt to be checked at `checkAt`. */
  #onStoreChange(checkAt: number | null): void {
    if (checkAt !== null && checkAt < this.#maintainDueAt) this.#maintainDueAt = 0;
    this.#scheduleWork();
  }

  #timeouts(): CallTimeouts {
    return toCallTimeouts(this.settings);
  }

  /** Works soon, on all that has changed until then. After a crash the maintenance timer does the work. */
  #scheduleWork(): void {
    this.#scheduleWorkIn(coalesceMs);
  }

  #scheduleWorkIn(ms: number): void {
    const due = Date.now() + ms;
    if (this.#scheduledWork !== null && this.#scheduledWork.due <= due) return;
    if (this.#scheduledWork !== null) clearTimeout(this.#scheduledWork.timeout);
    const timeout = setTimeout(() => {
      this.#scheduledWork = null;
      this.ctx.waitUntil(this.#work().catch((error: unknown) => this.log.error('the call slots could not do their work', error)));
    }, ms);
    this.#scheduledWork = { due, timeout };
  }

  async #work(): Promise<void> {
    if (!this.exists()) return;
    await Promise.all([this.#grantSlots(), this.#dispatcher.reportToOwners(), this.#dispatcher.dispatchOutcomes()]);
    await this.#scheduleMaintenance();
  }

  /** Sets the maintenance timer, unless the slots are idle or the timer is early enough. */
  async #scheduleMaintenance(): Promise<void> {
    if (!this.exists()) return;
    const now = this.clock();
    if (this.#maintainDueAt > now && this.#maintainDueAt <= now + maintainIntervalMs) return;
    if (this.store.attempts.isIdle()) return;
    const next = this.store.nextCheckAt();
    // Work that is already due has been scheduled.
    this.#maintainDueAt = Math.min(Math.max(next ?? Infinity, now + minMaintainDelayMs), now + maintainIntervalMs);
    this.timers.set(maintenanceTimer, this.#maintainDueAt);
    await this.timers.arm();
    if (now - this.#wakeMarkedAt < wakeMarkIntervalMs) return;
    this.#wakeMarkedAt = now;
    this.projection.change(() => undefined);
    this.ctx.waitUntil(this.project().catch((error: unknown) => this.log.error('the mark of the call slots was not written', error)));
  }

  async #maintain(): Promise<void> {
    // Set before the work, so that a crash is followed by another try.
    this.#maintainDueAt = this.clock() + maintainIntervalMs;
    this.timers.set(maintenanceTimer, this.#maintainDueAt);
    this.store.attempts.flush();
    this.#checker.resolveLocally();
    // A carrier that does not answer must not hold up the alarm.
    this.ctx.waitUntil(this.#checker.checkWithCarriers().then(() => this.#scheduleMaintenance()));
    await Promise.all([this.#grantSlots(), this.#dispatcher.reportToOwners(), this.#dispatcher.dispatchOutcomes()]);
    const prune = this.store.pruner.prune();
    this.#maintainDueAt = 0;
    if (!this.store.attempts.isIdle()) return this.#scheduleMaintenance();
    if (prune === null) this.timers.clear(maintenanceTimer);
    else this.timers.set(maintenanceTimer, Math.max(prune, this.clock() + maintainIntervalMs));
    this.#wakeMarkedAt = 0;
    this.projection.change(() => undefined);
    await this.project();
  }

  /** Grants free slots to queued calls by the dialling policy, and sends their keys to the queue that dials. */
  async #grantSlots(): Promise<void> {
    this.#mustGrantAgain = true;
    if (this.#isGranting) return;
    this.#isGranting = true;
    try {
      while (this.#mustGrantAgain) {
        this.#mustGrantAgain = false;
        if (this.store.attempts.listQueuedLanes().length > 0) await this.#grantOnce();
      }
    } catch (error) {
      // Granted calls whose keys were not sent are sent again after a while.
      this.log.error('calls could not be granted', error);
    } finally {
      this.#isGranting = false;
    }
  }

  async #grantOnce(): Promise<void> {
    const policy = await this.#loadPolicy();
    if (!policy.config) return this.#granter.returnAll();
    if (policy.config.id === this.#closingConfigId) return;
    const keys = this.#granter.grant(policy, policy.config, this.#timeouts());
    if (keys.length) await enqueueDialing(this.env, this.#organizationId(), keys);
  }

  async #loadPolicy(): Promise<DialingPolicy> {
    const now = this.clock();
    const known = this.#policy;
    // A clock that was set back must not extend the minute.
    if (known && now - known.readAt < policyTtlMs && known.readAt <= now) return known.policy;
    const version = this.#policyVersion;
    const policy = await loadDialingPolicy(await this.#context());
    // A policy that was read while it changed may be the old one, and is not kept.
    if (version === this.#policyVersion) this.#policy = { policy, readAt: now };
    return policy;
  }

  #organizationId(): number {
    return this.ctx.storage.sql.exec<{ organization_id: number }>('SELECT organization_id FROM about').one().organization_id;
  }

  async #context(): Promise<Context> {
    const context = await backgroundContext(this.env, this.#organizationId(), (work) => this.ctx.waitUntil(work));
    if (!context) throw new Error(`organization ${this.#organizationId()} is unknown`);
    return context;
  }
}
