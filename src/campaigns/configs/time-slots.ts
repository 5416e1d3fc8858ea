import { z } from 'zod';
import { configObject } from '../../library/json/config-object.ts';
import { normalizeTimeOfDay } from '../../library/time/time-zones.ts';
import { WeeklySlot } from '../../library/time/weekly-slots.ts';

const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

/** The name of a weekday, in full or its first three letters, as 0 = Monday .. 6 = Sunday; -1 for anything else. */
const toDayNumber = (name: string): number => {
  const plain = name.trim().toLowerCase();
  return days.findIndex((day) => plain === day || plain === day.slice(0, 3));
};

const timeSlotKeys: Record<string, string> = { day_of_week: 'day', start_time: 'start', end_time: 'end' };

/** Another form of a schedule's slot: `{ day: "monday", start: "09:00", end: "17:00" }`. */
export const TimeSlot = configObject({
  day: z
    .string('Must be the name of a weekday')
    .refine((name) => toDayNumber(name) >= 0, { message: 'Unknown day; use monday to sunday', abort: true })
    .describe('Day on which it begins: monday to sunday, or the first three letters.'),
  start: z.string('Must be HH:MM between 00:00 and 24:00').describe('When it begins, `HH:MM` from 00:00 to 24:00, inclusive.'),
  end: z.string('Must be HH:MM between 00:00 and 24:00').describe('When it ends, `HH:MM`, exclusive. Before `start`: on the next day.'),
}).superRefine((slot, context) => {
  for (const { path, message } of WeeklySlot.safeParse(toWeeklySlot(slot)).error?.issues ?? [])
    context.addIssue({ code: 'custom', path: path.map((key) => timeSlotKeys[String(key)] ?? key), message });
});
export type TimeSlot = z.infer<typeof TimeSlot>;

export const TimeSlots = z
  .array(TimeSlot, 'Must be a list of slots')
  .min(1, 'Give at least one slot, or null to call at any time')
  .max(50, 'At most 50 slots');

/** Unknown keys stay. */
export const toWeeklySlot = ({ day, start, end, ...unknown }: TimeSlot): WeeklySlot => ({
  ...unknown,
  day_of_week: toDayNumber(day),
  start_time: normalizeTimeOfDay(start),
  end_time: normalizeTimeOfDay(end),
});
