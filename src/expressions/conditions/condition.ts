import { z } from 'zod';
import { unknownKeyMessage, withWarnings, type Warning } from '../../library/json/config-object.ts';
import { isRecord } from '../../library/json/json.ts';
import { parsePath, pathProblem, readPath } from '../../library/json/paths.ts';
import { OverBudgetError, stepsToFind, stepsToRead, WorkBudget } from '../../library/limits/work-budget.ts';
import { conditionOperators, isConditionOperator, type ConditionOperator } from './operators.ts';
import { EvaluationError, render, sharedBudget, validateTemplate, type Scope } from '../templates/render.ts';

/**
 * `field` is a path into the scope (`contact.tags`, `items[0].sku`); `value` may contain templates. With a missing or null field only
 * not_exists, neq, not_in and not_contains are true.
 */
export type Comparison = { field: string; operator: ConditionOperator; value?: unknown };
export type Condition = { all: Condition[] } | { any: Condition[] } | { not: Condition } | Comparison;

const keywords = new Set(['all', 'any', 'not', 'field', 'operator', 'value']);

const maxDepth = 16;
const maxComparisons = 200;

interface Problem {
  path: (string | number)[];
  message: string;
}

/** All faults of `value` as a condition, each with its path; empty: `value` is a condition. */
export function conditionProblems(value: unknown): Problem[] {
  let comparisons = 0;
  const problems: Problem[] = [];
  const visit = (node: unknown, path: Problem['path'], depth: number): void => {
    if (depth > maxDepth) return void problems.push({ path, message: `Conditions nest deeper than ${maxDepth} levels; flatten them` });
    if (!isRecord(node))
      return void problems.push({ path, message: 'Must be a condition: { all }, { any }, { not } or { field, operator, value }' });
    const kind = conditionKind(node);
    const allowed = kind === 'comparison' ? comparisonKeys : [kind];
    for (const key of Object.keys(node))
      if (keywords.has(key) && !allowed.includes(key))
        problems.push({ path: [...path, key], message: `"${key}" does not go together with "${allowed[0]!}"; make two conditions of it` });
    if (kind === 'not') return visit(node['not'], [...path, 'not'], depth + 1);
    if (kind === 'comparison') {
      if (++comparisons === maxComparisons + 1)
        problems.push({ path, message: `More than ${maxComparisons} comparisons in one condition` });
      return void problems.push(...comparisonProblems(node, path));
    }
    const parts = node[kind];
    if (!Array.isArray(parts)) return void problems.push({ path: [...path, kind], message: 'Must be an array of conditions' });
    for (const [index, part] of parts.entries()) visit(part, [...path, kind, index], depth + 1);
  };
  visit(value, [], 1);
  return problems;
}

const comparisonKeys = ['field', 'operator', 'value'];
const conditionKind = (node: object) => (['all', 'any', 'not'] as const).find((key) => Object.hasOwn(node, key)) ?? 'comparison';

/** Warnings of keys that have no effect, such as those of a graph editor. */
function conditionWarnings(node: unknown, loc: string[]): Warning[] {
  if (!isRecord(node)) return [];
  const kind = conditionKind(node);
  const known = kind === 'comparison' ? comparisonKeys : [kind];
  const unknown = Object.keys(node).filter((key) => !keywords.has(key));
  const parts: unknown[] = kind === 'not' ? [node['not']] : kind !== 'comparison' && Array.isArray(node[kind]) ? node[kind] : [];
  return [
    ...unknown.map((key) => ({ loc: [...loc, key], msg: unknownKeyMessage(key, known) })),
    ...parts.flatMap((part, index) => conditionWarnings(part, [...loc, kind, ...(kind === 'not' ? [] : [String(index)])])),
  ];
}

function comparisonProblems({ field, operator, value }: Record<string, unknown>, at: Problem['path']): Problem[] {
  const problems: Problem[] = [];
  const badField = typeof field === 'string' ? pathProblem(field) : 'must be a path such as contact.custom_fields.tier';
  if (badField) problems.push({ path: [...at, 'field'], message: `Field ${badField}` });
  if (!isConditionOperator(operator))
    return [
      ...problems,
      {
        path: [...at, 'operator'],
        message: `Unknown operator ${JSON.stringify(operator)}; allowed: ${Object.keys(conditionOperators).join(', ')}`,
      },
    ];
  const badValue = conditionOperators[operator].valueProblem(value);
  if (badValue) problems.push({ path: [...at, 'value'], message: `Value of ${operator} ${badValue}` });
  for (const [path, text] of collectTexts(value)) {
    const badTemplate = validateTemplate(text);
    if (badTemplate) problems.push({ path: [...at, 'value', ...path], message: badTemplate });
  }
  return problems;
}

const collectTexts = (value: unknown): [number[], string][] =>
  (Array.isArray(value) ? value : [value]).flatMap((item, index) =>
    typeof item === 'string' ? [[Array.isArray(value) ? [index] : [], item] as [number[], string]] : [],
  );

const conditionRef = { $ref: '#/$defs/Condition' };

