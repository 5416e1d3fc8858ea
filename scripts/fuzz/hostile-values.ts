import type { RandomSource } from './random-source.ts';

/** Raw JSON text, also text that no JavaScript value has. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const nested = (depth: number, open: string, close: string, inner = '1') => new RawJson(open.repeat(depth) + inner + close.repeat(depth));

const texts = [
  '',
  ' ',
  '\t\n\r',
  '\0',
  'a\0b',
  '\ud800',
  'x\udc00y',
  '\ud83d',
  '\uFFFE\uFFFF',
  '🙂'.repeat(50),
  '👩‍👩‍👧‍👦🏳️‍🌈',
  '\u202Etxt.exe',
  '\u200F\u200E\u2066abc\u2069',
  'Z̸̡̛a̷l̶g̵o̴'.repeat(20),
  'İıſK',
  'ﷺ'.repeat(300),
  "' OR 1=1; DROP TABLE contact; --",
  "a'||(SELECT sql FROM sqlite_master)||'",
  '" OR "" = "',
  '%',
  '_%_%',
  '*"NEAR(a b)',
  'a AND NOT OR (',
  '{{ contact.__proto__ }}',
  '{{',
  '{% for i in (1..99999999) %}{{ i }}{% endfor %}',
  "{{ 'a' | append: 'a' | replace: 'a', 'aaaaaaaaaaaaaaaaaaaa' }}",
  '{% assign x = "a" %}'.repeat(200),
  '(a+)+$',
  '([a-zA-Z]+)*\\1',
  '(?=a)\\p{L}{1,1000}',
  '[',
  'a'.repeat(64),
  'a'.repeat(501),
  'a'.repeat(10_000),
  'é'.repeat(40_000),
  'a'.repeat(300_000),
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'null',
  'undefined',
  'NaN',
  'true',
  '-1',
  '0',
  '00',
  '1e999',
  '9223372036854775808',
  '9007199254740993',
  '../../../../etc/passwd',
  '..%2f..%2f',
  'file:///etc/passwd',
  'http://169.254.169.254/latest/meta-data/',
  'http://[::7f00:1]/',
  'https://user:pass@example.com/',
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  '<script>alert(1)</script>',
  '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
  '\r\nX-Injected: 1',
  '=cmd|"/C calc"!A0',
  '+1415',
  '+14155550123',
  'ada@example',
  '2026-02-30T25:61:61Z',
  '0000-00-00',
  '+275760-09-13T00:00:00.001Z',
  '99999-01-01',
  'P1Y2M',
  '* * * * *',
  '*/0 * * * *',
  '0 0 31 2 *',
  'Mars/Olympus',
  'Etc/GMT+14',
  'zz',
  '00000000-0000-0000-0000-000000000000',
  'sealed:v1:AAAA.AAAA',
  '****',
] as const;

const numbers = [
  0,
  -0,
  -1,
  1,
  2,
  0.1,
  1e-320,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  2 ** 63,
  -(2 ** 63),
  1e21,
  1e308,
  new RawJson('1e400'),
  new RawJson('-1e400'),
  new RawJson('123456789012345678901234567890'),
  new RawJson(`0.${'1'.repeat(400)}`),
  new RawJson('-0'),
  new RawJson('1E+2'),
];

const others = [
  null,
  true,
  false,
  [],
  {},
  [[]],
  [null],
  [{}],
  { '': '' },
  { a: { b: { c: { d: { e: {} } } } } },
  new RawJson('{"__proto__":{"polluted":true}}'),
  new RawJson('{"constructor":{"prototype":{"polluted":true}}}'),
  new RawJson('{"a":1,"a":2,"a":"3"}'),
  new RawJson('"\\ud800"'),
  new RawJson('"\\u0000\\udfff"'),
  nested(30, '[', ']'),
  nested(63, '{"a":', '}'),
  nested(65, '[', ']'),
  nested(5000, '[', ']'),
  nested(3000, '{"a":', '}'),
  Array.from({ length: 1001 }, (_, index) => index),
  Array.from({ length: 6000 }, () => null),
  Array.from({ length: 20_000 }, () => 'a'),
  Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`key ${index}`, index])),
  { $ref: '#' },
  { $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] } } },
  { type: 'object', patternProperties: { '(a+)+$': { pattern: '(b*)*c' } } },
  { field: 'a', operator: 'matches', value: '(a+)+$' },
  { all: Array.from({ length: 250 }, () => ({ field: 'data.a', operator: 'eq', value: 1 })) },
];

export const hostileText = (draw: RandomSource): string => draw.of(texts);

/** Any JSON value, and some text that is no valid JSON. */
export function hostileValue(draw: RandomSource): unknown {
  const kind = draw.share();
  if (kind < 0.5) return hostileText(draw);
  return kind < 0.7 ? draw.of(numbers) : cloneJson(draw.of(others));
}

export type JsonContainer = Record<string, unknown> | unknown[];

export const isJsonContainer = (value: unknown): value is JsonContainer =>
  typeof value === 'object' && value !== null && !(value instanceof RawJson);

/** To be changed without changing what later requests are made of. */
export function cloneJson(value: unknown): unknown {
  if (!isJsonContainer(value)) return value;
  return Array.isArray(value) ? value.map(cloneJson) : Object.fromEntries(Object.entries(value).map(([key, one]) => [key, cloneJson(one)]));
}

/** A value for an id in a path. Percent-encoded, or as it is. */
export function hostileId(draw: RandomSource): string {
  const asItIs = [
    '0',
    '-1',
    '1.5',
    '1e3',
    '0x1',
    '999999999',
    '9007199254740993',
    '9'.repeat(40),
    '%00',
    '%',
    '%zz',
    '%c0%af',
    '%ff',
    '%E2%28%A1',
  ];
  const more = [
    '..',
    '.',
    '%2e%2e',
    '%2e%2e%2f%2e%2e',
    '..%5c',
    '*',
    '+1',
    '1;2',
    "1'--",
    'null',
    'current',
    'lists',
    '%20',
    '%0d%0aX-A:1',
    '~',
  ];
  const long = ['a'.repeat(2000), '%F0%9F%99%82'.repeat(100), 'a/b', '//', '[]', '{}', '1,2', '00000000-0000-0000-0000-000000000000'];
  if (draw.chance(0.7)) return draw.of([...asItIs, ...more, ...long]);
  return encodeURIComponent(hostileText(draw).toWellFormed()).slice(0, 3000);
}

/** JSON text of a value that may hold `RawJson`. */
export function toJsonText(value: unknown): string {
  const raw: string[] = [];
  const text = JSON.stringify(value, (_key, one: unknown) => {
    if (!(one instanceof RawJson)) return one;
    raw.push(one.text);
    return `\u0001raw ${raw.length - 1}\u0001`;
  });
  return (text ?? 'null').replaceAll(/"\\u0001raw (\d+)\\u0001"/g, (_all, index: string) => raw[Number(index)]!);
}
