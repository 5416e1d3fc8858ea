import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { linesLoggedBy, serviceWith } from '../http/service.ts';
import { recordedClient, rowsRead } from '../support/recorded-database.ts';
import { Client, newOrganization, newPhone } from '../support/organization.ts';
import { accountSid, authToken, newAgentId, publicKey, notifiedSlots, telnyxConfig, telnyxKey, twilioConfig } from './carrier-accounts.ts';

afterEach(() => vi.restoreAllMocks());

const path = '/organizations/telephony-configs';
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

const expectNoSecret = (value: unknown) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  for (const secret of [authToken, telnyxKey, 'sealed:']) expect(text).not.toContain(secret);
};
const defaultsOf = async (client: Client): Promise<number[]> =>
  (await client.get(path)).body.telephony_configs.flatMap((config: any) => (config.is_default ? [config.id] : []));
const create = async (client: Client, more: Record<string, unknown> = {}) => (await client.post(path, twilioConfig(more))).body;

describe('a telephony configuration', () => {
  test('of Twilio is created with the defaults, shown with its token masked, and stored with it sealed', async () => {
    const { client, id } = await newOrganization();
    const number = newPhone();
    const { status, body } = await client.post(path, twilioConfig({ from_numbers: [number] }));
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.any(Number),
      name: 'Main line',
      provider: 'twilio',
      twilio: { account_sid: accountSid, auth_token: '****rier' },
      telnyx: null,
      from_numbers: [number],
      inbound_workflow_id: null,
      inbound_url: `https://service.test/api/v1/telephony/${id}/${body.id}/inbound`,
      is_default: true,
      calls_per_second: 1,
      machine_detection: true,
      created_at: timestamp,
      updated_at: timestamp,
    });
    expect((await client.get(`${path}/${body.id}`)).body).toEqual(body);
    const stored = await env.DB.prepare('SELECT * FROM telephony_config WHERE id = ?').bind(body.id).first<any>();
    expect(stored).toMatchObject({ organization_id: id, callback_origin: 'https://service.test' });
    expect(stored.credentials).not.toContain(authToken);
    expect(JSON.parse(stored.credentials).auth_token).toMatch(/^sealed:v1:/);
  });

  test('of Telnyx shows all but its API key', async () => {
    const { client } = await newOrganization();
    const { status, body } = await client.post(path, telnyxConfig({ calls_per_second: 20, machine_detection: false }));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      provider: 'telnyx',
      twilio: null,
      telnyx: { api_key: '****rier', connection_id: '1494404757140276705', public_key: publicKey },
      calls_per_second: 20,
      machine_detection: false,
    });
  });

  test('takes numbers in any usual spelling, each once', async () => {
    const { client } = await newOrganization({ defaultCountry: 'GB' });
    const { body } = await client.post(path, twilioConfig({ from_numbers: ['+15005550006', '020 7946 0958', '+44 (0)20 7946 0958'] }));
    expect(body.from_numbers).toEqual(['+15005550006', '+442079460958']);
  });

  test('takes the values around the credentials without the spaces that copying adds', async () => {
    const { client, id } = await newOrganization();
    const { body } = await client.post(path, twilioConfig({ twilio: { account_sid: ` ${accountSid}\n`, auth_token: `${authToken}\n` } }));
    expect(body.twilio).toEqual({ account_sid: accountSid, auth_token: '****rier' });
    expect(id).toBeGreaterThan(0);
  });

  test('says where carriers call back: under PUBLIC_URL, or where the caller has reached the API', async () => {
    const { key, id } = await newOrganization();
    const behindProxy = new Client(key, serviceWith({ PUBLIC_URL: 'https://calls.example.com/' }));
    const { body } = await behindProxy.post(path, twilioConfig());
    expect(body.inbound_url).toBe(`https://calls.example.com/api/v1/telephony/${id}/${body.id}/inbound`);
    const stored = await env.DB.prepare('SELECT callback_origin FROM telephony_config WHERE id = ?').bind(body.id).first<any>();
    expect(stored.callback_origin).toBe('https://calls.example.com');
  });

  test('has an agent of the organization take calls to its numbers, until null takes it away', async () => {
    const { client, id } = await newOrganization();
    const agentId = await newAgentId(id);
    const { body } = await client.post(path, twilioConfig({ inbound_workflow_id: agentId }));
    expect(body.inbound_workflow_id).toBe(agentId);
    expect((await client.patch(`${path}/${body.id}`, { name: 'Renamed' })).body.inbound_workflow_id).toBe(agentId);
    expect((await client.patch(`${path}/${body.id}`, { inbound_workflow_id: null })).body.inbound_workflow_id).toBeNull();
  });

  test.each([999_999_999, 'foreign'] as const)('refuses agent %s as one that does not exist', async (which) => {
    const { client } = await newOrganization();
    const agentId = which === 'foreign' ? await newAgentId((await newOrganization()).id) : which;
    expect(await client.post(path, twilioConfig({ inbound_workflow_id: agentId }))).toMatchObject({ status: 404 });
    const { id } = await create(client);
    expect(await client.patch(`${path}/${id}`, { inbound_workflow_id: agentId })).toMatchObject({ status: 404 });
    expect((await client.get(path)).body.total).toBe(1);
  });
});

