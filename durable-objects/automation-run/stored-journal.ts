import type { HistoryEntry } from '../../src/automation-workflows/runs/engine/history.ts';
import type { JournalEntry, Journal } from '../../src/automation-workflows/runs/engine/journal.ts';
import type { LeftWait, Progress } from '../../src/automation-workflows/runs/engine/progress.ts';
import type { Projection } from '../shared/projection.ts';
import { fallbackDelayMs } from '../shared/timers.ts';
import type { RunRecord } from './run-record.ts';

/** In characters of JSON, and in history records. A longer run has timers from then on, and may take its time. */
const maxFirstAdvanceLength = 100_000;
const maxFirstAdvanceEntries = 500;
/** So many results of steps without a side effect are in memory only. */
const maxUnstoredSteps = 100;

/**
 * A run's progress and history, in its record. What a crash would only have taken again is not stored: until the run waits, fails or is asked
 * about (its first advance), everything, since the run can begin again from its D1 row; later, the results of steps that have no side effect. The
 * intent and the result of a side effect are stored, and all before them, unless it comes out the same when it is taken again.
 */
export class StoredJournal implements Journal {
  readonly #storage: DurableObjectStorage;
  readonly #record: RunRecord;
  readonly #projection: Projection;
  readonly #whenFirstAdvanceEnds: () => void;
  /** How many records of the first advance are stored. */
  #storedEntries: number | undefined;
  #unstoredSteps = 0;

  /** `whenFirstAdvanceEnds` ends the first advance of the record, and sets its timers. */
  constructor(storage: DurableObjectStorage, record: RunRecord, projection: Projection, whenFirstAdvanceEnds: () => void) {
    this.#storage = storage;
    this.#record = record;
    this.#projection = projection;
    this.#whenFirstAdvanceEnds = whenFirstAdvanceEnds;
  }

  /** Begins the first advance of a new run. Nothing is stored. */
  begin(id: number, organizationId: number, progress: Progress): void {
    this.#record.begin(id, organizationId, progress);
    this.#storedEntries = 0;
  }

  /** Whether the run has not waited yet, and so has no timers. */
  isFirstAdvance(): boolean {
    return this.#record.find()?.isFirstAdvance === true;
  }

  /** Stores the first advance, and has the alarm begin again from there. */
  #storeFirstAdvance(): void {
    if (JSON.stringify(this.#record.get()).length > maxFirstAdvanceLength) return this.#whenFirstAdvanceEnds();
    const isNew = !this.#record.isStored();
    this.#record.flush();
    this.#storedEntries = this.#record.get().entries.length;
    if (isNew) void this.#storage.setAlarm(Date.now() + fallbackDelayMs);
  }

  unstoredEntries(): readonly HistoryEntry[] | null {
    if (!this.isFirstAdvance()) return null;
    const { entries } = this.#record.get();
    // After a load, all that is in memory is stored.
    this.#storedEntries ??= entries.length;
    return entries.slice(this.#storedEntries);
  }

  identity(): { id: number; organizationId: number } {
    return this.#record.get();
  }

  progress(): Progress {
    return this.#record.get().progress;
  }

  commit(progress: Progress | ((recordId: number) => Progress), entry?: JournalEntry): number {
    if (this.isFirstAdvance()) return this.#commitFirst(progress, entry);
    return this.#projection.change(() => {
      const before = this.progress();
      const recordId = this.#write(progress, entry);
      const now = this.progress();
      const isOfSideEffect = entry !== undefined && (entry.status === 'started' || entry.id !== undefined);
      const isTakenAgain = !isOfSideEffect && isStepping(before) && (isStepping(now) || now.endedAt !== null);
      if (isTakenAgain && ++this.#unstoredSteps < maxUnstoredSteps) return recordId;
      this.#unstoredSteps = 0;
      this.#record.flush();
      return recordId;
    });
  }

  #commitFirst(progress: Progress | ((recordId: number) => Progress), entry: JournalEntry | undefined): number {
    this.unstoredEntries();
    const recordId = this.#write(progress, entry);
    const now = this.progress();
    const isOfSideEffect = entry !== undefined && (entry.status === 'started' || entry.id !== undefined);
    const isLong = this.#record.get().entries.length > maxFirstAdvanceEntries;
    if (isLong || (now.endedAt === null && !isStepping(now))) this.#whenFirstAdvanceEnds();
    else if (isOfSideEffect) this.#storeFirstAdvance();
    return recordId;
  }

  #write(progress: Progress | ((recordId: number) => Progress), entry: JournalEntry | undefined): number {
    const recordId = entry ? this.#writeEntry(entry) : 0;
    this.#record.change({ progress: typeof progress === 'function' ? progress(recordId) : progress });
    return recordId;
  }

  #writeEntry(entry: JournalEntry): number {
    const { entries, movedEntries } = this.#record.get();
    const id = entry.id ?? movedEntries + entries.length + 1;
    if (id <= movedEntries) {
      this.#record.history.write([{ ...entry, id }]);
      return id;
    }
    const written = [...entries];
    written[id - movedEntries - 1] = { ...entry, id };
    this.#record.change({ entries: written });
    return id;
  }

  /** Changes fields of the progress that the D1 row does not show, and stores them. The row's revision stays. */
  patchProgress(change: Pick<Progress, 'leftWaits' | 'leftCalls' | 'retryVersion' | 'toldEnds' | 'failing' | 'trouble' | 'move'>): void {
    if (this.isFirstAdvance()) this.#whenFirstAdvanceEnds();
    this.#record.change({ progress: { ...this.progress(), ...change } });
    this.#record.flush();
  }

  /** Forgets waits whose rows in `run_waiter` are deleted. A crash before the next `flush` deletes them once more. */
  removeLeftWaits(left: LeftWait[]): void {
    if (!left.length) return;
    const gone = new Set(left.map(({ waitId }) => waitId));
    const progress = this.progress();
    this.#record.change({ progress: { ...progress, leftWaits: (progress.leftWaits ?? []).filter(({ waitId }) => !gone.has(waitId)) } });
  }

  unfinishedEntry(nodeId: string, visit: number, attempt: number): HistoryEntry | null {
    const { entries, movedEntries } = this.#record.get();
    const found = entries.find(
      (entry) => entry.nodeId === nodeId && entry.visit === visit && entry.attempt === attempt && entry.status === 'started',
    );
    return found ?? (movedEntries > 0 ? this.#record.history.findStarted(nodeId, visit, attempt) : null);
  }

  entry(id: number): HistoryEntry | null {
    const { entries, movedEntries } = this.#record.get();
    return id > movedEntries ? (entries[id - movedEntries - 1] ?? null) : this.#record.history.find(id);
  }

  /** A page of the history, oldest first. */
  entries(offset: number, limit: number): HistoryEntry[] {
    const { entries, movedEntries } = this.#record.get();
    const moved = offset < movedEntries ? this.#record.history.page(offset, limit) : [];
    const start = Math.max(0, offset - movedEntries);
    return [...moved, ...entries.slice(start, start + limit - moved.length)];
  }

  count(): number {
    const { entries, movedEntries } = this.#record.get();
    return movedEntries + entries.length;
  }
}

/** Whether the next thing that a live run does is a step. */
const isStepping = ({ endedAt, wait, retryAt, trouble }: Progress): boolean =>
  endedAt === null && wait === null && retryAt === null && trouble === undefined;
