import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseInstant, parseIsoInstant } from '../../src/library/time/instants.ts';

const moment = Date.UTC(2026, 10, 20, 15, 15, 30, 250);

test('every usual spelling of one moment is that moment', () => {
  for (const text of [
    '2026-11-20T15:15:30.250Z',
    '2026-11-20T10:15:30.250-05:00',
    '2026-11-20 15:15:30.250000Z',
    '2026-11-20t20:45:30,25+0530',
    '2026-11-20T15:15:30.250+00',
  ])
    expect(parseIsoInstant(text), text).toBe(moment);
});

test('what has no offset is local time in the zone, a bare date its midnight', () => {
  expect(parseIsoInstant('2026-11-20')).toBe(Date.UTC(2026, 10, 20));
  expect(parseIsoInstant('2026-11-20', 'America/New_York')).toBe(Date.UTC(2026, 10, 20, 5));
  expect(parseIsoInstant('2026-11-20T09:00', 'Asia/Kolkata')).toBe(Date.UTC(2026, 10, 20, 3, 30));
  expect(parseIsoInstant('2026-03-08T02:30', 'America/New_York')).toBe(Date.UTC(2026, 2, 8, 7));
});

test('what only looks like a date is none', () => {
  for (const text of [
    '',
    '2026',
    '2026-11',
    '2026-02-30',
    '2026-13-01',
    '2026-11-20T24:00',
    '2026-11-20T10',
    '20261120',
    '11/20/2026',
    'tomorrow',
    '2026-11-20T10:60Z',
    '0099-02-30',
  ])
    expect(parseIsoInstant(text), text).toBeNull();
});

test('epoch seconds and milliseconds are distinguished by their size; small numbers are no moments', () => {
  expect(parseInstant(1_795_000_000)).toBe(1_795_000_000_000);
  expect(parseInstant('1795000000')).toBe(1_795_000_000_000);
  expect(parseInstant(1_795_000_000_123)).toBe(1_795_000_000_123);
  for (const value of [42, 0, -1_795_000_000, NaN, Infinity, null, true, {}, [], 1e18]) expect(parseInstant(value)).toBeNull();
});

test('what the API writes is read back exactly', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date('0100-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }), (date) => {
      expect(parseIsoInstant(date.toISOString())).toBe(date.getTime());
    }),
  );
});
