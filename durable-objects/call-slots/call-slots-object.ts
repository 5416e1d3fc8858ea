import type { Context } from '../../src/accounts/context.ts';
import { backgroundContext } from '../../src/accounts/organizations.ts';
import type { LineEvent } from '../../src/providers/telephony/carrier-events.ts';
import { isOver, returnedFor, type Patience } from '../../src/voice-agents/dialing/attempt/attempt.ts';
import { afterMachine, afterStatus, isStray } from '../../src/voice-agents/dialing/attempt/after-event.ts';
import { patienceOf } from '../../src/voice-agents/dialing/attempt/patience.ts';
import {
  ownerName,
  type BegunCall,
  type CallsRequest,
  type CarrierAnswer,
  type InboundCall,
  type Owner,
  type Placing,
  type RequestAnswer,
  type RequestedCall,
  type WhoAsks,
} from '../../src/voice-agents/dialing/contract.ts';
import { announceCalls } from '../../src/voice-agents/dialing/announce-calls.ts';
import { holdingBounds, type Standing } from '../../src/voice-agents/dialing/holding-bounds.ts';
import { freeForOutbound } from '../../src/voice-agents/dialing/share-out.ts';
import { markSlots } from '../../src/voice-agents/dialing/slots-store.ts';
import { dialingTerms, type DialingTerms } from '../../src/voice-agents/telephony-configs/dialing-terms.ts';
import { LivingObject } from '../shared/living-object.ts';
import type { Timer } from '../shared/timers.ts';
import { newAttempt, slotsSchemaSteps, type StoredAttempt } from './attempt-rows.ts';
import { Checks } from './checks.ts';
import { begunCallOf, whatToDo } from './answers.ts';
import { Grants } from './grants.ts';
import { HandOn } from './hand-on.ts';
import { laneOf, SlotsBook } from './slots-book.ts';
import type { Surroundings } from './surroundings.ts';
import { standingStatus } from './views.ts';

/** Slots that become free, and calls that are asked for, within this time are dealt with together. */
const coalesceMs = 25;
/** While there is anything to do it is looked at this often, whatever was missed. */
const tendMs = 5000;
const soonestTendMs = 100;
const termsLastMs = 60_000;
const markEveryMs = 5 * 60_000;
const markAheadMs = 10 * 60_000;
const secondMs = 1000;
/** An answer of RPC holds 32 MiB. */
const mostBegunBytes = 8 * 1024 * 1024;

/**
 * The call slots of one organization, named by its id. Every attempt to call somebody, and every inbound call, is a row here: the row is the
 * slot while the call is live, and the truth about the line until the line has ended. `tend` is its one timer.
 */
