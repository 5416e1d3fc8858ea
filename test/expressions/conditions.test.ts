import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { conditionOperators, type ConditionOperator } from '../../src/expressions/conditions/operators.ts';
import { Condition, conditionProblems, evaluateCondition, explainCondition } from '../../src/expressions/conditions/condition.ts';
import { collectWarnings } from '../../src/library/json/config-object.ts';

const now = Date.UTC(2026, 10, 20, 12);
const scope = {
  total: 42.5,
  price: '120.50',
  id: '6012345678901234567',
  code: '00123',
  empty: '',
  nothing: null,
  paid: 'true',
  placed_at: '2026-11-20T10:00:00Z',
  created: 1_795_000_000,
  limit: 40,
  items: [{ sku: 'K-200' }, { sku: 'L-1' }],
  contact: { phone: '+14155550100', tags: ['vip', 'new'], custom_fields: { tier: 'gold', 'last visit': '2026-11-19' } },
};
const holds = (field: string, operator: ConditionOperator, value?: unknown) => {
  const condition = { field, operator, ...(value === undefined ? {} : { value }) };
  expect(conditionProblems(condition), JSON.stringify(condition)).toEqual([]);
  return evaluateCondition(condition, scope, now);
};

test('numbers compare as numbers, also when one is text', () => {
  expect(holds('total', 'eq', '42.5')).toBe(true);
  expect(holds('total', 'eq', 42.5)).toBe(true);
  expect(holds('price', 'eq', 120.5)).toBe(true);
  expect(holds('price', 'eq', '120.5')).toBe(true);
  expect(holds('price', 'gt', 99)).toBe(true);
  expect(holds('price', 'gt', '99')).toBe(true);
  expect(holds('total', 'lte', 42.5)).toBe(true);
  expect(holds('total', 'lt', 42.5)).toBe(false);
  expect(holds('contact.custom_fields.tier', 'gt', 1)).toBe(false);
});

test('ids differ by every digit, and digits with leading zeros are text', () => {
  expect(holds('id', 'eq', '6012345678901234567')).toBe(true);
  expect(holds('id', 'eq', '6012345678901234568')).toBe(false);
  expect(holds('id', 'lt', '6012345678901234568')).toBe(true);
  expect(holds('code', 'eq', '123')).toBe(false);
  expect(holds('code', 'eq', 123)).toBe(false);
  expect(holds('contact.phone', 'eq', '14155550100')).toBe(false);
});

test('ISO dates compare as moments whatever their spelling', () => {
  expect(holds('placed_at', 'eq', '2026-11-20T05:00:00-05:00')).toBe(true);
  expect(holds('placed_at', 'before', '2026-11-20T10:00:01Z')).toBe(true);
  expect(holds('placed_at', 'after', '2026-11-20')).toBe(true);
  expect(holds('placed_at', 'before', 'now')).toBe(true);
  expect(holds('placed_at', 'gt', '2026-11-19')).toBe(true);
  expect(holds('created', 'before', 'now')).toBe(true);
  expect(holds('contact.custom_fields.tier', 'before', 'now')).toBe(false);
});

test('within_last looks back from now, both ends included, never ahead', () => {
  expect(holds('placed_at', 'within_last', 'PT2H')).toBe(true);
  expect(holds('placed_at', 'within_last', 'PT1H59M59S')).toBe(false);
  expect(evaluateCondition({ field: 'at', operator: 'within_last', value: 'P1D' }, { at: '2026-11-20T12:00:00.001Z' }, now)).toBe(false);
  expect(evaluateCondition({ field: 'at', operator: 'within_last', value: 'P1D' }, { at: '2026-11-20T12:00:00Z' }, now)).toBe(true);
});

test('contains works on text and on lists', () => {
  expect(holds('contact.tags', 'contains', 'vip')).toBe(true);
  expect(holds('contact.tags', 'contains', 'vi')).toBe(false);
  expect(holds('contact.tags', 'not_contains', 'old')).toBe(true);
  expect(holds('contact.custom_fields.tier', 'contains', 'ol')).toBe(true);
  expect(holds('total', 'contains', '4')).toBe(false);
  expect(holds('contact.phone', 'starts_with', '+1415')).toBe(true);
  expect(holds('contact.phone', 'ends_with', '0100')).toBe(true);
  expect(holds('contact.tags', 'starts_with', 'vip')).toBe(false);
});