describe('what is no telephony configuration', () => {
  const of = (twilio: unknown) => twilioConfig({ twilio });
  const ofTelnyx = (telnyx: object) => telnyxConfig({ telnyx: { ...telnyxConfig().telnyx, ...telnyx } });
  test.each([
    ['no number', twilioConfig({ from_numbers: [] }), ['from_numbers'], /at least one number/],
    ['numbers left out', twilioConfig({ from_numbers: undefined }), ['from_numbers'], /missing/],
    ['a number that is none', twilioConfig({ from_numbers: ['+15005550006', 'n/a'] }), ['from_numbers', '1'], /"n\/a"/],
    ['no credentials', of(undefined), ['twilio', 'account_sid'], /missing/],
    ['no account SID', of({ auth_token: authToken }), ['twilio', 'account_sid'], /missing/],
    ['an empty account SID', of({ account_sid: ' ', auth_token: authToken }), ['twilio', 'account_sid'], /missing/],
    ['another account SID', of({ account_sid: 'XX123', auth_token: authToken }), ['twilio', 'account_sid'], /begins with AC|AC and 32/],
    ['the SID of an API key', of({ account_sid: 'SK123', auth_token: authToken }), ['twilio', 'account_sid'], /Account SID/],
    ['no token', of({ account_sid: accountSid }), ['twilio', 'auth_token'], /missing/],
    ['a token that is null', of({ account_sid: accountSid, auth_token: null }), ['twilio', 'auth_token'], /missing/],
    ['a mask', of({ account_sid: accountSid, auth_token: '****1234' }), ['twilio', 'auth_token'], /mask/],
    ['a token with a space', of({ account_sid: accountSid, auth_token: 'two words' }), ['twilio', 'auth_token'], /character/],
    ['a misspelt credential', of({ account_sid: accountSid, auth_tokn: authToken }), ['twilio', 'auth_tokn'], /auth_tokn/],
    ['no API key', ofTelnyx({ api_key: undefined }), ['telnyx', 'api_key'], /missing/],
    ['no connection', ofTelnyx({ connection_id: '' }), ['telnyx', 'connection_id'], /missing/],
    ['another connection', ofTelnyx({ connection_id: 'a/b' }), ['telnyx', 'connection_id'], /connection/],
    ['no public key', ofTelnyx({ public_key: undefined }), ['telnyx', 'public_key'], /missing/],
    ['a public key of another length', ofTelnyx({ public_key: 'c2hvcnQ=' }), ['telnyx', 'public_key'], /32 bytes/],
    ['credentials of the other carrier', twilioConfig({ telnyx: telnyxConfig().telnyx }), ['telnyx'], /provider is twilio/],
    ['another carrier', twilioConfig({ provider: 'vonage' }), ['provider'], /twilio/],
    ['no call a second', twilioConfig({ calls_per_second: 0 }), ['calls_per_second'], /1 or more/],
    ['too many calls a second', twilioConfig({ calls_per_second: 1001 }), ['calls_per_second'], /1000 or less/],
    ['half a call a second', twilioConfig({ calls_per_second: 1.5 }), ['calls_per_second'], /int/],
    ['no name', twilioConfig({ name: ' ' }), ['name'], /empty/],
  ])('%s is a 422 that names the field', async (_, body, field, words) => {
    const { client } = await newOrganization();
    const answer = await client.post(path, body);
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0]).toMatchObject({ loc: ['body', ...field], msg: expect.stringMatching(words) });
    expectNoSecret(answer.body);
    expect((await client.get(path)).body.total).toBe(0);
  });

  test('several problems are reported at once', async () => {
    const { client } = await newOrganization();
    const { body } = await client.post(path, twilioConfig({ twilio: {}, from_numbers: ['nothing'] }));
    expect(body.detail.map(({ loc }: any) => loc.join('.'))).toEqual([
      'body.twilio.account_sid',
      'body.twilio.auth_token',
      'body.from_numbers.0',
    ]);
  });
});

