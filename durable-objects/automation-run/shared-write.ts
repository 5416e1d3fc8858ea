import type { WriteTogether } from '../../src/automation-workflows/runs/engine/shared-projections.ts';

/** The function as a call brings it: it ends with the call, unless a copy is kept, which is to be let go. */
type Received = WriteTogether & { dup(): WriteTogether & Disposable };

/** Keeps the function that came with a call until the run's row is written once, or is not. */
export class SharedWrite {
  #kept: (WriteTogether & Disposable) | null = null;

  keep(received: WriteTogether | undefined): void {
    if (!received) return;
    this.leave();
    this.#kept = (received as Received).dup();
  }

  /** The function for one row; null: there is none. */
  take(): WriteTogether | null {
    const kept = this.#kept;
    this.#kept = null;
    return kept && ((projection) => kept(projection).finally(() => kept[Symbol.dispose]()));
  }

  /** Nothing is written: the others need not wait. */
  leave(): void {
    // Whoever waited may have gone.
    void this.take()?.(null).catch(() => null);
  }
}
