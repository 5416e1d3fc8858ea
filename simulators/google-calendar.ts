import { Hono } from 'hono';
import { GoogleError } from './google/errors.ts';
import { readBody, requireQuery, requireScope } from './google/requests.ts';
import { busyTimes, FreeBusyQuery, timeOf } from './google-calendar/busy.ts';
import { eventResource, insertEvent, NewEvent, type StoredEvent } from './google-calendar/events.ts';
import { createPerCustomer } from './grants.ts';
import type { Vendor, VendorBindings } from './vendor.ts';

/** The one calendar of every customer, under this name and its own. */
const calendarIds = ['primary', 'owner@example.com'];
const maxCalendars = 50;

/** The calendar of Google: API 3 under `/calendar/v3`. */
export const googleCalendar: Vendor = {
  name: 'googlecalendar',
  createRoutes: () => {
    const eventsOf = createPerCustomer((): StoredEvent[] => []);
    const routes = new Hono<{ Bindings: VendorBindings }>();

    routes.post('/calendar/v3/calendars/:calendar/events', async (c) => {
      const { customer } = requireScope(c, 'calendar', 'calendar.events', 'calendar.events.owned');
      requireQuery(c, ['sendUpdates', 'conferenceDataVersion', 'maxAttendees', 'supportsAttachments']);
      requireCalendar(c.req.param('calendar'));
      return c.json(eventResource(insertEvent(await readBody(c.req.raw, NewEvent), eventsOf(customer))));
    });
    routes.get('/calendar/v3/calendars/:calendar/events/:event', (c) => {
      const { customer } = requireScope(c, 'calendar', 'calendar.readonly', 'calendar.events', 'calendar.events.readonly');
      requireCalendar(c.req.param('calendar'));
      const found = eventsOf(customer).find(({ id }) => id === c.req.param('event'));
      if (found === undefined) throw new GoogleError(404, 'Not Found', { reason: 'notFound' });
      return c.json(eventResource(found));
    });
    routes.post('/calendar/v3/freeBusy', async (c) => {
      const { customer } = requireScope(c, 'calendar', 'calendar.readonly', 'calendar.freebusy');
      const query = await readBody(c.req.raw, FreeBusyQuery);
      if (query.items.length > maxCalendars)
        throw new GoogleError(400, 'Too many calendars requested', { reason: 'tooManyCalendarsRequested' });
      const [from, to] = [timeOf(query.timeMin), timeOf(query.timeMax)];
      if (to <= from) throw new GoogleError(400, 'The specified time range is empty.', { reason: 'timeRangeEmpty' });
      const calendars = query.items.map(({ id }) => [
        id,
        calendarIds.includes(id)
          ? { busy: busyTimes(eventsOf(customer), from, to) }
          : { errors: [{ domain: 'global', reason: 'notFound' }], busy: [] },
      ]);
      return c.json({
        kind: 'calendar#freeBusy',
        timeMin: query.timeMin,
        timeMax: query.timeMax,
        calendars: Object.fromEntries(calendars),
      });
    });
    routes.get('/calendar/v3/users/me/calendarList', (c) => {
      requireScope(c, 'calendar', 'calendar.readonly', 'calendar.calendarlist', 'calendar.calendarlist.readonly');
      const item = { id: calendarIds[1], summary: 'Work', primary: true, accessRole: 'owner', timeZone: 'UTC' };
      return c.json({ kind: 'calendar#calendarList', items: [item], nextSyncToken: 'sync-1' });
    });

    /** The events of a customer's calendar, for tests. */
    routes.get('/__sim/events', (c) => c.json({ events: eventsOf(c.req.query('customer') ?? '') }));
    routes.notFound(() => new GoogleError(404, 'Not Found', { reason: 'notFound' }).response);
    routes.onError((error) => {
      if (error instanceof GoogleError) return error.response;
      throw error;
    });
    return routes;
  },
};

function requireCalendar(id: string): void {
  if (!calendarIds.includes(id)) throw new GoogleError(404, 'Not Found', { reason: 'notFound' });
}
