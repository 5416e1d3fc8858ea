import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { challengeEnd, newChallenge } from '../../../src/accounts/passkeys/challenge.ts';
import { relyingParty } from '../../../src/accounts/passkeys/relying-party.ts';
import { getSettings } from '../../../src/settings.ts';
import { newEmail } from '../../http/service.ts';
import { tickAt } from '../../support/background.ts';
import { Authenticator } from '../../support/authenticator.ts';
import { Client, newOrganization } from '../../support/organization.ts';
import { newTeam, sessionClient } from '../../support/people.ts';

afterEach(() => vi.restoreAllMocks());

const password = 'lanterns over a quiet harbour';
let networks = Math.floor(Math.random() * 2 ** 16);
/** Somebody in a network of their own. */
const anonymous = () => {
  networks += 1;
  const address = `10.${(networks >> 16) & 255}.${(networks >> 8) & 255}.${networks & 255}`;
  const client = new Client(undefined);
  return { post: (path: string, body?: unknown) => client.post(path, body, { 'cf-connecting-ip': address }) };
};

async function person(organization: string | null = 'Acme') {
  const email = newEmail();
  const { body } = await anonymous().post('/auth/signup', { email, password, name: 'Ada', organization_name: organization });
  if (!body.user) throw new Error(JSON.stringify(body));
  return { email, userId: body.user.id as number, organizationId: body.organization?.id as number, client: sessionClient(body.token) };
}
type Signed = Awaited<ReturnType<typeof person>>;

async function add({ client }: Signed, device: Authenticator, more: object = {}) {
  const { status, body: options } = await client.post('/auth/passkeys/options');
  expect(status, JSON.stringify(options)).toBe(200);
  return client.post('/auth/passkeys', { password, name: 'Laptop', credential: await device.make(options), ...more });
}

async function logIn(device: Authenticator, change: (credential: any) => any = (credential) => credential) {
  const guest = anonymous();
  const options = (await guest.post('/auth/passkeys/login/options')).body;
  return guest.post('/auth/passkeys/login', { credential: change(await device.sign(options)) });
}

async function withPasskey() {
  const [ada, device] = [await person(), await Authenticator.create()];
  const added = await add(ada, device);
  expect(added.status, JSON.stringify(added.body)).toBe(200);
  return { ada, device, passkey: added.body };
}

describe('a person with a passkey', () => {
  test('logs in without a password, as themselves, in their organization', async () => {
    const { ada, device, passkey } = await withPasskey();
    expect(passkey).toEqual({
      id: expect.any(Number),
      name: 'Laptop',
      is_backed_up: false,
      last_used_at: null,
      created_at: expect.any(String),
    });
    const { status, body } = await logIn(device);
    expect([status, body.user.email, body.organization.id]).toEqual([200, ada.email, ada.organizationId]);
    expect((await sessionClient(body.token).get('/auth/me')).body).toMatchObject({ user: { id: ada.userId }, role: 'owner' });
    expect((await logIn(device)).status).toBe(200);
    const { body: list } = await ada.client.get('/auth/passkeys');
    expect(list).toMatchObject({ total: 1, passkeys: [{ id: passkey.id, last_used_at: expect.any(String) }] });
    expect(JSON.stringify(list)).not.toContain(Buffer.from(device.id).toString('base64url'));
  });

  test('is told which passkeys there are when adding another, and deletes one, by which nobody logs in any more', async () => {
    const { ada, device, passkey } = await withPasskey();
    const options = (await ada.client.post('/auth/passkeys/options')).body;
    expect(options).toMatchObject({
      rp: { id: 'service.test' },
      user: { name: ada.email, displayName: 'Ada' },
      excludeCredentials: [{ id: Buffer.from(device.id).toString('base64url') }],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      attestation: 'none',
    });
    expect((await ada.client.delete(`/auth/passkeys/${passkey.id}`)).body).toEqual({ status: 'deleted' });
    expect((await ada.client.delete(`/auth/passkeys/${passkey.id}`)).status).toBe(404);
    expect((await logIn(device)).status).toBe(401);
  });

  test('loses it when the account is deleted, or when a link resets the password', async () => {
    const [ada, device] = [await person(null), await Authenticator.create()];
    expect((await add(ada, device)).status).toBe(200);
    expect((await logIn(device)).status).toBe(200);
    expect((await ada.client.post('/auth/me/delete', { password })).status).toBe(200);
    expect((await logIn(device)).status).toBe(401);

    const team = await newTeam();
    const [member, phone] = [await person(null), await Authenticator.create()];
    expect((await add(member, phone)).status).toBe(200);
    const invited = (await team.client.post('/organizations/invitations', { role: 'viewer' })).body;
    expect((await member.client.post('/auth/invitations/join', { token: invited.token })).status).toBe(200);
    expect((await logIn(phone)).status).toBe(200);
    const { body: link } = await team.client.post(`/organizations/members/${member.userId}/password-reset`);
    const reset = await anonymous().post('/auth/password/reset', { token: link.token, new_password: 'a quiet harbour at dusk' });
    expect(reset.status, JSON.stringify(reset.body)).toBe(200);
    expect((await logIn(phone)).status).toBe(401);
  });
});