test('in takes one of several; of a list one common item is enough', () => {
  expect(holds('contact.custom_fields.tier', 'in', ['gold', 'silver'])).toBe(true);
  expect(holds('total', 'in', ['42.5'])).toBe(true);
  expect(holds('contact.tags', 'in', ['vip', 'x'])).toBe(true);
  expect(holds('contact.tags', 'not_in', ['x'])).toBe(true);
  expect(holds('paid', 'eq', true)).toBe(true);
});

test('paths reach into objects and lists, and never into prototypes', () => {
  expect(holds('items.0.sku', 'eq', 'K-200')).toBe(true);
  expect(holds('items[1].sku', 'eq', 'L-1')).toBe(true);
  expect(holds('items.length', 'gte', 2)).toBe(true);
  expect(holds('contact.custom_fields.last visit', 'before', 'now')).toBe(true);
  for (const field of ['__proto__', 'constructor', 'contact.constructor.name', 'toString']) expect(holds(field, 'exists')).toBe(false);
});

test('a missing or null field is false for all but four operators; an empty text is not missing', () => {
  const values: Partial<Record<ConditionOperator, unknown>> = {
    in: ['x'],
    not_in: ['x'],
    exists: undefined,
    not_exists: undefined,
    within_last: 'P1D',
    before: 'now',
    after: 'now',
  };
  const trueWhenMissing = new Set(['neq', 'not_contains', 'not_in', 'not_exists']);
  for (const operator of Object.keys(conditionOperators) as ConditionOperator[]) {
    const value = operator in values ? values[operator] : '5';
    for (const field of ['no.such.field', 'nothing'])
      expect(holds(field, operator, value), `${field} ${operator}`).toBe(trueWhenMissing.has(operator));
  }
  expect(holds('empty', 'exists')).toBe(true);
  expect(holds('empty', 'neq', 'x')).toBe(true);
});

test('a value may be a template over the same scope', () => {
  expect(holds('total', 'gt', '{{ limit }}')).toBe(true);
  expect(holds('total', 'in', ['{{ limit }}', '{{ limit | plus: 2.5 }}'])).toBe(true);
  expect(holds('placed_at', 'within_last', 'PT{{ limit }}M')).toBe(false);
});

test('explainCondition shows the values of every comparison', () => {
  const condition: Condition = { any: [{ field: 'total', operator: 'gt', value: 100 }, { not: { field: 'nope', operator: 'exists' } }] };
  expect(explainCondition(condition, scope, now)).toEqual({
    result: true,
    comparisons: [
      { field: 'total', operator: 'gt', expected: 100, actual: 42.5, result: false },
      { field: 'nope', operator: 'exists', expected: null, actual: null, result: false },
    ],
  });
});

// Laws

const leaf = fc.oneof(
  fc.record({
    field: fc.constantFrom('total', 'price', 'nope', 'items.0.sku'),
    operator: fc.constantFrom('eq', 'neq', 'gt', 'lte'),
    value: fc.constantFrom(42.5, '120.5', '7'),
  }),
  fc.record({
    field: fc.constantFrom('contact.tags', 'contact.phone', 'nothing'),
    operator: fc.constantFrom('contains', 'not_contains'),
    value: fc.constantFrom('vip', '+1'),
  }),
  fc.record({ field: fc.constantFrom('contact.tags', 'empty', 'nothing'), operator: fc.constantFrom('exists', 'not_exists') }),
) as fc.Arbitrary<Condition>;
const condition: fc.Arbitrary<Condition> = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.record({ all: fc.array(tie('tree'), { maxLength: 3 }) }),
    fc.record({ any: fc.array(tie('tree'), { maxLength: 3 }) }),
    fc.record({ not: tie('tree') }),
  ),
})).tree as fc.Arbitrary<Condition>;

test('not inverts every condition, and all and any are dual', () => {
  fc.assert(
    fc.property(condition, fc.array(condition, { maxLength: 4 }), (one, several) => {
      expect(evaluateCondition({ not: one }, scope, now)).toBe(!evaluateCondition(one, scope, now));
      const negated = several.map((part): Condition => ({ not: part }));
      expect(evaluateCondition({ all: several }, scope, now)).toBe(evaluateCondition({ not: { any: negated } }, scope, now));
      expect(evaluateCondition({ any: several }, scope, now)).toBe(evaluateCondition({ not: { all: negated } }, scope, now));
      expect(explainCondition(one, scope, now).result).toBe(evaluateCondition(one, scope, now));
      expect(Condition.safeParse(one).success).toBe(true);
    }),
  );
});