export class CallSlotsObject extends LivingObject {
  readonly #book = new SlotsBook(
    this.ctx.storage,
    () => this.clock(),
    (checkAt) => this.#hear(checkAt),
  );
  readonly #grants = new Grants(
    this.#book,
    () => this.clock(),
    (ms) => this.#actIn(ms),
  );
  readonly #around: Surroundings = {
    env: () => this.env,
    log: () => this.log,
    now: () => this.clock(),
    patience: () => this.#patience(),
    organizationId: () => this.#organizationId(),
    context: () => this.#context(),
  };
  readonly #checks = new Checks(this.#book, this.#around);
  readonly #handOn = new HandOn(this.#book, this.#around, () => this.#act());
  #terms: { terms: DialingTerms; readAt: number } | null = null;
  #soon: { due: number; timeout: ReturnType<typeof setTimeout> } | null = null;
  #tendDue = 0;
  #markedAt = 0;
  /** Of the last second. */
  #begunAt: number[] = [];
  #termsAge = 0;
  /** A configuration that is being deleted. */
  #closing: number | null = null;
  #pumping = false;
  #pumpAgain = false;

  protected schemaSteps() {
    return slotsSchemaSteps;
  }

  /** Queues what is not known yet; what is known stays as it is. Repeatable. */
  async request(organizationId: number, request: CallsRequest): Promise<RequestAnswer> {
    this.#ensure(organizationId);
    const name = ownerName(request.owner);
    const answer = this.#book.transaction((): RequestAnswer => {
      const owner = this.#book.putOwner(request.owner, request.epoch, request.maxConcurrency);
      if (owner.epoch > request.epoch) return { queued: 0, known: 0, isStale: true };
      const of = { owner: name, lane: laneOf(request.owner), epoch: request.epoch, notBefore: 0 };
      const queued = request.calls.filter((call) => this.#book.queue(call, of)).length;
      return { queued, known: request.calls.length - queued, isStale: false };
    });
    this.#act();
    await this.#arm();
    return answer;
  }

  /** Nothing of the owner that has not been submitted is dialled from now on, and requests of an earlier epoch count no more. Repeatable. */
  async withdraw(organizationId: number, owner: Owner, epoch: number): Promise<void> {
    this.#ensure(organizationId);
    this.#book.transaction(() => {
      this.#book.putOwner(owner, epoch, undefined);
      for (const attempt of this.#book.rows.all("owner = ? AND state IN ('queued', 'granted') AND epoch < ?", ownerName(owner), epoch))
        this.#book.drop(attempt);
    });
    this.#act();
    await this.#arm();
  }

  /** The same for single attempts: a contact is gone, a run has been stopped. Calls that are under way go on. Repeatable. */
  async withdrawCalls(organizationId: number, keys: string[]): Promise<void> {
    this.#ensure(organizationId);
    this.#book.transaction(() => {
      for (const key of keys) {
        const attempt = this.#book.rows.find(key);
        if (attempt && (attempt.state === 'queued' || attempt.state === 'granted')) this.#book.drop(attempt);
      }
    });
    this.#act();
    await this.#arm();
  }

  /**
   * The organization is being deleted: what has not been submitted is dropped. Answers the lines that are up, and how many calls are just
   * being placed. Repeatable.
   */
  shutDown(): { calls: { configId: number; callId: string }[]; unplaced: number } {
    if (!this.exists()) return { calls: [], unplaced: 0 };
    this.#book.transaction(() => {
      for (const attempt of this.#book.rows.all("state IN ('queued', 'granted')")) this.#book.drop(attempt);
    });
    const live = this.#book.rows.all('is_live = 1');
    const calls = live.flatMap(({ configId, callId }) => (configId === null || callId === null ? [] : [{ configId, callId }]));
    return { calls, unplaced: live.length - calls.length };
  }

  /**
   * Of the given attempts, those that this caller has to have placed: each is given out once, ever, no more of them a second than the carrier
   * takes, and no more at a time than an answer can hold. What is left is announced again.
   */
  async begin(keys: string[]): Promise<BegunCall[]> {
    if (!this.exists()) return [];
    const { config } = await this.#readTerms();
    const now = this.clock();
    const patience = this.#patience();
    const given: BegunCall[] = [];
    let bytes = 0;
    this.#begunAt = this.#begunAt.filter((at) => at > now - secondMs && at <= now);
    const room = Math.max(0, (config?.callsPerSecond ?? Infinity) - this.#begunAt.length);
    this.#book.transaction(() => {
      for (const key of keys) {
        const attempt = this.#book.rows.find(key);
        if (attempt?.state !== 'granted') continue;
        if (attempt.notAfter !== null && attempt.notAfter <= now) {
          this.#book.save(attempt, returnedFor(attempt, 'window_closed', 'the calling window closed before the call was dialled', now));
        } else if (given.length >= room || bytes > mostBegunBytes) {
          this.#book.save(attempt, { ...attempt, checkAt: now + secondMs });
        } else {
          bytes += attempt.initialContext?.length ?? 0;
          given.push(begunCallOf(this.#book.give(attempt, now, patience)));
        }
      }
    });
    this.#begunAt.push(...given.map(() => now));
    await this.#arm();
    return given;
  }

  /** Which of the attempts that were begun are still wanted, when placing them takes its time. */
  stillWanted(keys: string[]): string[] {
    if (!this.exists()) return [];
    return keys.filter((key) => {
      const attempt = this.#book.rows.find(key);
      return attempt?.state === 'submitting' && attempt.epoch >= this.#book.epochOf(attempt.owner);
    });
  }

  /** What became of attempts that were begun. Repeatable, and may come after the carrier's own reports. */
  async placed(placings: Placing[]): Promise<void> {
    if (!this.exists()) return;
    const now = this.clock();
    this.#book.transaction(() => {
      for (const placing of placings) this.#book.take(placing, now, this.#patience());
    });
    this.#act();
    await this.#arm();
  }

  /** The agent was to take the line and could not: nobody has talked to the person. `why` is a sentence. Repeatable. */
  async agentNotOnLine(key: string, why: string): Promise<void> {
    if (!this.exists()) return;
    this.#book.change(key, (current) => (isOver(current) ? current : { ...current, hasTalk: false, detail: why }));
    await this.#arm();
  }

  /**
   * Takes in what the carrier told of an attempt, and answers what is to be done about it. `runId` is that of the callback's address, in case
   * the answer to the request that placed the call is still on its way. Repeatable.
   */
  async heard(key: string, runId: number, event: LineEvent, asks: WhoAsks): Promise<CarrierAnswer> {
    const attempt = this.exists() ? this.#book.rows.find(key) : null;
    if (!attempt || attempt.state === 'queued' || attempt.state === 'granted') return 'ignored';
    if (isStray(attempt, event.callId)) {
      this.log.error('the carrier has two calls for one attempt', new Error('stray call'), { key, run_id: runId });
      return 'hang_up';
    }
    const now = this.clock();
    if (attempt.state === 'ended' && attempt.callId === null && event.kind === 'status' && !event.isTerminal) {
      // Somebody may have been called for it again already.
      this.log.error('a call turned up that the carrier was thought not to have', new Error('late call'), { key, run_id: runId });
      return 'hang_up';
    }
    const known = { ...attempt, runId: attempt.runId ?? runId, hasRow: true };
    const after = this.#after(known, event, now);
    const answer = whatToDo(after, event, asks);
    // Written before the agent is put on the line: from now on the end of the line is that of a talk.
    this.#book.save(attempt, answer === 'talk' ? { ...after, hasTalk: true } : after);
    this.#act();
    await this.#arm();
    return answer;
  }

  #after(attempt: StoredAttempt, event: LineEvent, now: number): StoredAttempt {
    const patience = this.#patience();
    if (event.kind === 'status') return { ...attempt, ...afterStatus(attempt, event, now, patience) };
    if (event.kind === 'machine') return { ...attempt, ...afterMachine(attempt, event, now, patience) };
    // The relay is over, and so will the line be: it is asked for soon, in case nobody tells.
    if (event.kind === 'relay_ended' && attempt.state === 'placed' && attempt.checkAt !== null)
      return { ...attempt, checkAt: Math.min(attempt.checkAt, now + patience.verdictMs) };
    return attempt;
  }

  /** Gives an inbound call a slot. False: all are taken. Repeatable. */
  async admitInbound(organizationId: number, call: InboundCall): Promise<boolean> {
    this.#ensure(organizationId);
    if (this.#book.rows.find(call.key)) return true;
    const terms = await this.#readTerms();
    if (this.#book.rows.find(call.key)) return true;
    if (this.#book.liveCalls().all >= terms.limit) return false;
    const now = this.clock();
    const requested: RequestedCall = { ...call, initialContext: '{}', name: 'inbound', notAfter: null };
    this.#book.rows.insert({
      ...newAttempt(requested, { owner: 'inbound:0', lane: 'inbound', epoch: 0, notBefore: 0 }),
      state: 'placed',
      runId: call.runId,
      configId: call.configId,
      ownNumber: call.ownNumber,
      callId: call.callId,
      status: 'ringing',
      answeredBy: 'person',
      hasTalk: true,
      hasRow: true,
      grantedAt: now,
      submittedAt: now,
      answeredAt: now,
      checkAt: now + this.#patience().silenceMs,
    });
    this.#book.recount();
    await this.#arm();
    return true;
  }

  /** The telephony configuration, the plan or a setting has changed: it is read anew, and what waits is looked at again. */
  async termsChanged(): Promise<void> {
    this.#terms = null;
    this.#termsAge++;
    this.#closing = null;
    if (!this.exists()) return;
    this.#act();
    await this.#arm();
  }

  /** The talks of these calls are settled: their objects need no more watching. */
  settled(keys: string[]): void {
    if (this.exists()) this.#book.settled(keys);
  }

  /** What the line of an attempt does at the moment, and while it is queued what it waits for; null: it is not known (any more). */
  async look(key: string): Promise<{ callStatus: string; reason: string | null } | null> {
    const attempt = this.exists() ? this.#book.rows.find(key) : null;
    if (attempt?.state !== 'queued') return attempt && standingStatus(attempt);
    const terms = await this.#readTerms();
    const waitingFor = this.#waitingFor(terms, attempt.lane, this.#book.rows.queueOf('key', key, this.clock()));
    return { ...standingStatus(attempt), reason: waitingFor ?? attempt.detail };
  }

  /** How an owner stands: for "why is nothing dialled". */
  async standing(
    owner: Owner,
  ): Promise<{ queued: number; live: number; organizationLive: number; limit: number; waitingFor: string | null }> {
    if (!this.exists()) return { queued: 0, live: 0, organizationLive: 0, limit: 0, waitingFor: null };
    const terms = await this.#readTerms();
    const name = ownerName(owner);
    const queued = this.#book.rows.count("owner = ? AND state = 'queued'", name);
    const live = this.#book.rows.count('is_live = 1 AND owner = ?', name);
    const organizationLive = this.#book.liveCalls().all;
    const queue = this.#book.rows.queueOf('owner', name, this.clock());
    const waitingFor = queued === 0 ? null : this.#waitingFor(terms, laneOf(owner), queue);
    return { queued, live, organizationLive, limit: terms.limit, waitingFor };
  }

  #waitingFor(terms: DialingTerms, lane: string, queued: Standing['queued']): string | null {
    const { limit, config } = terms;
    const live = this.#book.liveCalls();
    return holdingBounds({
      unable: this.#unableToDial(config),
      queued,
      own: { live: this.#book.liveOf(lane), most: this.#book.mostOf(lane) },
      plan: { live: live.all, limit, free: freeForOutbound(terms, live) },
      rate: { begun: this.#grants.recent(this.clock()).length, perSecond: config?.callsPerSecond ?? 0 },
    });
  }

  #unableToDial(config: DialingTerms['config']): string | null {
    if (config === null) return 'create a telephony configuration at /organizations/telephony-configs';
    return config.id === this.#closing ? 'the telephony configuration is being deleted' : null;
  }

  /** Before a telephony configuration is deleted: answers how many live calls it has; with none, no further one is dialled by it. */
  closeConfig(configId: number): number {
    const live = this.exists() ? this.#book.rows.count('is_live = 1 AND config_id = ?', configId) : 0;
    if (live === 0) this.#closing = configId;
    return live;
  }

  /** Goes on with what is due, whatever became of the alarm. */
  async poke(): Promise<void> {
    if (!this.exists()) return;
    this.timers.set('tend', this.clock());
    await this.timers.arm();
  }

  protected async onTimer(timer: Timer): Promise<void> {
    if (timer.kind !== 'tend') return this.timers.clear(timer.kind, timer.subject);
    await this.#tend();
  }

  protected async writeProjection(): Promise<void> {
    const context = await this.#context();
    await markSlots(context, this.#book.isIdle() ? null : this.clock() + markAheadMs);
  }

  #ensure(organizationId: number): void {
    if (this.exists()) return;
    this.ctx.storage.transactionSync(() => {
      this.create();
      this.ctx.storage.sql.exec('INSERT INTO about (organization_id) VALUES (?)', organizationId);
    });
  }

  /** The book has something to be done outside, or an attempt that is to be looked at at a moment. */
  #hear(checkAt: number | null): void {
    if (checkAt !== null && checkAt < this.#tendDue) this.#tendDue = 0;
    this.#act();
  }

  #patience(): Patience {
    return patienceOf(this.settings);
  }

  // What is done about it

  /** Soon, and together with what else happens meanwhile. A crash before it is made good by `tend`. */
  #act(): void {
    this.#actIn(coalesceMs);
  }

  #actIn(ms: number): void {
    const due = Date.now() + ms;
    if (this.#soon !== null && this.#soon.due <= due) return;
    if (this.#soon !== null) clearTimeout(this.#soon.timeout);
    const timeout = setTimeout(() => {
      this.#soon = null;
      this.ctx.waitUntil(this.#work().catch((error: unknown) => this.log.error('call slots could not work', error)));
    }, ms);
    this.#soon = { due, timeout };
  }

  async #work(): Promise<void> {
    if (!this.exists()) return;
    await Promise.all([this.#pump(), this.#handOn.tellOwners(), this.#handOn.settle()]);
    await this.#arm();
  }

  /** Sees to it that `tend` comes in time, if there is anything to tend. */
  async #arm(): Promise<void> {
    if (!this.exists()) return;
    const now = this.clock();
    if (this.#tendDue > now && this.#tendDue <= now + tendMs) return;
    if (this.#book.isIdle()) return;
    const next = this.#book.nextCheck();
    // What is due already is being seen to.
    this.#tendDue = Math.min(Math.max(next ?? Infinity, now + soonestTendMs), now + tendMs);
    this.timers.set('tend', this.#tendDue);
    await this.timers.arm();
    if (now - this.#markedAt < markEveryMs) return;
    this.#markedAt = now;
    this.projection.change(() => undefined);
    this.ctx.waitUntil(this.project().catch((error: unknown) => this.log.error('the mark of the call slots was not written', error)));
  }

  async #tend(): Promise<void> {
    // Set before the work, so that a crash in it is followed by another try.
    this.#tendDue = this.clock() + tendMs;
    this.timers.set('tend', this.#tendDue);
    this.#checks.decide();
    // A carrier that does not answer must not hold up the alarm.
    this.ctx.waitUntil(this.#checks.ask().then(() => this.#arm()));
    await Promise.all([this.#pump(), this.#handOn.tellOwners(), this.#handOn.settle()]);
    this.#book.prune();
    this.#tendDue = 0;
    if (!this.#book.isIdle()) return this.#arm();
    const prune = this.#book.nextPrune();
    if (prune === null) this.timers.clear('tend');
    else this.timers.set('tend', Math.max(prune, this.clock() + tendMs));
    this.#markedAt = 0;
    this.projection.change(() => undefined);
    await this.project();
  }

  /** Grants free slots to those who wait, by the terms, and has them dialled. */
  async #pump(): Promise<void> {
    this.#pumpAgain = true;
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      while (this.#pumpAgain) {
        this.#pumpAgain = false;
        if (this.#book.rows.queuedLanes().length > 0) await this.#grantOnce();
      }
    } catch (error) {
      // Calls that were granted and not announced are announced again in a while.
      this.log.error('calls could not be granted', error);
    } finally {
      this.#pumping = false;
    }
  }

  async #grantOnce(): Promise<void> {
    const terms = await this.#readTerms();
    if (!terms.config) return this.#grants.returnAll();
    if (terms.config.id === this.#closing) return;
    const keys = this.#grants.grant(terms, terms.config, this.#patience());
    if (keys.length) await announceCalls(this.env, this.#organizationId(), keys);
  }

  async #readTerms(): Promise<DialingTerms> {
    const now = this.clock();
    const known = this.#terms;
    // A clock that was set back must not stretch the minute.
    if (known && now - known.readAt < termsLastMs && known.readAt <= now) return known.terms;
    const age = this.#termsAge;
    const terms = await dialingTerms(await this.#context());
    // What was read while they changed may be the old ones.
    if (age === this.#termsAge) this.#terms = { terms, readAt: now };
    return terms;
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
