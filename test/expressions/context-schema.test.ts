import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkSchema, validateContext } from '../../src/expressions/schemas/context-schema.ts';

const places = (schema: object, context: unknown) => validateContext(schema, context).map(({ loc }) => loc.join('.'));
const faults = (schema: unknown) => checkSchema(schema).map(({ path, message }) => `${path.join('.')}: ${message}`);

test('each invalid value is one issue at its path, without issues of the objects around it', () => {
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

test('a failed anyOf is reported as the choice itself, a failed if as the schema that it demands', () => {
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

test('validation changes neither context nor schema, and a key that is no Unicode is a fault, not a crash', () => {
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

test('a schema is checked before it is stored, with each fault at its path', () => {
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
  expect(faults({ patternProperties: { '(?=a)': {} } })).toEqual([expect.stringMatching(/^patternProperties\.\(\?=a\): .*looks ahead/)]);
  expect(faults({ $ref: '#/nope' })).toEqual([expect.stringMatching(/^\$ref: "#\/nope" leads to no schema/)]);
  expect(faults({ $ref: 'https://example.com/other' })).toEqual([expect.stringContaining('leads to no schema in this document')]);
  expect(faults({ $ref: '#' })).toEqual([expect.stringContaining('refers to itself without end')]);
  for (const schema of [null, [], 'x', true]) expect(faults(schema)).toEqual([expect.stringContaining('JSON Schema object')]);
  let deep: object = {};
  for (let level = 0; level < 40; level++) deep = { not: deep };
  expect(faults(deep)).toEqual([expect.stringContaining('nests at most')]);
});

test('names and references without target are refused, each at its path', () => {
  const bad: [object, RegExp][] = [
    [{ $id: 'http://[' }, /^\$id: "http:\/\/\[" is no URI/],
    [{ properties: { a: { $id: 'a#b' } } }, /^properties\.a\.\$id: "a#b" is no URI without fragment/],
    [{ properties: { a: { $anchor: 'a b' } } }, /^properties\.a\.\$anchor: "a b" is no name/],
    [{ items: { $ref: 'http://[' } }, /^items\.\$ref: "http:\/\/\[" leads to no schema/],
    [{ $ref: '#/%zz' }, /^\$ref: "#\/%zz" leads to no schema/],
    [{ $ref: '#nowhere' }, /leads to no schema/],
    [{ $ref: '#/$defs/a/required', $defs: { a: { required: ['x'] } } }, /leads to no schema/],
    [{ $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x' } } }, /^\$defs\.b\.\$anchor: "x" is the name of another schema/],
    [{ $defs: { a: { $ref: '#/$defs/b' }, b: { allOf: [{ $ref: '#/$defs/a' }] } } }, /refers to itself without end/],
  ];
  for (const [schema, words] of bad) expect(faults(schema)[0], JSON.stringify(schema)).toMatch(words);
  expect(faults({ enum: [{ $ref: '#/nope' }], default: { $id: 'http://[' }, properties: { id: { type: 'string' } } })).toEqual([]);
});

test('a schema whose references multiply is refused before storing, and a stored one gives an issue', () => {
  const definitions = Array.from({ length: 19 }, (_, level) => {
    const next = { $ref: `#/$defs/d${level + 1}` };
    return [`d${level}`, { allOf: [next, next] }];
  });
  const schema = { $ref: '#/$defs/d0', $defs: { ...Object.fromEntries(definitions), d19: {} } };
  expect(faults(schema)[0]).toMatch(/schemas apply to one value here, since the references multiply/);
  expect(validateContext(schema, {})).toEqual([
    {
      loc: ['body', 'context'],
      msg: expect.stringMatching(/^The schema takes more than 200,000 steps; ask for less/),
      type: 'context_schema',
    },
  ]);
});

test('a schema that was stored under laxer rules gives an issue, never an exception', () => {
  const stored = [
    { $id: 'http://[' },
    { properties: { a: { $ref: '#/nope' } } },
    { properties: { a: { pattern: '(?=a)b' } } },
    { properties: { a: { $ref: '#/properties/a' } } },
    { patternProperties: { '(.)\\1': {} } },
  ];
  for (const schema of stored)
    expect(validateContext(schema, { a: 'x' }), JSON.stringify(schema)).toEqual([
      { loc: ['body', 'context'], msg: expect.stringMatching(/^The schema .{10,}/), type: 'context_schema' },
    ]);
});
