import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { dayMs, quarterMs, splitRange, startOfDay, timeUnits, toDay } from '../../src/statistics/periods.ts';

const at = (text: string) => Date.parse(text);
const zones = [
  'UTC',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'America/New_York',
  'Europe/Berlin',
  'Pacific/Auckland',
  'America/St_Johns',
] as const;

test('days are those of the time zone, also of one whose days begin at half past', () => {
  const range = { from: at('2026-11-01T18:30:00Z'), to: at('2026-11-03T18:30:00Z'), timezone: 'Asia/Kolkata' };
  expect(splitRange(range, 'day')).toEqual([
    { label: '2026-11-02', start: at('2026-11-01T18:30:00Z'), end: at('2026-11-02T18:30:00Z') },
    { label: '2026-11-03', start: at('2026-11-02T18:30:00Z'), end: at('2026-11-03T18:30:00Z') },
  ]);
});

test('the day on which a clock is put back has 25 hours, and its repeated hour is one', () => {
  const range = {
    from: startOfDay('Europe/Berlin', at('2026-10-25')),
    to: startOfDay('Europe/Berlin', at('2026-10-26')),
    timezone: 'Europe/Berlin',
  };
  expect(splitRange(range, 'day').map(({ start, end }) => (end - start) / 3_600_000)).toEqual([25]);
  const hours = splitRange(range, 'hour');
  expect(hours).toHaveLength(24);
  expect(hours.find(({ label }) => label === '2026-10-25T02:00')).toMatchObject({
    start: at('2026-10-25T00:00:00Z'),
    end: at('2026-10-25T02:00:00Z'),
  });
});

test('the day on which a clock is put forward has 23 hours', () => {
  const range = {
    from: startOfDay('Europe/Berlin', at('2026-03-29')),
    to: startOfDay('Europe/Berlin', at('2026-03-30')),
    timezone: 'Europe/Berlin',
  };
  expect(splitRange(range, 'hour').map(({ label }) => label.slice(11, 13))).toEqual(
    Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0')).filter((hour) => hour !== '02'),
  );
});

test('weeks begin on Monday, months on the first, and the first and last period are cut', () => {
  const range = { from: at('2026-11-05T00:00:00Z'), to: at('2026-12-02T00:00:00Z'), timezone: 'UTC' };
  expect(splitRange(range, 'week').map(({ label }) => label)).toEqual([
    '2026-11-02',
    '2026-11-09',
    '2026-11-16',
    '2026-11-23',
    '2026-11-30',
  ]);
  expect(splitRange(range, 'month')).toEqual([
    { label: '2026-11-01', start: range.from, end: at('2026-12-01T00:00:00Z') },
    { label: '2026-12-01', start: at('2026-12-01T00:00:00Z'), end: range.to },
  ]);
});

test('the periods of any range follow one another without a gap, and begin at quarters of an hour', () => {
  const quarters = fc.integer({ min: 0, max: 40_000 }).map((count) => at('2026-01-01T00:00:00Z') + count * quarterMs);
  const ranges = fc.record({ from: quarters, length: fc.integer({ min: 1, max: 3000 }), timezone: fc.constantFrom(...zones) });
  fc.assert(
    fc.property(ranges, fc.constantFrom(...timeUnits), ({ from, length, timezone }, unit) => {
      const to = from + length * quarterMs;
      const periods = splitRange({ from, to, timezone }, unit);
      expect(periods[0]!.start).toBe(from);
      expect(periods.at(-1)!.end).toBe(to);
      for (const [place, { start, end, label }] of periods.entries()) {
        expect(start % quarterMs).toBe(0);
        expect(end).toBeGreaterThan(start);
        if (place > 0) expect(start).toBe(periods[place - 1]!.end);
        if (unit === 'day') expect([toDay(timezone, start), toDay(timezone, end - 1)]).toEqual([at(label), at(label)]);
      }
      expect(new Set(periods.map(({ label }) => label)).size).toBe(periods.length);
    }),
    { numRuns: 200 },
  );
});

test('a day begins where the one before it ends', () => {
  fc.assert(
    fc.property(fc.integer({ min: 20_000, max: 21_000 }), fc.constantFrom(...zones), (count, timezone) => {
      const day = count * dayMs;
      expect(toDay(timezone, startOfDay(timezone, day))).toBe(day);
      expect(toDay(timezone, startOfDay(timezone, day + dayMs) - 1)).toBe(day);
    }),
  );
});
