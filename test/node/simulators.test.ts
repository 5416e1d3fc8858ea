import { join } from 'node:path';
import { Hono } from 'hono';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../../simulators/listen.ts';
import type { SimulatorOptions } from '../../simulators/app.ts';
import type { RequestRecord } from '../../simulators/request-record.ts';
import type { Vendor, VendorBindings } from '../../simulators/vendor.ts';
import { temporaryDirectory } from './temporary-directory.ts';

type ShownRequest = RequestRecord & { body: unknown };

async function start(options: SimulatorOptions = {}) {
  const { url, close } = await listen({ port: 0, ...options });
  let isOpen = true;
  const stop = async () => {
    if (isOpen) await close();
    isOpen = false;
  };
  onTestFinished(stop);
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(url + path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });
  const received = async (query = '') => {
    const listing = (await (await fetch(`${url}/__sim/requests${query}`)).json()) as { requests: ShownRequest[]; total: number };
    expect(listing.total).toBe(listing.requests.length);
    return listing.requests;
  };
  const plan = async (fault: object) => expect((await post('/__sim/faults', fault)).status).toBe(201);
  return { url, post, received, plan, stop };
}

/** Counts what it was asked to do. */
const counter: Vendor = {
  name: 'counter',
  createRoutes: () => {
    let count = 0;
    const routes = new Hono<{ Bindings: VendorBindings }>();
    routes.post('/v1/items', (c) => c.json({ count: ++count }, 201));
    routes.get('/v1/items', (c) => c.json({ count }));
    routes.notFound((c) => c.json({ code: 'no_such_path', path: c.req.path }, 404));
    return routes;
  },
};

test('the receiver takes anything and answers with the number it is recorded under', async () => {
  const { post, received } = await start();
  const answer = await post(
    '/receiver/orders/new?source=test',
    { order: 'A-1' },
    { 'idempotency-key': 'key-1', 'webhook-id': 'msg_1', 'webhook-signature': 'v1,abc' },
  );
  const { received: isReceived, id } = (await answer.json()) as { received: boolean; id: number };
  expect([answer.status, isReceived]).toEqual([200, true]);

  const [record] = await received();
  expect(record).toMatchObject({
    id,
    provider: 'receiver',
    method: 'POST',
    path: '/orders/new',
    query: { source: 'test' },
    headers: { 'idempotency-key': 'key-1', 'webhook-id': 'msg_1', 'webhook-signature': 'v1,abc' },
    body: { order: 'A-1' },
    raw_body: '{"order":"A-1"}',
    is_faulted: false,
  });
});

test('credentials are recorded masked, and two of them can be distinguished', async () => {
  const { post, received } = await start();
  await post('/receiver?access_token=abcdefghijklmnop', {}, { authorization: 'Bearer secret-key-number-1234', 'x-api-key': 'short' });
  const [record] = await received();
  expect(record?.headers).toMatchObject({ authorization: 'Bearer ****1234', 'x-api-key': '****' });
  expect(record?.query).toEqual({ access_token: '****mnop' });
  expect(JSON.stringify(record)).not.toContain('secret-key');
});

test('a body that is no JSON is kept as text, digit for digit', async () => {
  const { url, received } = await start();
  await fetch(`${url}/receiver`, { method: 'PUT', body: 'a=1&b=two' });
  await fetch(`${url}/receiver`, { method: 'PUT', body: '{"id":9007199254740993}' });
  const [form, large] = await received();
  expect(form).toMatchObject({ body: 'a=1&b=two', path: '/' });
  expect(large?.raw_body).toBe('{"id":9007199254740993}');
});

test('a fault hits as many matching requests as planned and no other', async () => {
  const { url, post, plan, received } = await start();
  await plan({
    provider: 'receiver',
    match: { method: 'post', path: '/hooks/*' },
    times: 2,
    status: 503,
    body: { error: 'busy' },
    headers: { 'retry-after': '7' },
  });

  expect((await post('/receiver/other', {})).status).toBe(200);
  expect((await fetch(`${url}/receiver/hooks/a`)).status).toBe(200);
  const hit = await post('/receiver/hooks/a', {});
  expect([hit.status, hit.headers.get('retry-after'), await hit.json()]).toEqual([503, '7', { error: 'busy' }]);
  expect((await post('/receiver/hooks/b', {})).status).toBe(503);
  expect((await post('/receiver/hooks/a', {})).status).toBe(200);
  expect((await received('?path=/hooks/*')).map((record) => record.is_faulted)).toEqual([false, true, true, false]);
});

