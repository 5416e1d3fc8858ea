import { Context, type Liquid } from 'liquidjs';
import { WorkBudget } from '../../library/limits/work-budget.ts';

const maxSteps = 200_000;
/** Characters and items that filters, assigns and captures may create while rendering. */
const maxMemory = 2_000_000;

/** The budget of rendering one text. Its steps count against `whole`, too: the budget of all texts of a node. */
export class RenderBudget {
  readonly steps: WorkBudget;
  #used = 0;

  constructor(whole?: WorkBudget) {
    this.steps = new WorkBudget(maxSteps, 'loop over fewer items', whole);
  }

  /** Counts created characters and items. The engine calls this method in the place of its own memory limit. */
  use(count: unknown): void {
    if (Number(count) > 0) this.#used += Number(count);
    if (this.#used > maxMemory)
      throw new Error(`makes more than ${maxMemory.toLocaleString('en')} characters and items on the way; assign and capture less`);
  }
}

/** Spends the steps of reading all of `value`, before it is read. */
export function spendTraversal(value: unknown, steps: WorkBudget): void {
  if (typeof value === 'string') return steps.spend(1 + value.length / 64);
  steps.spend(1);
  if (typeof value !== 'object' || value === null) return;
  for (const item of Array.isArray(value) ? value : Object.values(value)) spendTraversal(item, steps);
}

type Options = ConstructorParameters<typeof Context>[1];
type RenderOptions = ConstructorParameters<typeof Context>[2];
type Limits = ConstructorParameters<typeof Context>[3];

/** The engine's context, which counts the reads of variables. */
export class CountingContext extends Context {
  readonly budget: RenderBudget;
  /** The number of nested scopes that are searched for a name. */
  #openScopes = 1;

  constructor(scope: object, options: Options, liquid: Liquid, budget: RenderBudget, render: RenderOptions = { sync: true }) {
    // The engine calls these two methods of its limits only.
    const limits = { liquid, memoryLimit: budget, renderLimit: { check: () => undefined, use: () => undefined } };
    super(scope, options, render, limits as unknown as Limits);
    this.budget = budget;
  }

  override *_getFromScope(scope: unknown, paths: (string | number)[] | string, strict?: boolean): IterableIterator<unknown> {
    this.budget.steps.spend(4 + this.#openScopes + paths.length);
    // oxlint-disable-next-line no-underscore-dangle -- the engine's name.
    const value = yield super._getFromScope(scope, paths as string[], strict);
    if (typeof value === 'object' && value !== null)
      this.budget.steps.spend(Array.isArray(value) ? value.length / 64 : Object.keys(value).length);
    return value;
  }

  override push(scope: object): number {
    this.#openScopes++;
    return super.push(scope as never);
  }

  override pop() {
    this.#openScopes--;
    return super.pop();
  }

  override readProperty(object: object, key: string | number): unknown {
    if (key === 'size' && typeof object === 'object' && object !== null && !Array.isArray(object))
      this.budget.steps.spend(Object.keys(object).length / 8);
    return super.readProperty(object as never, key);
  }

  override spawn(scope = {}): CountingContext {
    this.budget.steps.spend(10);
    const { sync, globals, strictVariables, ownPropertyOnly } = this;
    return new CountingContext(scope, this.opts, this.liquid!, this.budget, { sync, globals, strictVariables, ownPropertyOnly });
  }
}

export const budgetOf = (context: Context): RenderBudget => (context as CountingContext).budget;
