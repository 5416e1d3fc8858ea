import type { Condition } from '../conditions.ts';
import { boundValue } from '../runs/history.ts';
import type { ExplainCheck } from '../schemas.ts';
import { decide, firstReason, type DecidedComparison, type Decision } from './decide.ts';
import type { Occasion } from './occasion.ts';

/** A filter or condition held against an occasion, with the values compared. `now` in epoch ms. */
export function conditionCheck(rule: 'filter' | 'condition', condition: Condition, occasion: Occasion, now: number): ExplainCheck {
  const decision = decide(condition, occasion, now);
  return {
    rule,
    passed: decision.result,
    message: messageOf(rule, condition, decision, occasion),
    expected: boundValue(condition),
    actual: occasion.shown,
    comparisons: decision.comparisons.map(({ field, operator, expected, actual, result }) => ({
      field,
      operator,
      expected: boundValue(expected),
      actual: boundValue(actual),
      result,
    })),
  };
}

function messageOf(rule: string, condition: Condition, { result, comparisons, problem }: Decision, { of, missing }: Occasion): string {
  if (problem !== null) return `The ${rule} cannot be evaluated for ${of}: ${problem}`;
  if (result === null) return `Whether the ${rule} holds depends on what comes: ${missing}`;
  if (result) return `The ${rule} holds for ${of}`;
  const reason = firstReason(condition, comparisons);
  return `The ${rule} does not hold for ${of}${reason ? `: ${wordsOf(reason)}` : ''}`;
}

function wordsOf({ field, operator, expected, actual }: DecidedComparison): string {
  const rule = expected === null ? operator : `${operator} ${shortly(expected)}`;
  return `${field} is ${actual === null ? 'missing' : shortly(actual)}, the rule is ${rule}`;
}

const longest = 100;

function shortly(value: unknown): string {
  const json = JSON.stringify(value);
  return json.length > longest ? `${json.slice(0, longest)}...` : json;
}
