import { WorkBudget } from '../../library/limits/work-budget.ts';

const maxSteps = 200_000;
/** Characters and items that filters, assigns and captures make on the way. */
const maxMemory = 2_000_000;

/** What rendering one text may take. `whole`: the budget of the work that the text is a part of. */
export class RenderBudget {
  readonly steps: WorkBudget;
  #used = 0;

  constructor(whole?: WorkBudget) {
    this.steps = new WorkBudget(maxSteps, 'loop over fewer items', whole);
  }

  /** Called by the engine, too, in the place of its own limit. */
  use(count: unknown): void {
    if (Number(count) > 0) this.#used += Number(count);
    if (this.#used > maxMemory)
      throw new Error(`makes more than ${maxMemory.toLocaleString('en')} characters and items on the way; assign and capture less`);
  }
}

/** Spends what looking at everything in `value` takes, before anybody looks. */
export function spendTraversal(value: unknown, steps: WorkBudget): void {
  if (typeof value === 'string') return steps.spend(1 + value.length / 64);
  steps.spend(1);
  if (typeof value !== 'object' || value === null) return;
  for (const item of Array.isArray(value) ? value : Object.values(value)) spendTraversal(item, steps);
}
