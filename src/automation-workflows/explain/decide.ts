import { parsePath } from '../../library/paths.ts';
import { evaluate, explain, type CheckedComparison, type Comparison, type Condition } from '../conditions.ts';
import { rootsReadBy } from '../template-roots.ts';
import { EvaluationError, type Scope } from '../templates.ts';

/** A comparison, and what it saw; `result` is null where that depends on what comes. */
export type DecidedComparison = Omit<CheckedComparison, 'result'> & { result: boolean | null };

export interface Decision {
  /** null: depends on what comes. */
  result: boolean | null;
  comparisons: DecidedComparison[];
  /** Why the condition cannot be evaluated at all. */
  problem: string | null;
}

/** What is known: of `scope` only the names in `certain` have the values that will count; null: all have. */
interface Known {
  scope: Scope;
  certain: ReadonlySet<string> | null;
}

/** Whether `condition` holds, as far as that is certain. What can't be evaluated does not hold. `now` in epoch ms. */
export function decide(condition: Condition, known: Known, now: number): Decision {
  const comparisons: DecidedComparison[] = [];
  const visit = (part: Condition): boolean | null => {
    if ('all' in part) return allOf(part.all.map(visit));
    if ('any' in part) return not(allOf(part.any.map(visit).map(not)));
    if ('not' in part) return not(visit(part.not));
    const compared = compare(part, known, now);
    comparisons.push(compared);
    return compared.result;
  };
  const result = visit(condition);
  if (known.certain) return { result, comparisons, problem: null };
  try {
    return { result: evaluate(condition, known.scope, now), comparisons, problem: null };
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

const not = (result: boolean | null): boolean | null => (result === null ? null : !result);

export const isCertain = (certain: ReadonlySet<string> | null, template: string): boolean =>
  certain === null || rootsReadBy(template).every((root) => certain.has(root));

function compare(comparison: Comparison, { scope, certain }: Known, now: number): DecidedComparison {
  const { field, operator, value = null } = comparison;
  const open = { field, operator, expected: value, actual: null, result: null };
  const [root] = parsePath(field);
  const texts = [value].flat().filter((item) => typeof item === 'string');
  if (certain && !(typeof root === 'string' && certain.has(root) && texts.every((text) => isCertain(certain, text)))) return open;
  try {
    return explain(comparison, scope, now).comparisons[0]!;
  } catch (error) {
    if (error instanceof EvaluationError) return open;
    throw error;
  }
}

/** The first comparison on whose account a condition does not hold; null where a negation may be the reason. */
export function firstReason(condition: Condition, comparisons: DecidedComparison[]): DecidedComparison | null {
  return hasNegation(condition) ? null : (comparisons.find(({ result }) => result === false) ?? null);
}

function hasNegation(condition: Condition): boolean {
  if ('all' in condition) return condition.all.some(hasNegation);
  if ('any' in condition) return condition.any.some(hasNegation);
  return 'not' in condition;
}
