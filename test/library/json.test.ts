import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { maxJsonDepth, parseJson } from '../../src/library/json/json.ts';
import { webhookBodies } from '../fixtures/webhooks.ts';

test('integers beyond 2^53 arrive as strings with every digit, ordinary numbers as numbers', () => {
  expect(parseJson('{"id":6012345678901234567,"negative":-9007199254740993,"n":9007199254740991,"price":120.5,"big":1e30}')).toEqual({
    id: '6012345678901234567',
    negative: '-9007199254740993',
    n: 9007199254740991,
    price: 120.5,
    big: 1e30,
  });
});

test('a shop order keeps both of its long ids', () => {
  const order = parseJson(webhookBodies.shopify);
  expect(order).toMatchObject({
    id: '6012345678901234567',
    customer: { id: '7012345678901234567' },
    line_items: [{ id: 1, price: '120.50' }],
  });
});

test('any document is read as JSON.parse reads it, also where a long id sends it through the other parser', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const text = JSON.stringify(value);
      fc.pre(!/(?<![\d.])\d{16,}(?![\d.e])/.test(text));
      expect(parseJson(text)).toEqual(JSON.parse(text));
      expect(parseJson(`{"id":12345678901234567890,"value":${text}}`)).toEqual({ id: '12345678901234567890', value: JSON.parse(text) });
    }),
  );
});

test('of a repeated key the last value wins on both ways', () => {
  expect(parseJson('{"a":1,"a":2}')).toEqual({ a: 2 });
  expect(parseJson('{"a":1,"a":2,"id":12345678901234567890}')).toEqual({ a: 2, id: '12345678901234567890' });
});

test('a key named __proto__ is data and changes no prototype', () => {
  const value = parseJson('{"__proto__":{"admin":true},"id":12345678901234567890}') as Record<string, unknown>;
  expect(Object.keys(value)).toContain('__proto__');
  expect(value['admin']).toBeUndefined();
});

const nested = (depth: number, core = '1') => '['.repeat(depth) + core + ']'.repeat(depth);

test('nesting is bounded, however absurd, and malformed text is an error', () => {
  expect(() => parseJson(nested(maxJsonDepth))).not.toThrow();
  expect(() => parseJson(nested(maxJsonDepth + 1))).toThrow(/nested deeper than 64/);
  expect(() => parseJson(nested(200_000))).toThrow(SyntaxError);
  expect(() => parseJson(nested(200_000, '12345678901234567890'))).toThrow(/nested deeper than 64/);
  expect(() => parseJson('{"id":12345678901234567890,}')).toThrow(SyntaxError);
  expect(() => parseJson('')).toThrow(SyntaxError);
});
