import type { Json } from '../library/json.ts';
import type { Check } from './config.ts';
import { withoutStackedMarks } from '../library/stacked-marks.ts';

type Comparator = Extract<Check, { type: 'extracted' }>['comparator'];

/** What `found` is to `value`. Two numbers, also in words of digits, are compared as such, all else as text without case. */
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
      return { holds: Array.isArray(found) ? found.some((item) => isSame(item, value)) : textOf(found).includes(textOf(value)) };
    default:
      return order(found, comparator, value);
  }
}

const holdsFor: Record<'>' | '<' | '>=' | '<=', (one: number, other: number) => boolean> = {
  '>': (one, other) => one > other,
  '<': (one, other) => one < other,
  '>=': (one, other) => one >= other,
  '<=': (one, other) => one <= other,
};

function order(found: Json, comparator: keyof typeof holdsFor, value: Json): { holds: boolean } | { problem: string } {
  const [one, other] = [numberOf(found), numberOf(value)];
  if (one !== null && other !== null) return { holds: holdsFor[comparator](one, other) };
  return { problem: `only numbers can be compared by ${comparator}` };
}

function isSame(one: Json, other: Json): boolean {
  const numbers = [numberOf(one), numberOf(other)] as const;
  return numbers[0] !== null && numbers[1] !== null ? numbers[0] === numbers[1] : textOf(one) === textOf(other);
}

const numeric = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i;

function numberOf(value: Json): number | null {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && numeric.test(value) ? Number(value) : null;
}

const textOf = (value: Json): string =>
  withoutStackedMarks(typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value))
    .trim()
    .normalize('NFC')
    .toLowerCase();
