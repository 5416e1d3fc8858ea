import { z } from 'zod';
import { configObject } from '../library/config-object.ts';
import { clockTime } from '../library/time-of-day.ts';
import { WeeklySlot } from '../library/weekly-slots.ts';

const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

/** The name of a weekday, in full or its first three letters, as 0 = Monday .. 6 = Sunday; -1 for anything else. */
const dayNumber = (name: string): number => {
  const plain = name.trim().toLowerCase();
  return days.findIndex((day) => plain === day || plain === day.slice(0, 3));
};

const otherNames: Record<string, string> = { day_of_week: 'day', start_time: 'start', end_time: 'end' };

/** A slot of a schedule in other words: `{ day: "monday", start: "09:00", end: "17:00" }`. */
export const TimeSlot = configObject({
  day: z
    .string('Must be the name of a weekday')
    .refine((name) => dayNumber(name) >= 0, { message: 'Unknown day; use monday to sunday', abort: true }),
  start: z.string('Must be HH:MM between 00:00 and 24:00'),
  end: z.string('Must be HH:MM between 00:00 and 24:00'),
}).superRefine((slot, context) => {
  for (const { path, message } of WeeklySlot.safeParse(weeklySlotOf(slot)).error?.issues ?? [])
    context.addIssue({ code: 'custom', path: path.map((key) => otherNames[String(key)] ?? key), message });
});
export type TimeSlot = z.infer<typeof TimeSlot>;

export const TimeSlots = z
  .array(TimeSlot, 'Must be a list of slots')
  .min(1, 'Give at least one slot, or null to call at any time')
  .max(50, 'At most 50 slots');

/** Unknown keys stay. */
export const weeklySlotOf = ({ day, start, end, ...unknown }: TimeSlot): WeeklySlot => ({
  ...unknown,
  day_of_week: dayNumber(day),
  start_time: clockTime(start),
  end_time: clockTime(end),
});
