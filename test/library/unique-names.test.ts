import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createUniqueNames } from '../../src/library/text/unique-names.ts';

test('names that are taken get the next number that is free', () => {
  const toUnique = createUniqueNames();
  expect(['phone', 'phone', 'phone_2', 'phone', 'name'].map(toUnique)).toEqual(['phone', 'phone_2', 'phone_2_2', 'phone_3', 'name']);
});

test('no two names are the same by their key, and a name that is free stays', () => {
  const names = fc.array(fc.constantFrom('a', 'A', 'a_2', 'A_3', 'b'), { maxLength: 30 });
  fc.assert(
    fc.property(names, (wanted) => {
      const toUnique = createUniqueNames((name) => name.toLowerCase());
      const given = wanted.map(toUnique);
      expect(new Set(given.map((name) => name.toLowerCase())).size).toBe(wanted.length);
      expect(given[0]).toBe(wanted[0]);
      given.forEach((name, index) => expect(name.startsWith(wanted[index]!)).toBe(true));
    }),
  );
});
