import { createHmac } from 'node:crypto';
import { env, exports } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { webhookBodies } from '../fixtures/webhooks.ts';
import { deliver, deliverDeadLettersForADay, dropQueueMessages, tickAt } from '../support/background.ts';
import { createActiveWorkflow, chain, waitForEndedRuns } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

type Headers_ = Record<string, string>;

interface Hook {
  id: number;
  workflow: number;
  uuid: string;
  /** `query`: as it stands behind the address. */
  send(body: BodyInit | null, headers?: Headers_, query?: string): Promise<{ status: number; body: any }>;
}

/** An active workflow with a webhook trigger. `send` calls the trigger's address without credentials. */
async function newHook(client: Client, config: Record<string, unknown> = {}, workflow: Record<string, unknown> = {}): Promise<Hook> {
  const workflowId = await createActiveWorkflow(client, workflow);
  const created = await client.post(`/automation-workflows/${workflowId}/triggers`, { type: 'webhook', config });
  expect(created.status, JSON.stringify(created.body)).toBe(201);
  const { id, uuid, webhook_url } = created.body;
  const send: Hook['send'] = async (body, headers = { 'Content-Type': 'application/json' }, query = '') => {
    const response = await exports.default.fetch(new Request(webhook_url + query, { method: 'POST', body, headers }));
    return { status: response.status, body: await response.json() };
  };
  return { id, uuid, workflow: workflowId, send };
}

const sign = (secret: string | Buffer, content: string, encoding: 'hex' | 'base64' = 'hex') =>
  createHmac('sha256', secret).update(content).digest(encoding);
const seconds = (shift = 0) => String(Math.floor(Date.now() / 1000) + shift);

const body = '{"order": "A-17",  "name":"Zoë"}';
const secret = 'a secret of the sender';
const key = Buffer.from('a key of thirty-two bytes in all!').subarray(0, 32);

/** The headers of each scheme: valid ones, and invalid ones by kind. */
const standard = (text: string, timestamp: string, id = 'msg_1') => ({
  'webhook-id': id,
  'webhook-timestamp': timestamp,
  'webhook-signature': `v1,${sign(key, `${id}.${timestamp}.${text}`, 'base64')}`,
});
const stripe = (text: string, timestamp: string, name = 'Stripe-Signature') => ({
  [name]: `t=${timestamp},v1=${sign(secret, `${timestamp}.${text}`)}`,
});
const schemes: Record<string, { auth: Record<string, unknown>; right: Headers_[]; wrong: Headers_[] }> = {
  none: { auth: { type: 'none' }, right: [{}], wrong: [] },
  'hmac_sha256 in hex': {
    auth: { type: 'hmac_sha256', header: 'X-Signature', secret, encoding: 'hex' },
    right: [{ 'X-Signature': sign(secret, body) }, { 'X-Signature': sign(secret, body).toUpperCase() }],
    wrong: [
      {},
      { 'X-Signature': sign('another', body) },
      { 'X-Signature': sign(secret, `${body} `) },
      { 'X-Signature': sign(secret, body, 'base64') },
      { 'X-Signature': '' },
    ],
  },
  'hmac_sha256 in base64 with a prefix': {
    auth: { type: 'hmac_sha256', header: 'X-Hub-Signature-256', secret, encoding: 'base64', prefix: 'sha256=' },
    right: [{ 'X-Hub-Signature-256': `sha256=${sign(secret, body, 'base64')}` }],
    wrong: [
      { 'X-Hub-Signature-256': sign(secret, body, 'base64') },
      { 'X-Hub-Signature-256': `sha256=${sign('another', body, 'base64')}` },
    ],
  },
  shopify: {
    auth: { type: 'shopify', secret },
    right: [{ 'X-Shopify-Hmac-Sha256': sign(secret, body, 'base64') }],
    wrong: [{}, { 'X-Shopify-Hmac-Sha256': sign('another', body, 'base64') }],
  },
  stripe: {
    auth: { type: 'stripe', secret },
    right: [
      stripe(body, seconds()),
      stripe(body, seconds(-290)),
      { 'Stripe-Signature': `${stripe(body, seconds())['Stripe-Signature']},v1=00,v0=00` },
    ],
    wrong: [
      {},
      stripe(body, seconds(-310)),
      stripe(body, seconds(310)),
      stripe(`${body}\n`, seconds()),
      { 'Stripe-Signature': `t=${seconds()},v1=${sign(secret, body)}` },
      { 'Stripe-Signature': 'nonsense' },
    ],
  },
  'stripe under another header': {
    auth: { type: 'stripe', secret, header: 'Calendly-Webhook-Signature' },
    right: [stripe(body, seconds(), 'Calendly-Webhook-Signature')],
    wrong: [stripe(body, seconds())],
  },
  standard_webhooks: {
    auth: { type: 'standard_webhooks', secret: `whsec_${key.toString('base64')}` },
    right: [
      standard(body, seconds(), 'msg_a'),
      Object.fromEntries(
        Object.entries(standard(body, seconds(), 'msg_b')).map(([name, value]) => [name.replace('webhook', 'svix'), value]),
      ),
      { ...standard(body, seconds(), 'msg_c'), 'webhook-signature': `v1,bm8= ${standard(body, seconds(), 'msg_c')['webhook-signature']}` },
    ],
    wrong: [{}, standard(body, seconds(-310)), standard('{}', seconds()), { ...standard(body, seconds()), 'webhook-id': 'msg_2' }],
  },
  header_token: {
    auth: { type: 'header_token', header: 'Authorization', token: secret },
    right: [{ Authorization: secret }, { Authorization: `Bearer ${secret}` }],
    wrong: [{}, { Authorization: 'Bearer another' }, { Authorization: `${secret}x` }, { 'X-Token': secret }],
  },
  basic: {
    auth: { type: 'basic', username: 'shop', password: secret },
    right: [{ Authorization: `Basic ${btoa(`shop:${secret}`)}` }],
    wrong: [
      {},
      { Authorization: `Basic ${btoa(`shop:another`)}` },
      { Authorization: `Basic ${btoa(`other:${secret}`)}` },
      { Authorization: 'Basic !' },
    ],
  },
};

