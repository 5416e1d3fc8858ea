import type { Clock } from '../../src/library/time/clock.ts';
import { afterPlacing } from '../../src/calls/attempt/after-placing.ts';
import {
  submitAttempt,
  holdsSlot,
  isOver,
  requeueAttempt,
  returnAttempt,
  type Attempt,
  type CallTimeouts,
} from '../../src/calls/attempt/attempt.ts';
import { ownerName, type Owner, type PlacingReport, type RequestedCall } from '../../src/calls/contract.ts';
import { Attempts } from './attempts.ts';
import { Pruner } from './pruner.ts';
import { newAttempt, reportLevels, type StoredAttempt } from './stored-attempt.ts';

/** Places in the queue for one ms. The last digits count attempts, since the caller's number goes by them. */
const seqsPerMs = 1000;
const withdrawnDetail = 'whoever asked for it took it back';

/** The lane in which an owner's calls are counted: all single calls in one, all journeys in one, each campaign in its own. */
export const ownerQueueName = (owner: Owner): string => (owner.kind === 'campaign' ? ownerName(owner) : owner.kind);

/**
 * Stores attempts and their owners, and derives what follows from a change: a slot is taken or freed, an owner must be notified, a row must
 * be completed. Calls `onChange` when work outside of this object is due.
 */
export class SlotStore {
  readonly attempts: Attempts;
  readonly pruner: Pruner;
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  readonly #now: Clock;
  readonly #onChange: (checkAt: number | null) => void;
  /** The place in the queue of the latest attempt. */
  #seq = 0;
  #enqueued = 0;
  /** When attempts that were queued again may be dialled, epoch ms, by key. After a restart, maintenance finds them by itself. */
  readonly #delayed = new Map<string, number>();

  constructor(storage: DurableObjectStorage, now: Clock, onChange: (checkAt: number | null) => void) {
    this.attempts = new Attempts(storage.sql);
    this.pruner = new Pruner(storage.sql, now);
    this.#storage = storage;
    this.#sql = storage.sql;
    this.#now = now;
    this.#onChange = onChange;
  }

  /** Writes all of `work`, or nothing. */
  transaction<Result>(work: () => Result): Result {
    try {
      return this.#storage.transactionSync(work);
    } catch (error) {
      this.attempts.forget();
      throw error;
    }
  }

  /**
   * Queues a call, and answers whether it is new. A known attempt that is over is reported again. An attempt that was given back before its
   * run was written is queued again.
   */
  enqueue(call: RequestedCall, of: { owner: string; lane: string; epoch: number; notBefore: number }): boolean {
    const known = this.attempts.find(call.key);
    if (known && (known.state !== 'returned' || known.hasRow)) {
      if (isOver(known)) this.save(known, { ...known, reportedLevel: reportLevels.none });
      return false;
    }
    if (known) this.attempts.delete(known.key);
    const attempt = { ...newAttempt(call, of), seq: this.nextSeq() };
    this.attempts.insert(this.attempts.isInCall(call.phone) ? markInAnotherCall(attempt) : attempt);
    this.#onChange(null);
    return true;
  }

  /** A place at the end of the queue. It grows with the clock, so that no counter has to be stored. */
  nextSeq(): number {
    this.#seq = Math.max(this.#seq + 1, this.#now() * seqsPerMs + (this.#enqueued++ % seqsPerMs));
    return this.#seq;
  }

