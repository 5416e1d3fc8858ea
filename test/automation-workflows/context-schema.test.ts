import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkSchema, validateContext } from '../../src/automation-workflows/context-schema.ts';
import { patternProblem } from '../../src/automation-workflows/pattern-safety.ts';

const places = (schema: object, context: unknown) => validateContext(schema, context).map(({ loc }) => loc.join('.'));
const faults = (schema: unknown) => checkSchema(schema).map(({ path, message }) => `${path.join('.')}: ${message}`);

test('each value at fault is one issue at its path, without noise of what holds it', () => {
  const schema = {
    type: 'object',
    required: ['total', 'name'],
    properties: {
      total: { type: 'number' },
      items: {
        type: 'array',
        items: { type: 'object', required: ['sku'], properties: { sku: { type: 'string' } }, additionalProperties: false },
      },
    },
  };
  expect(validateContext(schema, { total: 'many', items: [{ sku: 'a' }, { sku: 1, colour: 'red' }, {}] })).toEqual([
    { loc: ['body', 'context', 'name'], msg: 'Field required', type: 'required' },
    { loc: ['body', 'context', 'total'], msg: 'Must be number, not string', type: 'type' },
    { loc: ['body', 'context', 'items', '1', 'sku'], msg: 'Must be string, not number', type: 'type' },
    { loc: ['body', 'context', 'items', '1', 'colour'], msg: 'This field is not allowed here', type: 'false' },
    { loc: ['body', 'context', 'items', '2', 'sku'], msg: 'Field required', type: 'required' },
  ]);
  expect(validateContext(schema, { total: 5, name: 'x', items: [] })).toEqual([]);
});

test('of alternatives the choice itself is reported, of conditions what they ask for', () => {
  expect(places({ properties: { a: { anyOf: [{ type: 'string' }, { type: 'object', required: ['x'] }] } } }, { a: {} })).toEqual([
    'body.context.a',
  ]);
  const conditional = JSON.parse('{"if":{"required":["a"]},"then":{"required":["z"]},"allOf":[{"required":["q"]}]}') as object;
  expect(places(conditional, { a: 1 })).toEqual(['body.context.q', 'body.context.z']);
  expect(places({ $ref: '#/$defs/a', $defs: { a: { properties: { n: { type: 'number' } } } } }, { n: 'x' })).toEqual(['body.context.n']);
});

test('keys with slashes, tildes and other letters keep their names', () => {
  const schema = { properties: { 'a/b~c': { type: 'string' }, 'ä %#': { type: 'string' } } };
  expect(places(schema, { 'a/b~c': 1, 'ä %#': 1 })).toEqual(['body.context.a/b~c', 'body.context.ä %#']);
});

test('a context is never changed and nor is the schema, and a key that is no Unicode is a fault, not a crash', () => {
  const schema = { properties: { a: { $ref: '#/$defs/n' } }, $defs: { n: { type: 'number' } }, additionalProperties: { type: 'number' } };
  const before = JSON.stringify(schema);
  expect(places(schema, { a: 'x' })).toEqual(['body.context.a']);
  expect(JSON.stringify(schema)).toBe(before);
  expect(validateContext(schema, { '\ud800': 'x' })).toHaveLength(1);
});

test('the empty schema takes every context', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(validateContext({}, value)).toEqual([]);
    }),
  );
});

test('a schema is checked before it is stored, each fault at its place', () => {
  const sound = [
    {},
    { type: 'object', properties: { a: true, b: { type: ['string', 'null'], pattern: '^\\+\\d+$' } } },
    { properties: { child: { $ref: '#' } } },
    { $ref: '#/$defs/a', $defs: { a: { type: 'string' } } },
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'https://example.com/order',
      properties: { a: { $ref: '#/$defs/a' } },
      $defs: { a: {} },
    },
    { properties: { pattern: { type: 'string' }, $ref: { type: 'string' } }, 'x-note': { anything: 1 } },
  ];
  for (const schema of sound) expect(faults(schema), JSON.stringify(schema)).toEqual([]);
  expect(faults({ type: 'objekt' })).toEqual([expect.stringMatching(/^type: Must be one of array, boolean/)]);
  expect(faults({ properties: { a: { required: 'x', minLength: -1 } } })).toEqual(
    ['properties.a.required: Must be array, not string', 'properties.a.minLength: -1 is less than 0.'].toSorted((a, b) =>
      a.localeCompare(b),
    ),
  );
  expect(faults({ properties: { a: { pattern: '(' } } })).toEqual([
    expect.stringMatching(/^properties\.a\.pattern: Pattern "\(" is not a regular expression/),
  ]);
  expect(faults({ patternProperties: { '(a+)+': {} } })).toEqual([expect.stringMatching(/^patternProperties\.\(a\+\)\+: .*take too long/)]);
  expect(faults({ $ref: '#/nope' })).toEqual([expect.stringMatching(/^\$ref: "#\/nope" leads to no schema/)]);
  expect(faults({ $ref: 'https://example.com/other' })).toEqual([expect.stringContaining('leads to no schema in this document')]);
  expect(faults({ $ref: '#' })).toEqual([expect.stringContaining('refers to itself without end')]);
  for (const schema of [null, [], 'x', true]) expect(faults(schema)).toEqual([expect.stringContaining('JSON Schema object')]);
  let deep: object = {};
  for (let level = 0; level < 40; level++) deep = { not: deep };
  expect(faults(deep)).toEqual([expect.stringContaining('nests at most')]);
});

test('patterns that could run for ages are refused, usual ones are not', () => {
  for (const pattern of ['(a+)+$', '(a|a)*$', '(?:ab?)+', '(.)\\1', 'a*a*a*a*b', '((a|b)c)*', '(a{1,9}){9}'])
    expect(patternProblem(pattern), pattern).toContain('too long');
  for (const pattern of [
    '^\\+\\d+$',
    '^[A-Z]{2}\\d{4,8}$',
    '^(\\d{3}-)?\\d{4}$',
    '^(?:[0-9]{1,3}\\.){3}[0-9]{1,3}$',
    '^(a|b)$',
    '^[^@()*+]+@[^@]+\\.[a-z]+$',
    '^\\p{L}+$',
    '(?=a+)b',
    '\\(a+\\)+',
  ])
    expect(patternProblem(pattern), pattern).toBeNull();
});
