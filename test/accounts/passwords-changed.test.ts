import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { retentionRules } from '../../src/cron/retention/apply-retention.ts';
import { catalog } from '../../src/database/shards.ts';
import { getSettings } from '../../src/settings.ts';
import { anonymous, asBearer, newSession, newUser, password, signUp } from '../http/service.ts';
import { Client, newOrganization } from '../support/organization.ts';

afterEach(() => vi.useRealTimers());

const next = 'lanterns over a quiet harbour';
const logIn = (email: string, given: string) => anonymous.post('/auth/login', { email, password: given });
const isLive = async (token: string) => (await asBearer(token).get('/auth/me')).status === 200;

/** A person who has signed up, with the admin key of the person's organization. */
async function newPerson() {
  const { body, email } = await signUp({ organization_name: 'Analytical Engines' });
  const key = (await asBearer(body.token).post('/user/api-keys', { name: 'admin', scopes: ['admin'] })).body.api_key as string;
  return { email, token: body.token as string, userId: body.user.id as number, id: body.organization.id as number, admin: new Client(key) };
}

describe('a changed password', () => {
  test('is the one to log in with, and ends all sessions but the one that changed it', async () => {
    const { email, token } = await newPerson();
    const other = (await logIn(email, password)).body.token;
    const changed = await asBearer(token).post('/auth/password', { current_password: password, new_password: next });
    expect(changed).toMatchObject({ status: 200, body: { status: 'changed' } });
    expect([await isLive(token), await isLive(other)]).toEqual([true, false]);
    expect((await logIn(email, password)).status).toBe(401);
    expect((await logIn(email, next)).status).toBe(200);
  });

  test.each([
    ['a wrong old one', { current_password: 'not this one', new_password: next }, 'current_password', 'not your password'],
    ['none', { current_password: password }, 'new_password', ''],
    ['the same again', { current_password: password, new_password: password }, 'new_password', 'of before'],
    ['a short one', { current_password: password, new_password: 'horse batte' }, 'new_password', '12 characters'],
    ['an endless one', { current_password: password, new_password: 'x'.repeat(201) }, 'new_password', '200 characters'],
    ['one that is tried first', { current_password: password, new_password: 'password1234' }, 'new_password', 'tried first'],
    ['the organization', { current_password: password, new_password: 'analytical engines' }, 'new_password', 'hardly more'],
  ])('%s is a 422 that names the field, and changes nothing', async (_, body, field, fault) => {
    const { email, token } = await newPerson();
    const refused = await asBearer(token).post('/auth/password', body);
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', field], msg: expect.stringContaining(fault) }] } });
    expect((await logIn(email, password)).status).toBe(200);
  });

  test('is not to be had by guessing with a session that was taken', async () => {
    const { token, userId } = await newPerson();
    vi.useFakeTimers({ toFake: ['Date'] });
    await env.DB.prepare('INSERT INTO login_failure VALUES (?, 4, ?)')
      .bind(`user:${userId}`, Date.now() + 86_400_000)
      .run();
    const guess = () => asBearer(token).post('/auth/password', { current_password: 'a guess at it', new_password: next });
    expect((await guess()).status).toBe(422);
    const refused = await guess();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  });

  test('leaves accounts of one address with passwords that tell them apart', async () => {
    const { email, token } = await newPerson();
    await anonymous.post('/auth/signup', { email, password: next });
    const refused = await asBearer(token).post('/auth/password', { current_password: password, new_password: next });
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'new_password'] }] } });
  });

  test('needs a session: a key has no password', async () => {
    const { admin } = await newPerson();
    expect((await admin.post('/auth/password', { current_password: password, new_password: next })).status).toBe(400);
    expect((await anonymous.post('/auth/password', { current_password: password, new_password: next })).status).toBe(401);
  });
});

describe('ending all sessions', () => {
  test('ends the sessions of that person only', async () => {
    const { token, userId, id } = await newPerson();
    const [own, theirs] = [await newSession(userId, id), (await newUser()).token];
    const ended = await asBearer(token).delete('/auth/sessions');
    expect(ended).toMatchObject({ status: 200, body: { status: 'logged_out' } });
    expect(ended.headers.get('set-cookie')).toMatch(/^session=; Max-Age=0/);
    expect([await isLive(token), await isLive(own), await isLive(theirs)]).toEqual([false, false, true]);
  });

  test('is open to people without an organization, and not to keys', async () => {
    const { token } = await newUser();
    expect((await (await newPerson()).admin.delete('/auth/sessions')).status).toBe(400);
    expect((await asBearer(token).delete('/auth/sessions')).status).toBe(200);
  });
});

