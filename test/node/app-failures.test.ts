import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createAppClient } from '../../src/providers/apps/app-client.ts';
import { failureFromResponse } from '../../src/providers/apps/failures.ts';
import { apps, type App } from '../../src/library/connectable-apps.ts';
import { type AppResponse } from '../../src/providers/broker/broker.ts';
import { fakeConnection } from './broker-world.ts';

const now = Date.parse('2026-12-01T10:00:00Z');
const read = (app: App, status: number, data: unknown, headers: AppResponse['headers'] = {}) =>
  failureFromResponse(app, { status, headers, data }, now);
const google = (code: number, message: string, reason?: string, place: 'errors' | 'details' = 'errors') => ({
  error: { code, message, ...(reason && { [place]: [{ reason }] }) },
});

describe('what a provider says is a', () => {
  test.each<[App, number, unknown, string, string]>([
    ['chatapp', 200, { ok: false, error: 'token_revoked' }, 'not_connected', 'token_revoked'],
    ['chatapp', 200, { ok: false, error: 'account_inactive' }, 'not_connected', 'connect it again'],
    ['chatapp', 200, { ok: false, error: 'invalid_auth' }, 'not_connected', 'invalid_auth'],
    ['chatapp', 200, { ok: false, error: 'not_authed' }, 'not_connected', 'not_authed'],
    ['chatapp', 200, { ok: false, error: 'token_expired' }, 'not_connected', 'token_expired'],
    ['chatapp', 200, { ok: false, error: 'missing_scope', needed: 'groups:read' }, 'insufficient_permissions', 'granted: nothing'],
    ['chatapp', 200, { ok: false, error: 'no_permission' }, 'insufficient_permissions', 'no_permission'],
    ['chatapp', 200, { ok: false, error: 'is_archived' }, 'rejected', 'choose another one'],
    ['chatapp', 200, { ok: false, error: 'something_new' }, 'rejected', 'chatapp: something_new'],
    ['chatapp', 200, { ok: false, error: 'internal_error' }, 'unavailable', 'internal_error'],
    ['chatapp', 200, { ok: false, error: 'ratelimited' }, 'rate_limited', 'later'],
    ['chatapp', 404, 'not found', 'rejected', 'status 404'],
    ['tracker', 401, { code: 401, message: 'Unauthorized; scope does not match' }, 'insufficient_permissions', 'scopes'],
    ['tracker', 401, { code: 401, message: 'Unauthorized' }, 'not_connected', 'connect it again'],
    ['tracker', 403, { errorMessages: ['No permission.'] }, 'insufficient_permissions', 'No permission.'],
    ['tracker', 403, '<html>', 'insufficient_permissions', 'forbids'],
    ['tracker', 404, { errorMessages: ['No project.'], errors: {} }, 'rejected', 'tracker: No project.'],
    ['tracker', 400, { errorMessages: [], errors: { a: 'x', b: 'y' } }, 'rejected', 'tracker: a: x; b: y'],
    ['tracker', 429, {}, 'rate_limited', 'rate limited'],
    ['tracker', 503, {}, 'unavailable', 'status 503'],
    ['calendar', 401, google(401, 'Invalid Credentials', 'authError'), 'not_connected', 'Invalid Credentials'],
    ['calendar', 403, google(403, 'No.', 'insufficientPermissions'), 'insufficient_permissions', 'No.'],
    ['calendar', 403, google(403, 'No.', 'ACCESS_TOKEN_SCOPE_INSUFFICIENT', 'details'), 'insufficient_permissions', 'No.'],
    ['calendar', 403, google(403, 'Slow', 'rateLimitExceeded'), 'rate_limited', 'Slow'],
    ['calendar', 403, google(403, 'Slow', 'quotaExceeded'), 'rate_limited', 'Slow'],
    ['calendar', 403, google(403, 'Forbidden', 'forbidden'), 'rejected', 'calendar: Forbidden'],
    ['calendar', 412, google(412, 'Changed', 'conditionNotMet'), 'rejected', 'Changed'],
    ['calendar', 500, google(500, 'Backend Error', 'backendError'), 'unavailable', 'Backend Error'],
    ['sheet', 404, google(404, 'Requested entity was not found.'), 'rejected', 'sheet: Requested entity was not found.'],
    ['sheet', 403, google(403, 'The caller does not have permission'), 'rejected', 'The caller does not have permission'],
    ['sheet', 400, google(400, 'Unable to parse range: X'), 'rejected', 'Unable to parse range: X'],
    ['sheet', 429, google(429, 'Quota exceeded'), 'rate_limited', 'Quota exceeded'],
    ['sheet', 302, '', 'rejected', 'status 302'],
    ['books', 401, { code: 57, message: 'You are not authorized' }, 'insufficient_permissions', 'You are not authorized'],
    ['books', 401, { code: 14, message: 'Invalid value passed for authtoken.' }, 'not_connected', 'connect it again'],
    ['books', 400, { code: 6041, message: 'Not associated.' }, 'rejected', 'books: Not associated.'],
    ['books', 404, { code: 1002, message: 'Contact does not exist.' }, 'rejected', 'does not exist'],
    ['books', 200, { code: 4, message: 'Invalid value' }, 'rejected', 'Invalid value'],
    ['books', 400, { code: 43, message: 'Blocked.' }, 'rate_limited', 'in 60 seconds'],
    ['books', 429, {}, 'rate_limited', 'in 60 seconds'],
    ['books', 400, { code: 1000, message: 'Internal' }, 'unavailable', 'Internal'],
    ['books', 500, '<html>', 'unavailable', 'status 500'],
  ])('%s answer %d %j: %s', (app, status, data, failure, words) => {
    expect(read(app, status, data)).toMatchObject({ failure, message: expect.stringContaining(words) });
  });

  test('success when it is one', () => {
    expect(read('chatapp', 200, { ok: true })).toBeUndefined();
    expect(read('tracker', 201, { id: '1' })).toBeUndefined();
    expect(read('calendar', 204, '')).toBeUndefined();
    expect(read('books', 201, { code: 0 })).toBeUndefined();
    expect(read('sheet', 200, {})).toBeUndefined();
  });
});

