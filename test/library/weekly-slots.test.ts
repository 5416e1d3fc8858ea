import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { coversWholeWeek, nextInside, nextOutside, WeeklySlot, WeeklySlots } from '../../src/library/time/weekly-slots.ts';
import { clockChanges, momentsNearChanges, shownMinutes, zonesOfEveryKind } from './clock-changes.ts';

const minute = 60_000;
const minutesOfWeek = 7 * 24 * 60;
const windowMinutes = 16 * 24 * 60;
const iso = (epochMs: number | null) => (epochMs === null ? null : new Date(epochMs).toISOString());
const slot = (day_of_week: number, start_time: string, end_time: string): WeeklySlot => ({ day_of_week, start_time, end_time });
const everyDay = (start: string, end: string) => [0, 1, 2, 3, 4, 5, 6].map((day) => slot(day, start, end));

// The model walks minute by minute and knows no zone rules: first through the week, then along the clock on the wall.

const minuteOf = (text: string) => text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);

/** For each minute of the week from Monday on, whether a slot covers it. */
function coveredMinutes(slots: readonly WeeklySlot[]): boolean[] {
  const covered = Array.from({ length: minutesOfWeek }, () => false);
  for (const { day_of_week, start_time, end_time } of slots) {
    let at = minuteOf(start_time);
    const end = minuteOf(end_time) < at ? minuteOf(end_time) + 24 * 60 : minuteOf(end_time);
    for (; at < end; at++) covered[(day_of_week * 24 * 60 + at) % minutesOfWeek] = true;
  }
  return covered;
}

/** Minutes since 1970 begin on a Thursday. */
const isCovered = (covered: boolean[], shown: number) => covered[(shown + 3 * 24 * 60) % minutesOfWeek]!;

function firstWhere(isInside: boolean, slots: readonly WeeklySlot[], zone: string, now: number): number | null {
  const covered = coveredMinutes(slots);
  const index = shownMinutes(zone, now, windowMinutes).findIndex((shown) => isCovered(covered, shown) === isInside);
  return index === -1 ? null : Math.max(now, (Math.floor(now / minute) + index) * minute);
}