  /** Withdraws an attempt that has not been submitted. */
  withdraw(attempt: StoredAttempt): void {
    this.save(attempt, returnAttempt(attempt, 'withdrawn', withdrawnDetail, this.#now()));
  }

  /** Hands an attempt to the caller, which places it once. */
  submit(attempt: StoredAttempt, now: number, timeouts: CallTimeouts): StoredAttempt {
    // The caller writes the run's row next. The row may exist even if the caller's report is lost.
    const last = this.#lastCallTo(attempt.phone);
    const submitted = {
      ...submitAttempt(attempt, now, timeouts),
      hasRow: true,
      dialledBefore: last?.at ?? null,
      previousKey: last?.key ?? null,
    };
    this.save(attempt, submitted);
    this.#setLastCallTo(attempt.phone, { at: now, key: attempt.key });
    return submitted;
  }

  /** Records what became of an attempt that was handed out. A report of an earlier submission is ignored. */
  recordPlacing(placing: PlacingReport, now: number, timeouts: CallTimeouts): void {
    const attempt = this.attempts.find(placing.key);
    if (!attempt || attempt.submission !== placing.submission) return;
    const awaitsVerdict = ('result' in placing ? placing.detectsMachines : undefined) ?? attempt.awaitsVerdict;
    const known = { ...attempt, runId: attempt.runId ?? placing.runId, awaitsVerdict };
    const isOpen = attempt.state === 'submitting' && attempt.callId === null;
    const after = {
      ...known,
      ...(isOpen ? this.#afterPlacing(known, placing, now, timeouts) : this.#afterLatePlacing(known, placing, now, timeouts)),
    };
    // Without this, the carrier is asked about the call, as when its answer is lost.
    this.saveLazily(attempt, after);
    // No phone has rung, so the person was not called.
    if (isOpen && isCertainlyNotPlaced(placing))
      this.#setLastCallTo(attempt.phone, attempt.dialledBefore === null ? null : { at: attempt.dialledBefore, key: attempt.previousKey });
  }

  /** Records that the agent could not be connected, so the call has no conversation. */
  recordAgentNotConnected(key: string, reason: string): void {
    this.update(key, (current) => (isOver(current) ? current : { ...current, isAgentConnected: false, detail: reason }));
  }

  #afterPlacing(attempt: StoredAttempt, placing: PlacingReport, now: number, timeouts: CallTimeouts): Attempt {
    if ('refused' in placing) return returnAttempt(attempt, placing.refused, placing.detail, now, placing.until ?? null);
    const { result } = placing;
    if (!('unasked' in result)) return afterPlacing(attempt, result, now, timeouts);
    if (attempt.epoch < this.epochOf(attempt.owner)) return returnAttempt(attempt, 'withdrawn', withdrawnDetail, now);
    return requeueAttempt(attempt, now);
  }

  /** The carrier has reported the call before: only its own answer can add something. */
  #afterLatePlacing(attempt: StoredAttempt, placing: PlacingReport, now: number, timeouts: CallTimeouts): Attempt {
    return 'result' in placing && 'placed' in placing.result ? afterPlacing(attempt, placing.result, now, timeouts) : attempt;
  }

  /** Writes an attempt, and derives what follows from the change for slots, owners and follow-up work. */
  save(before: StoredAttempt, changed: Attempt | StoredAttempt): void {
    this.#save(before, changed, false);
  }

  /** As `save`, for a change that a crash may undo while the attempt has more to do. It is written within seconds, or with the next change. */
  saveLazily(before: StoredAttempt, changed: Attempt | StoredAttempt): void {
    this.#save(before, changed, true);
  }

  #save(before: StoredAttempt, changed: Attempt | StoredAttempt, isLazy: boolean): void {
    const after = deriveFollowUps(before, { ...before, ...changed });
    // An end, and the return to the queue, are never lost.
    const [wasLive, isLive] = [holdsSlot(before), holdsSlot(after)];
    this.attempts.save(before, after, isLazy && wasLive === isLive);
    if (after.state === 'queued' && after.notBefore > 0) this.#delayed.set(after.key, after.notBefore);
    else this.#delayed.delete(after.key);
    const isNowOver = isOver(after) && !isOver(before);
    if (isNowOver) this.pruner.expectEnded();
    if (after.reportLevel > after.reportedLevel || isNowOver || after.checkAt !== before.checkAt) this.#onChange(after.checkAt);
  }

