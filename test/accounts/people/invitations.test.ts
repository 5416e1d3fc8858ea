import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { sha256Hex } from '../../../src/library/security/hash.ts';
import { anonymous, newEmail, newUser, serviceWith, signUp } from '../../http/service.ts';
import { Client, newOrganization } from '../../support/organization.ts';
import { newTeam, roleOf, sessionClient } from '../../support/people.ts';

afterEach(() => vi.useRealTimers());

const password = 'a quiet harbour at dusk';
const invited = async (client: Client, body: Record<string, unknown> = { role: 'operator' }): Promise<any> => {
  const answer = await client.post('/organizations/invitations', body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
};
const accept = (token: string, more: Record<string, unknown> = {}) =>
  anonymous.post('/auth/invitations/accept', { token, email: newEmail(), password, ...more });

describe('an invitation', () => {
  test('makes a stranger a member with its role, also where sign-up is closed', async () => {
    const { id, admin } = await newTeam();
    const { token, url, delivery } = await invited(admin.client);
    expect(url).toBe(`https://service.test/docs/people#invitation=${token}`);
    expect(delivery).toEqual({ by: 'link', detail: expect.stringContaining('no e-mail address') });
    const closed = new Client(undefined, serviceWith({ SIGNUP: 'closed' }));
    expect((await closed.post('/auth/invitations/preview', { token })).body).toMatchObject({
      organization_name: 'Test organization',
      role: 'operator',
    });
    const joined = await closed.post('/auth/invitations/accept', { token, email: newEmail(), password, name: 'Kim' });
    expect(joined).toMatchObject({ status: 200, body: { user: { name: 'Kim' }, organization: { id } } });
    expect(await roleOf(id, joined.body.user.id)).toBe('operator');
    expect((await sessionClient(joined.body.token).get('/contacts')).status).toBe(200);
  });

  test('works once, also when two use it at once', async () => {
    const { admin } = await newTeam();
    const { token } = await invited(admin.client);
    const answers = await Promise.all([accept(token), accept(token)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401]);
    expect((await accept(token)).status).toBe(401);
    expect((await admin.client.get('/organizations/invitations')).body).toEqual({ invitations: [], total: 0 });
  });

  test('is joined by somebody who is logged in, and selects the organization', async () => {
    const { id, admin } = await newTeam();
    const { token } = await invited(admin.client, { role: 'viewer' });
    const { userId, token: session } = await newUser();
    const client = sessionClient(session);
    expect(await client.post('/auth/invitations/join', { token })).toMatchObject({ status: 200, body: { id } });
    expect((await client.get('/auth/me')).body).toMatchObject({ user: { id: userId }, organization: { id }, role: 'viewer' });
  });

  test('is for its address alone', async () => {
    const { admin } = await newTeam();
    const email = newEmail();
    const { token } = await invited(admin.client, { role: 'viewer', email: email.toUpperCase() });
    expect(await accept(token)).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'email'], type: 'other_address' }] } });
    const { token: session } = await newUser();
    expect((await sessionClient(session).post('/auth/invitations/join', { token })).status).toBe(422);
    const { email: _, ...withoutEmail } = { email, token, password };
    expect(await anonymous.post('/auth/invitations/accept', withoutEmail)).toMatchObject({ status: 200, body: { user: { email } } });
  });

  test('takes the account of the address and its password, where there is one', async () => {
    const { id, admin } = await newTeam();
    const { email, body } = await signUp();
    const { token } = await invited(admin.client);
    const joined = await anonymous.post('/auth/invitations/accept', { token, email, password: 'correct horse battery' });
    expect(joined.body.user.id).toBe(body.user.id);
    expect(await roleOf(id, body.user.id)).toBe('operator');
  });

  test('is kept as a hash alone, and its token shown once', async () => {
    const { admin } = await newTeam();
    const { id, token } = await invited(admin.client);
    const row = await env.DB.prepare('SELECT * FROM invitation WHERE id = ?').bind(id).first<any>();
    expect(row.token_hash).toBe(sha256Hex(token));
    expect(JSON.stringify(row)).not.toContain(token);
    const list = await admin.client.get('/organizations/invitations');
    expect(list.body.invitations).toMatchObject([{ id, role: 'operator' }]);
    expect(JSON.stringify([list.body, (await admin.client.get('/audit-log')).body])).not.toMatch(new RegExp(`${token}|${row.token_hash}`));
  });

  test('ends with its days', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { admin } = await newTeam();
    const { token, expires_at } = await invited(admin.client, { role: 'viewer', expires_in_days: 2 });
    expect(Date.parse(expires_at)).toBe(Date.now() + 2 * 86_400_000);
    vi.setSystemTime(Date.now() + 2 * 86_400_000);
    expect(await accept(token)).toMatchObject({ status: 401, body: { detail: expect.stringContaining('ask an admin') } });
  });

  test('ends when it is revoked', async () => {
    const { admin } = await newTeam();
    const { id, token } = await invited(admin.client);
    expect((await admin.client.delete(`/organizations/invitations/${id}`)).body).toEqual({ status: 'deleted' });
    expect((await accept(token)).status).toBe(401);
  });

  test('ends when the person who made it leaves or may no longer give its role', async () => {
    const { owner, admin, id } = await newTeam();
    const high = await invited(admin.client, { role: 'admin' });
    await owner.client.patch(`/organizations/members/${admin.userId}`, { role: 'operator' });
    expect((await accept(high.token)).status).toBe(401);
    await owner.client.patch(`/organizations/members/${admin.userId}`, { role: 'admin' });
    const low = await invited(admin.client, { role: 'viewer' });
    await owner.client.delete(`/organizations/members/${admin.userId}`);
    expect((await accept(low.token)).status).toBe(401);
    expect(id).toBeGreaterThan(0);
  });

  test('gives no role above that of the person who makes it', async () => {
    const { admin, operator } = await newTeam();
    expect((await admin.client.post('/organizations/invitations', { role: 'owner' })).status).toBe(403);
    expect((await operator.client.post('/organizations/invitations', { role: 'viewer' })).status).toBe(403);
  });

  test('of a member already is refused and stays open', async () => {
    const { admin, viewer } = await newTeam();
    const { token } = await invited(admin.client);
    expect((await viewer.client.post('/auth/invitations/join', { token })).status).toBe(409);
    expect((await accept(token)).status).toBe(200);
  });
});

