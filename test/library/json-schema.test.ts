import { Validator, format, type OutputUnit, type Schema as LibrarySchema } from '@cfworker/json-schema';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { findFaults } from '../../src/library/json/json-schema/validate.ts';
import { matchesFormat } from '../../src/library/json/json-schema/formats.ts';
import { resolveReferences } from '../../src/library/json/json-schema/references.ts';
import { OverBudgetError, WorkBudget } from '../../src/library/limits/work-budget.ts';

type Schema = Record<string, unknown>;

const stepsOf = (schema: Schema, value: unknown): number => {
  const budget = new WorkBudget(Infinity, '');
  findFaults(schema, resolveReferences(schema), value, budget);
  return budget.spent;
};
const faults = (schema: Schema, value: unknown) => findFaults(schema, resolveReferences(schema), value, new WorkBudget(1e6, ''));

/** The errors of the library about a value itself, without those about its container or about one of several alternatives. */
function ofLibrary(schema: Schema, value: unknown): string[] {
  const passOn =
    /^(?:\$ref|additionalProperties|allOf|dependentSchemas|if|items|patternProperties|prefixItems|properties|unevaluated(?:Items|Properties))$/;
  const { errors } = new Validator(structuredClone(schema) as LibrarySchema, '2020-12', false).validate(value);
  const speakers = errors.filter(({ keyword }) => /^(?:anyOf|oneOf|not|contains|propertyNames)$/.test(keyword));
  const isSpokenFor = ({ keywordLocation }: OutputUnit) =>
    speakers.some((speaker) => keywordLocation.startsWith(`${speaker.keywordLocation}/`));
  const leaves = errors.filter((error) => !passOn.test(error.keyword) && !isSpokenFor(error));
  return [...new Set(leaves.map(({ keyword, instanceLocation }) => `${keyword} ${decodeURIComponent(instanceLocation)}`))].toSorted();
}

const ofOurs = (schema: Schema, value: unknown): string[] => {
  const found = faults(schema, value).map(
    ({ keyword, path }) => `${keyword} ${['#', ...(keyword === 'required' ? path.slice(0, -1) : path)].join('/')}`,
  );
  return [...new Set(found)].toSorted();
};

const names = ['a', 'b', 'c'] as const;
const scalar = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, 1, 2.5, -3, '', 'a', 'ab', 'abc', '2026-01-01', 'x@y.de'),
  fc.integer({ max: 9, min: 0 }),
);
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 3 }),
  ),
}));
const count = fc.integer({ min: 0, max: 3 });
const typeName = fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object');
const { schema: anySchema } = fc.letrec<{ schema: boolean | Schema; inner: boolean | Schema }>((tie) => {
  const inner = tie('schema');
  const map = fc.dictionary(fc.constantFrom(...names), inner, { maxKeys: 3 });
  const list = fc.array(inner, { minLength: 1, maxLength: 3 });
  const keywords = fc.record(
    {
      type: fc.oneof(typeName, fc.uniqueArray(typeName, { minLength: 1, maxLength: 3 })),
      enum: fc.array(anyValue, { maxLength: 4 }),
      const: anyValue,
      minimum: count,
      exclusiveMaximum: count,
      multipleOf: fc.constantFrom(0.5, 2),
      minLength: count,
      maxLength: count,
      pattern: fc.constantFrom('^a', 'b$', '^[a-b]+$'),
      format: fc.constantFrom('date', 'email', 'uri', 'nonsense'),
      required: fc.uniqueArray(fc.constantFrom(...names), { maxLength: 2 }),
      minProperties: count,
      maxProperties: count,
      properties: map,
      patternProperties: fc.dictionary(fc.constantFrom('^a', 'b|c'), inner, { maxKeys: 2 }),
      additionalProperties: inner,
      unevaluatedProperties: inner,
      propertyNames: inner,
      dependentRequired: fc.dictionary(fc.constantFrom(...names), fc.uniqueArray(fc.constantFrom(...names), { maxLength: 2 }), {
        maxKeys: 2,
      }),
      dependentSchemas: map,
      prefixItems: list,
      items: inner,
      unevaluatedItems: inner,
      contains: inner,
      minItems: count,
      maxItems: count,
      uniqueItems: fc.boolean(),
      not: inner,
      anyOf: list,
      allOf: list,
      oneOf: list,
      if: inner,
      // eslint-disable-next-line unicorn/no-thenable -- the keyword's name.
      ['then']: inner,
      else: inner,
      $ref: fc.constantFrom('#/$defs/text', '#/$defs/small', '#here', 'https://example.com/else', '#/$defs/else/items'),
    },
    { requiredKeys: [] },
  );
  return {
    schema: fc.oneof({ maxDepth: 3 }, fc.boolean(), keywords.map(few)),
    inner,
  };
});

/** Few keywords at a time, or nothing would ever fit. */
function few(schema: Schema): Schema {
  const entries = Object.entries(schema);
  return Object.fromEntries(entries.filter((_, index) => index % Math.ceil(entries.length / 4) === 0));
}

const definitions = {
  text: { type: 'string' },
  small: { $anchor: 'here', maximum: 3, properties: { a: { $ref: '#/$defs/text' } } },
  else: { $id: 'https://example.com/else', items: { type: 'integer' } },
};

