import { expect, test } from 'vitest';
import { latencyFinding, memoryFinding, sumFinding } from '../../bench/sustained/verdict.ts';

const lengthMs = 1000;
const over = (value: (at: number) => number) => Array.from({ length: 100 }, (_, index) => ({ at: index * 10, value: value(index * 10) }));

test('a sum is right when nothing is missing and nothing is there twice', () => {
  expect(sumFinding('runs', 3, 3)).toEqual({ isRight: true, what: 'runs: 3 of 3' });
  expect(sumFinding('runs', 3, 2).isRight).toBe(false);
  expect(sumFinding('runs', 3, 4).isRight).toBe(false);
});

test('latencies that grow are wrong, and a slow start is not', () => {
  expect(
    latencyFinding(
      'events',
      over((at) => (at < 100 ? 900 : 20)),
      lengthMs,
    ).isRight,
  ).toBe(true);
  expect(
    latencyFinding(
      'events',
      over((at) => at),
      lengthMs,
    ).isRight,
  ).toBe(false);
  expect(latencyFinding('events', [], lengthMs).isRight).toBe(false);
});

test('memory that grows to the end is wrong', () => {
  expect(
    memoryFinding(
      over(() => 300),
      lengthMs,
    ).isRight,
  ).toBe(true);
  expect(
    memoryFinding(
      over((at) => 100 + at),
      lengthMs,
    ).isRight,
  ).toBe(false);
});
