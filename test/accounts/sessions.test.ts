import { env, exports } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { newOrganization } from '../support/organization.ts';
import { anonymous, asBearer, asBrowser, newMember, newSession, newUser, origin, password, signUp } from '../http/service.ts';

afterEach(() => vi.useRealTimers());

const fetchService = (path: string, init: RequestInit) => exports.default.fetch(new Request(`${origin}/api/v1${path}`, init));

describe('a session', () => {
  test('works the same as a bearer and as a cookie', async () => {
    const { token, userId, organizationId } = await newMember();
    const bearer = await asBearer(token).get('/auth/me');
    const cookie = await asBrowser(token).get('/auth/me');
    expect(bearer).toMatchObject({ status: 200, body: { user: { id: userId }, organization: { id: organizationId } } });
    expect(cookie).toMatchObject({ status: 200, body: bearer.body });
    const made = await asBrowser(token).post('/contacts', { email: 'someone@example.com' });
    expect((await asBearer(token).get(`/contacts/${made.body.id}`)).body).toMatchObject({ email: 'someone@example.com' });
    expect((await asBearer(token).post('/user/api-keys', { name: 'by session' })).status).toBe(200);
  });

  test('is kept in a cookie that scripts, plain HTTP and other sites do not get', async () => {
    const { email, headers } = await signUp();
    const loggedIn = await anonymous.post('/auth/login', { email, password });
    for (const answer of [headers, loggedIn.headers]) {
      const [session, device] = answer.getSetCookie();
      expect(session).toMatch(/^session=vas_[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
      expect(device).toMatch(/^device=[\w-]{22}\.[0-9a-f]{64}; Max-Age=34560000; Path=\/api\/v1\/auth; HttpOnly; Secure; SameSite=Lax$/);
    }
  });

  test('ends with log-out, for the cookie and the bearer, and only itself', async () => {
    const { token, userId, organizationId } = await newMember();
    const other = await newSession(userId, organizationId);
    expect((await asBearer(token).get('/contacts')).status).toBe(200);
    const out = await asBrowser(token).post('/auth/logout');
    expect(out).toMatchObject({ status: 200, body: { status: 'logged_out' } });
    expect(out.headers.get('set-cookie')).toMatch(/^session=; Max-Age=0; Path=\//);
    expect(await asBearer(token).get('/contacts')).toMatchObject({ status: 401, body: { detail: expect.stringContaining('log in') } });
    expect((await asBrowser(token).post('/auth/logout')).status).toBe(401);
    expect((await asBearer(other).get('/contacts')).status).toBe(200);
  });

  test('that another isolate ended does not work here a moment longer', async () => {
    const { token, userId } = await newMember();
    expect((await asBearer(token).get('/contacts')).status).toBe(200);
    await env.DB.prepare('DELETE FROM session WHERE user_id = ?').bind(userId).run();
    expect((await asBearer(token).get('/contacts')).status).toBe(401);
  });

  test('ends after thirty days', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { body } = await signUp({ organization_name: 'Ours' });
    vi.setSystemTime(Date.now() + 30 * 86_400_000 - 1000);
    expect((await asBearer(body.token).get('/contacts')).status).toBe(200);
    vi.setSystemTime(Date.now() + 1000);
    expect((await asBearer(body.token).get('/contacts')).status).toBe(401);
  });

  test.each([
    ['nothing', {}],
    ['an empty key', { 'X-API-Key': '' }],
    ['an unknown token', { Authorization: 'Bearer vas_nonsense' }],
    ['an unknown cookie', { Cookie: 'session=vas_nonsense' }],
    ['an empty cookie', { Cookie: 'session=' }],
    ['a scheme that is not ours', { Authorization: 'Basic YTpi' }],
    ['a bearer of two words', { Authorization: 'Bearer vas_a vas_b' }],
  ])('%s is 401', async (_, headers) => {
    expect(await anonymous.get('/contacts', headers)).toMatchObject({ status: 401, body: { detail: expect.any(String) } });
  });

  test('an API key sent as a bearer is answered with the header it belongs in', async () => {
    const { key } = await newOrganization();
    expect(await asBearer(key).get('/contacts')).toMatchObject({ status: 401, body: { detail: expect.stringContaining('X-API-Key') } });
  });
});

describe('a session without organization', () => {
  test('is refused by every path that needs one, and by none that does not', async () => {
    const { token, userId } = await newUser();
    const user = asBearer(token);
    for (const path of ['/contacts', '/events', '/organizations/current', '/user/api-keys', '/automation-workflows/'])
      expect(await user.get(path)).toMatchObject({ status: 400, body: { detail: 'No organization selected' } });
    expect(await user.post('/contacts', { email: 'x@example.com' })).toMatchObject({
      status: 400,
      body: { detail: 'No organization selected' },
    });
    expect(await user.get('/auth/me')).toMatchObject({ status: 200, body: { user: { id: userId }, organization: null } });
  });

  test('creates one and works in it at once', async () => {
    const { token } = await newUser();
    const user = asBearer(token);
    const made = await user.post('/auth/organizations', { name: 'Ours' });
    expect(made).toMatchObject({ status: 200, body: { id: expect.any(Number), name: 'Ours', default_country: 'US', timezone: 'UTC' } });
    expect((await user.get('/auth/me')).body.organization).toEqual(made.body);
    expect((await user.get('/contacts')).status).toBe(200);
  });

  test.each([[{}], [{ name: '' }], [{ name: 7 }], [[]], [null]])('%j makes no organization: 422', async (given) => {
    const { token } = await newUser();
    const answer = await asBearer(token).post('/auth/organizations', JSON.stringify(given));
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: expect.arrayContaining(['body']) }] } });
  });
});

