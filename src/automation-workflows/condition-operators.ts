import { durationProblem, parseDuration, subtractExact } from '../library/durations.ts';
import { parseInstant } from '../library/instants.ts';
import { compare, contains, isEqual, isOneOf, millisecondsBetween } from './comparison.ts';
import { isTemplate } from './templates.ts';

interface Operator {
  /** What is wrong with the value a condition gives, or null. */
  valueProblem(value: unknown): string | null;
  /** `actual` is never missing here. */
  test(actual: unknown, expected: unknown, now: number): boolean;
  /** The answer when the field is missing or null. */
  whenMissing: boolean;
}

const maximumOptions = 1000;

const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);
const scalar = (value: unknown): string | null =>
  isScalar(value) ? null : 'must be a string, a number or true/false; for a missing value use exists or not_exists';
const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? null : 'must be a string that is not empty');
const ordered = (value: unknown): string | null => (compare(value, value) === null ? 'must be a number or an ISO 8601 date' : null);
const moment = (value: unknown): string | null =>
  value === 'now' || parseInstant(value) !== null ? null : 'must be an ISO 8601 date, epoch seconds or milliseconds, or "now"';
const duration = (value: unknown): string | null =>
  typeof value === 'string' ? durationProblem(value) : 'must be an ISO 8601 duration; write it like PT12H or P7D';
const none = (value: unknown): string | null =>
  value === undefined || value === null ? null : 'must be left out: this operator takes no value';

function options(value: unknown): string | null {
  if (!Array.isArray(value) || !value.every(isScalar)) return 'must be an array of strings, numbers or true/false';
  return value.length > maximumOptions ? `must have at most ${maximumOptions} items` : null;
}

/** A template is checked when it is known what it renders to. */
const orTemplate =
  (check: Operator['valueProblem']): Operator['valueProblem'] =>
  (value) =>
    typeof value === 'string' && isTemplate(value) ? null : check(value);

const positive = (check: Operator['valueProblem'], test: Operator['test']): Operator => ({
  valueProblem: orTemplate(check),
  test,
  whenMissing: false,
});
const negation = (of: Operator): Operator => ({ ...of, test: (...values) => !of.test(...values), whenMissing: true });

const inOrder = (accepts: (order: number) => boolean): Operator =>
  positive(ordered, (actual, expected) => {
    const order = compare(actual, expected);
    return order !== null && accepts(order);
  });

const inTime = (accepts: (milliseconds: number) => boolean): Operator =>
  positive(moment, (actual, expected, now) => {
    const milliseconds = millisecondsBetween(actual, expected, now);
    return milliseconds !== null && accepts(milliseconds);
  });

/** Text of a text or a number: an area code of a phone, the first digits of a postal code. */
const wordOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

const eq = positive(scalar, isEqual);
const containsPart = positive((value) => (value === '' ? text(value) : scalar(value)), contains);
const isIn = positive(options, (actual, expected) => Array.isArray(expected) && isOneOf(actual, expected));
const exists: Operator = { valueProblem: none, test: () => true, whenMissing: false };

export const conditionOperators = {
  eq,
  neq: negation(eq),
  gt: inOrder((order) => order > 0),
  gte: inOrder((order) => order >= 0),
  lt: inOrder((order) => order < 0),
  lte: inOrder((order) => order <= 0),
  contains: containsPart,
  not_contains: negation(containsPart),
  starts_with: positive(text, (actual, expected) => wordOf(actual).startsWith(String(expected))),
  ends_with: positive(text, (actual, expected) => wordOf(actual).endsWith(String(expected))),
  in: isIn,
  not_in: negation(isIn),
  exists,
  not_exists: negation(exists),
  before: inTime((milliseconds) => milliseconds < 0),
  after: inTime((milliseconds) => milliseconds > 0),
  within_last: positive(duration, (actual, expected, now) => {
    const instant = parseInstant(actual);
    if (instant === null || typeof expected !== 'string' || durationProblem(expected)) return false;
    return instant <= now && instant >= subtractExact(now, parseDuration(expected));
  }),
} satisfies Record<string, Operator>;

export type ConditionOperator = keyof typeof conditionOperators;

export const isConditionOperator = (name: unknown): name is ConditionOperator =>
  typeof name === 'string' && Object.hasOwn(conditionOperators, name);
