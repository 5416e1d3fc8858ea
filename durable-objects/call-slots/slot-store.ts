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
import { AttemptRows, reportLevels, newAttempt, type StoredAttempt } from './attempt-rows.ts';

const withdrawnDetail = 'whoever asked for it took it back';
const attemptRetentionMs = 24 * 3_600_000;
const dialledRetentionMs = 31 * 24 * 3_600_000;
const pruneBatchSize = 500;

/** The lane in which an owner's calls are counted: all single calls in one, all journeys in one, each campaign in its own. */
export const ownerQueueName = (owner: Owner): string => (owner.kind === 'campaign' ? ownerName(owner) : owner.kind);

/**
 * Stores attempts and their owners, and derives what follows from a change: a slot is taken or freed, an owner must be notified, a row must
 * be completed. Calls `onChange` when work outside of this object is due.
 */
export class SlotStore {
  readonly rows: AttemptRows;
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  readonly #now: Clock;
  readonly #onChange: (checkAt: number | null) => void;
  /** Live calls by lane; a cache of the table. Null: not counted yet. */
  #live: Map<string, number> | null = null;

  constructor(storage: DurableObjectStorage, now: Clock, onChange: (checkAt: number | null) => void) {
    this.rows = new AttemptRows(storage.sql);
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
      this.#live = null;
      throw error;
    }
  }

  /**
   * Queues a call, and answers whether it is new. A known attempt that is over is reported again. An attempt that was given back before its
   * run was written is queued again.
   */
  enqueue(call: RequestedCall, of: { owner: string; lane: string; epoch: number; notBefore: number }): boolean {
    const known = this.rows.find(call.key);
    if (known && (known.state !== 'returned' || known.hasRow)) {
      if (isOver(known)) this.save(known, { ...known, reportedLevel: reportLevels.none });
      return false;
    }
    if (known) this.rows.delete(known.seq);
    const attempt = newAttempt(call, of);
    this.rows.insert(this.rows.isInCall(call.phone) ? markInAnotherCall(attempt) : attempt);
    this.#onChange(null);
    return true;
  }

  /** Withdraws an attempt that has not been submitted. */
  withdraw(attempt: StoredAttempt): void {
    this.save(attempt, returnAttempt(attempt, 'withdrawn', withdrawnDetail, this.#now()));
  }

  /** Hands an attempt to the caller, which places it once. */
  submit(attempt: StoredAttempt, now: number, timeouts: CallTimeouts): StoredAttempt {
    // The caller writes the run's row next. The row may exist even if the caller's report is lost.
    const submitted = { ...submitAttempt(attempt, now, timeouts), hasRow: true, dialledBefore: this.dialledAt(attempt.phone) };
    this.save(attempt, submitted);
    this.#setDialledAt(attempt.phone, now);
    return submitted;
  }

  /** Records what became of an attempt that was handed out. A report of an earlier submission is ignored. */
  recordPlacing(placing: PlacingReport, now: number, timeouts: CallTimeouts): void {
    const attempt = this.rows.find(placing.key);
    if (!attempt || attempt.submission !== placing.submission) return;
    const awaitsVerdict = ('result' in placing ? placing.detectsMachines : undefined) ?? attempt.awaitsVerdict;
    const known = { ...attempt, runId: attempt.runId ?? placing.runId, awaitsVerdict };
    const isOpen = attempt.state === 'submitting' && attempt.callId === null;
    const after = {
      ...known,
      ...(isOpen ? this.#afterPlacing(known, placing, now, timeouts) : this.#afterLatePlacing(known, placing, now, timeouts)),
    };
    this.save(attempt, after);
    // No phone has rung, so the person was not called.
    if (isOpen && isCertainlyNotPlaced(placing)) this.#setDialledAt(attempt.phone, attempt.dialledBefore);
  }

  /** Records that the agent could not be connected, so the call has no conversation. */
  recordAgentNotConnected(key: string, reason: string): void {
    this.update(key, (current) => (isOver(current) ? current : { ...current, isAgentConnected: false, detail: reason }));
  }

  #afterPlacing(attempt: StoredAttempt, placing: PlacingReport, now: number, timeouts: CallTimeouts): Attempt {
    if ('refused' in placing) return returnAttempt(attempt, placing.refused, placing.detail, now);
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
    const after = deriveFollowUps(before, { ...before, ...changed });
    const [wasLive, isLive] = [holdsSlot(before), holdsSlot(after)];
    this.rows.update(before, after);
    if (wasLive !== isLive && this.#live) this.#live.set(after.lane, (this.#live.get(after.lane) ?? 0) + (isLive ? 1 : -1));
    if (after.reportLevel > after.reportedLevel || (isOver(after) && !isOver(before)) || after.checkAt !== before.checkAt)
      this.#onChange(after.checkAt);
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
    const [row] = this.#sql
      .exec<{ maxConcurrency: number | null }>('SELECT max_concurrency AS maxConcurrency FROM owner WHERE lane = ?', lane)
      .toArray();
    return row?.maxConcurrency ?? null;
  }

  countLiveCalls(): { all: number; inbound: number } {
    this.#live ??= this.rows.countLiveByOwnerQueue();
    return { all: [...this.#live.values()].reduce((sum, count) => sum + count, 0), inbound: this.#live.get('inbound') ?? 0 };
  }

  countLiveOf(lane: string): number {
    this.#live ??= this.rows.countLiveByOwnerQueue();
    return this.#live.get(lane) ?? 0;
  }

  /** Drops the cached counts, because rows were written without `save`. */
  invalidateLiveCounts(): void {
    this.#live = null;
  }

  /** Stores when a person was called last, epoch ms; null: never. */
  #setDialledAt(phone: string, at: number | null): void {
    if (at === null) this.#sql.exec('DELETE FROM dialled WHERE phone = ?', phone);
    else this.#sql.exec('INSERT INTO dialled (phone, at) VALUES (?, ?) ON CONFLICT (phone) DO UPDATE SET at = excluded.at', phone, at);
  }

  /** When a person was called last, epoch ms; null: no such call is remembered. */
  dialledAt(phone: string): number | null {
    return this.#sql.exec<{ at: number }>('SELECT at FROM dialled WHERE phone = ?', phone).toArray()[0]?.at ?? null;
  }

  /** When the next attempt must be checked, epoch ms; null: none. */
  nextCheckAt(): number | null {
    const checked = this.#sql.exec<{ at: number | null }>('SELECT min(check_at) AS at FROM attempt WHERE check_at IS NOT NULL').one().at;
    const queued = this.#sql
      .exec<{ at: number | null }>("SELECT min(not_before) AS at FROM attempt WHERE state = 'queued' AND not_before > 0")
      .one().at;
    return checked === null || queued === null ? (checked ?? queued) : Math.min(checked, queued);
  }

  listOwnersToReport(): string[] {
    return this.#sql
      .exec<{ owner: string }>('SELECT DISTINCT owner FROM attempt WHERE level > told')
      .toArray()
      .map(({ owner }) => owner);
  }

  /** Whether nothing is queued, live, unreported or unfinished. */
  isIdle(): boolean {
    const [row] = this.#sql
      .exec(
        `SELECT 1 WHERE EXISTS (SELECT 1 FROM attempt WHERE state = 'queued') OR EXISTS (SELECT 1 FROM attempt WHERE check_at IS NOT NULL)
         OR EXISTS (SELECT 1 FROM attempt WHERE level > told) OR EXISTS (SELECT 1 FROM attempt WHERE settling IN ('silent', 'talk'))`,
      )
      .toArray();
    return row === undefined;
  }

  /** Which of the carrier's calls belong to other attempts. */
  findForeignCalls(attempt: StoredAttempt, callIds: string[]): Set<string> {
    const rows = this.#sql.exec<{ call_id: string }>(
      'SELECT a.call_id FROM json_each(?) j CROSS JOIN attempt a WHERE a.call_id = j.value AND a.call_id IS NOT NULL AND a.key <> ?',
      JSON.stringify(callIds),
      attempt.key,
    );
    return new Set(rows.toArray().map(({ call_id }) => call_id));
  }

  /** Marks the follow-up work of these attempts as done. */
  markFollowUpsDone(keys: readonly string[]): void {
    for (const key of keys) {
      const attempt = this.rows.find(key);
      if (attempt && isOver(attempt) && attempt.followUp !== 'none') this.save(attempt, { ...attempt, followUp: 'none', checkAt: null });
    }
  }

  /** Has the follow-up work of these attempts tried again at an epoch ms, after a failure. */
  postponeFollowUps(keys: readonly string[], until: number): void {
    for (const key of keys) {
      const attempt = this.rows.find(key);
      if (attempt && isOver(attempt) && attempt.followUp !== 'none') this.save(attempt, { ...attempt, checkAt: until });
    }
  }

  /** Applies `rule` to the current state of an attempt, which may have changed during an await. */
  update(key: string, rule: (current: StoredAttempt) => Attempt | StoredAttempt): void {
    const current = this.rows.find(key);
    if (current) this.save(current, rule(current));
  }

  /** When the oldest attempt that is over may be deleted, epoch ms; null: there is none. */
  nextPruneAt(): number | null {
    const [row] = this.#sql
      .exec<{ at: number | null }>("SELECT min(ended_at) AS at FROM attempt WHERE state IN ('ended', 'returned')")
      .toArray();
    return row?.at == null ? null : row.at + attemptRetentionMs + 1;
  }

  /** Deletes a batch of old attempts and of old call times. */
  prune(): void {
    const now = this.#now();
    this.#sql.exec(
      `DELETE FROM attempt WHERE seq IN (SELECT seq FROM attempt WHERE state IN ('ended', 'returned') AND ended_at < ?
         AND settling = 'none' AND level <= told LIMIT ?)`,
      now - attemptRetentionMs,
      pruneBatchSize,
    );
    this.#sql.exec(
      'DELETE FROM dialled WHERE phone IN (SELECT phone FROM dialled WHERE at < ? LIMIT ?)',
      now - dialledRetentionMs,
      pruneBatchSize,
    );
  }
}

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
