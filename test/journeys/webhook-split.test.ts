import { gzipSync, deflateSync, brotliCompressSync } from 'node:zlib';
import { createHmac } from 'node:crypto';
import { env, exports } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { createActiveWorkflow, waitForEndedRuns } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

async function newHook(client: Client, config: Record<string, unknown>) {
  const workflow = await createActiveWorkflow(client, { trigger: { type: 'webhook', config } });
  const [{ webhook_url: url, id }] = (await client.get(`/automation-workflows/${workflow}/triggers`)).body.triggers;
  const send = async (body: BodyInit, headers: Record<string, string> = {}) => {
    const request = new Request(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
    const response = await exports.default.fetch(request);
    return { status: response.status, body: await response.json<any>() };
  };
  return { workflow, trigger: id as number, send };
}

const hubSpot = { split: '$', delivery_id: '$.eventId', mapping: { phone: 'phone' } };

test('each element of a request starts a run of its own, once, however the elements come again', async () => {
  const { client } = await newOrganization();
  const { workflow, send } = await newHook(client, hubSpot);
  const phones = [newPhone(), newPhone(), newPhone()];
  const events = phones.map((phone, index) => ({ eventId: 100 + index, phone }));
  const { status, body } = await send(JSON.stringify(events.slice(0, 2)));
  expect(status).toBe(202);
  expect(body).toEqual({
    status: 'accepted',
    delivery_id: '100',
    duplicate: false,
    deliveries: [
      { delivery_id: '100', duplicate: false },
      { delivery_id: '101', duplicate: false },
    ],
  });
  expect((await send(JSON.stringify([events[1], events[2], events[2]]))).body).toMatchObject({
    delivery_id: '101',
    duplicate: false,
    deliveries: [
      { delivery_id: '101', duplicate: true },
      { delivery_id: '102', duplicate: false },
      { delivery_id: '102', duplicate: true },
    ],
  });
  expect((await send(JSON.stringify(events))).body).toMatchObject({ duplicate: true });
  const runs = await waitForEndedRuns(client, workflow, 3);
  expect(runs).toHaveLength(3);
  const contacts = (await client.get('/contacts')).body.contacts;
  expect(contacts.map(({ phone }: { phone: string }) => phone).toSorted()).toEqual(phones.toSorted());
  expect(new Set(runs.map(({ contact_id }: { contact_id: number }) => contact_id)).size).toBe(3);
});

test('one element answers as any other, and a single object is one', async () => {
  const { client } = await newOrganization();
  const { workflow, send } = await newHook(client, hubSpot);
  expect((await send(JSON.stringify([{ eventId: 1, phone: newPhone() }]))).body).toMatchObject({
    delivery_id: '1',
    deliveries: [{ delivery_id: '1' }],
  });
  expect((await send(JSON.stringify({ eventId: 2, phone: newPhone() }))).body).toMatchObject({
    delivery_id: '2',
    deliveries: [{ delivery_id: '2' }],
  });
  expect(await waitForEndedRuns(client, workflow, 2)).toHaveLength(2);
});

test('a request without elements is accepted, starts nothing, and says why', async () => {
  const { client, id } = await newOrganization();
  const { trigger, send } = await newHook(client, { ...hubSpot, split: '$.entry.messages' });
  expect((await send('{"entry": [{"statuses": [1]}]}')).status).toBe(202);
  const noteOf = () =>
    env.DB.prepare('SELECT note FROM webhook_delivery WHERE trigger_id = ? AND organization_id = ?')
      .bind(trigger, id)
      .first<{ note: string | null }>();
  await vi.waitFor(async () => expect((await noteOf())?.note).toBe('The body has no element at $.entry.messages'), { timeout: 10_000 });
});

test('too many elements are a 413 that names both numbers; nothing is stored', async () => {
  const { client } = await newOrganization();
  const { send } = await newHook(client, hubSpot);
  const { status, body } = await send(JSON.stringify(Array.from({ length: 501 }, (_, index) => ({ eventId: index }))));
  expect([status, body.detail]).toEqual([413, expect.stringMatching(/501 elements.*500/)]);
  expect((await send('[{"eventId": 0}]')).body).toMatchObject({ duplicate: false });
});

test('as many people as a request may have are stored with it, new and again', async () => {
  const { client } = await newOrganization();
  const { send } = await newHook(client, {
    split: '$',
    delivery_id: '$.id',
    list_name: 'CRM',
    mapping: { phone: 'phone', first_name: 'name' },
  });
  const people = (first: number) =>
    Array.from({ length: 500 }, (_, index) => ({ id: first + index, name: `Person ${index}`, phone: `+49151${1_000_000 + index}` }));
  for (const first of [0, 1000]) expect((await send(JSON.stringify(people(first)))).status).toBe(202);
  expect((await client.get('/contacts?limit=1')).body.total).toBe(500);
  expect((await client.get('/contacts/lists')).body.lists).toMatchObject([{ name: 'CRM', contacts_count: 500 }]);
});

test('a hundred large elements are stored in a few calls', async () => {
  const { client } = await newOrganization();
  const { workflow, send } = await newHook(client, { split: '$', delivery_id: '$.id' });
  const elements = Array.from({ length: 100 }, (_, id) => ({ id, text: `"${'x'.repeat(8_000)}"` }));
  const { body } = await send(JSON.stringify(elements));
  expect(body.deliveries).toHaveLength(100);
  await vi.waitFor(
    async () => expect((await client.get(`/automation-workflows/${workflow}/runs?state=completed&limit=1`)).body.total).toBe(100),
    { timeout: 20_000, interval: 200 },
  );
});

const secret = 'a secret of the sender';
const text = '{"phone": "+4930901820"}';

test.each([
  ['gzip', gzipSync(text)],
  ['x-gzip', gzipSync(text)],
  ['deflate', deflateSync(text)],
  ['GZIP', gzipSync(text)],
  ['identity', Buffer.from(text)],
])('a body in %s is decoded, signed before or after', async (encoding, bytes) => {
  const { client } = await newOrganization();
  const { send } = await newHook(client, { auth: { type: 'hmac_sha256', header: 'X-Signature', secret }, mapping: { phone: 'phone' } });
  for (const signed of [bytes, Buffer.from(text)]) {
    const headers = { 'content-encoding': encoding, 'X-Signature': createHmac('sha256', secret).update(signed).digest('hex') };
    expect((await send(bytes, headers)).status).toBe(202);
  }
  expect((await client.get('/contacts')).body.contacts).toMatchObject([{ phone: '+4930901820' }]);
  expect((await send(bytes, { 'content-encoding': encoding, 'X-Signature': '00' })).status).toBe(401);
});

test('other encodings, damaged bodies and bombs are refused by name', async () => {
  const { client } = await newOrganization();
  const { send } = await newHook(client, {});
  for (const encoding of ['br', 'zstd', 'gzip, gzip', 'nonsense'])
    expect(await send(brotliCompressSync(text), { 'content-encoding': encoding })).toMatchObject({
      status: 415,
      body: { detail: expect.stringContaining(`"${encoding}"`) },
    });
  expect(await send(text, { 'content-encoding': 'gzip' })).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('is not gzip') },
  });
  expect(await send(gzipSync(text).subarray(0, 20), { 'content-encoding': 'gzip' })).toMatchObject({ status: 400 });
  expect(await send(gzipSync('x'.repeat(1024 * 1024 + 1)), { 'content-encoding': 'gzip' })).toMatchObject({ status: 413 });
  expect((await send(gzipSync(`"${'x'.repeat(1024 * 1024 - 2)}"`), { 'content-encoding': 'gzip' })).status).toBe(202);
});

test('a dry run tries the first element and tells how many there are', async () => {
  const { client } = await newOrganization();
  const { workflow } = await newHook(client, hubSpot);
  const dry = (body: unknown) => client.post(`/automation-workflows/${workflow}/test`, { webhook: { body, headers: {} } });
  expect((await dry([{ eventId: 7, phone: newPhone() }, { eventId: 8 }])).body.webhook).toMatchObject({
    elements: 2,
    delivery_id: '7',
    would_start: true,
  });
  expect((await dry([])).body.webhook).toMatchObject({ elements: 0, would_start: false, reasons: ['The body has no element at $'] });
});
