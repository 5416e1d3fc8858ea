import { durationProblem, parseDuration, subtractExact } from '../../library/time/durations.ts';
import { parseInstant } from '../../library/time/instants.ts';
import { compare, contains, isEqual, isOneOf, millisecondsBetween } from './comparison.ts';
import { isTemplate } from '../templates/render.ts';

interface Operator {
  /** The fault of a condition's `value`, to be read after "Value of <operator>"; null when the value is valid. */
  valueProblem(value: unknown): string | null;
  /** Whether the comparison holds. `actual` is neither missing nor null; `now` in epoch ms. */
  test(actual: unknown, expected: unknown, now: number): boolean;
  /** The result for a missing or null field. */
  whenMissing: boolean;
}

const maxOptions = 1000;

const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);
const scalarProblem = (value: unknown): string | null =>
  isScalar(value) ? null : 'must be a string, a number or true/false; for a missing value use exists or not_exists';
const textProblem = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? null : 'must be a string that is not empty';
const orderableProblem = (value: unknown): string | null =>
  compare(value, value) === null ? 'must be a number or an ISO 8601 date' : null;
const instantProblem = (value: unknown): string | null =>
  value === 'now' || parseInstant(value) !== null ? null : 'must be an ISO 8601 date, epoch seconds or milliseconds, or "now"';
const durationValueProblem = (value: unknown): string | null =>
  typeof value === 'string' ? durationProblem(value) : 'must be an ISO 8601 duration; write it like PT12H or P7D';
const noValueProblem = (value: unknown): string | null =>
  value === undefined || value === null ? null : 'must be left out: this operator takes no value';

function optionsProblem(value: unknown): string | null {
  if (!Array.isArray(value) || !value.every(isScalar)) return 'must be an array of strings, numbers or true/false';
  return value.length > maxOptions ? `must have at most ${maxOptions} items` : null;
}

/** Accepts templates, whose value is known only when they are rendered. */
const allowTemplate =
  (check: Operator['valueProblem']): Operator['valueProblem'] =>
  (value) =>
    typeof value === 'string' && isTemplate(value) ? null : check(value);

const defineOperator = (check: Operator['valueProblem'], test: Operator['test']): Operator => ({
  valueProblem: allowTemplate(check),
  test,
  whenMissing: false,
});
const negate = (operator: Operator): Operator => ({
  ...operator,
  test: (...values) => !operator.test(...values),
  whenMissing: true,
});

const orderOperator = (accepts: (order: number) => boolean): Operator =>
  defineOperator(orderableProblem, (actual, expected) => {
    const order = compare(actual, expected);
    return order !== null && accepts(order);
  });

const timeOperator = (accepts: (milliseconds: number) => boolean): Operator =>
  defineOperator(instantProblem, (actual, expected, now) => {
    const milliseconds = millisecondsBetween(actual, expected, now);
    return milliseconds !== null && accepts(milliseconds);
  });

/** A text or number as text, for prefixes such as an area code or the first digits of a postal code. */
const toText = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

const eq = defineOperator(scalarProblem, isEqual);
const containsOperator = defineOperator((value) => (value === '' ? textProblem(value) : scalarProblem(value)), contains);
const isIn = defineOperator(optionsProblem, (actual, expected) => Array.isArray(expected) && isOneOf(actual, expected));
const exists: Operator = { valueProblem: noValueProblem, test: () => true, whenMissing: false };

export const conditionOperators = {
  eq,
  neq: negate(eq),
  gt: orderOperator((order) => order > 0),
  gte: orderOperator((order) => order >= 0),
  lt: orderOperator((order) => order < 0),
  lte: orderOperator((order) => order <= 0),
  contains: containsOperator,
  not_contains: negate(containsOperator),
  starts_with: defineOperator(textProblem, (actual, expected) => toText(actual).startsWith(String(expected))),
  ends_with: defineOperator(textProblem, (actual, expected) => toText(actual).endsWith(String(expected))),
  in: isIn,
  not_in: negate(isIn),
  exists,
  not_exists: negate(exists),
  before: timeOperator((milliseconds) => milliseconds < 0),
  after: timeOperator((milliseconds) => milliseconds > 0),
  within_last: defineOperator(durationValueProblem, (actual, expected, now) => {
    const instant = parseInstant(actual);
    if (instant === null || typeof expected !== 'string' || durationProblem(expected)) return false;
    return instant <= now && instant >= subtractExact(now, parseDuration(expected));
  }),
} satisfies Record<string, Operator>;

export type ConditionOperator = keyof typeof conditionOperators;

export const isConditionOperator = (name: unknown): name is ConditionOperator =>
  typeof name === 'string' && Object.hasOwn(conditionOperators, name);
