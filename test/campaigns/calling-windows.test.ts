import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findCallingWindow, findRowTimeZone } from '../../src/campaigns/dialing/calling-windows.ts';
import type { ScheduleConfig } from '../../src/campaigns/configs/configs.ts';
import { evaluateBlockingReason } from '../../src/campaigns/lifecycle/blocking-reason.ts';
import { momentsNearChanges } from '../library/clock-changes.ts';
import { anySchedule, isOpenAt, openMinutes, scheduleOf, slot } from './schedules.ts';

const minute = 60_000;
/** A slot on a day that a zone has skipped comes a fortnight later, and may last a week. */
const days = 22;

function windowOf(...asked: Parameters<typeof findCallingWindow>) {
  const window = findCallingWindow(...asked);
  if ('never' in window) throw new Error(window.never.detail);
  return window;
}

/** Whether a call may go out at a moment. */
function mayDial(...asked: Parameters<typeof findCallingWindow>): boolean {
  return windowOf(...asked).opensAt === asked[2];
}

describe('in every zone, on either side of a clock change', () => {
  test('the window is the one that is found by watching the clock minute by minute', () => {
    fc.assert(
      fc.property(anySchedule, momentsNearChanges(), (schedule, { zone, at }) => {
        const open = openMinutes(schedule, zone, at, days);
        const moment = (index: number) => Math.max(at, (Math.floor(at / minute) + index) * minute);
        const first = open.indexOf(true);
        const end = open.indexOf(false, first);
        expect(findCallingWindow(schedule, zone, at)).toEqual({ opensAt: moment(first), closesAt: end === -1 ? null : moment(end) });
      }),
      { numRuns: 150 },
    );
  });

  test('nothing is dialled outside the slots, and a window that opens is open until it closes', () => {
    fc.assert(
      fc.property(anySchedule, momentsNearChanges(), fc.double({ min: 0, max: 1, noNaN: true }), (schedule, { zone, at }, share) => {
        expect(mayDial(schedule, zone, at)).toBe(isOpenAt(schedule, zone, at));
        const { opensAt, closesAt } = windowOf(schedule, zone, at);
        expect(opensAt).toBeGreaterThanOrEqual(at);
        expect(isOpenAt(schedule, zone, opensAt)).toBe(true);
        if (opensAt > at) expect(isOpenAt(schedule, zone, opensAt - 1)).toBe(false);
        const last = (closesAt ?? opensAt + 60 * minute) - 1;
        expect(isOpenAt(schedule, zone, last)).toBe(true);
        expect(isOpenAt(schedule, zone, Math.floor(opensAt + share * (last - opensAt)))).toBe(true);
        if (closesAt !== null) expect(isOpenAt(schedule, zone, closesAt)).toBe(false);
      }),
      { numRuns: 150 },
    );
  });

  test('an enabled schedule without slots never opens, and says so', () => {
    fc.assert(
      fc.property(momentsNearChanges(), ({ zone, at }) => {
        expect(findCallingWindow(scheduleOf([]), zone, at)).toMatchObject({ never: { reason: 'no_calling_window' } });
      }),
    );
  });
});

const at = (text: string) => Date.parse(text);

test('the start is inside, the end is not; a slot over midnight belongs to the day it starts on', () => {
  const friday = scheduleOf([slot(4, '22:00', '02:00')]);
  expect(mayDial(friday, 'UTC', at('2026-11-20T21:59:59.999Z'))).toBe(false);
  expect(findCallingWindow(friday, 'UTC', at('2026-11-20T22:00:00Z'))).toEqual({
    opensAt: at('2026-11-20T22:00:00Z'),
    closesAt: at('2026-11-21T02:00:00Z'),
  });
  expect(mayDial(friday, 'UTC', at('2026-11-21T02:00:00Z'))).toBe(false);
  expect(mayDial(friday, 'UTC', at('2026-11-20T01:00:00Z'))).toBe(false);
});

test('slots that touch are one window, and a week without a gap never closes', () => {
  const workday = scheduleOf([slot(0, '09:00', '12:00'), slot(0, '12:00', '17:00')]);
  expect(findCallingWindow(workday, 'UTC', at('2026-11-23T10:00:00Z'))).toMatchObject({ closesAt: at('2026-11-23T17:00:00Z') });
  const always = scheduleOf([0, 1, 2, 3, 4, 5, 6].map((day) => slot(day, '00:00', '24:00')));
  expect(findCallingWindow(always, 'Africa/Casablanca', at('2026-11-23T10:00:00Z'))).toEqual({
    opensAt: at('2026-11-23T10:00:00Z'),
    closesAt: null,
  });
});

