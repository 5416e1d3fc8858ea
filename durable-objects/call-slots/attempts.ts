import { holdsSlot } from '../../src/calls/attempt/attempt.ts';
import { AttemptRows } from './attempt-rows.ts';
import { isEngaged, isOpen, type StoredAttempt } from './stored-attempt.ts';

const firstPageSize = 16;
const maxPageSize = 512;

interface OpenAttempt {
  /** As its row is. */
  stored: StoredAttempt;
  current: StoredAttempt;
}

/** Whether one of some queued attempts may be dialled; if none may, the reasons. */
export interface QueuedStatus {
  isReady: boolean;
  isPersonInCall: boolean;
  notBefore: number | null;
}

/**
 * The attempts of an organization. Those that need work are in memory, with changes that are not written yet because a crash may undo them;
 * they are about as many as calls may be live. Queued attempts, of which there may be any number, and those that are done are read by need.
 */
export class Attempts {
  readonly #rows: AttemptRows;
  /** By key; null: not read since the object started. */
  #open: Map<string, OpenAttempt> | null = null;
  /** Live calls by lane. */
  readonly #live = new Map<string, number>();
  /** How many attempts keep others from calling a person, by phone. */
  readonly #engaged = new Map<string, number>();

  constructor(sql: SqlStorage) {
    this.#rows = new AttemptRows(sql);
  }

  #load(): Map<string, OpenAttempt> {
    if (this.#open) return this.#open;
    this.#open = new Map();
    this.#live.clear();
    this.#engaged.clear();
    for (const attempt of this.#rows.listOpen()) this.#keep(attempt, attempt);
    return this.#open;
  }

  /** Drops what is in memory, since its writes failed. */
  forget(): void {
    this.#open = null;
  }

  find(key: string): StoredAttempt | null {
    return this.#load().get(key)?.current ?? this.#rows.find(key);
  }

  insert(attempt: StoredAttempt): void {
    this.#load();
    this.#rows.insert(attempt);
    this.#keep(attempt, attempt);
  }

  delete(key: string): void {
    this.#rows.delete(key);
    this.#drop(key);
  }

  /**
   * Changes an attempt. `isLazy`: the change may be undone by a crash, and is written with the next change, or by `flush`. A grant and what
   * is left of an attempt that needs no more work are special: a grant is never written, and the latter always.
   */
  save(before: StoredAttempt, after: StoredAttempt, isLazy: boolean): void {
    const stored = this.#load().get(before.key)?.stored ?? before;
    if (!holdsSlot(before) && holdsSlot(after) && this.isInCall(after.phone))
      throw new Error(`${after.key} would be a second call of its person`);
    const isWritten = after.state !== 'granted' && !(isLazy && isOpen(after));
    if (isWritten) this.#rows.update(stored, after);
    this.#drop(before.key);
    this.#keep(isWritten ? after : stored, after);
  }

  /** Writes what was saved lazily. */
  flush(): void {
    for (const { stored, current } of this.#load().values())
      if (stored !== current && current.state !== 'granted') this.save(current, current, false);
  }

  #keep(stored: StoredAttempt, current: StoredAttempt): void {
    if (!isOpen(current)) return;
    this.#open!.set(current.key, { stored, current });
    this.#count(current, 1);
  }

  #drop(key: string): void {
    const known = this.#load().get(key);
    if (!known) return;
    this.#open!.delete(key);
    this.#count(known.current, -1);
  }