describe('however odd an answer is', () => {
  const oddities = [
    undefined,
    null,
    '',
    '<html>',
    7,
    [],
    [null],
    {},
    { error: null },
    { error: 'x' },
    { error: [] },
    { errors: 'x' },
    { code: {} },
  ];
  test.each(apps)('%s says something of it', (app) => {
    for (const status of [400, 401, 403, 404, 409, 429, 500])
      for (const data of oddities) {
        const failure = read(app, status, data);
        if (status === 429) expect(failure?.failure).toBe('rate_limited');
        if (status === 500) expect(failure?.failure).toBe('unavailable');
        expect(failure?.message.length).toBeGreaterThan(5);
        expect(failure?.message).not.toMatch(/undefined|\[object|null/);
      }
  });

  test('its words are one line of bounded length', () => {
    const { message } = read('sheet', 400, google(400, `a\n\tb ${'x'.repeat(10_000)}`))!;
    expect(message).toMatch(/^sheet: a b x+\.\.\.$/);
    expect(message.length).toBeLessThan(250);
  });
});

describe('a wait that is asked for', () => {
  test.each(apps)('is read from %s in seconds and as a date, and is an hour at the most', (app) => {
    const waitOf = (value: string) => read(app, 429, {}, { 'retry-after': value })?.retryAfterSeconds;
    expect([waitOf('5'), waitOf('Tue, 01 Dec 2026 10:00:30 GMT'), waitOf('Tue, 01 Dec 2020 10:00:30 GMT')]).toEqual([5, 30, 0]);
    expect([waitOf('31536000'), waitOf('Fri, 01 Jan 2100 00:00:00 GMT')]).toEqual([3600, 3600]);
    expect(waitOf('in a while')).toBe(app === 'books' ? 60 : undefined);
    if (app !== 'chatapp')
      expect(read(app, 503, {}, { 'retry-after': '5' })).toMatchObject({ failure: 'unavailable', retryAfterSeconds: 5 });
  });

  const ask = (headers: Record<string, string>, call: object = {}, more: object = {}) => {
    const { connection, asked, waits } = fakeConnection(() => ({ status: 429, headers, data: {} }));
    const outcome = createAppClient('sheet', { ...connection, ...more })(
      { method: 'GET', url: 'https://sheets.googleapis.com/', ...call },
      z.unknown(),
    );
    return outcome.then((failure) => ({ failure, tries: asked.length, waits }));
  };

  test('is slept when it is short, and left to the caller when it is long', async () => {
    expect(await ask({ 'retry-after': '2' })).toMatchObject({ tries: 3, waits: [2_000, 2_000] });
    expect(await ask({ 'retry-after': '6' })).toMatchObject({ tries: 1, waits: [], failure: { retryAfterSeconds: 6 } });
    expect(await ask({ 'retry-after': '6' }, {}, { maxWaitMs: 6_000 })).toMatchObject({ tries: 3, waits: [6_000, 6_000] });
    expect(await ask({})).toMatchObject({ tries: 3, waits: [250, 500] });
  });

  test('is no reason to repeat what changes something', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      expect(await ask({ 'retry-after': '1' }, { method })).toMatchObject({ tries: 1, failure: { failure: 'rate_limited' } });
  });
});

test('a failure of the broker comes through as it is, repeated for what only reads', async () => {
  const { connection, asked } = fakeConnection(() => ({ failure: 'unavailable', message: 'down' }));
  const ask = createAppClient('sheet', connection);
  const url = 'https://sheets.googleapis.com/';
  expect(await ask({ method: 'GET', url }, z.unknown())).toEqual({ failure: 'unavailable', message: 'down' });
  expect(asked).toHaveLength(3);
  expect(await ask({ method: 'POST', url }, z.unknown())).toEqual({ failure: 'unavailable', message: 'down', outcomeUnknown: true });
  expect(asked).toHaveLength(4);
});
