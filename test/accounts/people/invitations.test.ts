import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { acceptWithNewUser } from '../../../src/accounts/invitations/store.ts';
import { sha256Hex } from '../../../src/library/security/hash.ts';
import { catalog } from '../../../src/database/shards.ts';
import { anonymous, asBearer, newEmail, newUser, password as usualPassword, serviceWith, signUp } from '../../http/service.ts';
import { Client, newOrganization } from '../../support/organization.ts';
import { auditLog, newTeam, roleOf, sessionClient } from '../../support/people.ts';
import { recordedDatabase } from '../../support/recorded-database.ts';

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

/** The accounts of an address. */
const accountsOf = async (email: string): Promise<any[]> =>
  (await env.DB.prepare("SELECT id, email FROM user WHERE email = ?1 OR email LIKE ?1 || ' %'").bind(email).all()).results;
const failures = (subject: string, count: number) =>
  env.DB.prepare('INSERT INTO login_failure VALUES (?, ?, ?)')
    .bind(subject, count, Date.now() + 86_400_000)
    .run();

describe('accepting an invitation is no way to guess at a password:', () => {
  test('wrong ones count as failed log-ins, whether the address is known or not, and the right one waits with them', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { client } = await newOrganization();
    for (const email of [(await signUp()).email, newEmail()]) {
      await failures(`pair:${email}|198.18.99.1`, 4);
      const guess = async (given: string) =>
        anonymous.post(
          '/auth/invitations/accept',
          { token: (await invited(client)).token, email, password: given },
          { 'cf-connecting-ip': '198.18.99.1' },
        );
      expect((await guess('a first guess at it')).status).toBe(200);
      const refused = await guess(usualPassword);
      expect(refused).toMatchObject({ status: 429, body: { detail: expect.stringContaining('Too many failed log-ins') } });
      expect(refused.headers.get('retry-after')).toBe('1');
      const logIn = { email, password: usualPassword };
      expect((await anonymous.post('/auth/login', logIn, { 'cf-connecting-ip': '198.18.99.1' })).status).toBe(429);
    }
  });

  test('failed log-ins count here, too', async () => {
    const { client } = await newOrganization();
    const { email } = await signUp();
    await failures(`email:${email}`, 30);
    const { token } = await invited(client);
    expect((await anonymous.post('/auth/invitations/accept', { token, email, password: usualPassword })).status).toBe(429);
    expect((await anonymous.post('/auth/invitations/preview', { token })).status).toBe(200);
  });

  test('guesses sent all at once with one link are five at most, and leave one account at most', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { client } = await newOrganization();
    const { email, body } = await signUp();
    const { token } = await invited(client);
    const guess = (n: number) => anonymous.post('/auth/invitations/accept', { token, email, password: `guess at it number ${n}` });
    const statuses = (await Promise.all(Array.from({ length: 9 }, (_, n) => guess(n)))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 429)).toHaveLength(4);
    const left = await accountsOf(email);
    expect(left).toHaveLength(2);
    expect(left[0].id).toBe(body.user.id);
  });

  test('the right password waits for nothing, and forgets the failures of its network', async () => {
    const { client } = await newOrganization();
    const { email, body } = await signUp();
    await failures(`pair:${email}|unknown`, 3);
    const { token } = await invited(client);
    const joined = await anonymous.post('/auth/invitations/accept', { token, email, password: usualPassword });
    expect(joined).toMatchObject({ status: 200, body: { user: { id: body.user.id } } });
    const left = await env.DB.prepare(
      "SELECT * FROM login_failure WHERE subject LIKE '%' || ? || '%' AND subject NOT LIKE 'signup%' AND failures > 0",
    )
      .bind(email)
      .all();
    expect(left.results).toEqual([]);
  });

  test('one network accepts as many in an hour as it may sign up, and other networks go on', async () => {
    const { client } = await newOrganization();
    const limited = new Client(undefined, serviceWith({ SIGNUPS_PER_HOUR: '2' }));
    const acceptFrom = async (address: string) => {
      const { token } = await invited(client);
      return limited.post('/auth/invitations/accept', { token, email: newEmail(), password }, { 'cf-connecting-ip': address });
    };
    for (let n = 0; n < 2; n++) expect((await acceptFrom('198.18.99.7')).status).toBe(200);
    const refused = await acceptFrom('198.18.99.7');
    expect(refused).toMatchObject({ status: 429, body: { detail: expect.stringContaining('SIGNUPS_PER_HOUR') } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3500);
    expect((await acceptFrom('198.18.99.8')).status).toBe(200);
  });
});

describe('an invitation that is not accepted leaves no account', () => {
  test('when somebody else uses its link first', async () => {
    const { client } = await newOrganization();
    const { token } = await invited(client);
    const email = newEmail();
    const faster = async (sql: string[]) => {
      if (sql.some((one) => one.startsWith('INSERT INTO user'))) await accept(token);
    };
    const slower = new Client(
      undefined,
      serviceWith({ DB: recordedDatabase(env.DB, { statements: [], calls: 0 }, faster), SIGNUP: 'closed' }),
    );
    expect((await slower.post('/auth/invitations/accept', { token, email, password })).status).toBe(401);
    expect(await accountsOf(email)).toEqual([]);
    expect((await auditLog(client, '?action=invitations.accept')).map(({ user_email }) => user_email)).not.toContain(email);
  });

  test('when it is revoked meanwhile', async () => {
    const { client } = await newOrganization();
    const { id, token } = await invited(client);
    await client.delete(`/organizations/invitations/${id}`);
    const email = newEmail();
    const account = { email, name: null, passwordHash: 'none', createdAt: Date.now() };
    expect(await acceptWithNewUser(catalog(env), { tokenHash: sha256Hex(token), account, now: Date.now() })).toBeNull();
    expect(await accountsOf(email)).toEqual([]);
  });

  test('and one of an address for which an account is made meanwhile is accepted with its password', async () => {
    const { id, client } = await newOrganization();
    const { token } = await invited(client);
    const email = newEmail();
    let signedUp: any;
    const faster = async (sql: string[]) => {
      if (signedUp || !sql.some((one) => one.startsWith('INSERT INTO user'))) return;
      signedUp = (await anonymous.post('/auth/signup', { email, password })).body;
    };
    const slower = new Client(undefined, serviceWith({ DB: recordedDatabase(env.DB, { statements: [], calls: 0 }, faster) }));
    const joined = await slower.post('/auth/invitations/accept', { token, email, password });
    expect(joined).toMatchObject({ status: 200, body: { user: { id: signedUp.user.id } } });
    expect(await accountsOf(email)).toHaveLength(1);
    expect(await roleOf(id, signedUp.user.id)).toBe('operator');
  });

  test('and the log names the person whose account was made with the membership', async () => {
    const { client } = await newOrganization();
    const { token } = await invited(client);
    const { body } = await accept(token);
    const entries = await auditLog(client, '?action=invitations.accept');
    expect(entries.map(({ user_id, user_email }) => [user_id, user_email])).toEqual([
      [body.user.id, body.user.email],
      [body.user.id, body.user.email],
    ]);
    expect((await asBearer(body.token).get('/auth/me')).body).toMatchObject({ role: 'operator' });
  });
});
