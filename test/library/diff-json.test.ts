import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffJson } from '../../src/library/json/diff-json.ts';

test('a difference has its path, what it is, and both values', () => {
  expect(diffJson({ a: 1, b: [{ id: 'x', t: 1 }] }, { b: [{ id: 'x', t: 2 }], c: 3 })).toEqual([
    { path: '/a', kind: 'removed', before: 1 },
    { path: '/b/x/t', kind: 'changed', before: 1, after: 2 },
    { path: '/c', kind: 'added', after: 3 },
  ]);
  expect(diffJson(1, '1')).toEqual([{ path: '', kind: 'changed', before: 1, after: '1' }]);
  expect(diffJson({ 'a/b~c': 1 }, {})).toEqual([{ path: '/a~1b~0c', kind: 'removed', before: 1 }]);
});

test('items with ids are matched by them, so that one that moved is no difference; others by their place', () => {
  const [one, two] = [{ id: 'one' }, { id: 'two', text: 'x' }];
  expect(diffJson([one, two], [two, one])).toEqual([]);
  expect(diffJson([one], [two, one])).toEqual([{ path: '/two', kind: 'added', after: two }]);
  expect(diffJson(['a', 'b'], ['b'])).toEqual([
    { path: '/0', kind: 'changed', before: 'a', after: 'b' },
    { path: '/1', kind: 'removed', before: 'b' },
  ]);
  expect(diffJson([one, one], [one])).toEqual([{ path: '/1', kind: 'removed', before: one }]);
});

test('values differ if and only if there is a difference, and each path occurs once', () => {
  const value = fc.jsonValue({ maxDepth: 4 }).map((one) => JSON.parse(JSON.stringify(one)) as unknown);
  fc.assert(
    fc.property(value, value, (before, after) => {
      expect(diffJson(before, before)).toEqual([]);
      const changes = diffJson(before, after);
      expect(changes.length > 0).toBe(!isDeepStrictEqual(before, after));
      expect(new Set(changes.map(({ path }) => path)).size).toBe(changes.length);
    }),
  );
});

test('large values are compared in linear time', () => {
  const large = (text: string) => ({ nodes: Array.from({ length: 20_000 }, (_, index) => ({ id: `n${index}`, data: { text } })) });
  const startedAt = performance.now();
  expect(diffJson(large('a'), large('b'))).toHaveLength(20_000);
  expect(performance.now() - startedAt).toBeLessThan(5000);
});
