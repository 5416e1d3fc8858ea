import { parseInstant, parseIsoInstant } from '../../library/time/instants.ts';

/** A number as people write it; leading zeros or a plus make an identifier (`00123`, `+49`), which is text. */
const decimal = /^-?(0|[1-9]\d*)(\.\d+)?$/;
/** Longer ones are text: arithmetic on them takes time beyond their length. */
const maxDecimalLength = 1000;
/** Doubles hold every decimal of so many characters exactly enough to compare. */
const maxExactLength = 15;

function toDecimal(value: unknown): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : null;
  return typeof value === 'string' && value.length <= maxDecimalLength && decimal.test(value) ? value : null;
}

/** Negative, zero or positive. Long integers, such as ids, compare by all their digits. */
function compareDecimals(a: string, b: string): number {
  if ((a.length <= maxExactLength && b.length <= maxExactLength) || !decimal.test(a) || !decimal.test(b)) return Number(a) - Number(b);
  const places = Math.max(decimalPlaces(a), decimalPlaces(b));
  const difference = toScaledInteger(a, places) - toScaledInteger(b, places);
  return difference < 0n ? -1 : Number(difference > 0n);
}

const decimalPlaces = (text: string): number => text.split('.')[1]?.length ?? 0;
const toScaledInteger = (text: string, places: number): bigint => BigInt(text.replace('.', '') + '0'.repeat(places - decimalPlaces(text)));

/** Order of two numbers or two ISO dates, each also as text; null when the values have none. */
export function compare(actual: unknown, expected: unknown): number | null {
  const [a, b] = [toDecimal(actual), toDecimal(expected)];
  if (a !== null && b !== null) return compareDecimals(a, b);
  if (typeof actual !== 'string' || typeof expected !== 'string') return null;
  const [from, to] = [parseIsoInstant(actual), parseIsoInstant(expected)];
  return from === null || to === null ? null : from - to;
}

/** Numbers as numbers, dates as moments, text to the letter; a boolean equals its word, as forms and spreadsheets send it. */
export function isEqual(actual: unknown, expected: unknown): boolean {
  if (actual === expected) return true;
  if (typeof actual === 'boolean' || typeof expected === 'boolean')
    return typeof actual !== 'object' && typeof expected !== 'object' && String(actual) === String(expected);
  return compare(actual, expected) === 0;
}

/** A text holds `part`, or an array has an item equal to it. */
export function contains(actual: unknown, part: unknown): boolean {
  if (Array.isArray(actual)) return actual.some((item) => isEqual(item, part));
  return typeof actual === 'string' && actual.includes(String(part));
}

/** `actual`, or when it is an array one of its items, equals one of `options`; in time that grows with their sum. */
export function isOneOf(actual: unknown, options: readonly unknown[]): boolean {
  const as = options.map(toEqualityKey);
  const [words, exact] = [new Set(as.map(({ canonicalText: word }) => word)), new Set(options)];
  const numbers = new Set(as.map(({ number }) => number));
  const roundNumbers = new Set(as.filter(({ isRounded: isRound }) => isRound).map(({ number }) => number));
  return (Array.isArray(actual) ? actual : [actual]).some((item) => {
    if (exact.has(item)) return true;
    const { canonicalText: word, number, isRounded: isRound } = toEqualityKey(item);
    if (word !== null && words.has(word)) return true;
    return number !== null && (isRound ? numbers : roundNumbers).has(number);
  });
}

/** `word` is the same for all values that `isEqual` takes for equal, but for numbers beyond plain digits (1e21), which equal what rounds to them. */
interface EqualityKey {
  canonicalText: string | null;
  number: number | null;
  isRounded: boolean;
}

function toEqualityKey(value: unknown): EqualityKey {
  const digits = toDecimal(value);
  if (digits !== null) {
    const isRound = !decimal.test(digits);
    return { canonicalText: isRound ? null : `n:${canonicalDigits(digits)}`, number: Number(digits), isRounded: isRound };
  }
  const instant = typeof value === 'string' ? parseIsoInstant(value) : null;
  const isWord = typeof value === 'string' || typeof value === 'boolean';
  return { canonicalText: instant === null ? (isWord ? `t:${String(value)}` : null) : `d:${instant}`, number: null, isRounded: false };
}

function canonicalDigits(digits: string): string {
  const plain = digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits;
  return plain === '-0' ? '0' : plain;
}

/** Milliseconds from `expected` to `actual`, "now" being `now`; null when either is no moment. */
export function millisecondsBetween(actual: unknown, expected: unknown, now: number): number | null {
  const from = parseInstant(actual);
  const to = expected === 'now' ? now : parseInstant(expected);
  return from === null || to === null ? null : from - to;
}
