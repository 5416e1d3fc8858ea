import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { retentionRules } from '../../src/cron/retention/apply-retention.ts';
import { catalog } from '../../src/database/shards.ts';
import { getSettings } from '../../src/settings.ts';
import { anonymous, asBearer, newEmail, password, serviceWith, signUp } from '../http/service.ts';
import { Client } from '../support/organization.ts';

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

afterEach(() => vi.useRealTimers());

/** Another password than most people here have. */
const other = 'staple of an unknown kind';

const attempt = (email: string, given: string, address?: string, cookie?: string) =>
  anonymous.post(
    '/auth/login',
    { email, password: given },
    { ...(address && { 'CF-Connecting-IP': address }), ...(cookie && { Cookie: cookie }) },
  );

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

  test('again with the same password is a log-in, however the address is written, and makes no second organization', async () => {
    const { email, body: first } = await signUp({ organization_name: 'First' });
    const again = await anonymous.post('/auth/signup', { email: ` ${email.toUpperCase()} `, password, organization_name: 'Second' });
    expect(again).toMatchObject({ status: 200, body: { user: first.user, organization: first.organization } });
    expect(again.body.token).not.toBe(first.token);
  });

  test('of an address that is taken is answered as any other, and both people have their own account', async () => {
    const { email, body: first } = await signUp({ name: 'Ada', organization_name: 'Hers' });
    const second = await anonymous.post('/auth/signup', { email, password: other, name: 'Ada', organization_name: 'Theirs' });
    const fresh = await signUp({ name: 'Ada', organization_name: 'Theirs' });
    const shape = { token: expect.any(String), user: { ...fresh.body.user, id: expect.any(Number), created_at: timestamp, email } };
    expect(second).toMatchObject({ status: fresh.status, body: shape });
    expect(Object.keys(second.body.user)).toEqual(Object.keys(fresh.body.user));
    expect([...second.headers.keys()]).toEqual([...fresh.headers.keys()]);
    expect(second.body.user.id).not.toBe(first.user.id);
    expect((await attempt(email, password)).body).toMatchObject({ user: first.user, organization: { name: 'Hers' } });
    expect((await attempt(email, other)).body).toMatchObject({ user: second.body.user, organization: { name: 'Theirs' } });
    expect((await attempt(email, 'neither of the two')).status).toBe(401);
  });

  test('of an address that is taken takes as long, and so does logging in to it', async () => {
    const durations = { fresh: [] as number[], taken: [] as number[], wrong: [] as number[], unknown: [] as number[] };
    const timed = async (into: number[], work: () => Promise<unknown>) => {
      const startedAt = performance.now();
      await work();
      into.push(performance.now() - startedAt);
    };
    /** Each try derives one key from the password, which takes a hundred milliseconds. A second derivation would double the shortest of them. */
    const isAsLong = (one: number[], another: number[]) => {
      const [shorter, longer] = [Math.min(...one), Math.min(...another)].toSorted((a, b) => a - b);
      return longer! < 1.7 * shorter!;
    };
    const areAsLong = () => [isAsLong(durations.fresh, durations.taken), isAsLong(durations.wrong, durations.unknown)];
    // What else the machine does makes some tries longer, so it takes a few rounds until each kind had a short one.
    for (let round = 0; round < 3 || (round < 15 && areAsLong().includes(false)); round++) {
      const email = newEmail();
      await timed(durations.fresh, () => anonymous.post('/auth/signup', { email, password }));
      await timed(durations.taken, () => anonymous.post('/auth/signup', { email, password: other }));
      await timed(durations.wrong, () => attempt(email, 'neither of the two'));
      await timed(durations.unknown, () => attempt(newEmail(), 'neither of the two'));
    }
    expect(areAsLong()).toEqual([true, true]);
  });

  test('of one address at the same moment makes one account', async () => {
    const email = newEmail();
    const answers = await Promise.all([1, 2, 3].map(() => anonymous.post('/auth/signup', { email, password })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.user.id)).size).toBe(1);
  });

  test('is no way to guess at passwords: five of one address in an hour, whether it is taken or not', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    for (const isTaken of [true, false]) {
      const email = isTaken ? (await signUp()).email : newEmail();
      await env.DB.prepare("INSERT INTO login_failure VALUES ('signup-email:' || ?1, 4, ?2) ON CONFLICT DO UPDATE SET failures = 4")
        .bind(email, Date.now() + 3_600_000)
        .run();
      expect((await anonymous.post('/auth/signup', { email, password: `${other} 0` })).status).toBe(200);
      const refused = await anonymous.post('/auth/signup', { email, password });
      expect(refused).toMatchObject({ status: 429, body: { detail: expect.stringContaining('log in') } });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3500);
    }
  });

  test.each([
    ['no e-mail address', { password }, 'email'],
    ['what is no e-mail address', { email: 'ada', password }, 'email'],
    ['a number as e-mail address', { email: 5, password }, 'email'],
    ['a short password', { email: 'ada@example.com', password: 'horse batte' }, 'password'],
    ['a password that is tried first', { email: 'ada@example.com', password: 'Password2026!' }, 'password'],
    ['a password that is the address', { email: 'ada.lovelace@example.com', password: 'ada.lovelace1' }, 'password'],
    [
      'a password that is the organization',
      { email: 'ada@example.com', password: 'Analytical-1', organization_name: 'Analytical' },
      'password',
    ],
    ['an endless password', { email: 'ada@example.com', password: 'x'.repeat(201) }, 'password'],
    ['an empty name', { email: 'ada@example.com', password, name: '  ' }, 'name'],
    ['a number as organization name', { email: 'ada@example.com', password, organization_name: 7 }, 'organization_name'],
  ])('%s is a 422 that names the field', async (_, body, field) => {
    const answer = await anonymous.post('/auth/signup', body);
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toEqual([{ loc: ['body', field], msg: expect.any(String), type: expect.any(String) }]);
  });

  test('a closed service refuses sign-ups, and says who opens it', async () => {
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

const day = 86_400_000;
const failedBefore = (subject: string, count: number, lastFailedAt = Date.now()) =>
  env.DB.prepare('INSERT INTO login_failure (subject, failures, window_ends_at) VALUES (?, ?, ?)')
    .bind(subject, count, lastFailedAt + day)
    .run();
const failuresOf = async (email: string) =>
  (
    await env.DB.prepare("SELECT * FROM login_failure WHERE subject LIKE '%' || ?1 || '%' AND subject NOT LIKE 'signup%' AND failures > 0")
      .bind(email)
      .all()
  ).results;
const deviceOf = (answer: { headers: Headers }) => /device=[^;]+/.exec(answer.headers.get('set-cookie') ?? '')?.[0];

let host = 0;
/** An address that no other test calls from. */
const newAddress = () => `198.18.${Math.floor(++host / 250)}.${host % 250}`;

describe('guessing', () => {
  test.each([true, false])(
    'waits twice as long after each failure beyond five, whether the address is known or not (%s)',
    async (isKnown) => {
      vi.useFakeTimers({ toFake: ['Date'] });
      const email = isKnown ? (await signUp()).email : newEmail();
      const address = newAddress();
      await failedBefore(`pair:${email}|${address}`, 4);
      expect((await attempt(email, 'guess number 5', address)).status).toBe(401);
      for (const seconds of [1, 2, 4, 8]) {
        const refused = await attempt(email, 'guess too early', address);
        expect(refused).toMatchObject({ status: 429, body: { detail: expect.stringContaining('Too many failed log-ins') } });
        expect(refused.headers.get('retry-after')).toBe(String(seconds));
        vi.setSystemTime(Date.now() + seconds * 1000 - 1);
        expect((await attempt(email, 'guess too early', address)).status).toBe(429);
        vi.setSystemTime(Date.now() + 11_000);
        expect((await attempt(email, 'guess again', address)).status).toBe(401);
      }
    },
  );

  test('waits a quarter of an hour at most, and is forgotten by the tick after a day', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { email } = await signUp();
    const address = newAddress();
    await failedBefore(`pair:${email}|${address}`, 1000);
    expect((await attempt(email, password, address)).headers.get('retry-after')).toBe('900');
    vi.setSystemTime(Date.now() + 900_000);
    expect((await attempt(email, password, address)).status).toBe(200);
    await attempt(email, 'wrong for once', address);
    const { removePage } = retentionRules.find(({ table }) => table === 'login_failure')!;
    const forgetAt = (now: number) => removePage({ bindings: env, database: catalog(env), settings: getSettings(env), now });
    await forgetAt(Date.now() + day);
    expect(await failuresOf(email)).not.toEqual([]);
    await forgetAt(Date.now() + day + 1);
    expect(await failuresOf(email)).toEqual([]);
  });

  test('from one place does not lock the owner out of another', async () => {
    const { email } = await signUp();
    const attacker = newAddress();
    await failedBefore(`pair:${email}|${attacker}`, 12);
    await failedBefore(`email:${email}`, 12);
    expect((await attempt(email, password, attacker)).status).toBe(429);
    expect((await attempt(email, password, newAddress())).status).toBe(200);
  });

  test('from many places makes strangers wait, and neither the device nor the network of the owner', async () => {
    const { email } = await signUp();
    const home = newAddress();
    const device = deviceOf(await attempt(email, password, home))!;
    await failedBefore(`email:${email}`, 30);
    expect((await attempt(email, password, newAddress())).status).toBe(429);
    expect((await attempt(email, password, home)).status).toBe(200);
    expect((await attempt(email, password, newAddress(), device)).status).toBe(200);
  });

  test('beside the owner, from their own network, does not lock their device out', async () => {
    const { email } = await signUp();
    const home = newAddress();
    const device = deviceOf(await attempt(email, password, home))!;
    await failedBefore(`pair:${email}|${home}`, 30);
    await failedBefore(`address:${home}`, 300);
    expect((await attempt(email, password, home)).status).toBe(429);
    const known = await attempt(email, password, home, device);
    expect(known.status).toBe(200);
    expect(deviceOf(known)).toBeUndefined();
  });

  test('with a known device is throttled, too, and a mark of another address or a forged one counts for nothing', async () => {
    const { email } = await signUp();
    const device = deviceOf(await attempt(email, password))!;
    const id = device.slice('device='.length).split('.')[0]!;
    await failedBefore(`device:${id}`, 9);
    expect((await attempt(email, password, undefined, device)).status).toBe(429);
    const foreign = deviceOf(await signUp())!;
    await failedBefore(`pair:${email}|unknown`, 9);
    expect((await attempt(email, password, undefined, foreign)).status).toBe(429);
    expect((await attempt(email, password, undefined, `device=${id}.${'0'.repeat(64)}`)).status).toBe(429);
  });

  test('guesses sent all at once do not pass unseen', async () => {
    const email = newEmail();
    await failedBefore(`pair:${email}|unknown`, 2);
    const answers = await Promise.all(Array.from({ length: 7 }, (_, count) => attempt(email, `guess number ${count}`)));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(4);
  });

  test('guesses sent all at once, where none has failed yet, are ten at most', async () => {
    const email = newEmail();
    const answers = await Promise.all(Array.from({ length: 14 }, (_, count) => attempt(email, `guess number ${count}`)));
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(4);
  });

  test('a log-in that succeeds writes no count, and forgets the failures of its network', async () => {
    const { email } = await signUp();
    const address = newAddress();
    expect((await attempt(email, password, address)).status).toBe(200);
    expect(await failuresOf(email)).toEqual([]);
    for (let count = 0; count < 3; count++) expect((await attempt(email, 'wrong for now', address)).status).toBe(401);
    expect((await attempt(email, password, address)).status).toBe(200);
    expect(await failuresOf(`pair:${email}`)).toEqual([]);
  });

  test('more than fifty failures from a network make it wait whatever the address, and other networks go on', async () => {
    // The wait for the 56th is a minute, so that no slow machine outlasts it.
    await failedBefore('address:2001:db8:77:1::/64', 55, Date.now() - 3_600_000);
    const { email } = await signUp();
    expect((await attempt(newEmail(), password, '2001:db8:77:1::1')).status).toBe(401);
    expect((await attempt(email, password, '2001:db8:77:1::2')).status).toBe(429);
    expect((await attempt(email, password, '2001:db8:77:2::1')).status).toBe(200);
    expect((await attempt(email, password, '198.51.100.7')).status).toBe(200);
  });

  test('the fiftieth failure of a network is the first that makes it wait', async () => {
    // As if the last failure came in a minute, so that no slow machine outlasts the wait of a second.
    const later = Date.now() + 60_000;
    await failedBefore('address:2001:db8:78:1::/64', 49, later);
    await failedBefore('address:2001:db8:78:2::/64', 50, later);
    const { email } = await signUp();
    expect((await attempt(email, password, '2001:db8:78:1::1')).status).toBe(200);
    expect((await attempt(email, password, '2001:db8:78:2::1')).status).toBe(429);
  });
});
