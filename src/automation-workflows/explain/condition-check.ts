import type { Condition } from '../../expressions/conditions/condition.ts';
import type { ExplainCheck } from './schemas.ts';
import { evaluatePartially, firstFailedComparison, type PartialComparison, type PartialResult } from './partial-evaluation.ts';
import type { SampleEvent } from './sample-event.ts';
import { truncateValue } from '../../library/json/truncate-value.ts';

/** Evaluates a filter or condition for a sample event and lists the compared values. `now` in epoch ms. */
export function conditionCheck(rule: 'filter' | 'condition', condition: Condition, sample: SampleEvent, now: number): ExplainCheck {
  const evaluated = evaluatePartially(condition, sample, now);
  return {
    rule,
    passed: evaluated.result,
    message: describeResult(rule, condition, evaluated, sample),
    expected: truncateValue(condition),
    actual: sample.details,
    comparisons: evaluated.comparisons.map(({ field, operator, expected, actual, result }) => ({
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
  { label, unknownReason }: SampleEvent,
): string {
  if (problem !== null) return `The ${rule} cannot be evaluated for ${label}: ${problem}`;
  if (result === null) return `Whether the ${rule} holds depends on what comes: ${unknownReason}`;
  if (result) return `The ${rule} holds for ${label}`;
  const reason = firstFailedComparison(condition, comparisons);
  return `The ${rule} does not hold for ${label}${reason ? `: ${describeComparison(reason)}` : ''}`;
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
