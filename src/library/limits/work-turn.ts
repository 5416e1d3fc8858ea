import { totalStepsSpent } from './work-budget.ts';
import { maxWaitMs, nextTurn, stepsPerSlice, yieldAfterWork } from './yield-to-event-loop.ts';

/** About a tenth of a second. */
const stepsPerTurn = 400_000;
const stepsPerMillisecond = 4_000;

/** Counts the evaluations for one organization before the work of other organizations has its turn. */
export class WorkTurn {
  #spent = 0;
  #sliceBeganAt = 0;

  get isOver(): boolean {
    return this.#spent >= stepsPerTurn;
  }

  /** Does `work`, which must not wait for anything, and counts its steps. */
  count<Result>(work: () => Result): Result {
    const before = totalStepsSpent();
    try {
      return work();
    } finally {
      this.#spent += totalStepsSpent() - before;
    }
  }

  /** After a slice of work others get as much time as the slice took. What others evaluate meanwhile is not waited for. */
  async giveWay(): Promise<void> {
    const steps = this.#spent - this.#sliceBeganAt;
    if (steps < stepsPerSlice) return;
    this.#sliceBeganAt = this.#spent;
    await nextTurn(Math.min(steps / stepsPerMillisecond, maxWaitMs));
  }
}

/** Does `work`, which must not wait for anything, between the work of others: in a turn, or else as one of many pieces. */
export async function evaluateInTurn<Result>(turn: WorkTurn | undefined, work: () => Result): Promise<Result> {
  if (!turn) {
    await yieldAfterWork();
    return work();
  }
  await turn.giveWay();
  return turn.count(work);
}
