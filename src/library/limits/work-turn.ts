import { totalStepsSpent } from './work-budget.ts';

/** About a tenth of a second. */
const stepsPerTurn = 400_000;

/** Counts the evaluations for one organization before the work of other organizations has its turn. */
export class WorkTurn {
  #spent = 0;

  /** Does `work`, which must not wait for anything, and counts its steps. */
  count<Result>(work: () => Result): Result {
    const before = totalStepsSpent();
    try {
      return work();
    } finally {
      this.#spent += totalStepsSpent() - before;
    }
  }

  get isOver(): boolean {
    return this.#spent >= stepsPerTurn;
  }
}