const timeText = (minutes: number) => `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
const time = fc
  .oneof(
    fc.integer({ min: 0, max: 24 * 60 }),
    fc.integer({ min: 0, max: 4 * 60 }),
    fc.integer({ min: 0, max: 24 }).map((hour) => hour * 60),
  )
  .map(timeText);
const anySlot = fc
  .record({ day_of_week: fc.integer({ min: 0, max: 6 }), start_time: time, end_time: time })
  .filter((value) => WeeklySlot.safeParse(value).success);
const daily = fc
  .tuple(time, time)
  .map(([start, end]) => everyDay(start, end))
  .filter((slots) => WeeklySlots.safeParse(slots).success);
const anySlots = fc.oneof(fc.array(anySlot, { minLength: 1, maxLength: 8 }), fc.array(anySlot, { minLength: 1, maxLength: 50 }), daily);

test('the watched changes of the clock are the real ones; where there are none, one moment a year stands in', () => {
  // The changes of later years are those that governments have announced.
  const known = (zone: string) => clockChanges.get(zone)!.filter((at) => at < Date.UTC(2026, 0)).length;
  expect(zonesOfEveryKind.map((zone) => [zone, known(zone)])).toEqual([
    ['America/New_York', 30],
    ['Europe/London', 30],
    ['America/Sao_Paulo', 17],
    ['Asia/Kolkata', 15],
    ['Australia/Lord_Howe', 30],
    ['Pacific/Apia', 22],
    ['Europe/Berlin', 30],
    ['America/St_Johns', 30],
    ['Asia/Kathmandu', 15],
    ['Africa/Casablanca', 43],
  ]);
  expect(clockChanges.get('Pacific/Apia')!.map(iso)).toContain('2011-12-30T10:00:00.000Z');
});

const isInSlots = (slots: WeeklySlot[], zone: string, at: number): boolean => nextInside(slots, zone, at) === at;

test('a moment is inside exactly when the clock on the wall shows a time of a slot', () => {
  fc.assert(
    fc.property(anySlots, momentsNearChanges(), (slots, { zone, at }) => {
      expect(isInSlots(slots, zone, at)).toBe(isCovered(coveredMinutes(slots), shownMinutes(zone, at, 1)[0]!));
    }),
    { numRuns: 400 },
  );
});

test.each([
  ['inside', true, nextInside],
  ['outside', false, nextOutside],
] as const)('the next moment %s is the one that is found by watching the clock minute by minute', (_, isInside, next) => {
  fc.assert(
    fc.property(anySlots, momentsNearChanges(), (slots, { zone, at }) => {
      const expected = firstWhere(isInside, slots, zone, at);
      const found = next(slots, zone, at);
      expect(iso(found)).toBe(iso(expected));
      if (found === at) expect(isInSlots(slots, zone, at)).toBe(isInside);
      else if (found !== null) expect([isInSlots(slots, zone, found - 1), isInSlots(slots, zone, found)]).toEqual([!isInside, isInside]);
    }),
    { numRuns: 300 },
  );
});

test('slots cover the whole week exactly when no minute of it is free', () => {
  const nearlyAll = fc
    .record({
      from: fc.integer({ min: 0, max: 3 * 60 }),
      to: fc.integer({ min: 0, max: 3 * 60 }),
      cut: fc.integer({ min: 1, max: 23 * 60 }),
    })
    .map(({ from, to, cut }) => [...everyDay(timeText(from), timeText(cut)), ...everyDay(timeText(cut), timeText(to))]);
  fc.assert(
    fc.property(fc.oneof(anySlots, nearlyAll), (slots) => {
      fc.pre(WeeklySlots.safeParse(slots).success);
      expect(coversWholeWeek(slots)).toBe(coveredMinutes(slots).every(Boolean));
    }),
    { numRuns: 400 },
  );
  expect(coversWholeWeek(everyDay('00:00', '24:00'))).toBe(true);
  expect(coversWholeWeek(everyDay('08:00', '07:59'))).toBe(false);
  expect(coversWholeWeek([...everyDay('08:00', '07:59'), ...everyDay('07:00', '08:01')])).toBe(true);
  expect(nextOutside(everyDay('00:00', '24:00'), 'Europe/Berlin', 0)).toBeNull();
  expect(nextInside([], 'Europe/Berlin', 0)).toBeNull();
});

const nights = everyDay('21:00', '08:00');

test('a slot over midnight belongs to the day on which it starts, its start is inside, its end is not', () => {
  const friday = [slot(4, '22:00', '06:00')];
  const at = (text: string) => isInSlots(friday, 'UTC', Date.parse(text));
  expect(at('2026-11-20T21:59:59.999Z')).toBe(false);
  expect(at('2026-11-20T22:00:00Z')).toBe(true);
  expect(at('2026-11-21T05:59:59.999Z')).toBe(true);
  expect(at('2026-11-21T06:00:00Z')).toBe(false);
  expect(at('2026-11-20T05:00:00Z')).toBe(false);
  const sunday = [slot(6, '22:00', '06:00')];
  expect(isInSlots(sunday, 'UTC', Date.parse('2026-11-23T05:00:00Z'))).toBe(true);
  expect(iso(nextOutside(nights, 'Asia/Kathmandu', Date.parse('2026-11-20T16:00:00Z')))).toBe('2026-11-21T02:15:00.000Z');
});

test('known mornings: a skipped start opens after the gap, a repeated hour is inside twice, a skipped day is not waited for', () => {
  const hourOfChange = [slot(6, '02:30', '03:30')];
  expect(iso(nextInside(hourOfChange, 'America/New_York', Date.parse('2026-03-08T05:00:00Z')))).toBe('2026-03-08T07:00:00.000Z');
  const repeated = [slot(6, '01:00', '02:00')];
  expect(iso(nextOutside(repeated, 'America/New_York', Date.parse('2026-11-01T05:00:00Z')))).toBe('2026-11-01T07:00:00.000Z');
  const early = [slot(6, '01:00', '01:30')];
  expect(iso(nextOutside(early, 'America/New_York', Date.parse('2026-11-01T05:00:00Z')))).toBe('2026-11-01T05:30:00.000Z');
  expect(iso(nextInside(early, 'America/New_York', Date.parse('2026-11-01T05:30:00Z')))).toBe('2026-11-01T06:00:00.000Z');
  const friday = [slot(4, '09:00', '17:00')];
  expect(iso(nextInside(friday, 'Pacific/Apia', Date.parse('2011-12-30T04:00:00Z')))).toBe('2012-01-05T19:00:00.000Z');
  expect(iso(nextInside([slot(6, '02:00', '02:20')], 'Australia/Lord_Howe', Date.parse('2026-10-03T15:00:00Z')))).toBe(
    '2026-10-10T15:00:00.000Z',
  );
});

test('slots are refused by the name of the field and what is wrong with it', () => {
  const problems = (value: unknown) =>
    (WeeklySlots.safeParse(value).error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n');
  const good = slot(0, '09:00', '17:00');
  for (const value of [good, slot(6, '22:00', '00:00'), slot(6, '00:00', '24:00'), slot(2, '24:00', '01:00')])
    expect(problems([value])).toBe('');
  expect(problems([slot(0, '09:00', '09:00')])).toBe(
    '0.end_time: 09:00 to 09:00 is no time at all; for the whole day write 00:00 to 24:00',
  );
  expect(problems([slot(0, '24:00', '00:00')])).toContain('0.end_time: 24:00 to 00:00 is no time at all');
  for (const text of ['24:01', '25:00', '09:60', '09:00:01', '9', '009:00', 'noon', ''])
    expect(problems([good, { ...good, start_time: text }]), text).toContain('1.start_time: Must be HH:MM between 00:00 and 24:00');
  for (const day of [-1, 7, 1.5, '1', null]) expect(problems([{ ...good, day_of_week: day }]), String(day)).toContain('0.day_of_week');
  expect(problems([{ ...good, timezone: 'UTC' }])).toBe('');
  for (const text of ['9:00', '09:00', '9:00:00', '09:00:00'])
    expect(WeeklySlots.parse([{ ...good, start_time: text }])[0]!.start_time, text).toBe('09:00');
  expect(problems([])).not.toBe('');
  expect(problems(Array.from({ length: 50 }, () => good))).toBe('');
  expect(problems(Array.from({ length: 51 }, () => good))).not.toBe('');
});