for (const [name, { auth, right, wrong }] of Object.entries(schemes))
  test(`${name}: valid credentials over the raw bytes are accepted, and all others are a 401 that fires nothing`, async () => {
    const { client } = await newOrganization();
    const hook = await newHook(client, { auth });
    for (const headers of wrong) {
      const answer = await hook.send(body, { 'Content-Type': 'application/json', ...headers });
      expect(answer.status, JSON.stringify(headers)).toBe(401);
      expect(JSON.stringify(answer.body)).not.toContain(secret);
    }
    for (const headers of right)
      expect(await hook.send(body, { 'Content-Type': 'application/json', ...headers }), JSON.stringify(headers)).toMatchObject({
        status: 202,
        body: { status: 'accepted', duplicate: false },
      });
    const runs = await waitForEndedRuns(client, hook.workflow, right.length);
    for (const run of runs)
      expect(run).toMatchObject({ state: 'completed', trigger_id: hook.id, initial_context: { order: 'A-17', name: 'Zoë' } });
  });

const impossible = [
  ['empty', '', 'Must not be empty'],
  ['blank', '   ', 'without blanks'],
  ['with a blank before', ' token', 'without blanks'],
  ['with a blank behind', 'token ', 'without blanks'],
  ['with a line behind', 'token\n', 'without blanks'],
  ['of two lines', 'to\nken', 'on one line'],
  ['with a control character', 'to\u0007ken', 'on one line'],
  ['with what senders spell in different bytes', 'clé', 'ASCII'],
  ['beyond Latin-1', 'токен', 'ASCII'],
  ['of an emoji', '🔑', 'ASCII'],
] as const;

test.each(impossible)('a header token %s is refused when it is saved, and the next step is named', async (_, token, reason) => {
  const { client } = await newOrganization();
  const { client: other } = await newOrganization();
  const hook = await newHook(client, { auth: { type: 'header_token', header: 'X-Token', token: secret } });
  const config = { auth: { type: 'header_token', header: 'X-Token', token } };
  const path = `/automation-workflows/triggers/${hook.id}`;
  const answers = [
    await client.patch(path, { config }),
    await client.post(`/automation-workflows/${hook.workflow}/triggers`, { type: 'webhook', config }),
  ];
  for (const answer of answers) {
    expect(answer.status).toBe(422);
    const { loc, msg } = answer.body.detail.find(({ loc: [...where] }: { loc: unknown[] }) => where.at(-1) === 'token');
    expect(loc).toEqual(['body', 'config', 'auth', 'header_token', 'token'].filter((part) => loc.includes(part)));
    expect(msg).toContain(reason);
    expect(msg).toMatch(/set the (same|token)/);
  }
  expect((await other.patch(path, { config })).status).toBe(404);
  // The old token is still valid.
  expect((await hook.send(body, { 'X-Token': secret, 'Content-Type': 'application/json' })).status).toBe(202);
});

test('a header token with any ASCII characters matches, also with blanks inside', async () => {
  const { client } = await newOrganization();
  const token = String.fromCharCode(...Array.from({ length: 94 }, (_, index) => 0x21 + index)) + ' \t end';
  const hook = await newHook(client, { auth: { type: 'header_token', header: 'X-Token', token } });
  expect((await hook.send(body, { 'X-Token': token, 'Content-Type': 'application/json' })).status).toBe(202);
});

