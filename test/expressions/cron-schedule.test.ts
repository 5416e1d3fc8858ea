import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  cronProblem,
  lastFireAt,
  resolveDueFire,
  nextFireAt,
  onTimeToleranceMs,
  timezoneProblem,
} from '../../src/expressions/cron-schedule.ts';
import { firstReached, interestingWindows, zones, type Window } from '../library/zone-clocks.ts';

const minute = 60_000;
const day = 86_400_000;
const iso = (epochMs: number | null) => (epochMs === null ? null : new Date(epochMs).toISOString());
const firesFrom = (cron: string, zone: string, after: number, count: number) => {
  const fires: (string | null)[] = [];
  for (let at: number | null = after; fires.length < count && at !== null; fires.push(iso(at))) at = nextFireAt(cron, zone, at);
  return fires;
};

test('a local time that occurs twice fires once, at its first occurrence, whatever the form of the cron', () => {
  expect(firesFrom('30 1 * * *', 'America/New_York', Date.UTC(2026, 10, 1), 2)).toEqual([
    '2026-11-01T05:30:00.000Z',
    '2026-11-02T06:30:00.000Z',
  ]);
  expect(firesFrom('*/30 1 * * *', 'America/New_York', Date.UTC(2026, 10, 1), 3)).toEqual([
    '2026-11-01T05:00:00.000Z',
    '2026-11-01T05:30:00.000Z',
    '2026-11-02T06:00:00.000Z',
  ]);
  expect(firesFrom('0,30 * * * *', 'Europe/London', Date.UTC(2026, 9, 25, 0, 15), 2)).toEqual([
    '2026-10-25T00:30:00.000Z',
    '2026-10-25T02:00:00.000Z',
  ]);
});

test('a schedule of every minute does not fire again in a repeated hour', () => {
  expect(firesFrom('* * * * *', 'America/New_York', Date.UTC(2026, 10, 1, 5, 58), 2)).toEqual([
    '2026-11-01T05:59:00.000Z',
    '2026-11-01T07:00:00.000Z',
  ]);
});

test('a skipped local time fires at the first minute after the gap, several of them once', () => {
  expect(firesFrom('30 2 * * *', 'America/New_York', Date.UTC(2026, 2, 8), 2)).toEqual([
    '2026-03-08T07:00:00.000Z',
    '2026-03-09T06:30:00.000Z',
  ]);
  expect(firesFrom('0,20,40 2,3 * * *', 'America/New_York', Date.UTC(2026, 2, 8, 6), 3)).toEqual([
    '2026-03-08T07:00:00.000Z',
    '2026-03-08T07:20:00.000Z',
    '2026-03-08T07:40:00.000Z',
  ]);
  expect(firesFrom('0 9 * * *', 'Pacific/Apia', Date.UTC(2011, 11, 29, 20), 2)).toEqual([
    '2011-12-30T10:00:00.000Z',
    '2011-12-30T19:00:00.000Z',
  ]);
});

test('day of week 0 and 7 are Sunday, and names count', () => {
  for (const sunday of ['0', '7', 'SUN', 'sun'])
    expect(iso(nextFireAt(`0 9 * * ${sunday}`, 'UTC', Date.UTC(2026, 10, 20)))).toBe('2026-11-22T09:00:00.000Z');
  expect(iso(nextFireAt('30 9 * * 1-5', 'America/New_York', Date.UTC(2026, 10, 21)))).toBe('2026-11-23T14:30:00.000Z');
  expect(iso(nextFireAt('0 0 29 2 *', 'UTC', Date.UTC(2026, 10, 21)))).toBe('2028-02-29T00:00:00.000Z');
});

// The oracle reads the wall clock minute by minute and knows neither the cron library nor the zone rules of the service.

interface Field {
  text: string;
  has(value: number): boolean;
}
const fieldOf = (size: number, first = 0): fc.Arbitrary<Field> =>
  fc.oneof(
    fc.constant({ text: '*', has: () => true }),
    fc
      .uniqueArray(fc.integer({ min: first, max: first + size - 1 }), { minLength: 1, maxLength: 4 })
      .map((values) => ({ text: values.join(','), has: (value: number) => values.includes(value) })),
    fc.integer({ min: 2, max: size - 1 }).map((step) => ({ text: `*/${step}`, has: (value: number) => (value - first) % step === 0 })),
  );
const cronLine = fc.record({
  minute: fieldOf(60),
  hour: fc.oneof(
    fieldOf(24),
    fc.constantFrom(...[0, 1, 2, 3].map((hour) => ({ text: String(hour), has: (value: number) => value === hour }))),
  ),
  weekday: fc.oneof(fc.constant({ text: '*', has: () => true }), fieldOf(7)),
});
const matcher =
  ({ minute: minutes, hour, weekday }: { minute: Field; hour: Field; weekday: Field }) =>
  (shown: number) =>
    minutes.has(shown % 60) && hour.has(Math.floor(shown / 60) % 24) && weekday.has((Math.floor(shown / (24 * 60)) + 4) % 7);
