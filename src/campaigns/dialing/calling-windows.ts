import { timezoneProblem } from '../../expressions/cron-schedule.ts';
import { nextInside, nextOutside } from '../../library/time/weekly-slots.ts';
import type { ScheduleConfig } from '../configs/configs.ts';

/** Why no window ever opens. `detail` is a sentence. */
export interface NoCallingWindow {
  reason: 'unknown_timezone' | 'no_calling_window';
  detail: string;
}

/**
 * Epoch ms. `opensAt` is the moment asked about when dialling is allowed then. A call must begin before `closesAt`; null: at any time.
 */
export type CallingWindow = { opensAt: number; closesAt: number | null } | { never: NoCallingWindow };

/** The window that is open at `moment`, else the next one. An unknown zone has none: nobody is called by a clock that cannot be read. */
export function findCallingWindow(schedule: ScheduleConfig, zone: string, moment: number): CallingWindow {
  if (!schedule.enabled) return { opensAt: moment, closesAt: null };
  const problem = timezoneProblem(zone);
  if (problem) return { never: { reason: 'unknown_timezone', detail: problem } };
  const opensAt = nextInside(schedule.slots, zone, moment);
  if (opensAt === null)
    return { never: { reason: 'no_calling_window', detail: 'the schedule is enabled and has no slots; add one or disable it' } };
  return { opensAt, closesAt: nextOutside(schedule.slots, zone, opensAt) };
}
