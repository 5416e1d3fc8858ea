import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildScope } from '../../src/expressions/templates/scope.ts';
import {
  TemplateError,
  render,
  renderDeep,
  renderText,
  templateProblems,
  validateTemplate,
} from '../../src/expressions/templates/render.ts';
import { LRUCache } from 'lru-cache';

const scope = buildScope(
  {
    contact: { first_name: null, phone: '(212) 555-0100' },
    data: { id: '6012345678901234567' },
    organization: { default_country: 'US', timezone: 'America/New_York' },
    now: '2026-11-20T15:15:30.000Z',
  },
  {
    total: 150,
    items: [
      { sku: 'K-200', price: 2 },
      { sku: 'L-1', price: 3 },
    ],
    contact: 'a payload key',
    list: [1, 2],
  },
);

test('a text that is one whole expression keeps the type of its value, also through filters', () => {
  expect(render('{{ total }}', scope)).toBe(150);
  expect(render('{{ total | times: 2 }}', scope)).toBe(300);
  expect(render('{{ items }}', scope)).toEqual(scope['items']);
  expect(render('{{ items | map: "price" | sum }}', scope)).toBe(5);
  expect(render('{{- total -}}', scope)).toBe(150);
  expect(render('{{ missing }}', scope)).toBeNull();
  expect(render('{{ total | divided_by: 0 }}', scope)).toBeNull();
});

test('an expression with text around it renders to text', () => {
  expect(render('{{ total }} EUR', scope)).toBe('150 EUR');
  expect(render(' {{ total }}', scope)).toBe(' 150');
  expect(render('{{ total }}{{ total }}', scope)).toBe('150150');
  expect(render('a{{ missing }}b', scope)).toBe('ab');
  expect(render('{% if total > 100 %}big{% else %}small{% endif %}', scope)).toBe('big');
  expect(render('order: {{ items[0] }}', scope)).toBe('order: {"sku":"K-200","price":2}');
  expect(render('no template', scope)).toBe('no template');
});

test('long ids keep every digit, and the default filter replaces an empty value', () => {
  expect(render('{{ data.id }}', scope)).toBe('6012345678901234567');
  expect(render('id {{ data.id }}', scope)).toBe('id 6012345678901234567');
  expect(render('{{ contact.first_name | default: "there" }}', scope)).toBe('there');
});

test('a root hides a payload key of the same name, also when the root is absent', () => {
  expect(render('{{ contact.phone }}', scope)).toBe('(212) 555-0100');
  expect(render('{{ event }}', buildScope({}, { event: 'payload', total: 1 }))).toBeNull();
});

test('texts inside objects and lists are rendered, everything else stays', () => {
  expect(renderDeep({ a: ['{{ total }}', 'x {{ total }}', 7, null, true], b: { 'k {{ total }}': '{{ list }}' } }, scope)).toEqual({
    a: [150, 'x 150', 7, null, true],
    b: { 'k {{ total }}': [1, 2] },
  });
  expect(renderText('{{ list }}', scope)).toBe('[1,2]');
  expect(renderText('{{ missing }}', scope)).toBe('');
});

test('JSON without templates comes back unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      fc.pre(!/\{[{%]/.test(JSON.stringify(value)));
      expect(renderDeep(value, scope)).toEqual(value);
    }),
  );
});

test('dates are formatted in UTC, in a named zone, or in the organization’s', () => {
  expect(render('{{ now | date: "%Y-%m-%d %H:%M" }}', scope)).toBe('2026-11-20 15:15');
  expect(render('{{ now | date: "%H:%M", "Asia/Kolkata" }}', scope)).toBe('20:45');
  expect(render('{{ now | date_in_zone: "Europe/Berlin", "%H:%M" }}', scope)).toBe('16:15');
  expect(render('{{ now | date_in_zone }}', scope)).toBe('2026-11-20 10:15');
  expect(render('{{ "2026-11-20T10:15:30" | date: "%H:%M" }}', scope)).toBe('10:15');
  expect(render('{{ missing | date: "%H:%M" }}', scope)).toBeNull();
});