test('a signature prefix that no header can have is refused', async () => {
  const { client } = await newOrganization();
  const hook = await newHook(client, { auth: { type: 'none' } });
  for (const prefix of [' sha256=', 'sha\n=', 'sché='])
    expect(
      await client.patch(`/automation-workflows/triggers/${hook.id}`, {
        config: { auth: { type: 'hmac_sha256', header: 'X-Signature', secret, prefix } },
      }),
      JSON.stringify(prefix),
    ).toMatchObject({ status: 422, body: { detail: [{ msg: expect.stringContaining('Can never match') }] } });
});

test('a delivery is judged in order: unknown address 404, bad signature 401, inactive 409, then 202', async () => {
  const { client } = await newOrganization();
  const hook = await newHook(client, { auth: { type: 'header_token', header: 'X-Token', token: secret } });
  const good = () => hook.send(body, { 'X-Token': secret, 'Content-Type': 'application/json' });
  const bad = () => hook.send(body, { 'X-Token': 'wrong', 'Content-Type': 'application/json' });
  const trigger = `/automation-workflows/triggers/${hook.id}`;
  const workflow = `/automation-workflows/${hook.workflow}`;
  const statuses = async () => [(await bad()).status, (await good()).status];
  expect(await statuses()).toEqual([401, 202]);
  await waitForEndedRuns(client, hook.workflow, 1);
  await client.patch(trigger, { state: 'paused' });
  expect(await statuses()).toEqual([401, 409]);
  expect((await good()).body.detail).toContain('trigger is paused');
  await client.patch(trigger, { state: 'active' });
  await client.patch(workflow, { status: 'paused' });
  expect(await statuses()).toEqual([401, 409]);
  expect((await good()).body.detail).toContain('workflow is paused');
  await client.delete(workflow);
  expect(await statuses()).toEqual([404, 404]);
  await client.patch(workflow, { status: 'draft' });
  expect(await statuses()).toEqual([401, 409]);
  await client.patch(workflow, { status: 'active' });
  expect(await statuses()).toEqual([401, 202]);
  await waitForEndedRuns(client, hook.workflow, 2);
  await client.delete(trigger);
  expect(await statuses()).toEqual([404, 404]);
});

test('an invalid address is a 404 in any form', async () => {
  const { client } = await newOrganization();
  const hook = await newHook(client);
  const manual = (await client.post(`/automation-workflows/${hook.workflow}/triggers`, { type: 'manual' })).body;
  const wrong = [
    '00000000-0000-4000-8000-000000000000',
    'ffffffff-ffff-8fff-8fff-ffffffffffff',
    hook.uuid.slice(0, -1) + (hook.uuid.endsWith('0') ? '1' : '0'),
    manual.uuid,
    'nonsense',
    '%F0%9F%92%A3',
    "' OR 1=1 --",
  ];
  for (const address of wrong)
    for (const method of ['POST', 'GET']) {
      const url = `https://service.test/api/v1/automation-workflows/webhook/${address}`;
      const response = await exports.default.fetch(new Request(url, { method, body: method === 'POST' ? '{}' : null }));
      expect(response.status, `${method} ${address}`).toBe(404);
    }
  const response = await exports.default.fetch(
    new Request(`https://service.test/api/v1/automation-workflows/webhook/${hook.uuid.toUpperCase()}/`, { method: 'POST', body: '{}' }),
  );
  expect(response.status).toBe(202);
});

test('a repeated delivery id is a duplicate, in turn or at once, and fires once', async () => {
  const { client } = await newOrganization();
  const hook = await newHook(client, { delivery_id: 'X-Delivery', mapping: { phone: 'phone', first_name: 'name' } });
  const phone = newPhone();
  const send = (id: string, name = 'Ada') =>
    hook.send(JSON.stringify({ phone, name }), { 'Content-Type': 'application/json', 'X-Delivery': id });
  expect((await send('d1')).body).toEqual({ status: 'accepted', delivery_id: 'd1', duplicate: false });
  expect((await send('d1', 'Eve')).body).toEqual({ status: 'accepted', delivery_id: 'd1', duplicate: true });
  expect((await client.get(`/contacts?phone=${encodeURIComponent(phone)}`)).body.contacts[0].first_name).toBe('Ada');
  const at = await Promise.all(Array.from({ length: 8 }, () => send('d2')));
  expect(at.map((answer) => answer.status)).toEqual(at.map(() => 202));
  expect(at.filter((answer) => !answer.body.duplicate)).toHaveLength(1);
  const another = await newHook(client, { delivery_id: 'X-Delivery' });
  expect((await another.send('{}', { 'X-Delivery': 'd1' })).body.duplicate).toBe(false);
  await waitForEndedRuns(client, hook.workflow, 2);
  await waitForEndedRuns(client, another.workflow, 1);
});