  #count(attempt: StoredAttempt, change: 1 | -1): void {
    if (holdsSlot(attempt)) add(this.#live, attempt.lane, change);
    if (isEngaged(attempt)) add(this.#engaged, attempt.phone, change);
  }

  /** Attempts that need work and that fit, oldest first. */
  listOpen(fits: (attempt: StoredAttempt) => boolean, limit = Infinity): StoredAttempt[] {
    const found = [...this.#load().values()].map(({ current }) => current).filter(fits);
    return found.toSorted((one, other) => one.seq - other.seq).slice(0, limit);
  }

  /** Attempts whose check is due, the longest due first. */
  listDueChecks(now: number, limit: number): StoredAttempt[] {
    return this.listOpen(({ checkAt }) => checkAt !== null && checkAt <= now)
      .toSorted((one, other) => one.checkAt! - other.checkAt!)
      .slice(0, limit);
  }

  /** When the next attempt must be checked, epoch ms; Infinity: none. */
  nextCheckAt(): number {
    return [...this.#load().values()].reduce((earliest, { current }) => Math.min(earliest, current.checkAt ?? Infinity), Infinity);
  }

  /** Whether nothing is queued, live, unreported or unfinished. */
  isIdle(): boolean {
    return this.#load().size === 0 && !this.#rows.hasQueued();
  }

  /** How many calls are live: all, or those of a lane. */
  countLive(lane?: string): number {
    this.#load();
    return lane === undefined ? [...this.#live.values()].reduce((sum, count) => sum + count, 0) : (this.#live.get(lane) ?? 0);
  }

  /** Whether this number is in a call, or its last call is still being evaluated. */
  isInCall(phone: string): boolean {
    this.#load();
    return this.#engaged.has(phone);
  }

  listQueuedLanes(): string[] {
    return this.#rows.listQueuedLanes();
  }

  /** The queued attempts of a lane, oldest first, without those that have a grant. */
  *queued(lane: string): Generator<StoredAttempt> {
    for (let seq = -1, size = firstPageSize; ; size = Math.min(2 * size, maxPageSize)) {
      const page = this.#rows.listQueued(lane, seq, size);
      for (const attempt of page) {
        const current = this.#load().get(attempt.key)?.current ?? attempt;
        if (current.state === 'queued') yield current;
      }
      if (page.length < size) return;
      seq = page.at(-1)!.seq;
    }
  }

  /** At most `limit` queued attempts of all lanes, without those that have a grant. */
  listAnyQueued(limit: number): StoredAttempt[] {
    const open = this.#load();
    return this.#rows
      .listAnyQueued(limit)
      .map((attempt) => open.get(attempt.key)?.current ?? attempt)
      .filter(({ state }) => state === 'queued');
  }

  countQueued(lane: string, owner: string): number {
    const granted = this.listOpen((attempt) => attempt.state === 'granted' && attempt.owner === owner).length;
    return this.#rows.countQueued(lane, owner) - granted;
  }

  /**
   * The oldest queued attempts of a lane that may be dialled at `now`. Persons in another call are left out, as are those whose last call
   * is still being evaluated.
   */
  candidates(lane: string, now: number, limit: number): StoredAttempt[] {
    const found: StoredAttempt[] = [];
    for (const attempt of this.queued(lane)) {
      if (attempt.notBefore > now || this.isInCall(attempt.phone)) continue;
      found.push(attempt);
      if (found.length >= limit) break;
    }
    return found;
  }

  /** Whether one of these queued attempts may be dialled at `now`. */
  statusOf(queued: Iterable<StoredAttempt>, now: number): QueuedStatus {
    let isPersonInCall = false;
    let notBefore = Infinity;
    for (const attempt of queued) {
      const isEngagedNow = this.isInCall(attempt.phone);
      if (attempt.notBefore <= now && !isEngagedNow) return { isReady: true, isPersonInCall: false, notBefore: null };
      isPersonInCall ||= isEngagedNow;
      if (attempt.notBefore > now) notBefore = Math.min(notBefore, attempt.notBefore);
    }
    return { isReady: false, isPersonInCall, notBefore: notBefore === Infinity ? null : notBefore };
  }
}

function add(counts: Map<string, number>, name: string, change: number): void {
  const count = (counts.get(name) ?? 0) + change;
  if (count === 0) counts.delete(name);
  else counts.set(name, count);
}
