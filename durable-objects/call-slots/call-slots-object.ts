import type { Context } from '../../src/accounts/context.ts';
import { backgroundContext } from '../../src/accounts/organizations.ts';
import { campaignObject } from '../../src/campaigns/campaign-object.ts';
import type { CarrierEvent } from '../../src/providers/telephony/carrier-events.ts';
import {
  begun,
  granted,
  holdsSlot,
  isOver,
  returnedFor,
  type Attempt,
  type Patience,
} from '../../src/voice-agents/dialing/attempt/attempt.ts';
import { afterMachine, afterStatus, isStray } from '../../src/voice-agents/dialing/attempt/after-event.ts';
import { afterListing, afterLookUp } from '../../src/voice-agents/dialing/attempt/after-look.ts';
import { afterPlacing } from '../../src/voice-agents/dialing/attempt/after-placing.ts';
import { lineEndWithoutVerdict } from '../../src/voice-agents/dialing/attempt/line-end.ts';
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
import { settleSilent } from '../../src/voice-agents/dialing/settle-silent.ts';
import { freeForOutbound, laneRank, shareOut } from '../../src/voice-agents/dialing/share-out.ts';
import { carrierOf } from '../../src/voice-agents/telephony-configs/carrier-of.ts';
import { dialingTerms, type DialingTerms } from '../../src/voice-agents/telephony-configs/dialing-terms.ts';
import { callObject } from '../../src/voice-agents/runs/call-object.ts';
import { LivingObject } from '../shared/living-object.ts';
import type { Timer } from '../shared/timers.ts';
import { AttemptRows, levels, newAttempt, slotsSchemaSteps, type StoredAttempt } from './attempt-rows.ts';
import { lineEndOf, reportOf, silentCallOf, standingStatus } from './views.ts';

/** Slots that become free, and calls that are asked for, within this time are dealt with together. */
const coalesceMs = 25;
/** While there is anything to do it is looked at this often, whatever was missed. */
const tendMs = 5000;
const termsLastMs = 60_000;
const secondMs = 1000;
const checksAtOnce = 6;
const checksATend = 60;
const reportsAtOnce = 500;
const settledAtOnce = 100;
const keptMs = 24 * 3_600_000;
const dialledKeptMs = 31 * 24 * 3_600_000;
const prunedAtOnce = 500;
const watchMs = 2 * 60_000;
const markEveryMs = 5 * 60_000;
const markAheadMs = 10 * 60_000;
const mostRequeues = 3;

/**
 * The call slots of one organization, named by its id. Every attempt to call somebody, and every inbound call, is a row here: the row is the
 * slot while the call is live, and the truth about the line until the line has ended. `tend` is its one timer.
 */
export class CallSlotsObject extends LivingObject {
  readonly #rows = new AttemptRows(this.ctx.storage.sql);
  /** Live calls by lane; a cache of the table. */
  #live: Map<string, number> | null = null;
  #grantedAt: number[] = [];
  #terms: { terms: DialingTerms; readAt: number } | null = null;
  #soon: ReturnType<typeof setTimeout> | null = null;
  #pace: ReturnType<typeof setTimeout> | null = null;
  #tendDue = 0;
  #markedAt = 0;
  #pumping = false;
  readonly #busyWith = new Set<string>();

  protected schemaSteps() {
    return slotsSchemaSteps;
  }

  /** Queues what is not known yet; what is known stays as it is. Repeatable. */
  async request(organizationId: number, request: CallsRequest): Promise<RequestAnswer> {
    this.#ensure(organizationId);
    const name = ownerName(request.owner);
    const answer = this.ctx.storage.transactionSync((): RequestAnswer => {
      const owner = this.#putOwner(request.owner, request.epoch, request.maxConcurrency);
      if (owner.epoch > request.epoch) return { queued: 0, known: 0, isStale: true };
      const of = { owner: name, lane: laneOf(request.owner), epoch: request.epoch, notBefore: 0 };
      const queued = request.calls.filter((call) => this.#queue(call, of)).length;
      return { queued, known: request.calls.length - queued, isStale: false };
    });
    this.#act();
    await this.#arm();
    return answer;
  }

  /** True when it is queued now. One that is over is told again; one that was given back undialled is queued again. */
  #queue(call: RequestedCall, of: { owner: string; lane: string; epoch: number; notBefore: number }): boolean {
    const known = this.#rows.find(call.key);
    if (known && known.state !== 'returned') {
      if (isOver(known)) this.#save(known, { ...known, told: levels.none });
      return false;
    }
    if (known) this.#rows.delete(known.seq);
    const attempt = newAttempt(call, of);
    this.#rows.insert(this.#rows.isInCall(call.phone) ? waitingFor(attempt) : attempt, false);
    return true;
  }

