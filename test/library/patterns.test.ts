import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { LinearPattern, patternProblem } from '../../src/library/patterns/linear-pattern.ts';
import { OverBudgetError, WorkBudget } from '../../src/library/limits/work-budget.ts';

const unbounded = new WorkBudget(Infinity, '');
const holds = (pattern: string, text: string, budget = unbounded): boolean => LinearPattern.compile(pattern, budget).test(text, budget);

const characters = ['a', 'b', 'A', '7', '_', '-', '^', ']', ' ', '\n', '\r', '\t', '\u00a0', '\u2028', '\ufeff', 'ä', 'ж', '😀', '\b', '.'];
const inClass = fc.oneof(
  fc.constantFrom(
    'a',
    '-',
    '\\-',
    '\\]',
    '\\^',
    '^',
    '[',
    '[:',
    '.',
    '(',
    '\\d',
    '\\W',
    '\\s',
    '\\S',
    '\\b',
    '\\p{L}',
    '\\P{Lu}',
    '\\u{1F600}',
    '\\x41',
  ),
  fc.constantFrom('a-c', '0-9', ' -~', '\\t-\\r', 'а-я', '\\u{1F600}-\\u{1F64F}'),
);
const characterClass = fc
  .tuple(fc.boolean(), fc.array(inClass, { maxLength: 4 }))
  .map(([isNegated, items]) => `[${isNegated ? '^' : ''}${items.join('')}]`);
const atom = fc.oneof(
  fc.constantFrom('a', 'b', 'ä', 'ж', '😀', '7', '_', '-', ' ', '.', '\\.', '\\/', '\\-', '\\d', '\\D', '\\w', '\\W', '\\s', '\\S'),
  fc.constantFrom('\\b', '\\B', '^', '$', '\\n', '\\t', '\\v', '\\f', '\\0', '\\cJ', '\\x41', '\\u0041', '\\u{1F600}', '\\ud83d\\ude00'),
  fc.constantFrom(
    '\\p{L}',
    '\\p{Lu}',
    '\\p{Letter}',
    '\\p{Script=Cyrillic}',
    '\\p{sc=Latin}',
    '\\P{L}',
    '\\p{gc=Nd}',
    '\\p{Uppercase_Letter}',
  ),
  characterClass,
);
const quantifier = fc.constantFrom('', '', '', '*', '+', '?', '*?', '+?', '??', '{2}', '{1,}', '{0,3}', '{1,2}?');
const { pattern: anyPattern } = fc.letrec<{ pattern: string; piece: string }>((tie) => ({
  pattern: fc
    .array(fc.array(tie('piece'), { maxLength: 4 }), { minLength: 1, maxLength: 3 })
    .map((choices) => choices.map((pieces) => pieces.join('')).join('|')),
  piece: fc.oneof(
    { weight: 5, arbitrary: fc.tuple(atom, quantifier).map((parts) => parts.join('')) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom('(', '(?:', '(?<name>'), tie('pattern'), quantifier)
        .map(([open, inner, times]) => `${open}${inner})${times}`),
    },
  ),
}));

test('an expression means what it means in JavaScript', () => {
  fc.assert(
    fc.property(anyPattern, fc.array(fc.constantFrom(...characters), { maxLength: 6 }), (pattern, parts) => {
      let native: RegExp;
      try {
        native = new RegExp(pattern, 'u');
      } catch {
        return;
      }
      fc.pre(pattern.length <= 200);
      expect(holds(pattern, parts.join('')), `${JSON.stringify(pattern)} on ${JSON.stringify(parts.join(''))}`).toBe(
        native.test(parts.join('')),
      );
    }),
    { numRuns: 2000 },
  );
});

test('usual expressions are taken, and what cannot be matched in one pass is refused by its name', () => {
  const usual = [
    '^\\+\\d+$',
    '^[A-Z]{2}\\d{4,8}$',
    '^(\\d{3}-)?\\d{4}$',
    '^(?:[0-9]{1,3}\\.){3}[0-9]{1,3}$',
    '^[^@\\s]+@[^@\\s]+\\.[a-z]+$',
  ];
  const repeating = ['(a+)+$', '(a|a)*$', '(?:ab?)+', 'a*a*a*a*b', '((a|b)c)*', '(a{1,9}){9}', '^\\p{L}+$', '\\(a+\\)+'];
  for (const pattern of [...usual, ...repeating]) expect(patternProblem(pattern), pattern).toBeNull();
  const refused: [string, RegExp][] = [
    ['(.)\\1', /Pattern "\(\.\)\\\\1" has a back reference/],
    ['(?<c>.)\\k<c>', /has a back reference/],
    ['^(?=.*\\d).{8,}$', /looks ahead with \(\?=/],
    ['^(?!no)', /looks ahead with \(\?!/],
    ['(?<=\\$)\\d+', /looks behind with \(\?<=/],
    ['(?<!a)b', /looks behind with \(\?<!/],
    ['(', /is not a regular expression/],
    ['a{1001}', /more than 1,000 times; repeat less/],
    ['(?:a{90}){90}', /more than 1,000 times/],
    ['(?:\\p{L}{900}){0,1}b{999}c{999}', /too large/],
    ['\\p{Script_Extensions=Greek}', /names the Unicode property Script_Extensions=Greek/],
    ['x'.repeat(201), /longer than 200 characters/],
  ];
  for (const [pattern, words] of refused) expect(patternProblem(pattern), pattern).toMatch(words);
});

test('what a match costs grows with the text, not with the ways to match it', () => {
  const stepsOf = (pattern: string, length: number): number => {
    const budget = new WorkBudget(Infinity, '');
    LinearPattern.compile(pattern, unbounded).test(`${'a'.repeat(length)}!`, budget);
    return budget.spent;
  };
  for (const pattern of ['^(a+)+$', '^(a|a)*$', 'a*a*a*a*b', '^(?:a?){30}a{30}$', '(?:[ab]*a[ab]{100}c)'])
    for (const size of [2000, 4000, 8000]) expect(stepsOf(pattern, size) / stepsOf(pattern, 2000), pattern).toBeCloseTo(size / 2000, 1);
  expect(() => holds('^(a+)+$', 'a'.repeat(1e7), new WorkBudget(1e6, 'shorten it'))).toThrow(OverBudgetError);
});