test('the delivery id may stand in the body, and where none is configured every delivery fires', async () => {
  const { client } = await newOrganization();
  const byPath = await newHook(client, { delivery_id: '$.meta.id' });
  expect((await byPath.send('{"meta":{"id":6012345678901234567}}')).body).toMatchObject({
    delivery_id: '6012345678901234567',
    duplicate: false,
  });
  expect((await byPath.send('{"meta":{"id":6012345678901234567}}')).body.duplicate).toBe(true);
  expect((await byPath.send('{"meta":{"id":6012345678901234568}}')).body.duplicate).toBe(false);
  const byNothing = await newHook(client);
  const [one, two] = [await byNothing.send('{"a":1}'), await byNothing.send('{"a":1}')];
  expect([one.body.duplicate, two.body.duplicate]).toEqual([false, false]);
  expect(one.body.delivery_id).not.toBe(two.body.delivery_id);
  await waitForEndedRuns(client, byPath.workflow, 2);
  await waitForEndedRuns(client, byNothing.workflow, 2);
});

const seeing = chain({ id: 'see', type: 'set_context', data: { assign: { seen: '{{ webhook }}', whole: '{{ data }}' } } });
const seenBy = async (client: Client, hook: Hook) => (await waitForEndedRuns(client, hook.workflow, 1))[0].context;

test('each kind of body arrives as what it is: JSON, form, text, bytes, nothing, and invalid JSON', async () => {
  const { client } = await newOrganization();
  const cases: [BodyInit | null, string | null, { body: unknown; raw?: string }][] = [
    ['{"a":{"b":[1]},"id":6012345678901234567}', 'application/json; charset=utf-8', { body: { a: { b: [1] }, id: '6012345678901234567' } }],
    ['[1,2]', 'application/json', { body: [1, 2] }],
    ['name=Zo%C3%AB+K&tag=a&tag=b', 'application/x-www-form-urlencoded', { body: { name: 'Zoë K', tag: ['a', 'b'] } }],
    ['plain text', 'text/plain', { body: 'plain text' }],
    ['<order id="1"/>', 'application/xml', { body: '<order id="1"/>' }],
    [new Uint8Array([0, 255, 1]), 'application/octet-stream', { body: null, raw: btoa('\u0000\u00FF\u0001') }],
    [null, null, { body: null }],
    ['', 'application/json', { body: null }],
    ['{"a":', 'application/json', { body: '{"a":' }],
    ['null', 'application/json', { body: null }],
  ];
  for (const [given, type, expected] of cases) {
    const hook = await newHook(client, {}, { definition: seeing });
    expect((await hook.send(given, type ? { 'Content-Type': type } : {})).status).toBe(202);
    const { seen, whole } = await seenBy(client, hook);
    expect(seen, String(given)).toMatchObject({ body: expected.body, raw: expected.raw ?? null });
    // Without a body the context is the only data.
    if (expected.body !== null) expect(whole).toEqual(expected.body);
  }
});

test('a multipart form is read with its fields, and with name, type and size of its files', async () => {
  const { client } = await newOrganization();
  const hook = await newHook(client, {}, { definition: seeing });
  const form = new FormData();
  form.append('name', 'Ada');
  form.append('file', new File(['content'], 'a.txt', { type: 'text/plain' }));
  expect((await hook.send(form, {})).status).toBe(202);
  expect((await seenBy(client, hook)).seen.body).toEqual({ name: 'Ada', file: { name: 'a.txt', type: 'text/plain', size: 7 } });
});

test('a body of 1 MiB is taken, one byte more is 413, announced or not', async () => {
  const { client } = await newOrganization();
  const hook = await newHook(
    client,
    {},
    { definition: chain({ id: 'size', type: 'set_context', data: { assign: { size: '{{ data.text | size }}' } } }) },
  );
  const mebibyte = 1024 * 1024;
  const of = (bytes: number) => JSON.stringify({ text: 'x'.repeat(bytes - '{"text":""}'.length) });
  expect((await hook.send(of(mebibyte + 1))).status).toBe(413);
  const stream = new Response(of(mebibyte + 1)).body!;
  expect((await hook.send(stream)).status).toBe(413);
  expect((await hook.send(of(mebibyte))).status).toBe(202);
  const [run] = await waitForEndedRuns(client, hook.workflow, 1);
  expect(run.context.size).toBe(mebibyte - '{"text":""}'.length);
  expect((await client.get(`/automation-workflows/runs/${run.id}`)).body.initial_context.text).toHaveLength(run.context.size);
});

