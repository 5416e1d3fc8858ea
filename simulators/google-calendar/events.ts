import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { GoogleError, invalid } from '../google/errors.ts';

const Moment = z.strictObject({ dateTime: z.string().optional(), date: z.string().optional(), timeZone: z.string().optional() });
export type Moment = z.output<typeof Moment>;

export const NewEvent = z.strictObject({
  id: z.string().optional(),
  summary: z.string().optional(),
  description: z.string().optional(),
  location: z.string().optional(),
  start: Moment,
  end: Moment,
  attendees: z.array(z.strictObject({ email: z.string(), displayName: z.string().optional() })).optional(),
  reminders: z.object({}).optional(),
});

export interface StoredEvent extends Omit<z.output<typeof NewEvent>, 'id'> {
  id: string;
  created: string;
}

const idForm = /^[0-9a-v]{5,1024}$/;
const email = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/** Adds an event to `events`. Throws GoogleError. */
export function insertEvent(given: z.output<typeof NewEvent>, events: StoredEvent[]): StoredEvent {
  const { id = randomBytes(13).toString('hex'), ...rest } = given;
  if (!idForm.test(id)) throw invalid('Invalid resource id value.', 'invalid');
  if (rest.attendees?.some((one) => !email.test(one.email))) throw invalid('Invalid attendee email.', 'invalid');
  if (instantOf(rest.end) <= instantOf(rest.start)) throw invalid('The specified time range is empty.', 'timeRangeEmpty');
  if (events.some((event) => event.id === id))
    throw new GoogleError(409, 'The requested identifier already exists.', { reason: 'duplicate' });
  const event = { ...rest, id, created: new Date().toISOString() };
  events.push(event);
  return event;
}

/** Epoch ms. A time without an offset is taken as of UTC: nothing here depends on the zone. */
export function instantOf({ dateTime, date, timeZone }: Moment): number {
  if (dateTime === undefined && date === undefined) throw invalid('Missing time.', 'required');
  const hasOffset = /(?:Z|[+-]\d\d:\d\d)$/i.test(dateTime ?? '');
  if (dateTime !== undefined && !hasOffset && timeZone === undefined)
    throw invalid('Missing time zone definition for start time.', 'required');
  const instant = Date.parse(dateTime === undefined ? date! : hasOffset ? dateTime : `${dateTime}Z`);
  if (Number.isNaN(instant)) throw invalid('Invalid value for: Invalid format', 'invalid');
  return instant;
}

export const eventResource = ({ attendees, ...event }: StoredEvent): object => ({
  kind: 'calendar#event',
  status: 'confirmed',
  htmlLink: `https://www.google.com/calendar/event?eid=${event.id}`,
  ...event,
  ...(attendees && { attendees: attendees.map((one) => ({ ...one, responseStatus: 'needsAction' })) }),
});