describe('a change', () => {
  test('of one field keeps the others, and a mask sent back keeps the secret', async () => {
    const { client } = await newOrganization();
    const before = await create(client, { calls_per_second: 5, machine_detection: false });
    const renamed = (await client.patch(`${path}/${before.id}`, { name: 'Renamed' })).body;
    expect(renamed).toEqual({ ...before, name: 'Renamed', updated_at: timestamp });
    expect(Date.parse(renamed.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
    // The whole record as it was read, sent back: nothing but the moment changes.
    expect((await client.patch(`${path}/${before.id}`, renamed)).body).toEqual({ ...renamed, updated_at: timestamp });
    const stored = async () => await env.DB.prepare('SELECT credentials FROM telephony_config WHERE id = ?').bind(before.id).first<any>();
    const sealed = await stored();
    await client.patch(`${path}/${before.id}`, { twilio: { account_sid: `AC${'1'.repeat(32)}`, auth_token: '****' } });
    expect(JSON.parse((await stored()).credentials)).toEqual({
      account_sid: `AC${'1'.repeat(32)}`,
      auth_token: JSON.parse(sealed.credentials).auth_token,
    });
  });

  test('of a secret alone keeps the rest of the block', async () => {
    const { client } = await newOrganization();
    const { id } = await create(client);
    const { body } = await client.patch(`${path}/${id}`, { twilio: { auth_token: 'another-token-of-the-carrier-7777' } });
    expect(body.twilio).toEqual({ account_sid: accountSid, auth_token: '****7777' });
  });

  test('null brings back a default, and takes away nothing that a call needs', async () => {
    const { client } = await newOrganization();
    const { id } = await create(client, { calls_per_second: 5, machine_detection: false });
    expect((await client.patch(`${path}/${id}`, { calls_per_second: null, machine_detection: null })).body).toMatchObject({
      calls_per_second: 1,
      machine_detection: true,
    });
    for (const [change, field] of [
      [{ twilio: null }, ['twilio', 'account_sid']],
      [{ twilio: { auth_token: null } }, ['twilio', 'auth_token']],
      [{ name: null }, ['name']],
      [{ from_numbers: null }, ['from_numbers']],
      [{ from_numbers: [] }, ['from_numbers']],
      [{ is_default: null }, ['is_default']],
    ] as const) {
      const { status, body } = await client.patch(`${path}/${id}`, change);
      expect([status, body.detail[0].loc]).toEqual([422, ['body', ...field]]);
    }
  });

  test('to another provider is refused, since calls may be under way', async () => {
    const { client } = await newOrganization();
    const { id } = await create(client);
    const { provider, telnyx } = telnyxConfig();
    expect(await client.patch(`${path}/${id}`, { provider, telnyx })).toMatchObject({
      status: 409,
      body: { detail: expect.stringMatching(/twilio.*another configuration for telnyx/) },
    });
  });

  test('made by two at once loses neither', async () => {
    const { client, key } = await newOrganization();
    const { id } = await create(client);
    let isFirst = true;
    const { client: slow } = recordedClient(key, {
      beforeCall: async (sql) => {
        if (!isFirst || !sql.some((one) => one.startsWith('UPDATE telephony_config'))) return;
        isFirst = false;
        await client.patch(`${path}/${id}`, { calls_per_second: 9 });
      },
    });
    expect((await slow.patch(`${path}/${id}`, { name: 'Renamed' })).body).toMatchObject({ name: 'Renamed', calls_per_second: 9 });
  });
});

describe('a number', () => {
  test('stands in one configuration of an organization, the conflict names it and where it is', async () => {
    const { client } = await newOrganization();
    const first = await create(client);
    const [number] = first.from_numbers;
    const answer = await client.post(path, telnyxConfig({ from_numbers: [newPhone(), number] }));
    expect(answer).toMatchObject({
      status: 409,
      body: { detail: expect.stringMatching(`\\${number} .*configuration ${first.id} \\("Main line"\\)`) },
    });
    const second = await create(client, { name: 'Other' });
    expect((await client.patch(`${path}/${second.id}`, { from_numbers: [number] })).status).toBe(409);
    expect((await client.patch(`${path}/${first.id}`, { from_numbers: [number, newPhone()] })).status).toBe(200);
    expect((await client.get(path)).body.total).toBe(2);
  });

  test('may be in configurations of two organizations, and is free once its configuration is gone', async () => {
    const { client } = await newOrganization();
    const { client: other } = await newOrganization();
    const first = await create(client);
    const same = twilioConfig({ from_numbers: first.from_numbers });
    expect((await other.post(path, same)).status).toBe(200);
    await client.delete(`${path}/${first.id}`);
    expect((await client.post(path, same)).status).toBe(200);
  });

  test('that two take at once is had by one of them', async () => {
    const { client } = await newOrganization();
    const same = twilioConfig();
    const answers = await Promise.all([1, 2, 3].map(() => client.post(path, { ...same, is_default: true })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    expect(await defaultsOf(client)).toHaveLength(1);
  });
});

describe('the default configuration', () => {
  test('is the first one, whatever it says, until another one is made it', async () => {
    const { client } = await newOrganization();
    const first = await create(client, { is_default: false });
    expect(first.is_default).toBe(true);
    const second = await create(client);
    expect(second.is_default).toBe(false);
    const third = await create(client, { is_default: true });
    expect(third.is_default).toBe(true);
    expect(await defaultsOf(client)).toEqual([third.id]);
    expect((await client.patch(`${path}/${second.id}`, { is_default: true })).body.is_default).toBe(true);
    expect(await defaultsOf(client)).toEqual([second.id]);
  });

  test('can be given to another one, not only taken away', async () => {
    const { client } = await newOrganization();
    const { id } = await create(client);
    expect(await client.patch(`${path}/${id}`, { is_default: false, name: 'Renamed' })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('set is_default true on another') },
    });
    expect((await client.patch(`${path}/${id}`, { is_default: true })).status).toBe(200);
    expect((await client.get(`${path}/${id}`)).body).toMatchObject({ is_default: true, name: 'Main line' });
  });

  test('is the oldest that is left when it is deleted', async () => {
    const { client } = await newOrganization();
    const [first, second, third] = [await create(client), await create(client), await create(client, { is_default: true })];
    expect(await client.delete(`${path}/${third.id}`)).toMatchObject({ status: 200, body: { status: 'deleted' } });
    expect(await defaultsOf(client)).toEqual([first.id]);
    await client.delete(`${path}/${first.id}`);
    expect(await defaultsOf(client)).toEqual([second.id]);
    await client.delete(`${path}/${second.id}`);
    expect((await client.get(path)).body).toMatchObject({ telephony_configs: [], total: 0 });
    expect((await create(client)).is_default).toBe(true);
  });

  test('is one of them however many make theirs the default at once', async () => {
    const { client } = await newOrganization();
    const made = await Promise.all([1, 2, 3, 4].map(() => create(client, { is_default: true })));
    expect(await defaultsOf(client)).toHaveLength(1);
    await Promise.all(made.map(({ id }) => client.patch(`${path}/${id}`, { is_default: true })));
    expect(await defaultsOf(client)).toHaveLength(1);
  });
});

describe('the list', () => {
  test('is newest first, paged, and searched by name', async () => {
    const { client } = await newOrganization();
    const ids = [];
    for (const name of ['Sales', 'Support', 'sales abroad']) ids.push((await create(client, { name })).id);
    const { body } = await client.get(`${path}?limit=2`);
    expect(body).toMatchObject({ total: 3, limit: 2, offset: 0, next_cursor: expect.any(String) });
    expect(body.telephony_configs.map(({ id }: any) => id)).toEqual([ids[2], ids[1]]);
    const rest = (await client.get(`${path}?limit=2&cursor=${body.next_cursor}`)).body;
    expect(rest).toMatchObject({ telephony_configs: [{ id: ids[0] }], next_cursor: null });
    expect((await client.get(`${path}?search=SALES`)).body).toMatchObject({
      total: 2,
      telephony_configs: [{ id: ids[2] }, { id: ids[0] }],
    });
    expect((await client.get(`${path}?limit=0`)).status).toBe(422);
  });

  test('of an organization ends at a hundred', async () => {
    const { client, id } = await newOrganization();
    await create(client);
    await env.DB.prepare(
      `INSERT INTO telephony_config (organization_id, name, provider, credentials, from_numbers, is_default, calls_per_second,
         machine_detection, callback_origin, created_at, updated_at)
       SELECT organization_id, name, provider, credentials, '[]', 0, 1, 1, '', 0, 0 FROM telephony_config, json_each(?)
       WHERE organization_id = ?`,
    )
      .bind(JSON.stringify(Array.from({ length: 99 }, (_, index) => index)), id)
      .run();
    expect(await client.post(path, twilioConfig())).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('(max_telephony_configs)') },
    });
    expect((await client.get(path)).body.total).toBe(100);
  });
});