  /** Nothing of the owner that has not been submitted is dialled from now on, and requests of an earlier epoch count no more. Repeatable. */
  async withdraw(organizationId: number, owner: Owner, epoch: number): Promise<void> {
    this.#ensure(organizationId);
    this.ctx.storage.transactionSync(() => {
      this.#putOwner(owner, epoch, undefined);
      for (const attempt of this.#rows.all("owner = ? AND state IN ('queued', 'granted') AND epoch < ?", ownerName(owner), epoch))
        this.#drop(attempt);
    });
    this.#act();
    await this.#arm();
  }

  /** The same for single attempts: a contact is gone, a run has been stopped. Calls that are under way go on. Repeatable. */
  async withdrawCalls(organizationId: number, keys: string[]): Promise<void> {
    this.#ensure(organizationId);
    this.ctx.storage.transactionSync(() => {
      for (const key of keys) {
        const attempt = this.#rows.find(key);
        if (attempt && (attempt.state === 'queued' || attempt.state === 'granted')) this.#drop(attempt);
      }
    });
    this.#act();
    await this.#arm();
  }

  #drop(attempt: StoredAttempt): void {
    this.#save(attempt, returnedFor(attempt, 'withdrawn', 'whoever asked for it took it back', this.clock()));
  }

  /** Of the given attempts, those that this caller has to have placed: each is given out once, ever. */
  async begin(keys: string[]): Promise<BegunCall[]> {
    if (!this.exists()) return [];
    const { config } = await this.#readTerms();
    const now = this.clock();
    const given: BegunCall[] = [];
    let closed = 0;
    this.ctx.storage.transactionSync(() => {
      for (const key of keys) {
        const attempt = this.#rows.find(key);
        if (attempt?.state !== 'granted') continue;
        if (attempt.notAfter !== null && attempt.notAfter <= now) {
          this.#save(attempt, returnedFor(attempt, 'window_closed', 'the calling window closed before the call was dialled', now));
          closed += 1;
        } else {
          this.#save(attempt, begun(attempt, config?.machineDetection ?? true, now, this.#patience()));
          this.ctx.storage.sql.exec(
            'INSERT INTO dialled (phone, at) VALUES (?, ?) ON CONFLICT (phone) DO UPDATE SET at = excluded.at',
            attempt.phone,
            now,
          );
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
      const attempt = this.#rows.find(key);
      return attempt?.state === 'submitting' && attempt.epoch >= this.#epochOf(attempt.owner);
    });
  }

  /** What became of attempts that were begun. Repeatable, and may come after the carrier's own reports. */
  async placed(placings: Placing[]): Promise<void> {
    if (!this.exists()) return;
    const now = this.clock();
    this.ctx.storage.transactionSync(() => {
      for (const placing of placings) {
        const attempt = this.#rows.find(placing.key);
        if (!attempt) continue;
        const known = { ...attempt, runId: attempt.runId ?? placing.runId };
        if ('refused' in placing) {
          const isOpen = attempt.state === 'submitting' && attempt.callId === null;
          this.#save(attempt, isOpen ? returnedFor(known, placing.refused, placing.detail, now) : known);
        } else if ('unasked' in placing.result && this.#mayQueueAgain(attempt)) this.#save(attempt, this.#queuedAgain(attempt, now));
        else this.#save(attempt, afterPlacing(known, placing.result, now, this.#patience()));
      }
    });
    this.#act();
    await this.#arm();
  }

  #mayQueueAgain(attempt: StoredAttempt): boolean {
    return attempt.state === 'submitting' && attempt.looks < mostRequeues && attempt.epoch >= this.#epochOf(attempt.owner);
  }

  /** It has certainly not been placed, so the same attempt may be made later. */
  #queuedAgain(attempt: StoredAttempt, now: number): StoredAttempt {
    const looks = attempt.looks + 1;
    return { ...attempt, state: 'queued', notBefore: now + looks * secondMs, looks, checkAt: null, submittedAt: null, grantedAt: null };
  }

  /**
   * Takes in what the carrier told of an attempt, and answers what is to be done about it. `runId` is that of the callback's address, in case
   * the answer to the request that placed the call is still on its way. Repeatable.
   */
  async heard(key: string, runId: number, event: CarrierEvent, asks: WhoAsks): Promise<CarrierAnswer> {
    const attempt = this.exists() ? this.#rows.find(key) : null;
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
    this.#save(attempt, answer === 'talk' ? { ...after, hasTalk: true } : after);
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
    if (this.#rows.find(call.key)) return true;
    const terms = await this.#readTerms();
    if (this.#rows.find(call.key)) return true;
    if (this.#liveCalls().all >= terms.limit) return false;
    const now = this.clock();
    const requested: RequestedCall = { ...call, initialContext: '{}', name: 'inbound', notAfter: null };
    this.#rows.insert(
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
    this.#live = null;
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
    if (!this.exists()) return;
    for (const key of keys) {
      const attempt = this.#rows.find(key);
      if (attempt && isOver(attempt) && attempt.settling !== 'none') this.#save(attempt, { ...attempt, settling: 'none', checkAt: null });
    }
  }

  /** What the line of an attempt does at the moment; null: it is not known (any more). */
  look(key: string): { callStatus: string; reason: string | null } | null {
    const attempt = this.exists() ? this.#rows.find(key) : null;
    return attempt && standingStatus(attempt);
  }

  /** How an owner stands: for "why is nothing dialled". */
  async standing(
    owner: Owner,
  ): Promise<{ queued: number; live: number; organizationLive: number; limit: number; waitingFor: string | null }> {
    if (!this.exists()) return { queued: 0, live: 0, organizationLive: 0, limit: 0, waitingFor: null };
    const { limit, config } = await this.#readTerms();
    const name = ownerName(owner);
    const queued = this.#rows.count("owner = ? AND state = 'queued'", name);
    const live = this.#rows.count('is_live = 1 AND owner = ?', name);
    const organizationLive = this.#liveCalls().all;
    const waitingFor =
      queued === 0
        ? null
        : config === null
          ? 'telephony_not_configured: create a telephony configuration'
          : organizationLive >= limit
            ? `call_slots: all ${limit} calls that the plan allows at once are taken`
            : `calls_per_second: ${config.callsPerSecond} a second may be dialled, or the persons are in other calls`;
    return { queued, live, organizationLive, limit, waitingFor };
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
    await markSlots(context, this.#isIdle() ? null : this.clock() + markAheadMs);
  }

  // What is written

  #ensure(organizationId: number): void {
    if (this.exists()) return;
    this.ctx.storage.transactionSync(() => {
      this.create();
      this.ctx.storage.sql.exec('INSERT INTO about (organization_id) VALUES (?)', organizationId);
    });
  }

  /** Writes an attempt with what follows from its change for slots, owners and settling. */
  #save(before: StoredAttempt, changed: Attempt | StoredAttempt): void {
    const after = consequences(before, { ...before, ...changed });
    const [wasLive, isLive] = [holdsSlot(before), holdsSlot(after)];
    this.#rows.update(before, after, isLive);
    if (wasLive !== isLive && this.#live) this.#live.set(after.lane, (this.#live.get(after.lane) ?? 0) + (isLive ? 1 : -1));
    if (after.checkAt !== null && after.checkAt < this.#tendDue) this.#tendDue = 0;
    if (after.level > after.told || (isOver(after) && !isOver(before))) this.#act();
  }

  #putOwner(owner: Owner, epoch: number, maxConcurrency: number | null | undefined): { epoch: number } {
    const { sql } = this.ctx.storage;
    const name = ownerName(owner);
    const known = sql.exec<{ epoch: number; max_concurrency: number | null }>(
      'SELECT epoch, max_concurrency FROM owner WHERE name = ?',
      name,
    );
    const [row] = known.toArray();
    const most = maxConcurrency === undefined ? (row?.max_concurrency ?? null) : maxConcurrency;
    if (row && (row.epoch > epoch || (row.epoch === epoch && row.max_concurrency === most))) return row;
    // Single calls and journeys have no epochs and no limit of their own, and would each leave a row behind.
    if (owner.kind !== 'campaign' && epoch === 0) return { epoch };
    sql.exec(
      `INSERT INTO owner (name, kind, id, lane, epoch, max_concurrency) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch, max_concurrency = excluded.max_concurrency`,
      name,
      owner.kind,
      owner.id,
      laneOf(owner),
      epoch,
      most,
    );
    return { epoch };
  }

  #epochOf(name: string): number {
    const [row] = this.ctx.storage.sql.exec<{ epoch: number }>('SELECT epoch FROM owner WHERE name = ?', name).toArray();
    return row?.epoch ?? 0;
  }

  #mostOf(lane: string): number | null {
    const [row] = this.ctx.storage.sql
      .exec<{ most: number | null }>('SELECT max_concurrency AS most FROM owner WHERE lane = ?', lane)
      .toArray();
    return row?.most ?? null;
  }

  #liveCalls(): { all: number; inbound: number } {
    this.#live ??= this.#rows.liveByLane();
    return { all: [...this.#live.values()].reduce((sum, count) => sum + count, 0), inbound: this.#live.get('inbound') ?? 0 };
  }

  #patience(): Patience {
    return patienceOf(this.settings);
  }

  // What is done about it

  /** Soon, and together with what else happens meanwhile. A crash before it is made good by `tend`. */
  #act(): void {
    if (this.#soon !== null) return;
    this.#soon = setTimeout(() => {
      this.#soon = null;
      this.ctx.waitUntil(this.#work().catch((error: unknown) => this.log.error('call slots could not work', error)));
    }, coalesceMs);
  }

  async #work(): Promise<void> {
    if (!this.exists()) return;
    await Promise.all([this.#pump(), this.#tellOwners(), this.#settle()]);
    await this.#arm();
  }

  /** Sees to it that `tend` comes in time, if there is anything to tend. */
  async #arm(): Promise<void> {
    if (!this.exists()) return;
    const now = this.clock();
    if (this.#tendDue > now) return;
    if (this.#isIdle()) return;
    const next = this.ctx.storage.sql
      .exec<{ at: number | null }>('SELECT min(check_at) AS at FROM attempt WHERE check_at IS NOT NULL')
      .one().at;
    this.#tendDue = Math.min(Math.max(next ?? Infinity, now), now + tendMs);
    this.timers.set('tend', this.#tendDue);
    await this.timers.arm();
    if (now - this.#markedAt < markEveryMs) return;
    this.#markedAt = now;
    this.projection.change(() => undefined);
    this.ctx.waitUntil(this.project().catch((error: unknown) => this.log.error('the mark of the call slots was not written', error)));
  }

  /** Nothing queued, live, untold or unsettled. */
  #isIdle(): boolean {
    const [row] = this.ctx.storage.sql
      .exec(
        `SELECT 1 WHERE EXISTS (SELECT 1 FROM attempt WHERE state = 'queued') OR EXISTS (SELECT 1 FROM attempt WHERE check_at IS NOT NULL)
         OR EXISTS (SELECT 1 FROM attempt WHERE level > told) OR EXISTS (SELECT 1 FROM attempt WHERE settling IN ('silent', 'talk'))`,
      )
      .toArray();
    return row === undefined;
  }

  async #tend(): Promise<void> {
    // Set before the work, so that a crash in it is followed by another try.
    this.#tendDue = this.clock() + tendMs;
    this.timers.set('tend', this.#tendDue);
    await Promise.all([this.#pump(), this.#check(), this.#tellOwners(), this.#settle()]);
    this.#prune();
    this.#tendDue = 0;
    if (!this.#isIdle()) return this.#arm();
    this.timers.clear('tend');
    this.#markedAt = 0;
    this.projection.change(() => undefined);
    await this.project();
  }

  /** Grants free slots to those who wait, by the terms, and has them dialled. */
  async #pump(): Promise<void> {
    if (this.#pumping || this.#rows.queuedLanes().length === 0) return;
    this.#pumping = true;
    try {
      const terms = await this.#readTerms();
      const keys = terms.config ? this.#grant(terms, terms.config) : this.#returnAll();
      if (keys.length) await announceCalls(this.env, this.#organizationId(), keys);
    } catch (error) {
      // Calls that were granted and not announced are announced again in a while.
      this.log.error('calls could not be granted', error);
    } finally {
      this.#pumping = false;
    }
  }

  #grant(terms: DialingTerms, config: NonNullable<DialingTerms['config']>): string[] {
    const now = this.clock();
    const live = this.#liveCalls();
    this.#grantedAt = this.#recentGrants(now);
    const free = Math.min(freeForOutbound(terms, live), config.callsPerSecond - this.#grantedAt.length);
    if (free <= 0) {
      this.#paceBy(now);
      return [];
    }
    return this.ctx.storage.transactionSync(() => {
      const waiting = new Map(this.#rows.queuedLanes().map((lane) => [lane, this.#ready(lane, now, free, terms)]));
      const lanes = [...waiting].map(([name, ready]) => ({
        name,
        rank: laneRank(name),
        live: this.#live?.get(name) ?? 0,
        most: this.#mostOf(name),
        ready: ready.length,
      }));
      const keys: string[] = [];
      for (const [lane, count] of shareOut(lanes, free)) {
        for (const attempt of waiting.get(lane)!.slice(0, count)) {
          // Another lane may have just called the same person.
          if (this.#rows.isInCall(attempt.phone)) {
            this.#save(attempt, waitingFor(attempt));
            continue;
          }
          const ownNumber = config.fromNumbers[attempt.seq % config.fromNumbers.length]!;
          const change = granted(attempt, { configId: config.id, ownNumber }, now, this.#patience());
          this.#save(attempt, { ...change, grantedAt: now } as StoredAttempt);
          this.#grantedAt.push(now);
          keys.push(attempt.key);
        }
      }
      if (this.#grantedAt.length >= config.callsPerSecond) this.#paceBy(now);
      return keys;
    });
  }

  /** Of a lane, those that may be dialled now, at most `limit`; what may not is given back with the reason. */
  #ready(lane: string, now: number, limit: number, terms: DialingTerms): StoredAttempt[] {
    const ready: StoredAttempt[] = [];
    const phones = new Set<string>();
    for (const attempt of this.#rows.candidates(lane, now, limit)) {
      if (attempt.notAfter !== null && attempt.notAfter <= now) {
        this.#save(attempt, returnedFor(attempt, 'window_closed', 'the calling window closed before a call slot was free', now));
        continue;
      }
      const mayAgainAt = this.#mayCallAgainAt(attempt.phone, terms);
      if (mayAgainAt > now) {
        const detail = `this person was called less than ${terms.minHoursBetweenCalls} hours ago (min_hours_between_calls)`;
        this.#save(attempt, returnedFor(attempt, 'too_soon', detail, now, mayAgainAt));
        continue;
      }
      if (phones.has(attempt.phone)) continue;
      phones.add(attempt.phone);
      ready.push(attempt);
    }
    return ready;
  }

  #mayCallAgainAt(phone: string, { minHoursBetweenCalls }: DialingTerms): number {
    if (minHoursBetweenCalls === 0) return 0;
    const [row] = this.ctx.storage.sql.exec<{ at: number }>('SELECT at FROM dialled WHERE phone = ?', phone).toArray();
    return row ? row.at + minHoursBetweenCalls * 3_600_000 : 0;
  }

  /** Without a configuration nothing can be dialled: everybody hears of it. */
  #returnAll(): string[] {
    const now = this.clock();
    const detail = 'the organization has no telephony configuration; create one at /organizations/telephony-configs';
    this.ctx.storage.transactionSync(() => {
      for (const attempt of this.#rows.all("state = 'queued' LIMIT 1000"))
        this.#save(attempt, returnedFor(attempt, 'telephony_not_configured', detail, now));
    });
    this.#act();
    return [];
  }

  #recentGrants(now: number): number[] {
    const recent = this.#grantedAt.filter((at) => at > now - secondMs);
    if (recent.length) return recent;
    // After a waking the memory of the last second is gone, the rows are not.
    return this.#rows.all('is_live = 1 AND granted_at > ?', now - secondMs).map(({ grantedAt }) => grantedAt!);
  }

  /** More may be dialled when the oldest grant of the last second is a second old. */
  #paceBy(now: number): void {
    const oldest = this.#grantedAt[0];
    if (oldest === undefined || this.#pace !== null) return;
    this.#pace = setTimeout(
      () => {
        this.#pace = null;
        this.#act();
      },
      Math.max(1, oldest + secondMs - now - coalesceMs),
    );
  }

  /** Looks at attempts of which nothing was heard in time. */
  async #check(): Promise<void> {
    const now = this.clock();
    const due = this.#rows.all('check_at <= ? ORDER BY check_at LIMIT ?', now, checksATend);
    const worker = async () => {
      for (let attempt = due.shift(); attempt; attempt = due.shift())
        await this.#checkOne(attempt).catch((error: unknown) => this.log.error('a call could not be checked', error));
    };
    await Promise.all(Array.from({ length: checksAtOnce }, worker));
  }

  async #checkOne(attempt: StoredAttempt): Promise<void> {
    const now = this.clock();
    const patience = this.#patience();
    if (attempt.state === 'granted') {
      this.#save(attempt, { ...attempt, checkAt: now + patience.resendMs });
      return announceCalls(this.env, this.#organizationId(), [attempt.key]);
    }
    if (isOver(attempt)) return this.#pokeTalk(attempt, now);
    if (attempt.status === 'completed') {
      this.#save(attempt, lineEndWithoutVerdict(attempt));
      return this.#act();
    }
    // Moved on before the carrier is asked, so that a crash does not ask again at once.
    this.#save(attempt, { ...attempt, checkAt: now + patience.lookAgainMs });
    const context = await this.#context();
    const carrier = attempt.configId === null ? null : await carrierOf(context, attempt.configId);
    const gone = { failure: 'the telephony configuration of this call was deleted' };
    if (attempt.state === 'placed') {
      const result = carrier ? await carrier.telephony.lookUp(attempt.callId!) : gone;
      this.#change(attempt.key, (current) => afterLookUp(current, result, this.clock(), patience));
    } else {
      const { phone: to, ownNumber, submittedAt, key: attemptKey } = attempt;
      const result = carrier ? await carrier.telephony.list({ to, from: ownNumber!, since: submittedAt!, attemptKey }) : gone;
      const foreign =
        'calls' in result
          ? this.#foreignCalls(
              attempt,
              result.calls.map(({ callId }) => callId),
            )
          : new Set<string>();
      this.#change(attempt.key, (current) => afterListing(current, result, foreign, this.clock(), patience));
    }
    this.#act();
  }

  /** Of the carrier's calls, those that are other attempts'. */
  #foreignCalls(attempt: StoredAttempt, callIds: string[]): Set<string> {
    const rows = this.ctx.storage.sql.exec<{ call_id: string }>(
      'SELECT a.call_id FROM json_each(?) j CROSS JOIN attempt a WHERE a.call_id = j.value AND a.call_id IS NOT NULL AND a.key <> ?',
      JSON.stringify(callIds),
      attempt.key,
    );
    return new Set(rows.toArray().map(({ call_id }) => call_id));
  }

  /** Applies `rule` to an attempt as it is now, after an await. */
  #change(key: string, rule: (current: StoredAttempt) => Attempt): void {
    const current = this.#rows.find(key);
    if (current) this.#save(current, rule(current));
  }

  async #pokeTalk(attempt: StoredAttempt, now: number): Promise<void> {
    if (attempt.settling !== 'watch') return this.#save(attempt, { ...attempt, checkAt: null });
    this.#save(attempt, { ...attempt, checkAt: now + watchMs });
    const isThere = await callObject(this.env, this.#organizationId(), attempt.runId!, (object) => object.poke());
    if (!isThere) this.settled([attempt.key]);
  }

  /** Campaigns hear of their attempts; each of them one message at a time. */
  async #tellOwners(): Promise<void> {
    const owners = this.ctx.storage.sql
      .exec<{ owner: string }>('SELECT DISTINCT owner FROM attempt WHERE level > told')
      .toArray()
      .map(({ owner }) => owner);
    await Promise.all(owners.map((owner) => this.#alone(owner, () => this.#tell(owner))));
  }

  async #tell(name: string): Promise<void> {
    const untold = this.#rows.all('owner = ? AND level > told ORDER BY seq LIMIT ?', name, reportsAtOnce);
    if (!untold.length) return;
    const owner = ownerOf(name);
    if (owner.kind === 'campaign') {
      const reports = untold.map(reportOf);
      await campaignObject(this.env, this.#organizationId(), owner.id, (object) => object.reports(reports));
    }
    this.ctx.storage.transactionSync(() => {
      for (const { key, level } of untold) {
        const current = this.#rows.find(key);
        if (current && current.told < level) this.#save(current, { ...current, told: level });
      }
    });
    // More of it, or what has happened meanwhile.
    this.#act();
  }

  /** What follows from calls that are over: their rows, or the objects of their talks. */
  async #settle(): Promise<void> {
    await this.#alone('settle', async () => {
      const silent = this.#rows.all("settling = 'silent' ORDER BY seq LIMIT ?", settledAtOnce);
      const talks = this.#rows.all("settling = 'talk' ORDER BY seq LIMIT ?", settledAtOnce);
      if (!silent.length && !talks.length) return;
      await Promise.all([this.#settleSilent(silent), ...talks.map((attempt) => this.#endTalk(attempt))]);
      this.#act();
    });
  }

  async #settleSilent(attempts: StoredAttempt[]): Promise<void> {
    if (!attempts.length) return;
    await settleSilent(await this.#context(), attempts.map(silentCallOf));
    this.settled(attempts.map(({ key }) => key));
  }

  async #endTalk(attempt: StoredAttempt): Promise<void> {
    const organizationId = this.#organizationId();
    try {
      await callObject(this.env, organizationId, attempt.runId!, (object) =>
        object.lineEnded(organizationId, attempt.runId!, lineEndOf(attempt)),
      );
    } catch (error) {
      this.log.error('the object of a call did not hear that its line has ended', error, { run_id: attempt.runId });
      return;
    }
    this.#change(attempt.key, (current) => {
      const isWaiting = (current as StoredAttempt).settling === 'talk';
      return (isWaiting ? { ...current, settling: 'watch', checkAt: this.clock() + watchMs } : current) as StoredAttempt;
    });
  }