test('a disabled schedule is always open, whatever else it says', () => {
  const now = at('2026-11-20T03:00:00Z');
  expect(findCallingWindow({ ...scheduleOf([slot(0, '09:00', '17:00')]), enabled: false }, 'Mars/Base', now)).toEqual({
    opensAt: now,
    closesAt: null,
  });
});

test('an unknown zone is refused at every moment, never dialled', () => {
  const always = scheduleOf([0, 1, 2, 3, 4, 5, 6].map((day) => slot(day, '00:00', '24:00')));
  for (const zone of ['Mars/Base', '', '+02:00', 'America/New_york2'])
    for (const now of [0, at('2026-11-20T03:00:00Z')]) {
      expect(findCallingWindow(always, zone, now)).toMatchObject({
        never: { reason: 'unknown_timezone', detail: expect.stringContaining(`"${zone}"`) },
      });
    }
});

describe('the time zone in which a row is called', () => {
  const now = at('2026-11-20T12:00:00Z');
  const campaign: Pick<ScheduleConfig, 'timezone' | 'use_contact_timezone'> = {
    timezone: 'America/New_York',
    use_contact_timezone: true,
  };
  const zoneOf = (phone: string, variables: Record<string, unknown> = {}, by = campaign) => findRowTimeZone({ phone, variables }, by, now);

  test('its own, else that of its country, else the campaign', () => {
    expect(zoneOf('+4915112345678', { timezone: 'America/St_Johns' })).toEqual({ zone: 'America/St_Johns', rule: 'contact' });
    expect(zoneOf('+4915112345678', { time_zone: 'Asia/Tokyo' })).toEqual({ zone: 'Asia/Tokyo', rule: 'contact' });
    expect(zoneOf('+4915112345678')).toEqual({ zone: 'Europe/Berlin', rule: 'country' });
    expect(zoneOf('+4915112345678', { timezone: 'nonsense' })).toEqual({ zone: 'Europe/Berlin', rule: 'country' });
    expect(zoneOf('+12123456001')).toEqual({ zone: 'America/New_York', rule: 'campaign' });
    expect(zoneOf('+12123456001', { timezone: ' ', time_zone: null })).toEqual({ zone: 'America/New_York', rule: 'campaign' });
  });

  test.each(['timeZone', 'Time Zone', 'TIME-ZONE', 'Timezone', ' time zone '])('named %j, it is the same', (name) => {
    expect(zoneOf('+12123456001', { [name]: 'Asia/Tokyo' })).toEqual({ zone: 'Asia/Tokyo', rule: 'contact' });
    expect(zoneOf('+12123456001', { [name]: '', timezone: 'Europe/Paris' })).toEqual({ zone: 'Europe/Paris', rule: 'contact' });
    expect(zoneOf('+12123456001', { [name]: 'Mars/Base' })).toMatchObject({ never: { reason: 'unknown_timezone' } });
  });

  test('a row that names an unknown zone, in a country of several, is refused', () => {
    for (const nonsense of ['Mars/Base', 'Eastern', '+02:00', 7])
      expect(zoneOf('+12123456001', { timezone: nonsense })).toMatchObject({
        never: { reason: 'unknown_timezone', detail: expect.stringContaining(`"${nonsense}"`) },
      });
  });

  test("without use_contact_timezone it is the campaign's", () => {
    const own = { ...campaign, use_contact_timezone: false };
    expect(zoneOf('+4915112345678', { timezone: 'Asia/Tokyo' }, own)).toEqual({ zone: 'America/New_York', rule: 'campaign' });
  });
});

test('a campaign that could never dial has a blocking reason; one that waits for its window has none', () => {
  const good = { schedule: scheduleOf([slot(0, '09:00', '17:00')]), agentStatus: 'active' as const, hasTelephony: true };
  const reasonOf = (change: Partial<Parameters<typeof evaluateBlockingReason>[0]>) =>
    evaluateBlockingReason({ ...good, ...change }, 0)?.reason ?? null;
  expect(reasonOf({})).toBeNull();
  expect(reasonOf({ schedule: { ...scheduleOf([]), enabled: false } })).toBeNull();
  expect(reasonOf({ schedule: scheduleOf([]) })).toBe('no_calling_window');
  expect(reasonOf({ schedule: { ...good.schedule, timezone: 'Mars/Base' } })).toBe('unknown_timezone');
  expect(reasonOf({ hasTelephony: false })).toBe('telephony_not_configured');
  expect(reasonOf({ agentStatus: 'archived', hasTelephony: false })).toBe('agent_archived');
});
