/** Steps of all budgets in this isolate together. */
let totalSpent = 0;

export const totalStepsSpent = (): number => totalSpent;

/** Work that was stopped because its budget is spent. The message is the end of a sentence about the work. */
export class OverBudgetError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OverBudgetError';
  }
}

/**
 * Counts the steps of work that customers define (templates, schemas, conditions). A step takes about a quarter of a microsecond. Steps and
 * not time are counted, because the clock of a deployed Worker stands still while code runs. Steps spent from a part are also spent from
 * the `whole`.
 */
export class WorkBudget {
  readonly #steps: number;
  readonly #advice: string;
  readonly #whole: WorkBudget | undefined;
  #spent = 0;

  /** `advice` is the remedy when `steps` do not suffice: `loop over fewer items`. */
  constructor(steps: number, advice: string, whole?: WorkBudget) {
    this.#steps = steps;
    this.#advice = advice;
    this.#whole = whole;
  }

  get spent(): number {
    return this.#spent;
  }

  /** Throws OverBudgetError. */
  spend(steps: number): void {
    this.#spent += steps;
    if (this.#spent > this.#steps) throw new OverBudgetError(`takes more than ${this.#steps.toLocaleString('en')} steps; ${this.#advice}`);
    if (this.#whole) this.#whole.spend(steps);
    else totalSpent += steps;
  }
}

/** The steps of reading a text once. */
export const stepsToRead = (text: string): number => 1 + text.length / 64;

/** The steps of searching `part` in `text`: engines compare every character with every other when both repeat themselves. */
export const stepsToFind = (text: string, part: string): number =>
  part.length > text.length ? 1 : stepsToRead(text) + (text.length * part.length) / 2048;

/** The steps of visiting everything in a JSON value once. */
export function stepsToVisit(value: unknown): number {
  if (typeof value === 'string') return stepsToRead(value);
  if (typeof value !== 'object' || value === null) return 1;
  let steps = 1;
  if (Array.isArray(value)) for (const item of value) steps += stepsToVisit(item);
  else for (const [key, item] of Object.entries(value)) steps += stepsToRead(key) + stepsToVisit(item);
  return steps;
}
