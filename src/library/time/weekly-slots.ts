import { z } from 'zod';
import { configObject } from '../json/config-object.ts';
import { normalizeTimeOfDay, nextClockChange, wallClockAt } from './time-zones.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const week = 7 * day;

const timeOfDayPattern = /^(?:([01]\d|2[0-3]):([0-5]\d)|24:00)$/;
const timeOfDay = z
  .string()
  .overwrite(normalizeTimeOfDay)
  .refine((text) => timeOfDayPattern.test(text), 'Must be HH:MM between 00:00 and 24:00');
const minutesOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));

/**
 * A part of the week by the wall clock. `day_of_week` 0 = Monday .. 6 = Sunday. The start is inside, the end is not. An end before the
 * start is on the next day.
 */
export const WeeklySlot = configObject({
  day_of_week: z.int().min(0).max(6).describe('Day on which it begins: 0 = Monday to 6 = Sunday.'),
  start_time: timeOfDay.describe('When it begins, `HH:MM` from 00:00 to 24:00, inclusive.'),
  end_time: timeOfDay.describe('When it ends, `HH:MM`, exclusive. Before `start_time`: on the next day.'),
}).superRefine(({ start_time, end_time }, context) => {
  if ((minutesOf(end_time) - minutesOf(start_time)) % (24 * 60) === 0 && !(start_time === '00:00' && end_time === '24:00'))
    context.addIssue({
      code: 'custom',
      path: ['end_time'],
      message: `${start_time} to ${end_time} is no time at all; for the whole day write 00:00 to 24:00`,
    });
});

export type WeeklySlot = z.infer<typeof WeeklySlot>;

export const WeeklySlots = z.array(WeeklySlot).min(1).max(50);

/** The first instant from `now` on (epoch ms) that is inside one of `slots`; null when there are none. */
export const nextInside = (slots: readonly WeeklySlot[], zone: string, now: number): number | null => findNext(true, slots, zone, now);

/** The first instant from `now` on (epoch ms) that is outside all `slots`; null when they cover the whole week. */
export const nextOutside = (slots: readonly WeeklySlot[], zone: string, now: number): number | null => findNext(false, slots, zone, now);

export const coversWholeWeek = (slots: readonly WeeklySlot[]): boolean => covers(slots, 0) && msUntilBoundary(false, slots, 0) === null;

/** Follows the clock from change to change, since a change may enter, leave or pass over a slot. */
function findNext(isInside: boolean, slots: readonly WeeklySlot[], zone: string, now: number): number | null {
  for (let instant = now; ;) {
    const shown = timeOfWeek(zone, instant);
    if (covers(slots, shown) === isInside) return instant;
    const distance = msUntilBoundary(isInside, slots, shown);
    if (distance === null) return null;
    const change = nextClockChange(zone, instant, instant + distance);
    if (change === null) return instant + distance;
    instant = change;
  }
}

/** Milliseconds since Monday 00:00 on the wall clock; 1 January 1970 was a Thursday. */
const timeOfWeek = (zone: string, instant: number): number => wrapWeek(wallClockAt(zone, instant) + 3 * day);

const wrapWeek = (time: number): number => ((time % week) + week) % week;

const startOf = (slot: WeeklySlot): number => slot.day_of_week * day + minutesOf(slot.start_time) * minute;

function lengthOf(slot: WeeklySlot): number {
  const length = (minutesOf(slot.end_time) - minutesOf(slot.start_time)) * minute;
  return length > 0 ? length : length + day;
}

const covers = (slots: readonly WeeklySlot[], time: number): boolean =>
  slots.some((slot) => wrapWeek(time - startOf(slot)) < lengthOf(slot));

/** The distance from `time` to the first start or end after which the time is inside (or outside) a slot; null when there is none. */
function msUntilBoundary(isInside: boolean, slots: readonly WeeklySlot[], time: number): number | null {
  const distances = slots
    .map((slot) => startOf(slot) + (isInside ? 0 : lengthOf(slot)))
    .filter((boundary) => covers(slots, wrapWeek(boundary)) === isInside)
    .map((boundary) => wrapWeek(boundary - time));
  return distances.length ? Math.min(...distances) : null;
}
