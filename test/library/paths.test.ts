import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePath, pathProblem, readPath } from '../../src/library/json/paths.ts';

const order = {
  customer: { phone: '+1', 'full name': 'Ada' },
  items: [{ sku: 'K-200' }, { sku: 'L-1' }],
  fields: { 'a.b': 5 },
  answers: [
    { field: { ref: 'mail' }, email: 'a@example.org' },
    { field: { ref: 'phone', id: 7 }, phone_number: '+49' },
  ],
};

test('one value is found by each way to write its path', () => {
  for (const path of ['items.0.sku', 'items[0].sku', '$.items[0].sku', '$.items.0.sku', "$['items'][0].sku"])
    expect(readPath(order, path)).toBe('K-200');
  expect(readPath(order, 'customer.full name')).toBe('Ada');
  expect(readPath(order, 'fields["a.b"]')).toBe(5);
  expect(readPath(order, '$')).toBe(order);
  expect(readPath([{ id: 3 }], '[0].id')).toBe(3);
  expect(readPath([{ id: 3 }], '$[0].id')).toBe(3);
});

test('an item of a list is found by one of its fields', () => {
  expect(readPath(order, 'answers[field.ref=phone].phone_number')).toBe('+49');
  expect(readPath(order, 'answers[field.id=7].phone_number')).toBe('+49');
  expect(readPath(order, 'answers[field.ref=fax].phone_number')).toBeUndefined();
});

test('what is missing is undefined and never comes from a prototype', () => {
  for (const path of [
    'nope.a.b',
    'items.9.sku',
    'customer.phone.x',
    '__proto__',
    'constructor.name',
    'customer.toString',
    'items.map',
    'customer.__proto__.x',
  ])
    expect(readPath(order, path)).toBeUndefined();
  expect(readPath('text', 'length')).toBeUndefined();
  expect(readPath(null, 'a')).toBeUndefined();
});

test('a malformed path is refused by name', () => {
  for (const path of ['', '.', 'a..b', 'a.', '.a', 'a[', 'a[]', 'a]b', '$.', '$.a..b', 'a[0', 'x'.repeat(501)])
    expect(pathProblem(path), path).toContain('path');
});

test('every own key is reachable through its quoted form', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1 }).filter((key) => !key.includes('"')),
      fc.integer(),
      (key, value) => {
        expect(parsePath(`["${key}"]`)).toEqual([key]);
        expect(readPath(Object.fromEntries([[key, value]]), `["${key}"]`)).toBe(value);
      },
    ),
  );
});