test('values fit and do not fit as the JSON Schema library of the field says', { tags: 'soak' }, () => {
  let fitting = 0;
  let all = 0;
  fc.assert(
    fc.property(anySchema, anyValue, (generated, value) => {
      const schema = { ...(typeof generated === 'boolean' ? { allOf: [generated] } : generated), $defs: definitions };
      const expected = ofLibrary(schema, value);
      const found = ofOurs(schema, value);
      all++;
      if (expected.length === 0) fitting++;
      expect(found.length === 0, JSON.stringify({ schema, value })).toBe(expected.length === 0);
      // The library reports false schemas also when another alternative fits.
      const isPlain = (one: string) => !one.startsWith('false ');
      expect(found.filter(isPlain), JSON.stringify({ schema, value })).toEqual(expected.filter(isPlain));
    }),
    { numRuns: 3000 },
  );
  expect(fitting).toBeGreaterThan(all / 10);
  expect(fitting).toBeLessThan(all * 0.9);
});

test('an address is an address as the library says, though not in exponential time', () => {
  const part = fc.constantFrom(
    'http://',
    'ftp://',
    'a',
    '-',
    '.',
    'de',
    '1',
    '10',
    '192.168',
    '@',
    ':',
    '80',
    '/',
    'é',
    ' ',
    '8.8.8.8',
    '172.16',
    '#',
  );
  fc.assert(
    fc.property(fc.constantFrom('http://', 'https://', 'x://', ''), fc.array(part, { maxLength: 7 }), (start, parts) => {
      const text = start + parts.join('');
      expect(matchesFormat(text, 'url', new WorkBudget(1e6, '')), text).toBe(format['url']!(text));
    }),
    { numRuns: 3000 },
  );
  expect(matchesFormat(`http://${'a'.repeat(2000)}!`, 'url', new WorkBudget(1e6, ''))).toBe(false);
});

const list = <T>(length: number, item: (index: number) => T): T[] => Array.from({ length }, (_, index) => item(index));
const doubled = (levels: number): Schema => ({
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries([
    ...list(levels, (level) => [`d${level}`, { allOf: [{ $ref: `#/$defs/d${level + 1}` }, { $ref: `#/$defs/d${level + 1}` }] }]),
    [`d${levels}`, { type: 'object' }],
  ]),
});
const worstCases: Record<string, (size: number) => [Schema, unknown]> = {
  uniqueItems: (size) => [{ uniqueItems: true }, list(20_000 * size, (index) => ({ at: `2026-01-01T00:00:${index}` }))],
  'uniqueItems in every item': (size) => [{ items: { uniqueItems: true } }, list(100 * size, () => list(200, (index) => index))],
  pattern: (size) => [{ pattern: '^(a+)+$' }, `${'a'.repeat(100_000 * size)}!`],
  'many patterns for many keys': (size) => [
    { patternProperties: Object.fromEntries(list(10, (index) => [`^(?:k|${index})*z`, {}])) },
    Object.fromEntries(list(200 * size, (index) => [`key${index}`, 1])),
  ],
  format: (size) => [{ format: 'uri' }, `a:${'a'.repeat(200_000 * size)} `],
  'format of every item': (size) => [{ items: { format: 'url' } }, list(100 * size, () => `http://${'a'.repeat(200)}!`)],
  'enum of objects': (size) => [{ items: { enum: list(100, (index) => ({ index })) } }, list(50 * size, () => ({ index: 99 }))],
  'enum of texts': (size) => [{ items: { enum: list(1000, (index) => `option ${index}`) } }, list(5000 * size, () => 'none')],
  'const of a large value': (size) => [{ items: { const: list(500, String) } }, list(20 * size, () => list(500, String))],
  'required of every item': (size) => [{ items: { required: list(200, String) } }, list(50 * size, () => ({}))],
  'properties of every item': (size) => [
    { items: { properties: Object.fromEntries(list(200, (index) => [`p${index}`, {}])) } },
    list(50 * size, () => ({})),
  ],
  'unevaluated of choices': (size) => [
    { anyOf: list(20, () => ({ additionalProperties: true })), unevaluatedProperties: false },
    Object.fromEntries(list(200 * size, (index) => [String(index), index])),
  ],
  'deep values': (size) => [
    { $defs: { tree: { properties: { a: { $ref: '#/$defs/tree' } }, items: { $ref: '#/$defs/tree' } } }, $ref: '#/$defs/tree' },
    list(50 * size, () => list(20, () => 0).reduce<object>((below) => ({ a: below }), {})),
  ],
};

test.each(Object.entries(worstCases))('steps of %s grow with the value', (_, of) => {
  const [once, twice, fourTimes] = [1, 2, 4].map((size) => stepsOf(...of(size))) as [number, number, number];
  expect(once).toBeGreaterThan(100);
  expect(twice / once).toBeLessThan(2.2);
  expect(fourTimes / once).toBeLessThan(4.4);
});

test('schemas that multiply end at the budget, whatever they would take', () => {
  for (const schema of [19, 38, 76].map(doubled)) {
    const budget = new WorkBudget(500_000, 'make it smaller');
    expect(() => findFaults(schema, resolveReferences(schema), {}, budget)).toThrow(OverBudgetError);
    expect(budget.spent).toBeLessThan(500_010);
  }
  const endless = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } };
  expect(() => faults(endless, 1)).toThrow(/refers to itself without end/);
});
