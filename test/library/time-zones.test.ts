import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  addCalendarDays,
  instantFromWallClock,
  isTimeZone,
  minutesOfDay,
  nextTimeOfDay,
  wallClockAt,
} from '../../src/library/time/time-zones.ts';
import { firstReached, interestingWindows, shownMinute, zones } from './zone-clocks.ts';

const minute = 60_000;
const day = 86_400_000;
const iso = (epochMs: number) => new Date(epochMs).toISOString();
const zone = fc.constantFrom(...zones);
const windows = interestingWindows();
/** A window by its number, which a failing case can print, and a moment in its first half. */
const nearChange = fc.record({ index: fc.nat({ max: windows.length - 1 }), offset: fc.nat({ max: 2 * day }) }).map(({ index, offset }) => ({
  window: windows[index]!,
  at: windows[index]!.start + offset,
  [fc.toStringMethod]: () => `window ${index} + ${offset}`,
}));
const anyMoment = fc.integer({ min: Date.UTC(1975, 0), max: Date.UTC(2037, 0) });

test('zones are IANA names; offsets and inventions are not', () => {
  for (const name of ['UTC', 'America/New_York', 'Asia/Kolkata', ...zones]) expect(isTimeZone(name), name).toBe(true);
  for (const name of ['', 'Mars/Base', '+02:00', '-05:00', 'local', 'system', 'contact']) expect(isTimeZone(name), name).toBe(false);
});

test('the wall clock is what the platform shows in every zone', () => {
  fc.assert(
    fc.property(zone, anyMoment, (name, at) => {
      expect(Math.floor(wallClockAt(name, at) / minute)).toBe(shownMinute(name, at));
    }),
  );
});

test('a wall clock maps to the first instant that shows it or, where it is skipped, that is past it', () => {
  fc.assert(
    fc.property(
      zone,
      fc.oneof(
        anyMoment,
        nearChange.map(({ at }) => at),
      ),
      (name, wallClock) => {
        const instant = instantFromWallClock(name, wallClock);
        expect(wallClockAt(name, instant)).toBeGreaterThanOrEqual(wallClock);
        expect(wallClockAt(name, instant - 1)).toBeLessThan(wallClock);
      },
    ),
  );
});

test('later wall clocks never map to earlier instants', () => {
  fc.assert(
    fc.property(nearChange, fc.integer({ min: 0, max: 2 * day }), ({ window, at }, later) => {
      const shown = wallClockAt(window.zone, at);
      expect(instantFromWallClock(window.zone, shown + later)).toBeGreaterThanOrEqual(instantFromWallClock(window.zone, shown));
    }),
  );
});

test('the next time of day is found minute by minute as a clock on the wall would show it, around every change of the clock', () => {
  const timeOfDay = fc.nat({ max: 24 * 60 - 1 });
  fc.assert(
    fc.property(nearChange, timeOfDay, fc.uniqueArray(fc.nat({ max: 6 }), { maxLength: 7 }), ({ window, at }, minutes, days) => {
      const text = `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
      const isDay = (shown: number) => days.length === 0 || days.includes((Math.floor(shown / (24 * 60)) + 3) % 7);
      const expected = firstReached(window, (shown) => shown % (24 * 60) === minutes && isDay(shown)).find((instant) => instant > at);
      const next = nextTimeOfDay(at, text, days, window.zone);
      expect(next).toBeGreaterThan(at);
      // The window ends before a day that comes once a week may be reached.
      if (expected === undefined) expect(next).toBeGreaterThan(window.start + 4 * day - minute);
      else expect(iso(next)).toBe(iso(expected));
    }),
    { numRuns: 400 },
  );
});

test('following a time of day from firing to firing never comes to one local date twice', () => {
  for (const window of windows) {
    const dates = new Set<number>();
    for (let at = window.start, count = 0; count < 4; count++) {
      at = nextTimeOfDay(at, '01:30', [], window.zone);
      const date = Math.floor((shownMinute(window.zone, at) - 90) / (24 * 60));
      expect(dates.has(date), `${window.zone} ${iso(at)}`).toBe(false);
      dates.add(date);
    }
  }
});

test('known mornings: a repeated time is its first, a skipped one the first minute after the gap', () => {
  expect(iso(nextTimeOfDay(Date.UTC(2026, 10, 1, 4), '01:30', [], 'America/New_York'))).toBe('2026-11-01T05:30:00.000Z');
  expect(iso(nextTimeOfDay(Date.UTC(2026, 10, 1, 5, 30), '01:30', [], 'America/New_York'))).toBe('2026-11-02T06:30:00.000Z');
  expect(iso(nextTimeOfDay(Date.UTC(2026, 2, 8, 6), '02:30', [], 'America/New_York'))).toBe('2026-03-08T07:00:00.000Z');
  expect(iso(nextTimeOfDay(Date.UTC(2026, 9, 3, 12), '02:15', [], 'Australia/Lord_Howe'))).toBe('2026-10-03T15:30:00.000Z');
  expect(iso(nextTimeOfDay(Date.UTC(2026, 10, 20, 12), '09:00', [0], 'Asia/Kolkata'))).toBe('2026-11-23T03:30:00.000Z');
});

test('calendar days keep the local time unless the clock skips it, on either side of a change', () => {
  fc.assert(
    fc.property(nearChange, fc.integer({ min: 1, max: 40 }), ({ window, at }, days) => {
      const target = wallClockAt(window.zone, at) + days * day;
      const instant = addCalendarDays(at, days, window.zone);
      expect(instant).toBeGreaterThan(at);
      const shown = wallClockAt(window.zone, instant);
      if (shown !== target) expect([shown > target, wallClockAt(window.zone, instant - 1) < target]).toEqual([true, true]);
    }),
  );
  expect(iso(addCalendarDays(Date.UTC(2026, 2, 7, 14), 1, 'America/New_York'))).toBe('2026-03-08T13:00:00.000Z');
  expect(iso(addCalendarDays(Date.UTC(2011, 11, 29, 20), 1, 'Pacific/Apia'))).toBe('2011-12-30T10:00:00.000Z');
});

test('times of day are HH:MM, an hour may have one digit, and seconds are 00', () => {
  expect(minutesOfDay('00:00')).toBe(0);
  expect(minutesOfDay('23:59')).toBe(1439);
  for (const text of ['9:00', '09:00', '09:00:00']) expect(minutesOfDay(text), text).toBe(540);
  for (const text of ['24:00', '09:60', '', '09:00:01', '9', 'noon']) expect(minutesOfDay(text), text).toBeNull();
  expect(() => nextTimeOfDay(0, '25:00', [], 'UTC')).toThrow(/25:00/);
});
