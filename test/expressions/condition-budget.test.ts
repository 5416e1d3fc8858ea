import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isEqual, isOneOf } from '../../src/expressions/conditions/comparison.ts';
import { evaluateCondition, type Condition } from '../../src/expressions/conditions/condition.ts';
import { EvaluationError } from '../../src/expressions/templates/render.ts';

const list = <T>(length: number, item: (index: number) => T): T[] => Array.from({ length }, (_, index) => item(index));
const dates = (count: number) => list(count, (index) => new Date(1.7e12 + index * 1000).toISOString());

test('in and contains agree with a comparison of each item with each option', () => {
  const texts = [
    '1',
    '1.0',
    '-0',
    '0',
    '0.10',
    '00123',
    'true',
    'null',
    '',
    'a',
    '2026-01-01',
    '2026-01-01T00:00:00Z',
    '2026-01-01T01:00:00+01:00',
  ];
  const large = ['1000000000000000000000', '1000000000000000000001', '0.0000001', '6012345678901234567', '6012345678901234568'];
  const value = fc.constantFrom<unknown>(...texts, ...large, 1, 0, -0, 0.1, 1e21, 1e-7, 100, '100', '10', true, false, null);
  fc.assert(
    fc.property(fc.oneof(value, fc.array(value, { maxLength: 4 })), fc.array(value, { maxLength: 4 }), (actual, options) => {
      const each = (Array.isArray(actual) ? actual : [actual]).some((item) => options.some((option) => isEqual(item, option)));
      expect(isOneOf(actual, options), JSON.stringify([actual, options])).toBe(each);
    }),
    { numRuns: 5000 },
  );
});

test('a thousand options for twenty thousand dates are compared within the budget', () => {
  const condition: Condition = {
    field: 'dates',
    operator: 'in',
    value: list(1000, (index) => `2020-01-01T00:00:${String(index % 60).padStart(2, '0')}Z`),
  };
  expect(evaluateCondition(condition, { dates: dates(20_000) }, 0)).toBe(false);
});

const ending: Record<string, (size: number) => [Condition, Record<string, unknown>]> = {
  'many comparisons with many items': (size) => [
    { any: list(100, () => ({ field: 'dates', operator: 'in' as const, value: ['2020-01-01'] })) },
    { dates: dates(20_000 * size) },
  ],
  'many searches for an item': (size) => [
    { any: list(200, () => ({ field: 'items[id=none].x', operator: 'exists' as const })) },
    { items: list(20_000 * size, (id) => ({ id })) },
  ],
  'a text that repeats itself': (size) => [
    { field: 'text', operator: 'contains', value: `${'a'.repeat(50_000)}b${'a'.repeat(50_000)}` },
    { text: 'a'.repeat(250_000 * size) },
  ],
  'many costly templates': (size) => [
    { field: 'x', operator: 'in', value: list(1000, () => '{{ items | where_exp: "i", "i.id == -1" | size }}') },
    { x: 'y', items: list(1000 * size, (id) => ({ id })) },
  ],
};

test.each(Object.entries(ending))('%s end at the budget', (_, of) => {
  for (const size of [1, 2, 4]) {
    const [condition, scope] = of(size);
    expect(() => evaluateCondition(condition, scope, 0)).toThrow(EvaluationError);
    expect(() => evaluateCondition(condition, scope, 0)).toThrow(/takes more than 200,000 steps; /);
  }
});