test('several deliveries of a mebibyte in one batch are each judged by their whole content', async () => {
  const { client, id: organizationId } = await newOrganization();
  const hook = await newHook(client, { filter: { field: 'data.last', operator: 'eq', value: 'yes' } });
  const lost = dropQueueMessages();
  const messages = [];
  for (let index = 0; index < 20; index++) {
    const { body: answer } = await hook.send(JSON.stringify({ text: 'x'.repeat(1024 * 1024 - 100), last: 'yes' }));
    messages.push({ v: 1, kind: 'delivery', organization_id: organizationId, id: Number(answer.delivery_id) });
  }
  lost.restore();
  await deliver('events', messages);
  await vi.waitFor(
    async () =>
      expect((await client.get(`/automation-workflows/${hook.workflow}`)).body).toMatchObject({ runs_count: 20, active_runs_count: 0 }),
    {
      timeout: 15_000,
      interval: 50,
    },
  );
}, 30_000);

const mapping = {
  phone: 'customer.phone',
  email: 'customer.email',
  first_name: 'customer.first_name',
  external_id: 'customer.id',
  order: '$.name',
};
const send = (hook: Hook, customer: Record<string, unknown>) => hook.send(JSON.stringify({ name: '#1001', customer }));

test('the mapping finds or creates a contact on the list, and its other keys become variables', async () => {
  const { client } = await newOrganization();
  const hook = await newHook(client, { mapping, list_name: 'Shoppers' });
  const phone = newPhone();
  expect((await send(hook, { phone: `(${phone.slice(2, 5)}) ${phone.slice(5)}`, first_name: ' Ada ', id: 7 })).status).toBe(202);
  const [run] = await waitForEndedRuns(client, hook.workflow, 1);
  expect(run.context.order).toBe('#1001');
  expect((await client.get(`/contacts/${run.contact_id}`)).body).toMatchObject({
    phone,
    first_name: 'Ada',
    external_id: '7',
    lists: [{ name: 'Shoppers' }],
  });
  await send(hook, { phone, email: 'ada@example.org' });
  await send(hook, { id: 7, first_name: 'Augusta' });
  const runs = await waitForEndedRuns(client, hook.workflow, 3);
  expect(new Set(runs.map((one) => one.contact_id))).toEqual(new Set([run.contact_id]));
  expect((await client.get(`/contacts/${run.contact_id}`)).body).toMatchObject({ first_name: 'Augusta', email: 'ada@example.org' });
  expect((await client.get('/contacts')).body.total).toBe(1);
});

test('an e-mail address alone finds the only contact that has it; with none or several the run has no contact', async () => {
  const { client } = await newOrganization();
  const ada = (await client.post('/contacts', { phone: newPhone(), email: 'Ada@Example.org' })).body;
  for (let twin = 0; twin < 2; twin++) await client.post('/contacts', { phone: newPhone(), email: 'twin@example.org' });
  const contactFor = async (email: string) => {
    const hook = await newHook(client, { mapping });
    await send(hook, { email });
    return (await waitForEndedRuns(client, hook.workflow, 1))[0].contact_id;
  };
  expect(await contactFor('ada@example.org')).toBe(ada.id);
  expect(await contactFor('twin@example.org')).toBeNull();
  expect(await contactFor('nobody@example.org')).toBeNull();
  expect((await client.get('/contacts')).body.total).toBe(3);
});

test('at the contact limit, with an unusable phone, or without any key, the webhook still fires, without a contact', async () => {
  const { client } = await newOrganization({ maxContacts: 1 });
  const known = (await client.post('/contacts', { phone: newPhone() })).body;
  for (const [customer, contactId] of [
    [{ phone: newPhone() }, null],
    [{ phone: known.phone, first_name: 'Ada' }, known.id],
    [{ phone: 'N/A' }, null],
    [{ first_name: 'Nobody' }, null],
    [{}, null],
  ] as const) {
    const hook = await newHook(client, { mapping });
    expect((await send(hook, customer)).status).toBe(202);
    expect((await waitForEndedRuns(client, hook.workflow, 1))[0].contact_id, JSON.stringify(customer)).toBe(contactId);
  }
  expect((await client.get('/contacts')).body.total).toBe(1);
});

