import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { AppFailure } from '../broker/broker.ts';
import { appFailure } from '../broker/app-failure.ts';
import { createAppClient, type AppConnection } from './app-client.ts';
import { percentEncoded } from '../../library/text/clean-text.ts';

export interface EventToCreate {
  /** Default: the primary calendar of the connected person. */
  calendarId?: string | undefined;
  summary: string;
  description?: string | undefined;
  location?: string | undefined;
  /** ISO 8601 with offset, or local time with `timeZone`. */
  start: string;
  end: string;
  /** IANA. */
  timeZone?: string | undefined;
  /** The e-mail addresses of the invited people. */
  attendees?: string[] | undefined;
  /** Identifies the event for good: a repeat with the same key creates no second event. */
  key: string;
}

export interface CalendarEvent {
  id: string;
  /** A page for people; absent when an existing event could not be read. */
  url?: string;
  /** False: an earlier try has created the event. */
  isNew: boolean;
}

interface BusyTime {
  start: string;
  end: string;
}

export interface Calendar {
  createEvent(event: EventToCreate): Promise<{ event: CalendarEvent } | AppFailure>;
  /** The busy times between two moments, ISO 8601 with offset. Up to 50 calendars; `problem`: why one of them could not be read. */
  freeBusy(query: {
    from: string;
    to: string;
    timeZone?: string | undefined;
    calendarIds?: string[] | undefined;
  }): Promise<{ calendars: Map<string, { busy: BusyTime[]; problem?: string }> } | AppFailure>;
}

const api = 'https://www.googleapis.com/calendar/v3';

const Event = z.object({ id: z.string(), htmlLink: z.string().optional() });
const FreeBusy = z.object({
  calendars: z.record(
    z.string(),
    z.object({
      busy: z.array(z.object({ start: z.string(), end: z.string() })).default([]),
      errors: z.array(z.object({ reason: z.string() })).default([]),
    }),
  ),
});

/** The event id of a key. Google requires 5 to 1,024 of the characters 0-9 and a-v. */
export const toEventId = (key: string): string =>
  `va${[...createHash('sha256').update(key).digest()].map((byte) => byte.toString(32).padStart(2, '0')).join('')}`;

/** Google Calendar, API 3 (https://developers.google.com/workspace/calendar/api/v3/reference). */
export function calendar(connection: AppConnection): Calendar {
  const ask = createAppClient('calendar', connection);

  return {
    async createEvent({ calendarId = 'primary', summary, description, location, start, end, timeZone, attendees = [], key }) {
      const url = `${api}/calendars/${percentEncoded(calendarId)}/events`;
      const id = toEventId(key);
      const zone = timeZone !== undefined && { timeZone };
      const body = {
        id,
        summary,
        ...(description && { description }),
        ...(location && { location }),
        start: { dateTime: start, ...zone },
        end: { dateTime: end, ...zone },
        ...(attendees.length > 0 && { attendees: attendees.map((email) => ({ email })) }),
      };
      const query = { sendUpdates: attendees.length > 0 ? 'all' : 'none' };
      const created = await ask({ method: 'POST', url, query, body, isRepeatable: true }, Event);
      if (!('failure' in created)) return { event: toCalendarEvent(created.data, true) };
      // `duplicate`: the event exists, because an earlier try succeeded without an answer.
      if (created.code !== 'duplicate') return created.failure === 'unavailable' ? { ...created, outcomeUnknown: true } : created;
      const known = await ask({ method: 'GET', url: `${url}/${id}` }, Event);
      return { event: toCalendarEvent('failure' in known ? { id } : known.data, false) };
    },

    async freeBusy({ from, to, timeZone, calendarIds = ['primary'] }) {
      const body = { timeMin: from, timeMax: to, ...(timeZone !== undefined && { timeZone }), items: calendarIds.map((id) => ({ id })) };
      const answer = await ask({ method: 'POST', url: `${api}/freeBusy`, body, isRepeatable: true }, FreeBusy);
      if ('failure' in answer) return answer;
      const calendars = new Map(
        calendarIds.map((id) => {
          const found = answer.data.calendars[id];
          const problem = found === undefined ? 'notFound' : found.errors[0]?.reason;
          return [id, { busy: found?.busy ?? [], ...(problem !== undefined && { problem }) }] as const;
        }),
      );
      const problems = [...calendars].map(([id, { problem }]) => problem && `${id}: ${problem}`);
      // Google reports errors of calendars in a successful answer. When all calendars have errors, the answer is a failure.
      return problems.every(Boolean)
        ? appFailure('rejected', `calendar: ${problems.join(', ')}`, firstProblemCode(calendars))
        : { calendars };
    },
  };
}

const toCalendarEvent = ({ id, htmlLink }: z.output<typeof Event>, isNew: boolean): CalendarEvent => ({
  id,
  ...(htmlLink !== undefined && { url: htmlLink }),
  isNew,
});

function firstProblemCode(calendars: Map<string, { problem?: string }>): { code?: string } {
  const code = calendars.values().next().value?.problem;
  return code === undefined ? {} : { code };
}