test('faults on one path are used in the order they were planned', async () => {
  const { post, plan } = await start();
  await plan({ provider: 'receiver', status: 500 });
  await plan({ provider: 'receiver', status: 429, body: 'slow down' });
  const statuses = [(await post('/receiver', {})).status, (await post('/receiver', {})).status, (await post('/receiver', {})).status];
  expect(statuses).toEqual([500, 429, 200]);
});

test('a dropped response leaves the work done, the caller without an answer, and the request recorded', async () => {
  const { url, post, plan, received } = await start({ vendors: [counter] });
  await plan({ provider: 'counter', match: { path: '/v1/items' }, drop_response: true });
  await expect(post('/counter/v1/items', {})).rejects.toThrow('fetch failed');
  expect(await (await fetch(`${url}/counter/v1/items`)).json()).toEqual({ count: 1 });
  expect((await received()).map(({ method }) => method)).toEqual(['POST', 'GET']);
});

test('a fault with a status keeps the vendor from seeing the request', async () => {
  const { url, post, plan } = await start({ vendors: [counter] });
  await plan({ provider: 'counter', status: 500 });
  expect((await post('/counter/v1/items', {})).status).toBe(500);
  expect(await (await fetch(`${url}/counter/v1/items`)).json()).toEqual({ count: 0 });
});

test('a delay alone makes the vendor slow, not wrong', async () => {
  const { post, plan } = await start({ vendors: [counter] });
  await plan({ provider: 'counter', delay_ms: 150 });
  const startedAt = performance.now();
  expect((await post('/counter/v1/items', {})).status).toBe(201);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(145);
});

test('a fault that names no vendor, does nothing or is misspelt is refused by name', async () => {
  const { post } = await start();
  for (const [fault, named] of [
    [{ provider: 'nobody', status: 500 }, 'receiver'],
    [{ provider: 'receiver' }, 'drop_response'],
    [{ provider: 'receiver', statuss: 500 }, 'statuss'],
    [{ provider: 'receiver', status: 500, times: 0 }, 'times'],
  ] as const) {
    const answer = await post('/__sim/faults', fault);
    expect(answer.status).toBe(422);
    expect(((await answer.json()) as { error: string }).error).toContain(named);
  }
});

test('a reset forgets requests, faults and the state of vendors; of one vendor when it is named', async () => {
  const { url, post, plan, received } = await start({ vendors: [counter, { ...counter, name: 'other' }] });
  for (const name of ['counter', 'other']) {
    await post(`/${name}/v1/items`, {});
    await plan({ provider: name, status: 500, match: { method: 'PATCH' } });
  }
  const state = async (name: string) => [
    await (await fetch(`${url}/${name}/v1/items`)).json(),
    (await fetch(`${url}/${name}/v1/items`, { method: 'PATCH' })).status,
  ];
  await fetch(`${url}/__sim/reset?provider=counter`, { method: 'POST' });
  expect((await received()).map(({ provider }) => provider)).toEqual(['other']);
  expect(await state('counter')).toEqual([{ count: 0 }, 404]);
  expect(await state('other')).toEqual([{ count: 1 }, 500]);
  await fetch(`${url}/__sim/reset`, { method: 'POST' });
  expect(await received()).toEqual([]);
  expect(await state('other')).toEqual([{ count: 0 }, 404]);
});

test('an unknown path is answered by the vendor it belongs to, and by the simulators when it belongs to none', async () => {
  const { url } = await start({ vendors: [counter] });
  const vendors = await fetch(`${url}/counter/v2/things`);
  expect([vendors.status, await vendors.json()]).toEqual([404, { code: 'no_such_path', path: '/v2/things' }]);
  const nobodys = await fetch(`${url}/elsewhere`);
  expect([nobodys.status, await nobodys.json()]).toEqual([404, { error: 'Nothing is simulated at /elsewhere. There are: /counter' }]);
});

test('requests received before a restart are still listed after it', async () => {
  const ledgerFile = join(temporaryDirectory(), 'requests.jsonl');
  const first = await start({ ledgerFile });
  await first.post('/receiver/before', { n: 1 });
  await first.stop();
  const second = await start({ ledgerFile });
  await second.post('/receiver/after', { n: 2 });
  expect((await second.received('?provider=receiver')).map(({ id, path }) => [id, path])).toEqual([
    [1, '/before'],
    [2, '/after'],
  ]);
});

test('health names the vendors', async () => {
  const { url } = await start();
  expect(await (await fetch(`${url}/__sim/health`)).json()).toMatchObject({
    status: 'ok',
    providers: expect.arrayContaining(['receiver']),
  });
});
