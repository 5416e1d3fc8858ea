import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { calendar, toEventId, type EventToCreate } from '../../src/providers/apps/calendar.ts';
import { fakeConnection, startWorld, success } from './broker-world.ts';

const event = (more: Partial<EventToCreate> = {}): EventToCreate => ({
  summary: 'Demo with Ada',
  start: '2026-12-01T10:00:00+05:30',
  end: '2026-12-01T10:30:00+05:30',
  key: 'run:7:node:1',
  ...more,
});

describe('an event', () => {
  test('is created under an id made of its key, and the invited people are notified', async () => {
    const { connect, received } = await startWorld();
    const { createEvent } = calendar(await connect('calendar'));
    const more = { description: 'By phone', location: '+1 415', timeZone: 'Asia/Kolkata', attendees: ['ada@example.com'] };
    const created = await success(createEvent(event(more)));
    const id = toEventId('run:7:node:1');
    expect(created.event).toEqual({ id, url: `https://www.google.com/calendar/event?eid=${id}`, isNew: true });
    const [asked] = await received('googlecalendar');
    expect([asked!.path, asked!.query]).toEqual(['/calendar/v3/calendars/primary/events', { sendUpdates: 'all' }]);
    expect(asked!.body).toEqual({
      id,
      summary: 'Demo with Ada',
      description: 'By phone',
      location: '+1 415',
      start: { dateTime: '2026-12-01T10:00:00+05:30', timeZone: 'Asia/Kolkata' },
      end: { dateTime: '2026-12-01T10:30:00+05:30', timeZone: 'Asia/Kolkata' },
      attendees: [{ email: 'ada@example.com' }],
    });
  });

  test('created twice is one event', async () => {
    const { connect } = await startWorld();
    const { createEvent } = calendar(await connect('calendar'));
    const first = await success(createEvent(event()));
    expect(await success(createEvent(event()))).toEqual({ event: { ...first.event, isNew: false } });
  });

  test('whose answer is lost is tried again at once, and is still one event', async () => {
    const { connect, plan, received } = await startWorld();
    const { createEvent } = calendar(await connect('calendar'));
    await plan({ provider: 'googlecalendar', match: { method: 'POST' }, drop_response: true });
    const { event: made } = await success(createEvent(event()));
    expect(made).toMatchObject({ id: toEventId('run:7:node:1'), isNew: false });
    expect((await received('googlecalendar')).map(({ method }) => method)).toEqual(['POST', 'POST', 'GET']);
  });

  test('that is there but cannot be read is there all the same', async () => {
    const { connection } = fakeConnection(({ method }) =>
      method === 'POST'
        ? { status: 409, data: { error: { code: 409, message: 'exists', errors: [{ reason: 'duplicate' }] } } }
        : { status: 403, data: { error: { code: 403, message: 'no' } } },
    );
    expect(await calendar(connection).createEvent(event())).toEqual({ event: { id: toEventId('run:7:node:1'), isNew: false } });
  });

  test('that fails three times has an unknown outcome', async () => {
    const { connection, asked, waits } = fakeConnection(() => ({ status: 503, data: {} }));
    expect(await calendar(connection).createEvent(event())).toMatchObject({ failure: 'unavailable', outcomeUnknown: true });
    expect([asked.length, waits]).toEqual([3, [250, 500]]);
  });

  test.each([
    [{ end: '2026-12-01T09:00:00+05:30' }, 'The specified time range is empty.'],
    [{ attendees: ['nobody'] }, 'Invalid attendee email.'],
    [{ start: '2026-12-01T10:00:00' }, 'Missing time zone definition for start time.'],
    [{ calendarId: 'other@example.com' }, 'Not Found'],
  ])('with %j is refused in the words of the calendar', async (more, words) => {
    const { connect } = await startWorld();
    expect(await calendar(await connect('calendar')).createEvent(event(more))).toMatchObject({
      failure: 'rejected',
      message: `calendar: ${words}`,
    });
  });

  test('has an id of the characters that Google takes, another one for another key', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        expect(toEventId(one)).toMatch(/^[0-9a-v]{66}$/);
        expect(toEventId(one) === toEventId(other)).toBe(one === other);
      }),
    );
  });
});

describe('free and busy time', () => {
  const day = { from: '2026-12-01T00:00:00Z', to: '2026-12-02T00:00:00Z' };

  test('is that of the events', async () => {
    const { connect } = await startWorld();
    const { createEvent, freeBusy } = calendar(await connect('calendar'));
    expect(await freeBusy(day)).toEqual({ calendars: new Map([['primary', { busy: [] }]]) });
    await success(createEvent(event()));
    expect(await freeBusy({ ...day, timeZone: 'Asia/Kolkata' })).toEqual({
      calendars: new Map([['primary', { busy: [{ start: '2026-12-01T04:30:00Z', end: '2026-12-01T05:00:00Z' }] }]]),
    });
  });

  test('of a calendar that cannot be read is a problem of this one, and a failure when there is no other', async () => {
    const { connect } = await startWorld();
    const { freeBusy } = calendar(await connect('calendar'));
    expect(await freeBusy({ ...day, calendarIds: ['primary', 'other@example.com'] })).toEqual({
      calendars: new Map([
        ['primary', { busy: [] }],
        ['other@example.com', { busy: [], problem: 'notFound' }],
      ]),
    });
    expect(await freeBusy({ ...day, calendarIds: ['other@example.com'] })).toEqual({
      failure: 'rejected',
      code: 'notFound',
      message: 'calendar: other@example.com: notFound',
    });
  });

  test('needs more than the scope that creates events', async () => {
    const { connect } = await startWorld();
    const { createEvent, freeBusy } = calendar(await connect('calendar', { scopes: 'https://www.googleapis.com/auth/calendar.events' }));
    await success(createEvent(event()));
    expect(await freeBusy(day)).toEqual({
      failure: 'insufficient_permissions',
      code: 'insufficientPermissions',
      message: 'Request had insufficient authentication scopes.',
    });
  });

  test('is asked for again, since asking changes nothing', async () => {
    const { connect, plan, waits } = await startWorld();
    const { freeBusy } = calendar(await connect('calendar'));
    const limit = { error: { code: 403, message: 'Rate Limit Exceeded', errors: [{ reason: 'userRateLimitExceeded' }] } };
    await plan({ provider: 'googlecalendar', times: 2, status: 403, body: limit });
    expect(await freeBusy(day)).toEqual({ calendars: new Map([['primary', { busy: [] }]]) });
    expect(waits).toEqual([250, 500]);
  });
});
