import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { anonymous, asBearer, newEmail, password, serviceWith, signUp } from '../http/service.ts';
import { Client } from '../support/organization.ts';

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

afterEach(() => vi.useRealTimers());

const attempt = (email: string, given: string, address?: string) =>
  anonymous.post('/auth/login', { email, password: given }, address ? { 'CF-Connecting-IP': address } : {});

describe('sign-up', () => {
  test('makes a user, the named organization, and a session that works at once', async () => {
    const { status, body, email } = await signUp({ name: 'Ada', organization_name: 'Analytical Engines' });
    expect(status).toBe(200);
    expect(body).toEqual({
      token: expect.stringMatching(/^vas_[\w-]{43}$/),
      user: { id: expect.any(Number), email, name: 'Ada', created_at: timestamp },
      organization: {
        id: expect.any(Number),
        name: 'Analytical Engines',
        default_country: 'US',
        timezone: 'UTC',
        min_hours_between_calls: 0,
        plan: expect.objectContaining({ max_integrations: 10, max_contacts: 1_000_000, concurrent_call_limit: 100 }),
        created_at: timestamp,
      },
    });
    expect((await asBearer(body.token).get('/contacts')).body).toMatchObject({ total: 0 });
  });

  test('without an organization name there is none, and a null name is no name', async () => {
    const { body } = await signUp({ name: null, organization_name: null });
    expect(body).toMatchObject({ organization: null, user: { name: null } });
  });

  test('one e-mail address signs up once, however it is written', async () => {
    const { email } = await signUp();
    const again = await anonymous.post('/auth/signup', { email: ` ${email.toUpperCase()} `, password });
    expect(again).toMatchObject({ status: 409, body: { detail: expect.stringContaining('taken') } });
  });

  test.each([
    ['no e-mail address', { password }, 'email'],
    ['what is no e-mail address', { email: 'ada', password }, 'email'],
    ['a number as e-mail address', { email: 5, password }, 'email'],
    ['a short password', { email: 'ada@example.com', password: '1234567' }, 'password'],
    ['an endless password', { email: 'ada@example.com', password: 'x'.repeat(201) }, 'password'],
    ['an empty name', { email: 'ada@example.com', password, name: '  ' }, 'name'],
    ['a number as organization name', { email: 'ada@example.com', password, organization_name: 7 }, 'organization_name'],
  ])('%s is a 422 that names the field', async (_, body, field) => {
    const answer = await anonymous.post('/auth/signup', body);
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toEqual([{ loc: ['body', field], msg: expect.any(String), type: expect.any(String) }]);
  });

  test('a closed service takes nobody, and says who opens it', async () => {
    const closed = new Client(undefined, serviceWith({ SIGNUP: 'closed' }));
    const email = newEmail();
    const answer = await closed.post('/auth/signup', { email, password });
    expect(answer).toMatchObject({ status: 403, body: { detail: expect.stringContaining('SIGNUP=open') } });
    expect((await attempt(email, password)).status).toBe(401);
  });

  test('neither the password nor the token is stored', async () => {
    const { body, email } = await signUp();
    const user = await env.DB.prepare('SELECT * FROM user WHERE email = ?').bind(email).first();
    const { results } = await env.DB.prepare('SELECT * FROM session WHERE user_id = ?').bind(body.user.id).all();
    expect(user!.password_hash).toMatch(/^scrypt\$/);
    expect(results).toHaveLength(1);
    expect(JSON.stringify([user, results])).not.toContain(password);
    expect(JSON.stringify([user, results])).not.toContain(body.token.slice(4));
  });
});

const durationOf = async (address: string) => {
  const startedAt = performance.now();
  await attempt(address, 'wrong horse battery');
  return performance.now() - startedAt;
};