test('a delivery that cannot be read starts its run, and its note and the last_error of the trigger say what was wrong, without its content', async () => {
  const { client } = await newOrganization();
  const json = 'application/json';
  const cases: [BodyInit, string, string][] = [
    ['{"phone":"+4930901820",}', json, 'declared as JSON'],
    [Uint8Array.from([...new TextEncoder().encode('{"name":"J'), 0xfc, ...new TextEncoder().encode('rgen"}')]), json, 'not in utf-8'],
    ['<order><phone>+4930901820</phone></order>', 'application/xml', 'is text'],
    [new Uint8Array([0, 255, 1]), 'application/octet-stream', 'neither text nor a form'],
    ['[{"phone":"+4930901820"},{"phone":"+4930901821"}]', json, 'set "split"'],
    ['{"phone":"4930"}', json, 'phone of the contact has too few digits'],
    ['phone=n%2Fa', 'application/x-www-form-urlencoded', 'phone of the contact'],
  ];
  for (const [given, type, words] of cases) {
    const hook = await newHook(client, { mapping: { phone: 'phone' } });
    expect((await hook.send(given, { 'Content-Type': type })).status).toBe(202);
    expect((await waitForEndedRuns(client, hook.workflow, 1))[0].contact_id).toBe(null);
    await vi.waitFor(async () => {
      const row = await env.DB.prepare('SELECT note FROM webhook_delivery WHERE trigger_id = ? AND handled_at IS NOT NULL')
        .bind(hook.id)
        .first();
      expect(row).toEqual({ note: expect.stringContaining(words) });
      expect(row!.note).not.toMatch(/4930|rgen/);
      const { triggers } = (await client.get(`/automation-workflows/${hook.workflow}/triggers`)).body;
      expect(triggers[0].last_error).toContain(words);
    });
  }
});

test('a delivery with which nothing is wrong clears the last_error of an earlier one, whose note stays', async () => {
  const { client } = await newOrganization();
  const hook = await newHook(client, { mapping: { phone: 'phone' } });
  const errorOf = async () => (await client.get(`/automation-workflows/${hook.workflow}/triggers`)).body.triggers[0].last_error;
  const sendPhone = async (phone: string) => expect((await hook.send(JSON.stringify({ phone }), json)).status).toBe(202);
  const json = { 'Content-Type': 'application/json' };
  await sendPhone('12');
  await vi.waitFor(async () => expect(await errorOf()).toContain('too few digits'));
  await sendPhone(newPhone());
  await vi.waitFor(async () => expect(await errorOf()).toBe(null));
  const notes = await env.DB.prepare('SELECT note FROM webhook_delivery WHERE trigger_id = ? ORDER BY id').bind(hook.id).all();
  expect(notes.results).toEqual([{ note: expect.stringContaining('too few digits') }, { note: null }]);
});

test('a filter that cannot be evaluated is the note of its delivery', async () => {
  const { client } = await newOrganization();
  const hook = await newHook(client, { filter: { field: 'data.hour', operator: 'eq', value: '{{ now | date: "%H", data.zone }}' } });
  expect((await hook.send('{"hour":"10","zone":"Mars/Base"}')).status).toBe(202);
  await vi.waitFor(async () => {
    const row = await env.DB.prepare('SELECT note FROM webhook_delivery WHERE trigger_id = ? AND handled_at IS NOT NULL')
      .bind(hook.id)
      .first();
    const { triggers } = (await client.get(`/automation-workflows/${hook.workflow}/triggers`)).body;
    expect(row).toEqual({ note: triggers[0].last_error });
    expect(triggers[0].last_error).toContain('unknown time zone');
  });
});

test.each([
  ['+', '', '+'],
  ['+(', ')+', '+('],
  ['%2B', '', '+'],
])('the plus of a phone in a form and in a query counts although it is not escaped: %s', async (plus, behind, read) => {
  const { client } = await newOrganization();
  const phone = newPhone();
  const written = `${plus}${phone.slice(1, 2)}${behind}${phone.slice(2)}`;
  const hook = await newHook(client, { mapping: { phone: 'phone' } });
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  expect((await hook.send(`phone=${written}`, form, `?caller=${written}&sum=1+2`)).status).toBe(202);
  const [run] = await waitForEndedRuns(client, hook.workflow, 1);
  expect((await client.get(`/contacts/${run.contact_id}`)).body.phone).toBe(phone);
  const stored = await env.DB.prepare('SELECT payload FROM webhook_delivery WHERE trigger_id = ?')
    .bind(hook.id)
    .first<{ payload: string }>();
  const caller = `${read}${phone.slice(1, 2)}${behind.replace('+', ' ')}${phone.slice(2)}`;
  expect(JSON.parse(stored!.payload).query).toEqual({ caller, sum: '1 2' });
});

test('when phone and external id belong to two contacts, the phone says who it is', async () => {
  const { client } = await newOrganization();
  const ada = (await client.post('/contacts', { phone: newPhone(), external_id: 'a' })).body;
  await client.post('/contacts', { phone: newPhone(), external_id: 'b' });
  const hook = await newHook(client, { mapping });
  expect((await send(hook, { phone: ada.phone, id: 'b', first_name: 'Ada' })).status).toBe(202);
  expect((await waitForEndedRuns(client, hook.workflow, 1))[0].contact_id).toBe(ada.id);
  expect((await client.get(`/contacts/${ada.id}`)).body).toMatchObject({ external_id: 'a', first_name: 'Ada' });
});