test('the word now is the clock of the run, not of the machine', () => {
  expect(render('{{ "now" | date: "%Y-%m-%dT%H:%M" }}', scope)).toBe('2026-11-20T15:15');
  expect(render('{{ "today" | date: "%Y" }}', { now: '2031-01-01T00:00:00Z' })).toBe('2031');
});

test('phone numbers are normalized with the organization’s country, or formatted for reading', () => {
  expect(render('{{ contact.phone | phone }}', scope)).toBe('+12125550100');
  expect(render('{{ contact.phone | phone: "national" }}', scope)).toBe('(212) 555-0100');
  expect(render('{{ "030 901820" | phone: "e164", "DE" }}', scope)).toBe('+4930901820');
  expect(render('{{ "n/a" | phone }}', scope)).toBe('n/a');
  expect(render('{{ items | json }}', scope)).toBe(JSON.stringify(scope['items']));
});

test('an error names the template and the reason', () => {
  expect(() => render('Hi {{ total | tims: 2 }}', scope)).toThrow(TemplateError);
  expect(() => render('Hi {{ total | tims: 2 }}', scope)).toThrow(/Template "Hi \{\{ total \| tims: 2 \}\}": undefined filter: tims/);
  expect(() => render('{{ now | date: "%H", "Mars/Base" }}', scope)).toThrow(/unknown time zone "Mars\/Base"/);
  expect(() => render('{{ contact.phone | phone: "fax" }}', scope)).toThrow(/e164, international, national, uri/);
});

test('a template that does not parse is found before the run, with its path', () => {
  expect(validateTemplate('{{ a | default: "b" }}')).toBeNull();
  for (const text of ['{{ a', '{% if a %}', '{{ a | nope }}', '{% for %}x{% endfor %}', '{{}}'])
    expect(validateTemplate(text), text).toContain('Template');
  expect(templateProblems({ a: ['ok', '{{ x'], b: 5 })).toEqual([
    { path: ['a', '1'], message: expect.stringContaining('not closed') as string },
  ]);
});

test('templates read no files', () => {
  for (const tag of ['include', 'render', 'layout'])
    expect(validateTemplate(`{% ${tag} "secrets" %}`), tag).toContain(`tag "${tag}" not found`);
});

test('templates see own properties only', () => {
  for (const text of [
    '{{ constructor }}',
    '{{ contact.constructor.name }}',
    '{{ __proto__ }}',
    '{{ contact.toString }}',
    '{{ items.map }}',
  ])
    expect(render(text, scope), text).toBeNull();
});

test('a template cannot change the scope it reads', () => {
  const own = { count: 1 };
  render('{% increment count %}{% assign count = 9 %}{{ count }}!', own);
  expect(own).toEqual({ count: 1 });
});

test('endless loops, large output and large values are stopped', () => {
  const costly = [
    '{% for i in (1..100000) %}x{% endfor %}',
    '{% for i in (1..1000) %}{% for j in (1..1000) %}{% assign y = 1 %}{% endfor %}{% endfor %}',
    '{% for i in (1..99999999) %}{% endfor %}',
    `{% for i in (1..3000) %}${'x'.repeat(200)}{% endfor %}`,
    `${'{% for i in (1..200) %}{% capture s %}{{ s }}{{ s }}x{% endcapture %}{% endfor %}'}{{ s }}`,
    `{% assign s = "xxxxxxxxxx" %}${'{% assign s = s | append: s %}'.repeat(40)}{{ s }}`,
  ];
  const started = performance.now();
  for (const template of costly) expect(() => render(template, scope), template.slice(0, 60)).toThrow(TemplateError);
  expect(performance.now() - started).toBeLessThan(3000);
});

test('the cache keeps the values used last and forgets the others', () => {
  let made = 0;
  const cache = new LRUCache<string, number>({
    max: 2,
    memoMethod: (key) => {
      if (key === 'bad') throw new Error('no');
      return ++made;
    },
  });
  const get = (key: string) => cache.memo(key);
  expect([get('a'), get('b'), get('a'), get('c'), get('a'), get('b')]).toEqual([1, 2, 1, 3, 1, 4]);
  expect(cache.size).toBe(2);
  expect(() => get('bad')).toThrow('no');
  expect(cache.size).toBe(2);
});
