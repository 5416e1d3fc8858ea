/** Zones of every kind, the changes of their clocks from 2011 to 2035, and moments around these, all read from the platform alone. */

import * as fc from 'fast-check';
import { shownMinute, type Window } from './zone-clocks.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const [firstYear, lastYear] = [2011, 2035];

export const zonesOfEveryKind = [
  'America/New_York',
  'Europe/London',
  'America/Sao_Paulo',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Europe/Berlin',
  'America/St_Johns',
  'Asia/Kathmandu',
  'Africa/Casablanca',
] as const;

const offsetMinutes = (zone: string, epochMs: number): number => shownMinute(zone, epochMs) - Math.floor(epochMs / minute);

/** The first minutes after each change; for a clock that never changes, the first of July of every year. */
function changesOf(zone: string): number[] {
  const changes: number[] = [];
  for (let at = Date.UTC(firstYear, 0, 1); at < Date.UTC(lastYear + 1, 0, 1); at += day) {
    let [before, after] = [at, at + day];
    if (offsetMinutes(zone, before) === offsetMinutes(zone, after)) continue;
    while (after - before > minute) {
      const middle = before + Math.floor((after - before) / (2 * minute)) * minute;
      if (offsetMinutes(zone, middle) === offsetMinutes(zone, after)) after = middle;
      else before = middle;
    }
    changes.push(after);
  }
  if (changes.length === 0) for (let year = firstYear; year <= lastYear; year++) changes.push(Date.UTC(year, 6, 1));
  return changes;
}

export const clockChanges: ReadonlyMap<string, readonly number[]> = new Map(zonesOfEveryKind.map((zone) => [zone, changesOf(zone)]));

export interface Moment {
  zone: string;
  /** Epoch ms. */
  at: number;
}

/** Moments at most `distance` from a change of the clock, most of them within some hours. */
export const momentsNearChanges = (distance = 3 * day): fc.Arbitrary<Moment> =>
  fc
    .record({
      zone: fc.constantFrom(...zonesOfEveryKind),
      index: fc.nat({ max: 999 }),
      offset: fc.oneof(
        around(distance),
        around(Math.min(distance, 4 * hour)),
        around(Math.min(distance, 26 * hour) / minute).map((minutes) => minutes * minute),
      ),
    })
    .map(({ zone, index, offset }) => {
      const changes = clockChanges.get(zone)!;
      return { zone, at: changes[index % changes.length]! + offset };
    });

const around = (most: number): fc.Arbitrary<number> => fc.integer({ min: -most, max: most });

/** The time of the wall clock in each of `count` minutes from `from` on, in minutes since 1970. */
export function shownMinutes(zone: string, from: number, count: number): Int32Array {
  const first = Math.floor(from / minute);
  const shown = new Int32Array(count);
  for (let start = 0; start < count; start += 60) {
    const offset = offsetMinutes(zone, (first + start) * minute);
    const isSteady = offset === offsetMinutes(zone, (first + start + 59) * minute);
    for (let index = start; index < Math.min(start + 60, count); index++)
      shown[index] = isSteady ? first + index + offset : shownMinute(zone, (first + index) * minute);
  }
  return shown;
}

/** The minutes of `[from, until)`, for asking when a wall clock is first reached. What the clock has shown the day before counts as shown. */
export function stretch(zone: string, from: number, until: number): Window {
  const dayBefore = (24 * hour) / minute;
  const start = Math.floor(from / minute) * minute;
  const shown = shownMinutes(zone, start - day, dayBefore + Math.ceil((until - start) / minute));
  let latest = -Infinity;
  const latestShown = Array.from(shown, (value) => (latest = Math.max(latest, value))).slice(dayBefore - 1);
  return { zone, start: start - minute, latestShown };
}