test('a filter reads body, headers and contact, and a rejected delivery gets a note', async () => {
  const { client } = await newOrganization();
  const filter = {
    all: [
      { field: 'webhook.headers.x-topic', operator: 'eq', value: 'orders/create' },
      { field: 'data.total', operator: 'gte', value: 100 },
      { field: 'contact.first_name', operator: 'eq', value: 'Ada' },
    ],
  };
  const hook = await newHook(client, { mapping: { phone: 'phone', first_name: 'name' }, filter });
  const post = (total: number, topic = 'orders/create') =>
    hook.send(JSON.stringify({ total, phone: newPhone(), name: 'Ada' }), { 'Content-Type': 'application/json', 'X-Topic': topic });
  for (const [total, topic] of [
    [99, undefined],
    [100, 'orders/paid'],
    [100, undefined],
  ] as const)
    expect((await post(total, topic)).status).toBe(202);
  await waitForEndedRuns(client, hook.workflow, 1);
  await vi.waitFor(async () => {
    const { results } = await env.DB.prepare(
      'SELECT note FROM webhook_delivery WHERE trigger_id = ? AND handled_at IS NOT NULL ORDER BY id',
    )
      .bind(hook.id)
      .all();
    expect(results).toEqual([{ note: expect.stringContaining('filter') }, { note: expect.stringContaining('filter') }, { note: null }]);
  });
});

test('the journey gets query and headers without anything that proves the sender', async () => {
  const { client } = await newOrganization();
  const hook = await newHook(client, { auth: { type: 'header_token', header: 'X-Shop-Proof', token: secret } }, { definition: seeing });
  const url = `https://service.test/api/v1/automation-workflows/webhook/${hook.uuid}?source=shop&tag=new&tag=gift`;
  const headers = {
    'Content-Type': 'application/json',
    'X-Shop-Proof': secret,
    'X-Topic': 'orders/create',
    Authorization: 'Bearer proof-1',
    Cookie: 'session=proof-2',
    'X-Api-Key': 'proof-3',
    'X-Hook-Secret': 'proof-4',
    'Webhook-Signature': 'v1,proof-5',
    'X-Auth-Token': 'proof-6',
  };
  await exports.default.fetch(new Request(url, { method: 'POST', body: '{}', headers }));
  const { seen } = await seenBy(client, hook);
  expect(seen.query).toEqual({ source: 'shop', tag: ['new', 'gift'] });
  expect(seen.headers).toMatchObject({ 'x-topic': 'orders/create', 'content-type': 'application/json' });
  const { results } = await env.DB.prepare('SELECT payload FROM webhook_delivery WHERE trigger_id = ?')
    .bind(hook.id)
    .all<{ payload: string }>();
  for (const text of [results[0]!.payload, JSON.stringify(seen)]) {
    expect(text).not.toContain('proof-');
    expect(text).not.toContain(secret);
  }
});

test('a challenge is answered only with the verify token', async () => {
  const { client } = await newOrganization();
  const hook = await newHook(client, { auth: { type: 'none', verify_token: secret } });
  const open = await newHook(client);
  const get = async (query: Record<string, string>, uuid = hook.uuid) => {
    const url = `https://service.test/api/v1/automation-workflows/webhook/${uuid}?${new URLSearchParams(query).toString()}`;
    const response = await exports.default.fetch(new Request(url));
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
  };
  expect(await get({ 'hub.mode': 'subscribe', 'hub.challenge': '<b>42</b>', 'hub.verify_token': secret })).toMatchObject({
    status: 200,
    type: expect.stringContaining('text/plain'),
    text: '<b>42</b>',
  });
  expect(await get({ challenge: 'abc', verify_token: secret })).toMatchObject({ status: 200, text: 'abc' });
  for (const query of [
    {},
    { challenge: 'abc' },
    { challenge: 'abc', verify_token: 'wrong' },
    { verify_token: secret },
    { challenge: 'abc', verify_token: '' },
  ])
    expect((await get(query as unknown as Record<string, string>)).status).toBe(403);
  expect((await get({ challenge: 'abc', verify_token: '' }, open.uuid)).status).toBe(403);
  expect(JSON.stringify((await client.get(`/automation-workflows/${hook.workflow}/triggers`)).body)).not.toContain(secret);
});

