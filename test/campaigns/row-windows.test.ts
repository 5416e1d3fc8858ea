import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { findCallingWindow, RowWindows, unknownTimeZoneGroup } from '../../src/campaigns/dialing/calling-windows.ts';
import { anySchedule, scheduleOf, slot } from './schedules.ts';

const start = Date.UTC(2026, 2, 1);
const week = 7 * 86_400_000;

test('a cached window equals a computed one at any moment', () => {
  fc.assert(
    fc.property(
      anySchedule,
      fc.array(fc.record({ lane: fc.nat(2), after: fc.integer({ min: -3_600_000, max: 2 * week }) }), { minLength: 1, maxLength: 30 }),
      (schedule, asked) => {
        const byContact = { ...schedule, use_contact_timezone: true };
        const names = new Map([
          [1, 'America/New_York'],
          [2, 'Australia/Lord_Howe'],
        ]);
        const windows = new RowWindows(byContact, names);
        for (const { lane, after } of asked)
          expect(windows.at(lane, start + after)).toEqual(
            findCallingWindow(byContact, names.get(lane) ?? schedule.timezone, start + after),
          );
      },
    ),
    { numRuns: 150 },
  );
});

test('a row with an unknown zone is called if the schedule ignores contact time zones, else never', () => {
  const schedule = scheduleOf([slot(0, '00:00', '24:00')]);
  const monday = Date.UTC(2026, 0, 5, 12);
  expect(new RowWindows(schedule, new Map()).at(unknownTimeZoneGroup, monday)).toMatchObject({ opensAt: monday });
  expect(new RowWindows({ ...schedule, use_contact_timezone: true }, new Map()).at(unknownTimeZoneGroup, monday)).toMatchObject({
    never: { reason: 'unknown_timezone' },
  });
});
