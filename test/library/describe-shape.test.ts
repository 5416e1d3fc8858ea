import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeShape } from '../../src/library/json/describe-shape.ts';

test('a shape has keys and types, and no value', () => {
  expect(describeShape({ id: 7, tags: ['a', 'b', 1], open: true, none: null, customer: { name: 'Ada' } })).toEqual({
    id: 'number',
    tags: ['string', 'number'],
    open: 'boolean',
    none: 'null',
    customer: { name: 'string' },
  });
  expect(describeShape('text')).toBe('string');
  expect(describeShape([])).toEqual([]);
});

test('what is deep or wide is cut', () => {
  expect(describeShape({ a: { b: { c: { d: { e: { f: 1 } } } } } })).toEqual({ a: { b: { c: { d: { e: '...' } } } } });
  const wide = describeShape(Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`k${index}`, 1])));
  expect(Object.keys(wide)).toHaveLength(51);
  expect(wide).toMatchObject({ '...': '10 more keys' });
});

test('no text of a value is in its shape, and a shape is small', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const marked = JSON.parse(JSON.stringify(value), (_key, part: unknown) =>
        typeof part === 'string' ? `secret-${part}` : part,
      ) as unknown;
      const text = JSON.stringify(describeShape(marked));
      expect(text).not.toContain('secret-');
      expect(text.length).toBeLessThan(100_000);
    }),
  );
});
