/** Sample schedules, and a check of them without zone rules: minute by minute along the wall clock. */

import * as fc from 'fast-check';
import type { ScheduleConfig } from '../../src/campaigns/configs/configs.ts';
import { WeeklySlot } from '../../src/library/time/weekly-slots.ts';
import { shownMinutes } from '../library/clock-changes.ts';

const minutesOfDay = 24 * 60;
const minutesOfWeek = 7 * minutesOfDay;

export const slot = (day_of_week: number, start_time: string, end_time: string): WeeklySlot => ({ day_of_week, start_time, end_time });

export const scheduleOf = (slots: WeeklySlot[]): ScheduleConfig => ({
  enabled: true,
  timezone: 'UTC',
  slots,
  use_contact_timezone: false,
});

const timeText = (minutes: number) => `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
const time = fc
  .oneof(fc.integer({ min: 0, max: minutesOfDay }), fc.integer({ min: 0, max: 4 * 60 }), fc.constantFrom(9 * 60, 17 * 60, 21 * 60))
  .map(timeText);
const anySlot = fc
  .record({ day_of_week: fc.integer({ min: 0, max: 6 }), start_time: time, end_time: time })
  .filter((value) => WeeklySlot.safeParse(value).success);
const overnight = fc
  .tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 18 * 60, max: minutesOfDay - 1 }), fc.integer({ min: 0, max: 8 * 60 }))
  .map(([day, start, end]) => slot(day, timeText(start), timeText(end)));

export const anySchedule: fc.Arbitrary<ScheduleConfig> = fc
  .array(fc.oneof(anySlot, overnight), { minLength: 1, maxLength: 10 })
  .map(scheduleOf);

const minuteOf = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));

function coveredMinutes({ slots }: ScheduleConfig): boolean[] {
  const covered = Array.from({ length: minutesOfWeek }, () => false);
  for (const { day_of_week, start_time, end_time } of slots) {
    const [start, end] = [minuteOf(start_time), minuteOf(end_time)];
    for (let at = start; at < (end < start ? end + minutesOfDay : end); at++)
      covered[(day_of_week * minutesOfDay + at) % minutesOfWeek] = true;
  }
  return covered;
}

/** For each minute of `days` days from the one of `from` on, whether a slot covers what the wall clock shows. 1970 began on a Thursday. */
export function openMinutes(schedule: ScheduleConfig, zone: string, from: number, days: number): boolean[] {
  const covered = coveredMinutes(schedule);
  return Array.from(shownMinutes(zone, from, days * minutesOfDay), (shown) => covered[(shown + 3 * minutesOfDay) % minutesOfWeek]!);
}

export const isOpenAt = (schedule: ScheduleConfig, zone: string, moment: number): boolean =>
  coveredMinutes(schedule)[(shownMinutes(zone, moment, 1)[0]! + 3 * minutesOfDay) % minutesOfWeek]!;
