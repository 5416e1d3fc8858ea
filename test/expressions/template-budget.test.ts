import { expect, test } from 'vitest';
import { evaluateTemplate } from '../../src/expressions/templates/engine.ts';
import { render, renderDeep, withSharedBudget, TemplateError } from '../../src/expressions/templates/render.ts';
import { WorkBudget } from '../../src/library/limits/work-budget.ts';

const list = <T>(length: number, item: (index: number) => T): T[] => Array.from({ length }, (_, index) => item(index));

/** The steps that a text takes, also when it takes too many. */
function stepsOf(template: string, scope: object): number {
  const budget = new WorkBudget(Infinity, '');
  try {
    evaluateTemplate(template, scope, undefined, budget);
  } catch (error) {
    expect((error as Error).message).toMatch(
      /takes more than 200,000 steps; loop over fewer items|makes more than 2,000,000|output is longer/,
    );
  }
  return budget.spent;
}

const items = (count: number) => ({ items: list(count, (index) => ({ id: index, name: `item ${index}`, tags: ['a', 'b'] })) });
const growing: Record<string, (size: number) => [string, object]> = {
  where_exp: (size) => ['{{ items | where_exp: "i", "i.name contains \'7\'" | size }}', items(200 * size)],
  group_by_exp: (size) => ['{{ items | group_by_exp: "i", "i.id | modulo: 7" | size }}', items(200 * size)],
  find_exp: (size) => ['{{ items | find_exp: "i", "i.id == -1" }}', items(200 * size)],
  has: (size) => ['{{ items | has: "id", -1 }}', items(200 * size)],
  sum: (size) => ['{{ items | sum: "id" }}', items(200 * size)],
  sort: (size) => ['{{ items | sort: "name" | size }}', items(200 * size)],
  json: (size) => ['{{ items | json: 2 }}', items(50 * size)],
  'a long condition': (size) => [`{% if ${list(200 * size, () => 'true').join(' and ')} %}x{% endif %}`, {}],
  'many choices': (size) => [`{% case 1 %}${list(100 * size, () => '{% when 0, 2, 3 %}').join('')}{% endcase %}`, {}],
  dates: (size) => [`{{ "2026-01-01" | date: "${'%A'.repeat(20 * size)}" }}`, {}],
};

test.each(Object.entries(growing))('steps of %s grow with the values', (_, of) => {
  const [once, twice, fourTimes] = [1, 2, 4].map((size) => stepsOf(...of(size))) as [number, number, number];
  expect(once).toBeGreaterThan(100);
  expect(twice / once).toBeLessThan(2.5);
  expect(fourTimes / once).toBeLessThan(5.5);
});