  /** Stores the latest epoch and limit of an owner, and answers the epoch in force. */
  upsertOwner(owner: Owner, epoch: number, maxConcurrency: number | null | undefined): { epoch: number } {
    const name = ownerName(owner);
    const known = this.#sql.exec<{ epoch: number; max_concurrency: number | null }>(
      'SELECT epoch, max_concurrency FROM owner WHERE name = ?',
      name,
    );
    const [row] = known.toArray();
    const limit = maxConcurrency === undefined ? (row?.max_concurrency ?? null) : maxConcurrency;
    if (row && (row.epoch > epoch || (row.epoch === epoch && row.max_concurrency === limit))) return row;
    // Single calls and journeys have no epoch and no limit of their own. Storing them would leave a row for each.
    if (owner.kind !== 'campaign' && epoch === 0) return { epoch };
    this.#sql.exec(
      `INSERT INTO owner (name, kind, id, lane, epoch, max_concurrency) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch, max_concurrency = excluded.max_concurrency`,
      name,
      owner.kind,
      owner.id,
      ownerQueueName(owner),
      epoch,
      limit,
    );
    return { epoch };
  }

  epochOf(name: string): number {
    const [row] = this.#sql.exec<{ epoch: number }>('SELECT epoch FROM owner WHERE name = ?', name).toArray();
    return row?.epoch ?? 0;
  }

  /** How many calls a lane may have at once; null: only the organization's limit counts. */
  maxConcurrencyOf(lane: string): number | null {
    // Only a campaign has a limit, and its lane has its name.
    const [row] = this.#sql
      .exec<{ maxConcurrency: number | null }>('SELECT max_concurrency AS maxConcurrency FROM owner WHERE name = ?', lane)
      .toArray();
    return row?.maxConcurrency ?? null;
  }

  countLiveCalls(): { all: number; inbound: number } {
    return { all: this.attempts.countLive(), inbound: this.attempts.countLive('inbound') };
  }

  /** Stores which call a person got last, and when (epoch ms); null: none. */
  #setLastCallTo(phone: string, last: { at: number; key: string | null } | null): void {
    if (last === null) this.#sql.exec('DELETE FROM dialled WHERE phone = ?', phone);
    else
      this.#sql.exec(
        'INSERT INTO dialled (phone, at, key) VALUES (?, ?, ?) ON CONFLICT (phone) DO UPDATE SET at = excluded.at, key = excluded.key',
        phone,
        last.at,
        last.key,
      );
  }

  /** Which call a person got last, and when (epoch ms); null: no such call is remembered. `key` is null if only the moment is. */
  #lastCallTo(phone: string): { at: number; key: string | null } | null {
    return this.#sql.exec<{ at: number; key: string | null }>('SELECT at, key FROM dialled WHERE phone = ?', phone).toArray()[0] ?? null;
  }

  /** When a person was called last, epoch ms; null: no such call is remembered. */
  dialledAt(phone: string): number | null {
    return this.#lastCallTo(phone)?.at ?? null;
  }

  /** When the next attempt must be checked, epoch ms; null: none. */
  nextCheckAt(): number | null {
    // Those that are due wait for slots, as all that are queued.
    for (const [key, notBefore] of this.#delayed) if (notBefore <= this.#now()) this.#delayed.delete(key);
    const next = Math.min(this.attempts.nextCheckAt(), ...this.#delayed.values());
    return next === Infinity ? null : next;
  }

  listOwnersToReport(): string[] {
    return [...new Set(this.attempts.listOpen(isUnreported).map(({ owner }) => owner))];
  }

  /** Attempts of an owner that it does not know as they are, oldest first. */
  listUnreported(owner: string, limit: number): StoredAttempt[] {
    return this.attempts.listOpen((attempt) => attempt.owner === owner && isUnreported(attempt), limit);
  }

  /** Queued and granted attempts of an owner. */
  listUnsubmitted(owner: Owner): StoredAttempt[] {
    const name = ownerName(owner);
    const granted = this.attempts.listOpen((attempt) => attempt.state === 'granted' && attempt.owner === name);
    return [...granted, ...this.listQueued(owner)];
  }

  *listQueued(owner: Owner): Generator<StoredAttempt> {
    const name = ownerName(owner);
    for (const attempt of this.attempts.queued(ownerQueueName(owner))) if (attempt.owner === name) yield attempt;
  }

  /** Which of the carrier's calls to the person of an attempt belong to other attempts: to live ones, and to those before it. */
  findForeignCalls(attempt: StoredAttempt, callIds: string[]): Set<string> {
    const others = this.attempts.listOpen(({ key, callId }) => key !== attempt.key && callId !== null).map(({ callId }) => callId);
    for (let key = attempt.previousKey; key !== null;) {
      const previous: StoredAttempt | null = this.attempts.find(key);
      others.push(previous?.callId ?? null);
      key = previous?.previousKey ?? null;
    }
    return new Set(callIds.filter((callId) => others.includes(callId)));
  }

  /** Marks the follow-up work of these attempts as done. */
  markFollowUpsDone(keys: readonly string[]): void {
    for (const key of keys) {
      const attempt = this.attempts.find(key);
      if (attempt && isOver(attempt) && attempt.followUp !== 'none') this.save(attempt, { ...attempt, followUp: 'none', checkAt: null });
    }
  }

  /** Has the follow-up work of these attempts tried again at an epoch ms, after a failure. */
  postponeFollowUps(keys: readonly string[], until: number): void {
    for (const key of keys) {
      const attempt = this.attempts.find(key);
      if (attempt && isOver(attempt) && attempt.followUp !== 'none') this.saveLazily(attempt, { ...attempt, checkAt: until });
    }
  }

  /** Applies `rule` to the current state of an attempt, which may have changed during an await. */
  update(key: string, rule: (current: StoredAttempt) => Attempt | StoredAttempt): void {
    const current = this.attempts.find(key);
    if (current) this.save(current, rule(current));
  }

  /** As `update`, by `saveLazily`. */
  updateLazily(key: string, rule: (current: StoredAttempt) => StoredAttempt): void {
    const current = this.attempts.find(key);
    if (current) this.saveLazily(current, rule(current));
  }
}

const isUnreported = ({ reportLevel, reportedLevel }: StoredAttempt): boolean => reportLevel > reportedLevel;

const isCertainlyNotPlaced = (placing: PlacingReport): boolean =>
  'refused' in placing || 'refused' in placing.result || 'busy' in placing.result || 'unasked' in placing.result;

/** Notes on a queued attempt that its person is in another call. */
export const markInAnotherCall = <Kind extends Pick<StoredAttempt, 'reportLevel' | 'owner' | 'detail'>>(attempt: Kind): Kind => ({
  ...attempt,
  detail: 'in_another_call: this person has another call at the moment',
  reportLevel: attempt.owner.startsWith('campaign:') ? reportLevels.waiting : attempt.reportLevel,
});

function deriveFollowUps(before: StoredAttempt, after: StoredAttempt): StoredAttempt {
  const isReported = after.owner.startsWith('campaign:');
  const reportLevel = isOver(after)
    ? reportLevels.over
    : after.answeredAt !== null
      ? reportLevels.answered
      : after.state === 'submitting' || after.state === 'placed'
        ? reportLevels.dialing
        : after.reportLevel;
  const justOver = isOver(after) && !isOver(before);
  const hasRow = after.hasRow || !isReported;
  return {
    ...after,
    reportLevel: isReported ? reportLevel : 0,
    ...(justOver && {
      initialContext: null,
      followUp: after.isAgentConnected && after.runId !== null ? ('talk' as const) : hasRow ? ('silent' as const) : ('none' as const),
    }),
  };
}