describe('a passkey is not added', () => {
  test('with a wrong password, or without a session', async () => {
    const ada = await person();
    const answer = await add(ada, await Authenticator.create(), { password: 'a guess' });
    expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ['body', 'password']]);
    const { client } = await newOrganization();
    expect((await client.post('/auth/passkeys/options')).status).toBe(400);
    expect((await anonymous().post('/auth/passkeys/options')).status).toBe(401);
  });

  test('twice by one answer, for a challenge of somebody else, or of another site', async () => {
    const [ada, eve, device] = [await person(), await person(), await Authenticator.create()];
    const options = (await ada.client.post('/auth/passkeys/options')).body;
    const credential = await device.make(options);
    const body = { password, name: 'Laptop', credential };
    expect((await eve.client.post('/auth/passkeys', body)).status).toBe(422);
    expect((await ada.client.post('/auth/passkeys', body)).status).toBe(200);
    const again = await ada.client.post('/auth/passkeys', body);
    expect([again.status, again.body.detail[0].msg]).toEqual([422, expect.stringContaining('answered before')]);
    expect((await add(eve, device)).status).toBe(409);
    expect((await add(ada, await Authenticator.create('https://evil.example'))).status).toBe(422);
  });

  test('by a device that does not verify its user, by a log-in challenge, or by what is none', async () => {
    const ada = await person();
    const careless = await Authenticator.create();
    careless.isUserVerified = false;
    expect((await add(ada, careless)).status).toBe(422);
    const device = await Authenticator.create();
    const { challenge, rpId } = (await anonymous().post('/auth/passkeys/login/options')).body;
    const credential = await device.make({ challenge, rp: { id: rpId } });
    expect((await ada.client.post('/auth/passkeys', { password, name: 'Laptop', credential })).status).toBe(422);
    const garbage = { ...credential, response: { clientDataJSON: 'AAAA', attestationObject: 'AAAA' } };
    expect((await ada.client.post('/auth/passkeys', { password, name: 'Laptop', credential: garbage })).status).toBe(422);
    expect((await ada.client.post('/auth/passkeys', { password, name: '', credential })).status).toBe(422);
  });

  test('beyond 20', async () => {
    const { ada } = await withPasskey();
    for (let index = 1; index < 20; index++)
      await env.DB.prepare(
        "INSERT INTO passkey (user_id, name, credential_id, public_key, signature_count, is_backed_up, created_at) VALUES (?, 'More', ?, '', 0, 0, 0)",
      )
        .bind(ada.userId, crypto.randomUUID())
        .run();
    expect((await ada.client.post('/auth/passkeys/options')).status).toBe(409);
  });
});