/** The grammar of conditions as JSON Schema. `id` makes Zod put the schema under `$defs`, so that the schema can refer to itself. */
const conditionJsonSchema = {
  id: 'Condition',
  description: 'A tree of comparisons',
  anyOf: [
    { type: 'object', properties: { all: { type: 'array', items: conditionRef } }, required: ['all'] },
    { type: 'object', properties: { any: { type: 'array', items: conditionRef } }, required: ['any'] },
    { type: 'object', properties: { not: conditionRef }, required: ['not'] },
    {
      type: 'object',
      properties: {
        field: { type: 'string', description: 'Path into the scope, such as contact.custom_fields.tier or items[0].sku' },
        operator: { type: 'string', enum: Object.keys(conditionOperators) },
        value: { description: 'What the field is compared with; texts may be templates. None for exists and not_exists' },
      },
      required: ['field', 'operator'],
    },
  ],
};

export const Condition = withWarnings(
  z
    .unknown()
    .superRefine((value, context) => {
      for (const { path, message } of conditionProblems(value)) context.addIssue({ code: 'custom', path, message });
    })
    .meta(conditionJsonSchema) as unknown as z.ZodType<Condition>,
  conditionWarnings,
);

const maxSteps = 200_000;

/** Runs `work` within the budget of one condition. Throws EvaluationError only. */
function withBudget<Result>(scope: Scope, work: (budget: WorkBudget) => Result): Result {
  try {
    return work(new WorkBudget(maxSteps, 'compare with fewer options and items, or shorter texts', sharedBudget(scope)));
  } catch (error) {
    if (error instanceof EvaluationError) throw error;
    if (error instanceof OverBudgetError) throw new EvaluationError(`The condition ${error.message}`);
    throw new EvaluationError(`The condition cannot be evaluated: ${(error as Error).message}`);
  }
}

/**
 * Whether `condition` holds in `scope`. `now` in epoch ms. Throws EvaluationError, or TemplateError for a template in a value.
 * @example evaluateCondition({ field: 'data.total', operator: 'gt', value: 100 }, { data: { total: '150' } }, Date.now()) // true
 */
export const evaluateCondition = (condition: Condition, scope: Scope, now: number): boolean =>
  withBudget(scope, (budget) => evaluateWithBudget(condition, scope, now, budget));

function evaluateWithBudget(condition: Condition, scope: Scope, now: number, budget: WorkBudget): boolean {
  if ('all' in condition) return condition.all.every((part) => evaluateWithBudget(part, scope, now, budget));
  if ('any' in condition) return condition.any.some((part) => evaluateWithBudget(part, scope, now, budget));
  if ('not' in condition) return !evaluateWithBudget(condition.not, scope, now, budget);
  return evaluateComparison(condition, scope, now, budget).result;
}

export interface EvaluatedComparison {
  field: string;
  operator: ConditionOperator;
  expected: unknown;
  /** null for a missing field. */
  actual: unknown;
  result: boolean;
}

/** As `evaluateCondition`, with the values of every comparison. */
export const explainCondition = (
  condition: Condition,
  scope: Scope,
  now: number,
): { result: boolean; comparisons: EvaluatedComparison[] } =>
  withBudget(scope, (budget) => ({
    result: evaluateCondition(condition, scope, now),
    comparisons: collectComparisons(condition).map((comparison) => evaluateComparison(comparison, scope, now, budget)),
  }));

function evaluateComparison({ field, operator, value }: Comparison, scope: Scope, now: number, budget: WorkBudget): EvaluatedComparison {
  const { test, whenMissing } = conditionOperators[operator];
  const actual = readField(scope, field, budget) ?? null;
  const rendered = (item: unknown): unknown => (typeof item === 'string' ? render(item, scope, undefined, budget) : (item ?? null));
  const expected = Array.isArray(value) ? value.map(rendered) : rendered(value);
  budget.spend(stepsToCompare(actual) + stepsToCompare(expected));
  if (typeof actual === 'string' && typeof expected === 'string') budget.spend(stepsToFind(actual, expected));
  return { field, operator, expected, actual, result: actual === null ? whenMissing : test(actual, expected, now) };
}

/** Budget steps of comparing `value` or, for an array, each item. A text costs the time to read it as a date. */
const stepsToCompare = (value: unknown): number =>
  Array.isArray(value)
    ? value.reduce<number>((sum, item) => sum + 8 + (typeof item === 'string' ? item.length / 64 : 0), 1)
    : 8 + (typeof value === 'string' ? stepsToRead(value) : 0);

function readField(scope: Scope, field: string, budget: WorkBudget): unknown {
  const segments = parsePath(field);
  budget.spend(4 + segments.length);
  // An index that is a search may read every item.
  for (const [index, segment] of segments.entries()) {
    if (typeof segment === 'string') continue;
    const items = readPath(scope, segments.slice(0, index));
    if (Array.isArray(items)) budget.spend(items.length);
  }
  return readPath(scope, segments);
}

function collectComparisons(condition: Condition): Comparison[] {
  if ('all' in condition) return condition.all.flatMap(collectComparisons);
  if ('any' in condition) return condition.any.flatMap(collectComparisons);
  return 'not' in condition ? collectComparisons(condition.not) : [condition];
}