test('each negative operator is the opposite of its positive one, for any value and also for missing fields', () => {
  const scalar = fc
    .oneof(fc.string({ minLength: 1 }), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean())
    .filter((value) => !String(value).includes('{'));
  const actual = fc.oneof(
    fc.constant(undefined),
    fc.constant(null),
    scalar,
    fc.array(scalar, { maxLength: 3 }),
    fc.object({ maxDepth: 1 }),
  );
  fc.assert(
    fc.property(actual, scalar, (value, expected) => {
      const result = (operator: ConditionOperator, against: unknown = expected) =>
        evaluateCondition({ field: 'x', operator, value: against }, { x: value }, now);
      expect(result('neq')).toBe(!result('eq'));
      expect(result('not_contains')).toBe(!result('contains'));
      expect(result('not_in', [expected])).toBe(!result('in', [expected]));
      expect(result('not_exists', null)).toBe(!result('exists', null));
      expect(result('eq') && result('gt')).toBe(false);
      expect(result('gte') && result('lt')).toBe(false);
    }),
  );
});

// Refusals

const problemsOf = (value: unknown) =>
  (Condition.safeParse(value).error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n');

test('an unknown operator is refused with the allowed ones, a mixed condition with its second key', () => {
  expect(problemsOf({ field: 'a', operator: 'matches', value: 'x' })).toMatch(
    /^operator: Unknown operator "matches"; allowed: eq, neq, .*within_last$/,
  );
  expect(problemsOf({ field: 'a', operator: 'constructor', value: 'x' })).toContain('Unknown operator "constructor"');
  expect(problemsOf({ all: [], any: [] })).toContain('any: "any" does not go together with "all"');
  expect(problemsOf({ not: { field: 'a', operator: 'exists' }, field: 'b' })).toContain('field: "field" does not go together with "not"');
});

test('an unknown key of a condition is kept without effect, with a warning at its path', () => {
  const tree = { all: [{ field: 'a', operator: 'eq', value: 1, valeu: true }, { not: { any: [], id: 'ui-7' } }] };
  expect(Condition.parse(tree)).toEqual(tree);
  expect(collectWarnings(Condition, tree, ['filter'])).toEqual([
    { loc: ['filter', 'all', '0', 'valeu'], msg: '`valeu` is not known and has no effect; did you mean `value`?' },
    { loc: ['filter', 'all', '1', 'not', 'id'], msg: '`id` is not known and has no effect; known here: `any`' },
  ]);
});

test('every fault of a tree is reported at its own path', () => {
  const faults = problemsOf({
    any: [{ field: '', operator: 'eq', value: 1 }, { not: { field: 'a', operator: 'within_last', value: '5 days' } }, 7, { all: {} }],
  });
  expect(faults.split('\n').map((line) => line.split(':')[0])).toEqual(['any.0.field', 'any.1.not.value', 'any.2', 'any.3.all']);
});

test('the kind of value is checked for each operator', () => {
  const refused: [ConditionOperator, unknown][] = [
    ['eq', null],
    ['eq', undefined],
    ['eq', ['a']],
    ['gt', 'many'],
    ['gt', true],
    ['contains', ''],
    ['starts_with', 5],
    ['in', 'gold'],
    ['not_in', [['a']]],
    ['before', 'yesterday'],
    ['after', 5],
    ['within_last', 3600],
    ['exists', true],
    ['eq', '{{ a'],
    ['in', ['ok', '{{ a | nope }}']],
  ];
  for (const [operator, value] of refused)
    expect(problemsOf({ field: 'a', operator, value }), `${operator} ${JSON.stringify(value)}`).toMatch(/^value/);
});

test('depth and number of comparisons are bounded', () => {
  let deep: unknown = { field: 'a', operator: 'exists' };
  for (let level = 0; level < 16; level++) deep = { not: deep };
  expect(problemsOf(deep)).toContain('nest deeper than 16');
  expect(problemsOf((deep as { not: unknown }).not)).toBe('');
  expect(problemsOf({ all: Array.from({ length: 201 }, () => ({ field: 'a', operator: 'exists' })) })).toContain(
    'More than 200 comparisons',
  );
});
