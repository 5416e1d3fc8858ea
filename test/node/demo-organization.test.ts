import { expect, test } from 'vitest';
import { createDemoOrganization, isKeyAccepted } from '../../scripts/local/demo-organization.ts';
import { LocalError } from '../../scripts/local/settings.ts';

/** A service that answers each path as given, and records the requests. */
function fakeService(answers: Record<string, { status: number; body: unknown }>) {
  const asked: { path: string; headers: Headers; body: Record<string, unknown> }[] = [];
  const send = (async (url: string, init: RequestInit = {}) => {
    const path = new URL(url).pathname.replace('/api/v1', '');
    asked.push({ path, headers: new Headers(init.headers), body: init.body === undefined ? {} : JSON.parse(init.body as string) });
    const answer = answers[path] ?? { status: 404, body: { detail: 'Not found' } };
    return Response.json(answer.body, { status: answer.status });
  }) as typeof fetch;
  return { asked, send };
}

const answering = (status: number) => fakeService({ '/organizations/current': { status, body: {} } });

const baseUrl = 'http://127.0.0.1:9001/api/v1';

test('the demo organization is signed up and gets a key that may do everything', async () => {
  const { asked, send } = fakeService({
    '/auth/signup': { status: 200, body: { token: 'session-token' } },
    '/user/api-keys': { status: 200, body: { id: 1, api_key: 'vaa_new' } },
  });
  const options = { hasSimulatedCarrier: false };
  expect(await createDemoOrganization(baseUrl, options, send)).toBe('vaa_new');
  expect(await createDemoOrganization(baseUrl, options, send)).toBe('vaa_new');
  expect(asked.map(({ path }) => path)).toEqual(['/auth/signup', '/user/api-keys', '/auth/signup', '/user/api-keys']);
  const [signup, key, secondSignup] = asked;
  expect(signup?.body).toMatchObject({ organization_name: 'Demo Organization', password: expect.stringMatching(/^.{30,}$/) });
  expect(key?.headers.get('authorization')).toBe('Bearer session-token');
  expect(key?.body).toEqual({ name: 'Demo key', scopes: ['admin'] });
  expect(secondSignup?.body.email).not.toBe(signup?.body.email);
});

test('where the carriers are simulated, it gets an account at one of them, so that it can call at once', async () => {
  const { asked, send } = fakeService({
    '/auth/signup': { status: 200, body: { token: 'session-token' } },
    '/organizations/telephony-configs': { status: 200, body: { id: 1 } },
    '/user/api-keys': { status: 200, body: { id: 1, api_key: 'vaa_new' } },
  });
  expect(await createDemoOrganization(baseUrl, { hasSimulatedCarrier: true }, send)).toBe('vaa_new');
  const carrier = asked.find(({ path }) => path === '/organizations/telephony-configs');
  expect(carrier?.headers.get('authorization')).toBe('Bearer session-token');
  expect(carrier?.body).toEqual({
    name: 'Simulated carrier',
    provider: 'twilio',
    twilio: { account_sid: expect.stringMatching(/^AC[0-9a-f]{32}$/), auth_token: expect.stringMatching(/^[0-9a-f]{32}$/) },
    from_numbers: ['+15005550006'],
    calls_per_second: 50,
  });
});

test('an organization whose carrier was refused is not taken for a finished one', async () => {
  const { send } = fakeService({
    '/auth/signup': { status: 200, body: { token: 'session-token' } },
    '/organizations/telephony-configs': { status: 500, body: { detail: 'Internal server error' } },
  });
  await expect(createDemoOrganization(baseUrl, { hasSimulatedCarrier: true }, send)).rejects.toThrow(/telephony-configs answered 500/);
});

test('closed sign-up is reported with the remedy', async () => {
  const { send } = fakeService({ '/auth/signup': { status: 403, body: { detail: 'Sign-up is closed' } } });
  await expect(createDemoOrganization(baseUrl, { hasSimulatedCarrier: true }, send)).rejects.toThrow(/Sign-up is closed.*SIGNUP="open"/s);
});

test('a stored key is good when the service takes it, bad at 401, and an error otherwise', async () => {
  const good = answering(200);
  expect(await isKeyAccepted(baseUrl, 'vaa_stored', good.send)).toBe(true);
  expect(good.asked[0]?.headers.get('x-api-key')).toBe('vaa_stored');
  expect(await isKeyAccepted(baseUrl, 'vaa_stored', answering(401).send)).toBe(false);
  await expect(isKeyAccepted(baseUrl, 'vaa_stored', answering(500).send)).rejects.toThrow(LocalError);
});