describe('selecting an organization', () => {
  test('moves the session, and only it, between the organizations of its user', async () => {
    const { token, userId, organizationId } = await newMember();
    const other = await newSession(userId, organizationId);
    const user = asBearer(token);
    const second = (await user.post('/auth/organizations', { name: 'Second' })).body;
    const contact = (await user.post('/contacts', { email: 'second@example.com' })).body.id;
    expect(await user.post('/auth/organization', { organization_id: organizationId })).toMatchObject({
      status: 200,
      body: { id: organizationId },
    });
    expect((await user.get(`/contacts/${contact}`)).status).toBe(404);
    expect((await asBearer(other).get('/auth/me')).body.organization.id).toBe(organizationId);
    await user.post('/auth/organization', { organization_id: second.id });
    expect((await user.get(`/contacts/${contact}`)).status).toBe(200);
  });

  test("another user's organization is 404, as one that does not exist, and changes nothing", async () => {
    const { token, organizationId } = await newMember();
    const theirs = await newMember();
    const user = asBearer(token);
    const foreign = await user.post('/auth/organization', { organization_id: theirs.organizationId });
    const nowhere = await user.post('/auth/organization', { organization_id: 2 ** 50 });
    expect(foreign).toMatchObject({ status: 404, body: { detail: 'Organization not found' } });
    expect(nowhere).toMatchObject({ status: 404, body: foreign.body });
    expect((await user.get('/auth/me')).body.organization.id).toBe(organizationId);
  });

  test.each([['1'], [0], [-1], [1.5], [null], [2 ** 53]])('organization_id %j is 422', async (organization_id) => {
    const { token } = await newUser();
    const answer = await asBearer(token).post('/auth/organization', { organization_id });
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'organization_id'] }] } });
  });

  test('an API key has no session to end or to move, whatever cookie comes with it', async () => {
    const { client } = await newOrganization();
    const { token, organizationId } = await newMember();
    const cookie = { Cookie: `session=${token}` };
    for (const answer of [
      await client.post('/auth/logout', undefined, cookie),
      await client.post('/auth/organizations', { name: 'More' }, cookie),
      await client.post('/auth/organization', { organization_id: organizationId }, cookie),
    ])
      expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringContaining('session') } });
    expect((await asBearer(token).get('/auth/me')).body.organization.id).toBe(organizationId);
  });
});

const contactsOf = async (token: string) => (await asBearer(token).get('/contacts')).body.total;

describe("a form on another site, sent with the user's cookie", () => {
  const forms = ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x'];

  test.each(forms)('does nothing as %s', async (type) => {
    const { token } = await newMember();
    const headers = { Cookie: `session=${token}`, 'Content-Type': type };
    const answer = await fetchService('/contacts', { method: 'POST', headers, body: '{"email":"forged@example.com"}' });
    expect(answer.status).toBe(415);
    expect(await contactsOf(token)).toBe(0);
  });

  test.each(forms)('does nothing as an empty %s, on a path that needs no body', async (type) => {
    const { token } = await newMember();
    const headers = { Cookie: `session=${token}`, 'Content-Type': type };
    expect((await fetchService('/auth/logout', { method: 'POST', headers })).status).toBe(415);
    expect((await asBearer(token).get('/auth/me')).status).toBe(200);
  });

  test.each(['cross-site', 'same-site'])('is nobody when the browser says %s, JSON or not', async (site) => {
    const { token } = await newMember();
    const browser = asBrowser(token);
    expect((await browser.post('/contacts', { email: 'forged@example.com' }, { 'Sec-Fetch-Site': site })).status).toBe(401);
    expect((await browser.post('/auth/logout', undefined, { 'Sec-Fetch-Site': site })).status).toBe(401);
    expect(await contactsOf(token)).toBe(0);
    expect((await browser.get('/contacts', { 'Sec-Fetch-Site': site })).status).toBe(200);
    expect((await browser.post('/contacts', { email: 'own@example.com' }, { 'Sec-Fetch-Site': 'same-origin' })).status).toBe(201);
  });

  test('a login sent by a form signs nobody in', async () => {
    const { email } = await signUp();
    const answer = await fetchService('/auth/login', {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain' },
      body: JSON.stringify({ email, password }),
    });
    expect(answer.status).toBe(415);
    expect(answer.headers.get('set-cookie')).toBeNull();
  });

  test('no answer lets scripts of other sites read it', async () => {
    const { token } = await newMember();
    const browser = asBrowser(token);
    for (const answer of [
      await browser.get('/contacts', { Origin: 'https://other.example' }),
      await anonymous.get('/health', { Origin: 'https://other.example' }),
    ])
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    const preflight = await fetchService('/contacts', {
      method: 'OPTIONS',
      headers: { Origin: 'https://other.example', 'Access-Control-Request-Method': 'POST' },
    });
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
    expect(preflight.status).toBe(401);
  });

  test('an empty form body sent with a key is no danger, and counts as no body', async () => {
    const { client } = await newOrganization();
    const answer = await client.post('/contacts/lists', '', { 'Content-Type': 'application/x-www-form-urlencoded' });
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'name'] }] } });
  });
});

test('a deleted user has no session', async () => {
  const { token, userId } = await newMember();
  await env.DB.prepare('DELETE FROM session WHERE user_id = ?').bind(userId).run();
  await env.DB.prepare('DELETE FROM user WHERE id = ?').bind(userId).run();
  expect((await asBearer(token).get('/auth/me')).status).toBe(401);
});