describe('the configurations of an organization', () => {
  test('are nothing to another one', async () => {
    const { client } = await newOrganization();
    const { client: other } = await newOrganization();
    const config = await create(client);
    expect((await other.get(path)).body).toMatchObject({ telephony_configs: [], total: 0 });
    for (const id of [config.id, 999_999_999]) {
      const answers = [
        await other.get(`${path}/${id}`),
        await other.patch(`${path}/${id}`, { name: 'Taken' }),
        await other.delete(`${path}/${id}`),
      ];
      for (const answer of answers) expect(answer).toMatchObject({ status: 404, body: { detail: 'Telephony configuration not found' } });
    }
    expect((await client.get(`${path}/${config.id}`)).body).toEqual(config);
    expect((await client.get(`${path}/none`)).status).toBe(422);
  });

  test('are read with the scope read, and changed with write', async () => {
    const { client, id } = await newOrganization({ scopes: ['write'] });
    const config = await create(client);
    expect((await client.patch(`${path}/${config.id}`, { name: 'Renamed' })).status).toBe(200);
    const { client: reader, id: readerId } = await newOrganization({ scopes: ['read'] });
    expect((await reader.get(path)).status).toBe(200);
    for (const answer of [await reader.post(path, twilioConfig()), await reader.patch(`${path}/1`, {}), await reader.delete(`${path}/1`)])
      expect(answer).toMatchObject({ status: 403, body: { detail: expect.stringContaining('insufficient_scope') } });
    expect([id, readerId].every(Boolean)).toBe(true);
    expect((await new Client(undefined).get(path)).status).toBe(401);
  });

  test('show their secrets in no answer and no log', async () => {
    const { key } = await newOrganization();
    const client = new Client(key, serviceWith({ LOG_LEVEL: 'debug' }));
    const answers: unknown[] = [];
    const lines = await linesLoggedBy(async () => {
      const twilio = await client.post(path, twilioConfig(), { 'Idempotency-Key': 'once' });
      const telnyx = await client.post(path, telnyxConfig());
      answers.push(twilio, telnyx, await client.get(path), await client.get(`${path}/${twilio.body.id}`));
      answers.push(await client.patch(`${path}/${telnyx.body.id}`, { telnyx: { api_key: `${telnyxKey}-2`, public_key: 'bad' } }));
      answers.push(await client.patch(`${path}/${telnyx.body.id}`, { telnyx: { api_key: `${telnyxKey}-2` } }));
      answers.push(await client.post(path, twilioConfig({ from_numbers: twilio.body.from_numbers })));
    });
    expectNoSecret(answers);
    expectNoSecret(lines);
    const { results } = await env.DB.prepare('SELECT * FROM idempotency_key').all();
    for (const secret of [authToken, telnyxKey]) expect(JSON.stringify(results)).not.toContain(secret);
  });

  test('cost the same to read and write however many other organizations have', async () => {
    const { key } = await newOrganization();
    const cost = async () => {
      const { client, recording } = recordedClient(key);
      const { body } = await client.post(path, twilioConfig());
      await client.get(path);
      await client.delete(`${path}/${body.id}`);
      return rowsRead(recording);
    };
    await cost();
    const before = await cost();
    const { client: other, id } = await newOrganization();
    await create(other);
    await env.DB.prepare(
      `INSERT INTO telephony_config (organization_id, name, provider, credentials, from_numbers, is_default, calls_per_second,
         machine_detection, callback_origin, created_at, updated_at)
       SELECT organization_id, name, provider, credentials, from_numbers, 0, 1, 1, '', 0, 0 FROM telephony_config, json_each(?)
       WHERE organization_id = ?`,
    )
      .bind(JSON.stringify(Array.from({ length: 90 }, (_, index) => index)), id)
      .run();
    expect(await cost()).toBeLessThanOrEqual(before + 2);
  });
});

describe('the call slots', () => {
  test('are notified of each change, and of nothing else', async () => {
    const { client, id } = await newOrganization();
    const notified = notifiedSlots();
    const config = await create(client);
    expect(notified).toEqual([String(id)]);
    await client.patch(`${path}/${config.id}`, { calls_per_second: 3 });
    expect(notified).toHaveLength(2);
    await client.get(path);
    await client.patch(`${path}/${config.id}`, { calls_per_second: 0 });
    await client.delete(`${path}/999999999`);
    expect(notified).toHaveLength(2);
    await client.delete(`${path}/${config.id}`);
    expect(notified).toHaveLength(3);
  });

  test('that cannot be reached hold up no change', async () => {
    const { client } = await newOrganization();
    const notified = notifiedSlots(new Error('the object is being moved'));
    const answer = await client.post(path, twilioConfig());
    expect(answer.status).toBe(200);
    expect(notified.length).toBeGreaterThan(1);
  });
});