  /** Does `work` unless the same is under way; a failure is logged and made good by `tend`. */
  async #alone(name: string, work: () => Promise<void>): Promise<void> {
    if (this.#busyWith.has(name)) return;
    this.#busyWith.add(name);
    try {
      await work();
    } catch (error) {
      this.log.error('call slots could not hand something on', error, { to: name });
    } finally {
      this.#busyWith.delete(name);
    }
  }

  #prune(): void {
    const { sql } = this.ctx.storage;
    const now = this.clock();
    sql.exec(
      `DELETE FROM attempt WHERE seq IN (SELECT seq FROM attempt WHERE state IN ('ended', 'returned') AND ended_at < ?
         AND settling = 'none' AND level <= told LIMIT ?)`,
      now - keptMs,
      prunedAtOnce,
    );
    sql.exec('DELETE FROM dialled WHERE phone IN (SELECT phone FROM dialled WHERE at < ? LIMIT ?)', now - dialledKeptMs, prunedAtOnce);
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

const laneOf = (owner: Owner): string => (owner.kind === 'campaign' ? ownerName(owner) : owner.kind);

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

/** Its person has another call at the moment. */
const waitingFor = <Kind extends Pick<StoredAttempt, 'level' | 'owner' | 'detail'>>(attempt: Kind): Kind => ({
  ...attempt,
  detail: 'in_another_call: this person has another call at the moment',
  level: attempt.owner.startsWith('campaign:') ? levels.waiting : attempt.level,
});

function consequences(before: StoredAttempt, after: StoredAttempt): StoredAttempt {
  const isTold = after.owner.startsWith('campaign:');
  const level = isOver(after)
    ? levels.over
    : after.answeredAt !== null
      ? levels.answered
      : after.state === 'submitting' || after.state === 'placed'
        ? levels.dialing
        : after.level;
  const justOver = isOver(after) && !isOver(before);
  const hasRow = after.runId !== null || !isTold;
  return {
    ...after,
    level: isTold ? level : 0,
    ...(justOver && {
      initialContext: null,
      settling: after.hasTalk && after.runId !== null ? ('talk' as const) : hasRow ? ('silent' as const) : ('none' as const),
    }),
  };
}

function whatToDo(attempt: StoredAttempt, event: CarrierEvent, asks: WhoAsks): CarrierAnswer {
  const isMachine = attempt.answeredBy === 'machine';
  if (isOver(attempt)) return asks === 'document' ? 'hang_up' : 'none';
  if (isMachine && event.kind === 'machine') return attempt.hasTalk ? 'end_talk' : 'hang_up';
  if (asks === 'nobody') return 'none';
  if (isMachine) return 'hang_up';
  return asks === 'command' && attempt.awaitsVerdict && attempt.answeredBy === null ? 'none' : 'talk';
}
