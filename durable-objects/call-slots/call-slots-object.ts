import type { Context } from '../../src/accounts/context.ts';
import { backgroundContext } from '../../src/accounts/organizations.ts';
import type { CarrierEvent } from '../../src/providers/telephony/carrier-events.ts';
import { begun, isOver, returnedFor, type Patience } from '../../src/voice-agents/dialing/attempt/attempt.ts';
import { afterMachine, afterStatus, isStray } from '../../src/voice-agents/dialing/attempt/after-event.ts';
import { afterPlacing } from '../../src/voice-agents/dialing/attempt/after-placing.ts';
import { patienceOf } from '../../src/voice-agents/dialing/attempt/patience.ts';
import {
  ownerName,
  ownerOf,
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
import { markSlots } from '../../src/voice-agents/dialing/slots-row.ts';
import { dialingTerms, type DialingTerms } from '../../src/voice-agents/telephony-configs/dialing-terms.ts';
import { LivingObject } from '../shared/living-object.ts';
import type { Timer } from '../shared/timers.ts';
import { newAttempt, slotsSchemaSteps, type StoredAttempt } from './attempt-rows.ts';
import { Checks } from './checks.ts';
import { Grants } from './grants.ts';
import { HandOn } from './hand-on.ts';
import { laneOf, SlotsBook } from './slots-book.ts';
import type { Surroundings } from './surroundings.ts';
import { standingStatus } from './views.ts';

/** Slots that become free, and calls that are asked for, within this time are dealt with together. */
const coalesceMs = 25;
/** While there is anything to do it is looked at this often, whatever was missed. */
const tendMs = 5000;
const termsLastMs = 60_000;
const markEveryMs = 5 * 60_000;
const markAheadMs = 10 * 60_000;

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
  #pumping = false;

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

  /** Of the given attempts, those that this caller has to have placed: each is given out once, ever. */
  async begin(keys: string[]): Promise<BegunCall[]> {
    if (!this.exists()) return [];
    const { config } = await this.#readTerms();
    const now = this.clock();
    const given: BegunCall[] = [];
    let closed = 0;
    this.#book.transaction(() => {
      for (const key of keys) {
        const attempt = this.#book.rows.find(key);
        if (attempt?.state !== 'granted') continue;
        if (attempt.notAfter !== null && attempt.notAfter <= now) {
          this.#book.save(attempt, returnedFor(attempt, 'window_closed', 'the calling window closed before the call was dialled', now));
          closed += 1;
        } else {
          this.#book.save(attempt, begun(attempt, config?.machineDetection ?? true, now, this.#patience()));
          this.#book.noteDialled(attempt.phone, now);
          given.push(begunCallOf(attempt, config));
        }
      }
    });
    if (closed) this.#act();
    return given;
  }

  /** Which of the attempts that were begun are still wanted, when placing them took its time. */
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
      for (const placing of placings) {
        const attempt = this.#book.rows.find(placing.key);
        if (!attempt) continue;
        const known = { ...attempt, runId: attempt.runId ?? placing.runId };
        if ('refused' in placing) {
          const isOpen = attempt.state === 'submitting' && attempt.callId === null;
          this.#book.save(attempt, isOpen ? returnedFor(known, placing.refused, placing.detail, now) : known);
        } else if ('unasked' in placing.result && !placing.result.isFinal && this.#book.mayQueueAgain(attempt))
          this.#book.save(attempt, this.#book.queuedAgain(attempt, now));
        else this.#book.save(attempt, afterPlacing(known, placing.result, now, this.#patience()));
      }
    });
    this.#act();
    await this.#arm();
  }

  /**
   * Takes in what the carrier told of an attempt, and answers what is to be done about it. `runId` is that of the callback's address, in case
   * the answer to the request that placed the call is still on its way. Repeatable.
   */
  async heard(key: string, runId: number, event: CarrierEvent, asks: WhoAsks): Promise<CarrierAnswer> {
    const attempt = this.exists() ? this.#book.rows.find(key) : null;
    if (!attempt || attempt.state === 'queued' || attempt.state === 'granted') return 'ignored';
    if (isStray(attempt, event.callId)) {
      this.log.error('the carrier has two calls for one attempt', new Error('stray call'), { key, run_id: runId });
      return 'hang_up';
    }
    const now = this.clock();
    const known = { ...attempt, runId: attempt.runId ?? runId };
    const after = this.#after(known, event, now);
    const answer = whatToDo(after, event, asks);
    // Written before the agent is put on the line: from now on the end of the line is that of a talk.
    this.#book.save(attempt, answer === 'talk' ? { ...after, hasTalk: true } : after);
    this.#act();
    await this.#arm();
    return answer;
  }

  #after(attempt: StoredAttempt, event: CarrierEvent, now: number): StoredAttempt {
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
    this.#book.rows.insert(
      {
        ...newAttempt(requested, { owner: 'inbound:0', lane: 'inbound', epoch: 0, notBefore: 0 }),
        state: 'placed',
        runId: call.runId,
        configId: call.configId,
        ownNumber: call.ownNumber,
        callId: call.callId,
        status: 'ringing',
        answeredBy: 'person',
        hasTalk: true,
        grantedAt: now,
        submittedAt: now,
        answeredAt: now,
        checkAt: now + this.#patience().silenceMs,
      },
      true,
    );
    this.#book.recount();
    await this.#arm();
    return true;
  }

  /** The telephony configuration, the plan or a setting has changed: it is read anew, and what waits is looked at again. */
  async termsChanged(): Promise<void> {
    this.#terms = null;
    if (!this.exists()) return;
    this.#act();
    await this.#arm();
  }

  /** The talks of these calls are settled: their objects need no more watching. */
  settled(keys: string[]): void {
    if (this.exists()) this.#book.settled(keys);
  }

  /** What the line of an attempt does at the moment; null: it is not known (any more). */
  look(key: string): { callStatus: string; reason: string | null } | null {
    const attempt = this.exists() ? this.#book.rows.find(key) : null;
    return attempt && standingStatus(attempt);
  }

  /** How an owner stands: for "why is nothing dialled". */
  async standing(
    owner: Owner,
  ): Promise<{ queued: number; live: number; organizationLive: number; limit: number; waitingFor: string | null }> {
    if (!this.exists()) return { queued: 0, live: 0, organizationLive: 0, limit: 0, waitingFor: null };
    const { limit, config } = await this.#readTerms();
    const name = ownerName(owner);
    const queued = this.#book.rows.count("owner = ? AND state = 'queued'", name);
    const live = this.#book.rows.count('is_live = 1 AND owner = ?', name);
    const organizationLive = this.#book.liveCalls().all;
    const most = this.#book.mostOf(laneOf(owner));
    const waitingFor = queued === 0 ? null : whatFor({ config, live, most, organizationLive, limit });
    return { queued, live, organizationLive, limit, waitingFor };
  }

  /** How many live calls a telephony configuration has. */
  liveCallsOf(configId: number): number {
    return this.exists() ? this.#book.rows.count('is_live = 1 AND config_id = ?', configId) : 0;
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
    if (this.#tendDue > now) return;
    if (this.#book.isIdle()) return;
    const next = this.#book.nextCheck();
    this.#tendDue = Math.min(Math.max(next ?? Infinity, now), now + tendMs);
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
    await Promise.all([this.#pump(), this.#checks.all(), this.#handOn.tellOwners(), this.#handOn.settle()]);
    this.#book.prune();
    this.#tendDue = 0;
    if (!this.#book.isIdle()) return this.#arm();
    this.timers.clear('tend');
    this.#markedAt = 0;
    this.projection.change(() => undefined);
    await this.project();
  }

  /** Grants free slots to those who wait, by the terms, and has them dialled. */
  async #pump(): Promise<void> {
    if (this.#pumping || this.#book.rows.queuedLanes().length === 0) return;
    this.#pumping = true;
    try {
      const terms = await this.#readTerms();
      if (!terms.config) return this.#grants.returnAll();
      const keys = this.#grants.grant(terms, terms.config, this.#patience());
      if (keys.length) await announceCalls(this.env, this.#organizationId(), keys);
    } catch (error) {
      // Calls that were granted and not announced are announced again in a while.
      this.log.error('calls could not be granted', error);
    } finally {
      this.#pumping = false;
    }
  }

  async #readTerms(): Promise<DialingTerms> {
    const now = this.clock();
    if (this.#terms && now - this.#terms.readAt < termsLastMs) return this.#terms.terms;
    const terms = await dialingTerms(await this.#context());
    this.#terms = { terms, readAt: now };
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

const begunCallOf = (attempt: StoredAttempt, config: DialingTerms['config']): BegunCall => ({
  key: attempt.key,
  owner: ownerOf(attempt.owner),
  phone: attempt.phone,
  ownNumber: attempt.ownNumber!,
  configId: attempt.configId!,
  provider: config?.provider ?? 'twilio',
  agentId: attempt.agentId,
  contactId: attempt.contactId,
  name: attempt.name,
  initialContext: attempt.initialContext ?? '{}',
  machineDetection: config?.machineDetection ?? true,
});

function whatToDo(attempt: StoredAttempt, event: CarrierEvent, asks: WhoAsks): CarrierAnswer {
  const isMachine = attempt.answeredBy === 'machine';
  if (isOver(attempt)) return asks === 'document' ? 'hang_up' : 'none';
  if (isMachine && event.kind === 'machine') return attempt.hasTalk ? 'end_talk' : 'hang_up';
  if (asks === 'nobody') return 'none';
  if (isMachine) return 'hang_up';
  return asks === 'command' && attempt.awaitsVerdict && attempt.answeredBy === null ? 'none' : 'talk';
}

/** What queued calls wait for: a word, then for people a sentence. */
function whatFor(standing: { config: DialingTerms['config']; live: number; most: number | null; organizationLive: number; limit: number }) {
  const { config, live, most, organizationLive, limit } = standing;
  if (config === null) return 'telephony_not_configured: create a telephony configuration';
  if (most !== null && live >= most) return `max_concurrency: ${most} of its own calls at once, which is what it may have`;
  if (organizationLive >= limit) return `call_slots: all ${limit} calls that the plan allows at once are taken`;
  return `calls_per_second: ${config.callsPerSecond} a second may be dialled, or the persons are in other calls`;
}
