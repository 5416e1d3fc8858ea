import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchesPath } from '../../simulators/path-pattern.ts';

test('a pattern without a star names exactly its own path', () => {
  const path = fc.string().filter((text) => !text.includes('*'));
  fc.assert(fc.property(path, path, (pattern, other) => matchesPath(pattern, other) === (pattern === other)));
});

test('a star stands for any characters, none included', () => {
  const path = fc.string().filter((text) => !text.includes('*'));
  fc.assert(fc.property(path, path, path, (start, middle, end) => matchesPath(`${start}*${end}`, start + middle + end)));
  expect(matchesPath('/a/*', '/b/a/')).toBe(false);
});
