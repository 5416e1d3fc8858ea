import type { Json } from '../../library/json/json.ts';
import type { Check } from '../config/config.ts';
import { limitCombiningMarks } from '../../library/text/clean-text.ts';

type Comparator = Extract<Check, { type: 'extracted' }>['comparator'];

/** Compares an extracted value with an expected one. Two numbers, or texts that are numbers, compare as numbers; all else as text without case. */
export function compare(
  found: Json,
  comparator: Comparator,
  value: string | number | boolean | null,
): { holds: boolean } | { problem: string } {
  switch (comparator) {
    case 'exists':
      return { holds: true };
    case '=':
      return { holds: isSame(found, value) };
    case '!=':
      return { holds: !isSame(found, value) };
    case 'contains':
      return { holds: Array.isArray(found) ? found.some((item) => isSame(item, value)) : toText(found).includes(toText(value)) };
    default:
      return compareNumbers(found, comparator, value);
  }
}

const numericComparators: Record<'>' | '<' | '>=' | '<=', (one: number, other: number) => boolean> = {
  '>': (one, other) => one > other,
  '<': (one, other) => one < other,
  '>=': (one, other) => one >= other,
  '<=': (one, other) => one <= other,
};

function compareNumbers(found: Json, comparator: keyof typeof numericComparators, value: Json): { holds: boolean } | { problem: string } {
  const [one, other] = [toNumber(found), toNumber(value)];
  if (one !== null && other !== null) return { holds: numericComparators[comparator](one, other) };
  return { problem: `only numbers can be compared by ${comparator}` };
}

function isSame(one: Json, other: Json): boolean {
  const numbers = [toNumber(one), toNumber(other)] as const;
  return numbers[0] !== null && numbers[1] !== null ? numbers[0] === numbers[1] : toText(one) === toText(other);
}

const numeric = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i;

function toNumber(value: Json): number | null {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && numeric.test(value) ? Number(value) : null;
}

const toText = (value: Json): string =>
  limitCombiningMarks(typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value))
    .trim()
    .normalize('NFC')
    .toLowerCase();