describe('an invitation is refused', () => {
  test.each([
    [{}, 'role'],
    [{ role: 'boss' }, 'role'],
    [{ role: 'viewer', email: 'nobody' }, 'email'],
    [{ role: 'viewer', expires_in_days: 0 }, 'expires_in_days'],
    [{ role: 'viewer', expires_in_days: 31 }, 'expires_in_days'],
  ])('with %j, naming %s', async (body, field) => {
    const { client } = await newOrganization();
    expect(await client.post('/organizations/invitations', body)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', field] }] },
    });
  });

  test('beyond 200 open ones', async () => {
    const { client, id, userId } = await newOrganization();
    const now = Date.now();
    await env.DB.prepare(
      `INSERT INTO invitation (organization_id, role, token_hash, created_by, created_at, expires_at)
       SELECT ?1, 'viewer', ?1 || ':' || value, ?2, ?3, ?3 + 1000000 FROM json_each(?4)`,
    )
      .bind(id, userId, now, JSON.stringify(Array.from({ length: 200 }, (_, index) => index)))
      .run();
    expect((await client.post('/organizations/invitations', { role: 'viewer' })).status).toBe(409);
  });

  test('without an e-mail address, a strong password or a token', async () => {
    const { client } = await newOrganization();
    const { token } = await invited(client);
    const without = { token, password };
    expect(await anonymous.post('/auth/invitations/accept', without)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'email'] }] },
    });
    expect(await accept(token, { password: 'passwordpassword' })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'password'] }] },
    });
    expect((await accept('vai_unknown')).status).toBe(401);
    expect((await accept(token)).status).toBe(200);
  });
});

test('another organization neither sees nor revokes an invitation', async () => {
  const { client } = await newOrganization();
  const { id, token } = await invited(client);
  const { client: stranger } = await newOrganization();
  expect((await stranger.get('/organizations/invitations')).body.invitations).toEqual([]);
  expect((await stranger.delete(`/organizations/invitations/${id}`)).status).toBe(404);
  expect((await accept(token)).status).toBe(200);
});
