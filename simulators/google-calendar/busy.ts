import { z } from 'zod';
import { invalid } from '../google/errors.ts';
import { instantOf, type StoredEvent } from './events.ts';

export const FreeBusyQuery = z.strictObject({
  timeMin: z.string(),
  timeMax: z.string(),
  timeZone: z.string().optional(),
  groupExpansionMax: z.int().optional(),
  calendarExpansionMax: z.int().optional(),
  items: z.array(z.strictObject({ id: z.string() })),
});

export function timeOf(text: string): number {
  const time = /(?:Z|[+-]\d\d:\d\d)$/i.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw invalid('Bad Request', 'badRequest');
  return time;
}

const written = (instant: number): string => new Date(instant).toISOString().replace('.000Z', 'Z');

/** The busy spans from `from` to `to`; overlapping events are merged. */
export function busyTimes(events: StoredEvent[], from: number, to: number): { start: string; end: string }[] {
  const spans = events
    .map((event) => ({ start: Math.max(instantOf(event.start), from), end: Math.min(instantOf(event.end), to) }))
    .filter(({ start, end }) => start < end)
    .toSorted((one, other) => one.start - other.start);
  const merged: typeof spans = [];
  for (const span of spans) {
    const last = merged.at(-1);
    if (last !== undefined && span.start <= last.end) last.end = Math.max(last.end, span.end);
    else merged.push({ ...span });
  }
  return merged.map(({ start, end }) => ({ start: written(start), end: written(end) }));
}
