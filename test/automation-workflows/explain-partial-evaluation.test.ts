import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { evaluateCondition, type Condition } from '../../src/expressions/conditions/condition.ts';
import { evaluatePartially, isKnown } from '../../src/automation-workflows/explain/partial-evaluation.ts';
import { buildScope } from '../../src/expressions/templates/scope.ts';

const now = Date.UTC(2026, 10, 20, 12);
const certain = new Set(['contact']);
const names = ['contact', 'data', 'event', 'total'] as const;

const leaf = fc.record({
  field: fc.constantFrom('contact.tier', 'data.tier', 'event.tier', 'total', '$'),
  operator: fc.constantFrom('eq' as const, 'neq' as const),
  value: fc.constantFrom('a', 'b', '{{ contact.tier }}', '{{ data.tier }}', '{{ total | default: contact.tier }}'),
});
const { condition } = fc.letrec<{ condition: Condition }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.record({ all: fc.array(tie('condition'), { maxLength: 3 }) }),
    fc.record({ any: fc.array(tie('condition'), { maxLength: 3 }) }),
    fc.record({ not: tie('condition') }),
  ),
}));
const word = fc.constantFrom('a', 'b', null);
const scopes = fc.record({ contact: word, data: word, event: word, total: word });
const scopeOf = (words: Record<(typeof names)[number], string | null>) =>
  buildScope({ contact: { tier: words.contact }, data: { tier: words.data }, event: { tier: words.event } }, { total: words.total });

test('a result that the known values decide holds for every event', () => {
  fc.assert(
    fc.property(condition, scopes, scopes, (rule, before, after) => {
      const { result } = evaluatePartially(rule, { scope: scopeOf(before), knownRoots: certain }, now);
      if (result !== null) expect(evaluateCondition(rule, scopeOf({ ...after, contact: before.contact }), now)).toBe(result);
    }),
    { numRuns: 500 },
  );
});

test('a condition that reads only known values is always decided', () => {
  const rule = { all: [{ field: 'contact.tier', operator: 'eq' as const, value: '{{ contact.tier }}' }] };
  expect(
    evaluatePartially(rule, { scope: scopeOf({ contact: 'a', data: null, event: null, total: null }), knownRoots: certain }, now).result,
  ).toBe(true);
});

test('when all values are known the result is that of the condition, with the values of each comparison', () => {
  fc.assert(
    fc.property(condition, scopes, (rule, words) => {
      const scope = scopeOf(words);
      const decision = evaluatePartially(rule, { scope, knownRoots: null }, now);
      expect(decision.result).toBe(evaluateCondition(rule, scope, now));
      for (const { result } of decision.comparisons) expect(result).not.toBeNull();
    }),
  );
});

test('a comparison that does not decide may fail to render; a deciding one makes the condition not hold', () => {
  const broken = { field: 'total', operator: 'eq' as const, value: '{% for i in (1..100000) %}{{ i }}{% endfor %}' };
  const holds = { field: 'contact.tier', operator: 'eq' as const, value: 'a' };
  const known = { scope: scopeOf({ contact: 'a', data: null, event: null, total: 'b' }), knownRoots: null };
  const spared = evaluatePartially({ any: [holds, broken] }, known, now);
  expect(spared).toMatchObject({ result: true, problem: null });
  expect(spared.comparisons.map(({ result }) => result)).toEqual([true, null]);
  expect(evaluatePartially({ all: [holds, broken] }, known, now)).toMatchObject({
    result: false,
    problem: expect.stringContaining('Template'),
  });
});

test.each([
  ['{{ contact.id }}', true],
  ['{{ contact.id }}-{{ data.id }}', false],
  ['{{ contact[data.id] }}', false],
  ['{% assign x = contact.id %}{{ x }}', true],
  ['{% for tag in contact.tags %}{{ tag }}{{ forloop.index }}{% endfor %}', true],
  ['{% if total > 3 %}a{% endif %}', false],
  ['{{ contact.id | default: total }}', false],
  ['fixed', true],
])('whether %s can be rendered before something comes: %s', (template, expected) => {
  expect(isKnown(certain, template)).toBe(expected);
});