describe('nobody logs in', () => {
  test('by a passkey that is unknown, another signature, or another site', async () => {
    const { device } = await withPasskey();
    const stranger = await Authenticator.create();
    expect((await logIn(stranger)).status).toBe(401);
    expect((await logIn(stranger, (credential) => ({ ...credential, id: Buffer.from(device.id).toString('base64url') }))).status).toBe(401);
    const wrong = (credential: any) => ({ ...credential, response: { ...credential.response, signature: 'MEUCIQ' } });
    expect((await logIn(device, wrong)).status).toBe(401);
    expect((await logIn(device)).status).toBe(200);
  });

  test('by an answer that was sent before, although many send it at once', async () => {
    const { device } = await withPasskey();
    const guest = anonymous();
    const credential = await device.sign((await guest.post('/auth/passkeys/login/options')).body);
    const answers = await Promise.all([1, 2, 3, 4].map(() => guest.post('/auth/passkeys/login', { credential })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401]);
  });

  test('by a copy of a device, which has signed less often', async () => {
    const { device } = await withPasskey();
    for (let times = 0; times < 3; times++) expect((await logIn(device)).status).toBe(200);
    device.signatureCount = 1;
    expect((await logIn(device)).status).toBe(401);
  });

  test('by a challenge that is over, was changed, or was made to add a passkey', async () => {
    const { SIGNING_KEY: key } = getSettings(env);
    const now = Date.now();
    const challenge = await newChallenge(key, 'log_in', now);
    expect(await challengeEnd(key, 'log_in', challenge, now)).toBe(now + 300_000);
    expect(await challengeEnd(key, 'log_in', challenge, now + 300_000)).toBeNull();
    expect(await challengeEnd(key, 'add:1', challenge, now)).toBeNull();
    const [id, end, signature] = challenge.split('.') as [string, string, string];
    for (const changed of [`${id}.${Number(end) + 1}.${signature}`, `x${id}.${end}.${signature}`, `${challenge}.`, '..', ''])
      expect(await challengeEnd(key, 'log_in', changed, now), changed).toBeNull();
    const { ada, device } = await withPasskey();
    const { challenge: other } = (await ada.client.post('/auth/passkeys/options')).body;
    const answer = await anonymous().post('/auth/passkeys/login', {
      credential: await device.sign({ challenge: other, rpId: 'service.test' }),
    });
    expect(answer.status).toBe(401);
  });

  test('more than ten times in ten seconds from one network', async () => {
    const guest = anonymous();
    const device = await Authenticator.create();
    const { body: options } = await guest.post('/auth/passkeys/login/options');
    const statuses: number[] = [];
    for (let times = 0; times < 12; times++) {
      const { status } = await guest.post('/auth/passkeys/login', { credential: await device.sign(options) });
      statuses.push(status);
    }
    expect(statuses).toContain(429);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
  });
});

test('a challenge that was answered is forgotten when it is over', async () => {
  const { device } = await withPasskey();
  expect((await logIn(device)).status).toBe(200);
  const count = () =>
    env.DB.prepare('SELECT count(*) AS n FROM used_challenge WHERE expires_at < ?')
      .bind(Date.now() + 301_000)
      .first<{ n: number }>();
  expect((await count())!.n).toBeGreaterThan(1);
  await tickAt(Date.now() + 86_400_000);
  await vi.waitFor(async () => expect((await count())!.n).toBe(0));
});

describe('passkeys belong to', () => {
  const settings = getSettings(env);

  test('the domain of the console, and its pages and those of the service below it may use them', () => {
    const site = relyingParty(
      { ...settings, CONSOLE_URL: 'https://acme.example/app', PUBLIC_URL: 'https://api.acme.example' },
      'https://10.0.0.1/',
    );
    expect(site).toMatchObject({
      id: 'acme.example',
      origins: ['https://acme.example', 'https://acme.example', 'https://api.acme.example'],
    });
  });

  test('no other domain than the first one', () => {
    const site = relyingParty(
      { ...settings, CONSOLE_URL: 'https://acme.example', PUBLIC_URL: 'https://notacme.example' },
      'https://x.test/',
    );
    expect(new Set(site.origins)).toEqual(new Set(['https://acme.example']));
  });

  test('localhost, and to no IP address', () => {
    const bare = { ...settings, CONSOLE_URL: '', PUBLIC_URL: '' };
    const local = { ...bare, PUBLIC_URL: 'http://127.0.0.1:8787' };
    expect(relyingParty(local, 'http://localhost:8787/x')).toMatchObject({ id: 'localhost', origins: ['http://localhost:8787'] });
    expect(relyingParty(bare, 'http://localhost:8787/x')).toMatchObject({ id: 'localhost', origins: ['http://localhost:8787'] });
    for (const url of ['http://127.0.0.1:8787/', 'http://[::1]:8787/']) expect(() => relyingParty(bare, url)).toThrow('need a domain name');
  });
});
