import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { addExact, durationProblem, parseDuration, subtractExact } from '../../src/library/time/durations.ts';

const hour = 3_600_000;
const added = (start: string, duration: string) => new Date(addExact(Date.parse(start), parseDuration(duration))).toISOString();

test('a day is 24 hours and a week seven of them, also over a change of the clock', () => {
  expect(parseDuration('P1D')).toEqual({ months: 0, milliseconds: 24 * hour });
  expect(parseDuration('P2WT1H30M')).toEqual({ months: 0, milliseconds: 14 * 24 * hour + 1.5 * hour });
  expect(parseDuration('PT1.5H').milliseconds).toBe(1.5 * hour);
  expect(added('2026-03-07T12:00:00Z', 'P1D')).toBe('2026-03-08T12:00:00.000Z');
});

test('months and years are counted on the calendar, ending on the last day where a month is short', () => {
  expect(added('2027-01-31T10:00:00Z', 'P1M')).toBe('2027-02-28T10:00:00.000Z');
  expect(added('2028-02-29T10:00:00Z', 'P1Y')).toBe('2029-02-28T10:00:00.000Z');
  expect(added('2026-01-15T10:00:00Z', 'P1Y2MT5M')).toBe('2027-03-15T10:05:00.000Z');
});

test('everything that is no positive ISO 8601 duration is refused, with the text in the message', () => {
  for (const text of [
    '',
    'P',
    'PT',
    'P1DT',
    '5m',
    'PT5',
    'p1d',
    '-P1D',
    'P-1D',
    'PT-5M',
    'P0.5M',
    '1D',
    'P1H',
    ' PT1M',
    'PT1M ',
    'PT1M30',
    'P99999Y',
    'PT99999999999S',
  ])
    expect(durationProblem(text), text).toContain(text.trim());
  expect(durationProblem('PT0S')).toContain('zero');
  expect(durationProblem('P0D')).toContain('zero');
  expect(durationProblem('PT0S', { allowZero: true })).toBeNull();
  expect(parseDuration('PT0S', { allowZero: true })).toEqual({ months: 0, milliseconds: 0 });
});

test('durations without months add up and cancel out exactly', () => {
  const part = fc.nat({ max: 500 });
  fc.assert(
    fc.property(part, part, part, part, fc.integer({ min: 0, max: 4e12 }), (days, hours, minutes, seconds, start) => {
      fc.pre(days + hours + minutes + seconds > 0);
      const duration = parseDuration(`P${days}DT${hours}H${minutes}M${seconds}S`);
      expect(duration.milliseconds).toBe(((days * 24 + hours) * 60 + minutes) * 60_000 + seconds * 1000);
      expect(subtractExact(addExact(start, duration), duration)).toBe(start);
    }),
  );
});