describe('log-in', () => {
  test('answers a session of its own, in the organization that the user joined first', async () => {
    const { body: first, email } = await signUp({ organization_name: 'First' });
    await asBearer(first.token).post('/auth/organizations', { name: 'Second' });
    const { status, body } = await attempt(` ${email.toUpperCase()}`, password);
    expect(status).toBe(200);
    expect(body).toMatchObject({ user: first.user, organization: first.organization });
    expect(body.token).not.toBe(first.token);
    expect((await asBearer(body.token).get('/auth/me')).body.user).toEqual(first.user);
  });

  test('a user of no organization logs in without one', async () => {
    const { email } = await signUp();
    expect(await attempt(email, password)).toMatchObject({ status: 200, body: { organization: null } });
  });

  test('a wrong password and an unknown address are one and the same 401', async () => {
    const { email } = await signUp();
    const wrong = await attempt(email, 'wrong horse battery');
    const unknown = await attempt(newEmail(), password);
    expect(wrong.status).toBe(401);
    expect(unknown).toMatchObject({ status: 401, body: wrong.body });
    expect(wrong.headers.get('set-cookie')).toBeNull();
  });

  test('an unknown address takes as long as a wrong password', async () => {
    const { email } = await signUp();
    const known = [];
    const unknown = [];
    for (let round = 0; round < 3; round++) {
      known.push(await durationOf(email));
      unknown.push(await durationOf(newEmail()));
    }
    // Without the comparison an unknown address takes a few milliseconds against a hundred.
    expect(Math.min(...unknown)).toBeGreaterThan(Math.min(...known) / 2);
  });

  test.each([
    ['no password', { email: 'ada@example.com' }, 'password'],
    ['an empty password', { email: 'ada@example.com', password: '' }, 'password'],
    ['no e-mail address', { password }, 'email'],
  ])('%s is a 422 that names the field', async (_, body, field) => {
    expect(await anonymous.post('/auth/login', body)).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', field] }] } });
  });
});

const failedBefore = (subject: string, count: number) =>
  env.DB.prepare('INSERT INTO login_failure (subject, failures, window_ends_at) VALUES (?, ?, ?)')
    .bind(subject, count, Date.now() + 900_000)
    .run();

describe('guessing', () => {
  test('ten wrong passwords for an address end in 429, for the right one too, until the window is over', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { email } = await signUp();
    await failedBefore(`email:${email}`, 8);
    for (let count = 8; count < 10; count++) expect((await attempt(email, `guess number ${count}`)).status).toBe(401);
    const refused = await attempt(email, password);
    expect(refused).toMatchObject({ status: 429, body: { detail: expect.stringContaining('Too many failed sign-ins') } });
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(890);
    expect(seconds).toBeLessThanOrEqual(900);
    expect((await attempt((await signUp()).email, password)).status).toBe(200);
    vi.setSystemTime(Date.now() + seconds * 1000);
    expect((await attempt(email, password)).status).toBe(200);
  });

  test('guesses sent all at once do not pass unseen', async () => {
    const email = newEmail();
    await failedBefore(`email:${email}`, 7);
    const answers = await Promise.all(Array.from({ length: 7 }, (_, count) => attempt(email, `guess number ${count}`)));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(4);
  });

  test('a sign-in that succeeds counts for nothing', async () => {
    const { email } = await signUp();
    await failedBefore(`email:${email}`, 9);
    for (let count = 0; count < 3; count++) expect((await attempt(email, password)).status).toBe(200);
    expect((await attempt(email, 'guess number 9')).status).toBe(401);
    expect((await attempt(email, 'guess number 10')).status).toBe(429);
  });

  test('fifty failures from a network end in 429 whatever the address, and other networks go on', async () => {
    await failedBefore('address:2001:db8:77:1::/64', 49);
    const { email } = await signUp();
    expect((await attempt(newEmail(), password, '2001:db8:77:1::1')).status).toBe(401);
    expect((await attempt(email, password, '2001:db8:77:1::2')).status).toBe(429);
    expect((await attempt(email, password, '2001:db8:77:2::1')).status).toBe(200);
    expect((await attempt(email, password, '198.51.100.7')).status).toBe(200);
  });
});
