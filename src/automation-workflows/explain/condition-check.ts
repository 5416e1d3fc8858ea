import type { Condition } from '../../expressions/conditions/condition.ts';
import { truncateValue } from '../runs/engine/history.ts';
import type { ExplainCheck } from './schemas.ts';
import { evaluatePartially, firstFailedComparison, type PartialComparison, type PartialResult } from './partial-evaluation.ts';
import type { SampleEvent } from './sample-event.ts';

/** A filter or condition held against an occasion, with the values compared. `now` in epoch ms. */
export function conditionCheck(rule: 'filter' | 'condition', condition: Condition, occasion: SampleEvent, now: number): ExplainCheck {
  const decision = evaluatePartially(condition, occasion, now);
  return {
    rule,
    passed: decision.result,
    message: describeResult(rule, condition, decision, occasion),
    expected: truncateValue(condition),
    actual: occasion.details,
    comparisons: decision.comparisons.map(({ field, operator, expected, actual, result }) => ({
      field,
      operator,
      expected: truncateValue(expected),
      actual: truncateValue(actual),
      result,
    })),
  };
}

function describeResult(
  rule: string,
  condition: Condition,
  { result, comparisons, problem }: PartialResult,
  { label: of, unknownReason: missing }: SampleEvent,
): string {
  if (problem !== null) return `The ${rule} cannot be evaluated for ${of}: ${problem}`;
  if (result === null) return `Whether the ${rule} holds depends on what comes: ${missing}`;
  if (result) return `The ${rule} holds for ${of}`;
  const reason = firstFailedComparison(condition, comparisons);
  return `The ${rule} does not hold for ${of}${reason ? `: ${describeComparison(reason)}` : ''}`;
}

function describeComparison({ field, operator, expected, actual }: PartialComparison): string {
  const rule = expected === null ? operator : `${operator} ${toShortJson(expected)}`;
  return `${field} is ${actual === null ? 'missing' : toShortJson(actual)}, the rule is ${rule}`;
}

const maxJsonLength = 100;

function toShortJson(value: unknown): string {
  const json = JSON.stringify(value);
  return json.length > maxJsonLength ? `${json.slice(0, maxJsonLength)}...` : json;
}