describe('members', () => {
  test('are listed with their addresses, and no other organization sees them', async () => {
    const { admin, email, userId } = await newPerson();
    const { body } = await admin.get('/organizations/members');
    expect(body).toEqual({ members: [{ user_id: userId, email, name: null, role: 'owner', joined_at: expect.any(String) }], total: 1 });
    const other = await newOrganization();
    expect((await other.client.get('/organizations/members')).body.members.map((one: any) => one.user_id)).toEqual([other.userId]);
  });
});

describe("an admin's reset", () => {
  const offer = (admin: Client, userId: number) => admin.post(`/organizations/members/${userId}/password-reset`);
  const reset = (token: string, given = next) => anonymous.post('/auth/password/reset', { token, new_password: given });

  test('lets the member choose a new password once, and ends all their sessions', async () => {
    const { admin, email, userId, token } = await newPerson();
    const offered = await offer(admin, userId);
    expect(offered).toMatchObject({ status: 200, body: { token: expect.stringMatching(/^var_[\w-]{43}$/) } });
    expect(Date.parse(offered.body.expires_at)).toBeGreaterThan(Date.now() + 86_000_000);
    expect(await reset(offered.body.token)).toMatchObject({ status: 200, body: { status: 'changed' } });
    expect(await isLive(token)).toBe(false);
    expect((await logIn(email, password)).status).toBe(401);
    expect((await logIn(email, next)).status).toBe(200);
    expect((await reset(offered.body.token, password)).status).toBe(401);
    expect((await logIn(email, next)).status).toBe(200);
  });

  test('is used once, however many use it at the same moment', async () => {
    const { admin, userId } = await newPerson();
    const { token } = (await offer(admin, userId)).body;
    const answers = await Promise.all([1, 2, 3].map((number) => reset(token, `${next} ${number}`)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401]);
  });

  test('ends with a newer one, with a changed password, and after a day, when the tick forgets it', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { admin, userId, token } = await newPerson();
    const older = (await offer(admin, userId)).body.token;
    const newer = (await offer(admin, userId)).body.token;
    expect((await reset(older)).status).toBe(401);
    await asBearer(token).post('/auth/password', { current_password: password, new_password: `${next} now` });
    expect((await reset(newer)).status).toBe(401);
    const late = (await offer(admin, userId)).body.token;
    vi.setSystemTime(Date.now() + 86_400_000);
    expect((await reset(late)).status).toBe(401);
    const rule = retentionRules.find(({ table }) => table === 'password_reset')!;
    await rule.removePage({ bindings: env, database: catalog(env), settings: getSettings(env), now: Date.now() + 1 });
    expect(await env.DB.prepare('SELECT * FROM password_reset WHERE user_id = ?').bind(userId).first()).toBeNull();
  });

  test('refuses a weak password, and is still good for another', async () => {
    const { admin, userId } = await newPerson();
    const { token } = (await offer(admin, userId)).body;
    expect(await reset(token, 'password1234')).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'new_password'] }] } });
    expect((await reset(token)).status).toBe(200);
  });

  test('does not lead into other organizations: who is a member of several keeps their password', async () => {
    const { admin, userId } = await newPerson();
    const early = (await offer(admin, userId)).body.token;
    const { id } = await newOrganization();
    await env.DB.prepare('INSERT INTO membership (user_id, organization_id, created_at) VALUES (?, ?, 1)').bind(userId, id).run();
    expect(await offer(admin, userId)).toMatchObject({ status: 409, body: { detail: expect.stringContaining('other organizations') } });
    expect((await reset(early)).status).toBe(401);
  });

  test('is for admins of the same organization', async () => {
    const { admin, userId, id, token } = await newPerson();
    const foreign = await newOrganization();
    expect((await offer(foreign.client, userId)).status).toBe(404);
    expect((await offer(admin, foreign.userId)).status).toBe(404);
    const minted = await asBearer(token).post('/user/api-keys', { name: 'writer', scopes: ['write'] });
    expect((await offer(new Client(minted.body.api_key), userId)).status).toBe(403);
    expect((await offer(new Client(undefined), userId)).status).toBe(401);
    expect((await asBearer(await newSession(userId, id)).post(`/organizations/members/${userId}/password-reset`)).status).toBe(200);
  });

  test('is stored as a hash, here and nowhere else', async () => {
    const { admin, userId, id } = await newPerson();
    const answer = await admin.post(`/organizations/members/${userId}/password-reset`, undefined, { 'Idempotency-Key': 'once' });
    const { results } = await env.DB.prepare('SELECT * FROM password_reset WHERE user_id = ?').bind(userId).all();
    const kept = await env.DB.prepare('SELECT * FROM idempotency_key WHERE organization_id = ?').bind(id).all();
    expect(results).toHaveLength(1);
    expect(JSON.stringify([results, kept.results])).not.toContain(answer.body.token);
  });
});
