import { expect, test } from 'vitest';
import { runCost, type RunUse } from '../../bench/run-cost.ts';
import { runCostSection } from '../../bench/run-cost-section.ts';
import { sleepingSection } from '../../bench/sleeping-section.ts';
import { noUsage } from '../../bench/usage.ts';

const nothing: RunUse = {
  ...noUsage(),
  d1BeforeRun: { rowsRead: 0, rowsWritten: 0 },
  d1OfRun: { rowsRead: 0, rowsWritten: 0 },
  processorMs: 0,
};
const dollars = (use: Partial<RunUse>) => {
  const { before, run } = runCost({ ...nothing, ...use }).dollarsPerMillion;
  return { before, run };
};

test('each thing that a run uses is billed at its price, on the side that used it', () => {
  expect(dollars({})).toEqual({ before: 0, run: 0 });
  expect(dollars({ workerRequests: 2 })).toEqual({ before: 0.6, run: 0 });
  expect(dollars({ processorMs: 10 })).toEqual({ before: 0.2, run: 0 });
  expect(dollars({ queueMessages: 1 })).toEqual({ before: 1.2, run: 0 });
  expect(dollars({ d1BeforeRun: { rowsRead: 1000, rowsWritten: 14 }, d1OfRun: { rowsRead: 0, rowsWritten: 5 } })).toEqual({
    before: 15,
    run: 5,
  });
  expect(dollars({ filesWritten: 1 })).toEqual({ before: 0, run: 4.5 });
  expect(dollars({ objectMs: 500 })).toEqual({ before: 0, run: 0.8 });
  expect(dollars({ objectRowsRead: 2000 })).toEqual({ before: 0, run: 2 });
});

test('an alarm that fires is a request, and one that is set is a row', () => {
  expect(dollars({ objectCalls: 1, alarmsFired: 1 })).toEqual({ before: 0, run: 0.3 });
  expect(dollars({ objectRowsWritten: 48, alarmsSet: 1 })).toEqual({ before: 0, run: 49 });
});

test('the estimate comes to what its parts cost', () => {
  expect(runCost(nothing).dollarsPerMillion.estimated).toBeCloseTo(4 * 0.15 + 0.5 * 1.6 + 18 + 9, 9);
});

test('the table of a run tells measured and estimated rows side by side and their sums last', () => {
  const section = runCostSection({ ...nothing, d1BeforeRun: { rowsRead: 0, rowsWritten: 14 }, objectRowsWritten: 30 });
  const cells = (line: string | undefined) => line?.split('|').map((cell) => cell.trim());
  expect(cells(section.find((line) => line.includes('D1 rows written')))).toEqual([
    '',
    'D1 rows written',
    '14',
    '0',
    '1',
    '14.00',
    '9',
    '9.00',
    '',
  ]);
  expect(cells(section.at(-1))).toEqual(['', 'together, $ a million runs', '14.00', '30.00', '', '44.00', '', '28.40', '']);
});

test('where processor time cannot be read, the report says that it is unknown', () => {
  const idle = { millisecondsPerSecond: Number.NaN, alarmsFired: 0, tickCalls: 24, tickRowsRead: 39 };
  const section = sleepingSection({
    runs: 500,
    seconds: 10,
    startedPerSecond: 80,
    without: { ...idle, millisecondsPerSecond: 2 },
    with: idle,
  });
  expect(section.find((line) => line.includes('processor time'))).toMatch(/2\.0 \| +unknown/);
});