const windows = interestingWindows();
/** By number, which a failing case can print. */
const anyWindow = fc.nat({ max: windows.length - 1 });

function firesInside(cron: string, { zone, start }: Window): number[] {
  const fires: number[] = [];
  for (let at = nextFireAt(cron, zone, start); at !== null && at < start + 4 * day; at = nextFireAt(cron, zone, at)) fires.push(at);
  return fires;
}

test('the library matches zones of every kind of clock change', () => {
  expect(new Set(windows.map((window) => window.zone)).size).toBe(zones.length);
  expect(windows.length).toBeGreaterThan(14);
});

test('around every clock change, a schedule fires exactly at the local times that occur for the first time', () => {
  fc.assert(
    fc.property(cronLine, anyWindow, (line, index) => {
      const window = windows[index]!;
      fc.pre(line.minute.text !== '*');
      const cron = `${line.minute.text} ${line.hour.text} * * ${line.weekday.text}`;
      expect(firesInside(cron, window).map(iso)).toEqual(
        firstReached(window, matcher(line))
          .filter((at) => at > window.start)
          .map(iso),
      );
    }),
    { numRuns: 60 },
  );
});

test('lastFireAt gives the last of the firings that nextFireAt walks through', () => {
  fc.assert(
    fc.property(cronLine, anyWindow, fc.integer({ min: 2 * day, max: 4 * day - minute }), (line, index, offset) => {
      const window = windows[index]!;
      const cron = `${line.minute.text} ${line.hour.text} * * ${line.weekday.text}`;
      const expected = firstReached(window, matcher(line)).findLast((at) => at <= window.start + offset && at > window.start);
      fc.pre(expected !== undefined);
      expect(iso(lastFireAt(cron, window.zone, window.start + offset))).toBe(iso(expected!));
    }),
    { numRuns: 150 },
  );
});

test('an invalid cron is refused with the field and its allowed values', () => {
  const refused: [string, RegExp][] = [
    ['99 * * * *', /minute is "99"; allowed are 0-59/],
    ['* 24 * * *', /hour is "24"/],
    ['* * 0 * *', /day of month is "0"/],
    ['* * * 13 *', /month is "13"/],
    ['* * * * 8', /day of week is "8"; allowed are 0-7/],
    ['? * * * *', /minute is "\?"/],
    ['5/10 * * * *', /minute is "5\/10"/],
    ['0 0 * * 5-1', /day of week is "5-1"/],
    ['@daily', /has 1 fields; write five/],
    ['* * * * * *', /has 6 fields/],
    ['', /has 0 fields/],
    ['0 0 30 2 *', /never comes due/],
    ['0 0 31 4,6 *', /never comes due/],
  ];
  for (const [cron, message] of refused) expect(cronProblem(cron), cron).toMatch(message);
  for (const cron of ['30 9 * * 1-5', '*/15 8-18 * * MON-FRI', '0 0 29 2 *', '0 0 31 4 1', '0  9 1,15 * *', '0 0 L * *'])
    expect(cronProblem(cron), cron).toBeNull();
  expect(timezoneProblem('Mars/Base')).toContain('Unknown time zone "Mars/Base"');
  expect(timezoneProblem('Asia/Kolkata')).toBeNull();
});

const hourly = { cron: '0 * * * *', timezone: 'UTC' };
const due = Date.UTC(2026, 10, 20, 9);

test('a firing that is handled on time fires for its minute under both rules', () => {
  for (const catch_up of ['skip', 'once'] as const)
    for (const late of [0, 30_000, onTimeToleranceMs])
      expect(resolveDueFire({ ...hourly, catch_up }, due, due + late)).toEqual({ fireAt: due, nextFireAt: due + 60 * minute });
});

test('after a long outage catch_up once fires one time, for the last missed minute, and skip does not fire', () => {
  const now = due + 5 * 60 * minute + 20 * minute;
  const last = due + 5 * 60 * minute;
  expect(resolveDueFire({ ...hourly, catch_up: 'once' }, due, now)).toEqual({ fireAt: last, nextFireAt: last + 60 * minute });
  expect(resolveDueFire({ ...hourly, catch_up: 'skip' }, due, now)).toEqual({ fireAt: null, nextFireAt: last + 60 * minute });
});

test('when the outage ends in time for the last of several minutes, that minute fires under both rules', () => {
  const last = due + 3 * 60 * minute;
  for (const catch_up of ['skip', 'once'] as const)
    expect(resolveDueFire({ ...hourly, catch_up }, due, last + minute)).toEqual({
      fireAt: last,
      nextFireAt: last + 60 * minute,
    });
});
