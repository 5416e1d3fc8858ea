import { parsePath } from '../../library/json/paths.ts';
import {
  evaluateCondition,
  explainCondition,
  type EvaluatedComparison,
  type Comparison,
  type Condition,
} from '../../expressions/conditions/condition.ts';
import { findTemplateRoots, EvaluationError, type Scope } from '../../expressions/templates/render.ts';

/** A comparison, and what it saw; `result` is null where that depends on what comes. */
export type PartialComparison = Omit<EvaluatedComparison, 'result'> & { result: boolean | null };

export interface PartialResult {
  /** null: depends on what comes. */
  result: boolean | null;
  comparisons: PartialComparison[];
  /** Why the condition cannot be evaluated at all. */
  problem: string | null;
}

/** What is known: of `scope` only the names in `certain` have the values that will count; null: all have. */
interface KnownScope {
  scope: Scope;
  knownRoots: ReadonlySet<string> | null;
}

/** Whether `condition` holds, as far as that is certain. What can't be evaluated does not hold. `now` in epoch ms. */
export function evaluatePartially(condition: Condition, known: KnownScope, now: number): PartialResult {
  const comparisons: PartialComparison[] = [];
  const visit = (part: Condition): boolean | null => {
    if ('all' in part) return allOf(part.all.map(visit));
    if ('any' in part) return negate(allOf(part.any.map(visit).map(negate)));
    if ('not' in part) return negate(visit(part.not));
    const compared = comparePartially(part, known, now);
    comparisons.push(compared);
    return compared.result;
  };
  const result = visit(condition);
  if (known.knownRoots) return { result, comparisons, problem: null };
  try {
    return { result: evaluateCondition(condition, known.scope, now), comparisons, problem: null };
  } catch (error) {
    if (error instanceof EvaluationError) return { result: false, comparisons, problem: error.message };
    throw error;
  }
}

/** Whether all passed: one that did not decides, else one that is open leaves it open. */
export function allOf(results: (boolean | null)[]): boolean | null {
  if (results.includes(false)) return false;
  return results.includes(null) ? null : true;
}

const negate = (result: boolean | null): boolean | null => (result === null ? null : !result);

export const isKnown = (certain: ReadonlySet<string> | null, template: string): boolean =>
  certain === null || findTemplateRoots(template).every((root) => certain.has(root));

function comparePartially(comparison: Comparison, { scope, knownRoots: certain }: KnownScope, now: number): PartialComparison {
  const { field, operator, value = null } = comparison;
  const open = { field, operator, expected: value, actual: null, result: null };
  const [root] = parsePath(field);
  const texts = [value].flat().filter((item) => typeof item === 'string');
  if (certain && !(typeof root === 'string' && certain.has(root) && texts.every((text) => isKnown(certain, text)))) return open;
  try {
    return explainCondition(comparison, scope, now).comparisons[0]!;
  } catch (error) {
    if (error instanceof EvaluationError) return open;
    throw error;
  }
}

/** The first comparison on whose account a condition does not hold; null where a negation may be the reason. */
export function firstFailedComparison(condition: Condition, comparisons: PartialComparison[]): PartialComparison | null {
  return hasNegation(condition) ? null : (comparisons.find(({ result }) => result === false) ?? null);
}

function hasNegation(condition: Condition): boolean {
  if ('all' in condition) return condition.all.some(hasNegation);
  if ('any' in condition) return condition.any.some(hasNegation);
  return 'not' in condition;
}
