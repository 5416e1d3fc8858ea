import { expect, test } from 'vitest';
import { findHotFunctions } from '../../bench/hot-functions.ts';
import { median, percentile } from '../../bench/statistics.ts';

test('a percentile is the smallest value that enough of the values do not exceed, in whatever order they come', () => {
  const values = Array.from({ length: 200 }, (_, index) => 200 - index);
  expect([percentile(values, 0.5), percentile(values, 0.99), percentile(values, 1)]).toEqual([100, 198, 200]);
  expect(percentile([7], 0.99)).toBe(7);
});

test('the median of an even number of values lies between the middle two', () => {
  expect([median([9, 1, 5]), median([1, 10, 2, 4])]).toEqual([5, 3]);
});

test('a function that calls itself is counted once in its total, and its callees count in it', () => {
  const node = (id: number, functionName: string, children: number[] = []) => ({
    id,
    callFrame: { functionName, url: '', lineNumber: 0 },
    children,
  });
  const nodes = [node(1, 'root', [2]), node(2, 'walk', [3]), node(3, 'walk', [4]), node(4, 'read')];
  const { 'by itself': own, 'with what it calls': total } = findHotFunctions(
    { nodes, samples: [3, 4, 4, 1], timeDeltas: [10, 20, 30, 40] },
    2,
  );
  expect(own).toEqual([
    { where: 'read', share: 0.5 },
    { where: 'root', share: 0.4 },
  ]);
  expect(total).toEqual([
    { where: 'root', share: 1 },
    { where: 'walk', share: 0.6 },
  ]);
});
