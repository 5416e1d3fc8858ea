import { expect, test } from 'vitest';
import { findPasswordWeakness } from '../../src/accounts/passwords/password-policy.ts';

test.each(['password1234', 'P@ssw0rd2026', '123456password', 'Unbelievable', 'qwerty123456', '1qaz2wsx3edc4rfv', '!!!football!!!'])(
  '%s is tried first',
  (password) => expect(findPasswordWeakness(password, [])).toContain('tried first'),
);

test.each(['aaaaaaaaaaaaaaa', 'abcabcabcabcab', '234567890123', 'zyxwvutsrqpon', 'horsehorsehorse'])('%s is a pattern', (password) =>
  expect(findPasswordWeakness(password, [])).toContain('Repeats itself'),
);

test.each([
  ['ada.lovelace@example.com', 'Ada-Lovelace-1'],
  ['ada@analytical.example', 'analytical77!'],
  ['ada@example.com', 'ada@example.com'],
  ['Analytical Engines', 'analytical-engines'],
  ['Ünal GmbH', 'ünal gmbh 12'],
])('of %s, %s is hardly more than the name', (name, password) =>
  expect(findPasswordWeakness(password, [null, undefined, name])).toContain('hardly more than'),
);

test.each([
  'correct horse battery',
  'a long password',
  'hahaha monday',
  'Q7#kd9!mzPw2',
  'ada counts on steam engines',
  '한국의 가을 하늘은 높다',
])('%s is good', (password) => expect(findPasswordWeakness(password, ['ada@example.com', 'Ada', 'Al'])).toBeNull());

test('every fault names the next step', () => {
  for (const password of ['password1234', 'aaaaaaaaaaaa', 'ada@example.com'])
    expect(findPasswordWeakness(password, ['ada@example.com'])).toMatch(/; choose .*words/);
});
