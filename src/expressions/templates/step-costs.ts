import { CaseTag, defaultOperators, type Context, type Emitter, type FilterImplOptions, type Template } from 'liquidjs';
import { stepsToFind, type WorkBudget } from '../../library/limits/work-budget.ts';
import { spendTraversal, budgetOf } from './budget.ts';

type Handler = (this: { context: Context }, value: unknown, ...parameters: unknown[]) => unknown;

/** Filters whose cost does not depend on the size of the value. */
const constantCostFilters = new Set(
  'first,last,size,default,raw,abs,at_least,at_most,ceil,divided_by,floor,minus,plus,modulo,times,round,to_integer'.split(','),
);
/** Filters that read items; the context counts the reads of the items' properties. */
const perItemFilters = new Set(
  (
    'map,sum,compact,concat,pop,shift,reverse,slice,uniq,sample,where,reject,where_exp,reject_exp,group_by,group_by_exp,has,has_exp,' +
    'find,find_exp,find_index,find_index_exp'
  ).split(','),
);
const sortingFilters = new Set(['sort', 'sort_natural', 'sample']);
const dateFilterPattern = /^date/;

/** Wraps a filter, so that the steps of its work are spent before the work begins. */
export function countedFilter(name: string, filter: FilterImplOptions): FilterImplOptions {
  if (typeof filter !== 'function') return filter;
  const handler = filter as unknown as Handler;
  const counted: Handler = function (value, ...parameters) {
    const { steps } = budgetOf(this.context);
    steps.spend(10 + parameters.length);
    if (!constantCostFilters.has(name)) spendFilterSteps(name, value, parameters, steps);
    const result = handler.call(this, value, ...parameters);
    if (typeof result === 'string') steps.spend(result.length / 64);
    return result;
  };
  return counted as unknown as FilterImplOptions;
}

function spendFilterSteps(name: string, value: unknown, parameters: unknown[], steps: WorkBudget): void {
  const items = countItems(value);
  if (perItemFilters.has(name)) steps.spend(items * 2);
  else spendTraversal(value, steps);
  if (sortingFilters.has(name)) for (let left = items; left > 1; left /= 2) spendTraversal(value, steps);
  for (const parameter of parameters) {
    spendTraversal(parameter, steps);
    if (typeof parameter === 'string') {
      // The parameter is parsed as an expression, or compared with each item.
      steps.spend(parameter.length / 4 + (items * parameter.length) / 64);
      if (typeof value === 'string') steps.spend(stepsToFind(value, parameter));
      if (dateFilterPattern.test(name)) steps.spend(parameter.split('%').length * 200);
    } else if (Array.isArray(parameter)) for (let item = 0; item < items; item++) spendTraversal(parameter, steps);
    // A number is the indentation of JSON.
    else if (typeof parameter === 'number' && name !== 'slice')
      for (let level = 0; level < Math.min(parameter, 10); level++) spendTraversal(value, steps);
  }
  if (dateFilterPattern.test(name) || name === 'phone') steps.spend(200);
}

function countItems(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 1;
}

type Operator = (left: unknown, right: unknown, context: Context) => unknown;

/** The engine's operators, each of which first spends the steps of the comparison. */
export const countedOperators = Object.fromEntries(
  Object.entries(defaultOperators).map(([name, operator]) => {
    if (name === 'not') return [name, operator];
    const counted: Operator = (left, right, context) => {
      const { steps } = budgetOf(context);
      steps.spend(4);
      for (const side of [left, right]) if (typeof side === 'string' || Array.isArray(side)) spendTraversal(side, steps);
      if (name === 'contains' && typeof left === 'string' && typeof right === 'string') steps.spend(stepsToFind(left, right));
      return (operator as Operator)(left, right, context);
    };
    return [name, counted];
  }),
) as typeof defaultOperators;

/** The `case` tag compares without the operators, so its comparisons are counted here. */
export class CountedCase extends CaseTag {
  override *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    const target = yield this.value.value(context);
    if (Array.isArray(target))
      for (const { values } of this.branches) for (const _ of values) spendTraversal(target, budgetOf(context).steps);
    yield* super.render(context, emitter) as Generator<unknown, void, unknown>;
  }
}

const weights = new WeakMap<readonly Template[], number>();

/** The steps of rendering each of `templates` once, without nested templates and filters. */
export function weightOf(templates: readonly Template[]): number {
  const weight = weights.get(templates) ?? templates.reduce((sum, template) => sum + weightOfOne(template), 4);
  weights.set(templates, weight);
  return weight;
}

function weightOfOne(template: Template): number {
  const { begin, end } = template.token;
  const branches = (template as { branches?: { values?: unknown[] }[] }).branches ?? [];
  return 8 + (end - begin) / 16 + branches.reduce((sum, { values }) => sum + 1 + (values?.length ?? 1), 0);
}