test('the minute tick sends a delivery again whose message is lost, and it fires once', async () => {
  const { client } = await newOrganization();
  const hook = await newHook(client);
  const lost = dropQueueMessages();
  expect((await hook.send('{}')).status).toBe(202);
  lost.restore();
  await tickAt(Date.now() + 31_000);
  await tickAt(Date.now() + 32_000);
  await waitForEndedRuns(client, hook.workflow, 1);
  expect((await client.get(`/automation-workflows/${hook.workflow}/triggers`)).body.triggers[0]).toMatchObject({ fire_count: 1 });
});

test('a message that was given up ends its delivery with a note, and is not sent again', async () => {
  const { client, id: organizationId } = await newOrganization();
  const hook = await newHook(client);
  const lost = dropQueueMessages();
  const { body: answer } = await hook.send('{}');
  await deliverDeadLettersForADay('events-dead', organizationId, [
    { v: 1, kind: 'delivery', organization_id: organizationId, id: Number(answer.delivery_id) },
  ]);
  lost.restore();
  const row = await env.DB.prepare('SELECT note, handled_at FROM webhook_delivery WHERE id = ?').bind(Number(answer.delivery_id)).first();
  expect(row).toMatchObject({ note: expect.stringContaining('given_up'), handled_at: expect.any(Number) });
  await tickAt(Date.now() + 40_000);
  expect((await client.get(`/automation-workflows/${hook.workflow}/runs`)).body.total).toBe(0);
});

// Bodies of real senders, byte for byte, each signed as its sender signs

const realSenders = {
  shopify: {
    auth: { type: 'shopify', secret },
    mapping: {
      phone: ['phone', 'customer.phone', 'customer.default_address.phone'],
      email: 'customer.email',
      first_name: 'customer.first_name',
      last_name: 'customer.last_name',
      external_id: 'customer.id',
    },
    headers: (text: string, id: string): Headers_ => ({
      'X-Shopify-Hmac-Sha256': sign(secret, text, 'base64'),
      'X-Shopify-Webhook-Id': id,
    }),
    contact: {
      phone: '+12123456010',
      email: 'nina@example.org',
      first_name: 'Nina',
      last_name: 'Okafor',
      external_id: '7012345678901234567',
    },
    context: { id: '6012345678901234567', total_price: '120.50' },
  },
  stripe: {
    auth: { type: 'stripe', secret },
    mapping: {
      phone: 'data.object.customer_details.phone',
      email: 'data.object.customer_details.email',
      first_name: 'data.object.customer_details.name',
      order: 'data.object.metadata.order',
    },
    headers: (text: string): Headers_ => stripe(text, seconds()),
    contact: { phone: '+12123456011', email: 'omar@example.org', first_name: 'Omar Haddad' },
    context: { order: 'A-17', type: 'checkout.session.completed' },
  },
  calendly: {
    auth: { type: 'stripe', secret, header: 'Calendly-Webhook-Signature' },
    delivery_id: '$.payload.scheduled_event.start_time',
    mapping: {
      phone: '$.payload.text_reminder_number',
      email: '$.payload.email',
      first_name: '$.payload.name',
      company: 'payload.questions_and_answers[question=Company].answer',
    },
    headers: (text: string): Headers_ => stripe(text, seconds(), 'Calendly-Webhook-Signature'),
    contact: { phone: '+8613800138000', email: 'mei@example.org', first_name: 'Mei Chen' },
    context: { company: 'Globex', event: 'invitee.created' },
  },
};

for (const [name, { headers, contact, context, ...config }] of Object.entries(realSenders))
  test(`a delivery as ${name} sends it starts one run for the right contact, its long ids unharmed`, async () => {
    const { client } = await newOrganization();
    const tagging = chain({
      id: 'tag',
      type: 'update_contact',
      data: { set: { 'custom_fields.source': '{{ webhook.body.id | default: "none" }}' }, add_tags: [name] },
    });
    const hook = await newHook(client, config, { definition: tagging });
    const text = webhookBodies[name as keyof typeof webhookBodies];
    const post = (content: string, signed = text) => hook.send(content, { 'Content-Type': 'application/json', ...headers(signed, 'wh-1') });
    expect((await post(text.replace('example', 'elsewhere'))).status).toBe(401);
    expect((await post(text)).body).toMatchObject({ status: 'accepted', duplicate: false });
    expect((await post(text)).body).toMatchObject({ duplicate: true });
    const [run] = await waitForEndedRuns(client, hook.workflow, 1);
    expect(run.initial_context).toMatchObject(context);
    expect((await client.get(`/contacts/${run.contact_id}`)).body).toMatchObject({ ...contact, tags: [name] });
    expect((await client.get('/contacts')).body.total).toBe(1);
    if (name === 'shopify') expect((await client.get(`/contacts/${run.contact_id}`)).body.custom_fields.source).toBe('6012345678901234567');
  });
