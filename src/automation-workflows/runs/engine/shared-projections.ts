import type { Context } from '../../../context.ts';
import { projectRuns, type ProjectionResult, type RunProjection } from '../store.ts';

/**
 * Has a run's row written together with those of other runs. The answer null: it is too late for that, so the run writes its row itself. A run
 * that will not write leaves with null, so that the others do not wait for it.
 */
export type WriteTogether = (projection: RunProjection | null) => Promise<ProjectionResult | null>;

/** Rows of one write. */
const maxTogether = 25;
const maxWaitMs = 50;

interface PendingWrite {
  id: number;
  projection: RunProjection;
  answer: PromiseWithResolvers<ProjectionResult | null>;
}

/**
 * Writes the rows of runs that one call has woken: those that arrive within 50 ms are one D1 batch. Each run's object gets the function of
 * `writerOf` with the call that wakes it. Whoever has made this waits for `close`. A run whose write is lost here writes its row itself.
 */
export class SharedProjections {
  readonly #context: Context;
  /** Runs that may still write or leave. */
  readonly #awaited: Set<number>;
  readonly #allHaveCome = Promise.withResolvers<void>();
  readonly #writes = new Set<Promise<void>>();
  #pending: PendingWrite[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(context: Context, runIds: number[]) {
    this.#context = context;
    this.#awaited = new Set(runIds);
  }

  writerOf(id: number): WriteTogether {
    return async (projection) => {
      if (projection !== null && !this.#isClosed) return this.#add(id, projection);
      this.leave(id);
      return null;
    };
  }

  leave(id: number): void {
    this.#awaited.delete(id);
    if (this.#awaited.size === 0) this.#writeAll();
  }

  /** Waits for the runs that have not come, 50 ms at most, and until all that came are written. */
  async close(): Promise<void> {
    const timer = setTimeout(this.#allHaveCome.resolve, maxWaitMs);
    if (this.#awaited.size > 0) await this.#allHaveCome.promise;
    clearTimeout(timer);
    this.#isClosed = true;
    this.#writeAll();
    await Promise.all(this.#writes);
  }

  #add(id: number, projection: RunProjection): Promise<ProjectionResult | null> {
    const answer = Promise.withResolvers<ProjectionResult | null>();
    this.#pending.push({ id, projection, answer });
    this.#awaited.delete(id);
    if (this.#awaited.size === 0 || this.#pending.length === maxTogether) this.#writeAll();
    else this.#timer ??= setTimeout(() => this.#writeAll(), maxWaitMs);
    return answer.promise;
  }

  #writeAll(): void {
    if (this.#awaited.size === 0) this.#allHaveCome.resolve();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#pending.length === 0) return;
    const write = this.#write(this.#pending).finally(() => this.#writes.delete(write));
    this.#pending = [];
    this.#writes.add(write);
  }

  async #write(pending: PendingWrite[]): Promise<void> {
    const { database, organization, log } = this.#context;
    const results = await projectRuns(
      database,
      organization.id,
      pending.map(({ id, projection }) => ({ id, ...projection })),
    ).catch((error: unknown) => log.error('rows of runs could not be written together; each run writes its own', error));
    for (const { id, answer } of pending) answer.resolve(results?.get(id) ?? null);
  }
}