const ending: Record<string, (size: number) => [string, object]> = {
  'where_exp in where_exp': (size) => [
    '{{ items | where_exp: "i", "items | where_exp: \'j\', \'j.id == i.id\' | size" }}',
    items(2000 * size),
  ],
  'where in a loop': (size) => ['{% for i in items %}{% assign x = items | where: "id", i.id %}{% endfor %}', items(2000 * size)],
  'find in a loop': (size) => ['{% for i in items %}{% assign x = items | find: "id", -1 %}{% endfor %}', items(2000 * size)],
  'sum in a loop': (size) => ['{% for i in items %}{% assign x = items | sum: "id" %}{% endfor %}', items(2000 * size)],
  'contains in a loop': (size) => [
    '{% for i in items %}{% if ids contains i.id %}{% endif %}{% endfor %}',
    { ...items(2000 * size), ids: list(2000 * size, (index) => -1 - index) },
  ],
  'a text that repeats itself is looked for': (size) => [
    '{% if text contains part %}x{% endif %}',
    { text: 'a'.repeat(250_000 * size), part: `${'a'.repeat(50_000)}b${'a'.repeat(50_000)}` },
  ],
  'split by what repeats itself': (size) => [
    '{{ text | split: part | size }}',
    { text: 'a'.repeat(250_000 * size), part: `${'a'.repeat(50_000)}b${'a'.repeat(50_000)}` },
  ],
  'many choices in a loop': (size) => [
    `{% for i in (1..2000) %}{% case 1 %}${list(500 * size, () => '{% when 0, 2, 3 %}').join('')}{% endcase %}{% endfor %}`,
    {},
  ],
  'long conditions in a loop': (size) => [
    `{% for i in (1..2000) %}{% if ${list(500 * size, () => 'true').join(' and ')} %}{% endif %}{% endfor %}`,
    {},
  ],
  captures: (size) => [
    `${list(20 * size, (index) => `{% capture c${index} %}{{ text }}{% endcapture %}`).join('')}x`,
    { text: 'x'.repeat(200_000) },
  ],
  'captures in a loop': (size) => [
    `{% for i in (1..1000) %}{% capture c %}{% for j in (1..${size}00) %}{{ text }}{% endfor %}{% endcapture %}{% endfor %}`,
    { text: 'x'.repeat(1000) },
  ],
  'lists that hold themselves': (size) => [
    `{% assign a = items %}${'{% assign a = a | push: a | push: a %}'.repeat(20 * size)}{{ a }}`,
    items(5),
  ],
  'lists that hold themselves, compared': (size) => [
    `{% assign a = items %}${'{% assign a = a | push: a | push: a %}'.repeat(20 * size)}{% case a %}{% when a %}x{% endcase %}`,
    items(5),
  ],
  'objects in a loop': (size) => [
    '{% for i in (1..4000) %}{% for x in big limit: 1 %}{% endfor %}{% endfor %}',
    { big: Object.fromEntries(list(20_000 * size, (index) => [`k${index}`, 1])) },
  ],
  'dates in a loop': (size) => [`{% for i in (1..4000) %}{{ "2026-01-01" | date: "${'%A'.repeat(10 * size)}" }}{% endfor %}`, {}],
  'JSON in a loop': (size) => ['{% for i in items %}{% assign x = items | json %}{% endfor %}', items(1000 * size)],
  'nested loops': (size) => [`{% for i in (1..${1000 * size}) %}{% for j in (1..1000) %}{% endfor %}x{% endfor %}`, {}],
};

test.each(Object.entries(ending))('%s ends at the budget', (_, of) => {
  for (const size of [1, 2, 4]) {
    const [template, scope] = of(size);
    expect(() => render(template, scope as Record<string, unknown>)).toThrow(TemplateError);
    expect(() => render(template, scope as Record<string, unknown>)).toThrow(
      /takes more than 200,000 steps; loop over fewer|makes more than 2,000,000|output is longer/,
    );
    // One more operation than the budget allows, which itself is bounded by the values.
    expect(stepsOf(template, scope)).toBeLessThan(3_000_000);
  }
});

test('a range beyond 2^53 is refused rather than counted for ever', () => {
  for (const template of ['{% for i in (9007199254740992..9007199254740994) %}x{% endfor %}', '{{ (n..m) | size }}'])
    expect(() => render(template, { n: 2 ** 60, m: 2 ** 60 + 1000 })).toThrow(/a range goes beyond 2\^53/);
  expect(render('{% for i in (first..last) %}{{ i }}{% endfor %}', { first: 2, last: '4' })).toBe('234');
  expect(render('{{ (1..3) | join }}', {})).toBe('1 2 3');
});

test('the texts of one node share one budget', () => {
  const scope = withSharedBudget(items(400));
  const costly = '{{ items | where_exp: "i", "i.name contains \'7\'" | size }}';
  expect(
    renderDeep(
      list(10, () => costly),
      scope,
    ),
  ).toHaveLength(10);
  expect(() =>
    renderDeep(
      list(1000, () => costly),
      scope,
    ),
  ).toThrow(/takes more than 2,000,000 steps; render fewer texts in one node/);
});
