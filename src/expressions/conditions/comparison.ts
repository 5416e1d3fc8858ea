import { parseInstant, parseIsoInstant } from '../../library/time/instants.ts';

/** A decimal number. Digits with leading zeros or a plus (`00123`, `+49`) are identifiers, and compared as text. */
const decimal = /^-?(0|[1-9]\d*)(\.\d+)?$/;
/** Longer digits are compared as text: arithmetic on them takes more than linear time. */
const maxDecimalLength = 1000;
/** Decimals of up to this many characters compare correctly as doubles. */
const maxExactLength = 15;

function toDecimal(value: unknown): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : null;
  return typeof value === 'string' && value.length <= maxDecimalLength && decimal.test(value) ? value : null;
}

/** Negative, zero or positive, as in a sort. Long integers, such as ids, compare by all their digits. */
function compareDecimals(a: string, b: string): number {
  if ((a.length <= maxExactLength && b.length <= maxExactLength) || !decimal.test(a) || !decimal.test(b)) return Number(a) - Number(b);
  const places = Math.max(decimalPlaces(a), decimalPlaces(b));
  const difference = toScaledInteger(a, places) - toScaledInteger(b, places);
  return difference < 0n ? -1 : Number(difference > 0n);
}

const decimalPlaces = (text: string): number => text.split('.')[1]?.length ?? 0;
const toScaledInteger = (text: string, places: number): bigint => BigInt(text.replace('.', '') + '0'.repeat(places - decimalPlaces(text)));

/** The order of two numbers or two ISO dates (negative, zero or positive), each also as text; null for other values. */
export function compare(actual: unknown, expected: unknown): number | null {
  const [a, b] = [toDecimal(actual), toDecimal(expected)];
  if (a !== null && b !== null) return compareDecimals(a, b);
  if (typeof actual !== 'string' || typeof expected !== 'string') return null;
  const [from, to] = [parseIsoInstant(actual), parseIsoInstant(expected)];
  return from === null || to === null ? null : from - to;
}

/** Numbers are compared as numbers, dates as moments, text by its letters. true equals "true", as forms and spreadsheets send it. */
export function isEqual(actual: unknown, expected: unknown): boolean {
  if (actual === expected) return true;
  if (typeof actual === 'boolean' || typeof expected === 'boolean')
    return typeof actual !== 'object' && typeof expected !== 'object' && String(actual) === String(expected);
  return compare(actual, expected) === 0;
}

/** Whether the text `actual` contains `part`, or the array `actual` has an item equal to `part`. */
export function contains(actual: unknown, part: unknown): boolean {
  if (Array.isArray(actual)) return actual.some((item) => isEqual(item, part));
  return typeof actual === 'string' && actual.includes(String(part));
}

/** Whether `actual`, or an item of the array `actual`, equals one of `options`. The time is linear in the items and options. */
export function isOneOf(actual: unknown, options: readonly unknown[]): boolean {
  const keys = options.map(toEqualityKey);
  const [texts, exact] = [new Set(keys.map(({ canonicalText }) => canonicalText)), new Set(options)];
  const numbers = new Set(keys.map(({ number }) => number));
  const roundedNumbers = new Set(keys.filter(({ isRounded }) => isRounded).map(({ number }) => number));
  return (Array.isArray(actual) ? actual : [actual]).some((item) => {
    if (exact.has(item)) return true;
    const { canonicalText, number, isRounded } = toEqualityKey(item);
    if (canonicalText !== null && texts.has(canonicalText)) return true;
    return number !== null && (isRounded ? numbers : roundedNumbers).has(number);
  });
}

/**
 * Two values that are equal by `isEqual` have the same `canonicalText`. Numbers that are written with an exponent (1e21) have none
 * (`isRounded`): they equal every decimal that rounds to them.
 */
interface EqualityKey {
  canonicalText: string | null;
  number: number | null;
  isRounded: boolean;
}

function toEqualityKey(value: unknown): EqualityKey {
  const digits = toDecimal(value);
  if (digits !== null) {
    const isRounded = !decimal.test(digits);
    return { canonicalText: isRounded ? null : `n:${canonicalDigits(digits)}`, number: Number(digits), isRounded };
  }
  const instant = typeof value === 'string' ? parseIsoInstant(value) : null;
  const isWord = typeof value === 'string' || typeof value === 'boolean';
  return { canonicalText: instant === null ? (isWord ? `t:${String(value)}` : null) : `d:${instant}`, number: null, isRounded: false };
}

function canonicalDigits(digits: string): string {
  const plain = digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits;
  return plain === '-0' ? '0' : plain;
}

/** Milliseconds from `expected` to `actual`; null when one is no moment. The word "now" as `expected` is `now` (epoch ms). */
export function millisecondsBetween(actual: unknown, expected: unknown, now: number): number | null {
  const from = parseInstant(actual);
  const to = expected === 'now' ? now : parseInstant(expected);
  return from === null || to === null ? null : from - to;
}
