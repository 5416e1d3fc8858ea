import { parsePath } from '../../library/json/paths.ts';
import {
  evaluateCondition,
  explainCondition,
  type EvaluatedComparison,
  type Comparison,
  type Condition,
} from '../../expressions/conditions/condition.ts';
import { findTemplateRoots, EvaluationError, type Scope } from '../../expressions/templates/render.ts';

/** A comparison with its values; `result` is null while a value is unknown. */
export type PartialComparison = Omit<EvaluatedComparison, 'result'> & { result: boolean | null };

export interface PartialResult {
  /** null: it depends on unknown values. */
  result: boolean | null;
  comparisons: PartialComparison[];
  /** Why the condition cannot be evaluated at all. */
  problem: string | null;
}

/** Only the names in `knownRoots` have their final values in `scope`; null: all names have. */
interface KnownScope {
  scope: Scope;
  knownRoots: ReadonlySet<string> | null;
}

/** Whether `condition` holds, as far as the known values decide. A condition that cannot be evaluated does not hold. `now` in epoch ms. */
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

/** The three-valued "and": false when one is false, else null when one is null, else true. */
export function allOf(results: (boolean | null)[]): boolean | null {
  if (results.includes(false)) return false;
  return results.includes(null) ? null : true;
}

const negate = (result: boolean | null): boolean | null => (result === null ? null : !result);

export const isKnown = (knownRoots: ReadonlySet<string> | null, template: string): boolean =>
  knownRoots === null || findTemplateRoots(template).every((root) => knownRoots.has(root));

function comparePartially(comparison: Comparison, { scope, knownRoots }: KnownScope, now: number): PartialComparison {
  const { field, operator, value = null } = comparison;
  const unknown = { field, operator, expected: value, actual: null, result: null };
  const [root] = parsePath(field);
  const texts = [value].flat().filter((item) => typeof item === 'string');
  if (knownRoots && !(typeof root === 'string' && knownRoots.has(root) && texts.every((text) => isKnown(knownRoots, text)))) return unknown;
  try {
    return explainCondition(comparison, scope, now).comparisons[0]!;
  } catch (error) {
    if (error instanceof EvaluationError) return unknown;
    throw error;
  }
}

/** The first comparison that failed; null when the condition has a negation, which may be the reason instead. */
export function firstFailedComparison(condition: Condition, comparisons: PartialComparison[]): PartialComparison | null {
  return hasNegation(condition) ? null : (comparisons.find(({ result }) => result === false) ?? null);
}

function hasNegation(condition: Condition): boolean {
  if ('all' in condition) return condition.all.some(hasNegation);
  if ('any' in condition) return condition.any.some(hasNegation);
  return 'not' in condition;
}
