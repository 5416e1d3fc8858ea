import { exports } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { createActiveWorkflow, chain, waitForRunState } from '../support/journeys.ts';
import { Client, newOrganization, newPhone, type Answer } from '../support/organization.ts';

type Method = 'get' | 'post' | 'patch' | 'delete';
type Call = [method: Method, path: string, body?: unknown];

/** Every operation of workflows, triggers and runs, on the records of `client`. */
async function operations(client: Client): Promise<{ own: Call[]; general: Call[] }> {
  const workflow = await createActiveWorkflow(client, {
    definition: chain({ id: 'nap', type: 'wait', data: { duration: 'P7D' } }),
    trigger: { type: 'manual', config: {} },
  });
  const trigger = (await client.get(`/automation-workflows/${workflow}/triggers`)).body.triggers[0].id;
  const run = (await client.post(`/automation-workflows/${workflow}/execute`, {})).body.id;
  await waitForRunState(client, run, 'waiting');
  const at = `/automation-workflows/${workflow}`;
  const own: Call[] = [
    ['get', at],
    ['patch', at, { name: 'Taken over' }],
    ['get', `${at}/versions`],
    ['post', `${at}/validate`, {}],
    ['post', `${at}/execute`, {}],
    ['post', `${at}/test`, {}],
    ['get', `${at}/runs`],
    ['get', `${at}/triggers`],
    ['post', `${at}/triggers`, { type: 'manual' }],
    ['get', `${at}/trigger-meta`],
    ['post', `${at}/triggers/${trigger}/fire`, {}],
    ['patch', `/automation-workflows/triggers/${trigger}`, { name: 'Taken over' }],
    ['delete', `/automation-workflows/triggers/${trigger}`],
    ['get', `/automation-workflows/runs/${run}`],
    ['get', `/automation-workflows/runs/${run}/history`],
    ['post', `/automation-workflows/runs/${run}/stop`],
    ['delete', at],
  ];
  const general: Call[] = [
    ['get', '/automation-workflows'],
    ['post', '/automation-workflows', { name: 'New' }],
    ['get', '/automation-workflows/node-types'],
    ['get', '/automation-workflows/runs'],
    ['get', '/events'],
    ['post', '/events', { event_type: 'seen' }],
  ];
  return { own, general };
}

const call = (client: Client, [method, path, body]: Call): Promise<Answer> =>
  method === 'get' || method === 'delete' ? client[method](path) : client[method](path, body);

test('ids of another organization get the same 404 as unknown ids, and nothing changes', async () => {
  const { client } = await newOrganization();
  const thief = await newOrganization();
  const { own } = await operations(client);
  const before = await Promise.all(own.filter(([method]) => method === 'get').map((one) => call(client, one)));
  for (const one of own) {
    const answer = await call(thief.client, one);
    const [method, path, body] = one;
    const nobodys = await call(thief.client, [method, path.replaceAll(/\d+/g, '987654321'), body]);
    expect(answer.status, one.join(' ')).toBe(404);
    expect(answer.body, one.join(' ')).toEqual(nobodys.body);
  }
  const after = await Promise.all(own.filter(([method]) => method === 'get').map((one) => call(client, one)));
  expect(after.map(({ body }) => body)).toEqual(before.map(({ body }) => body));
  for (const path of ['/automation-workflows', '/automation-workflows/runs', '/events'])
    expect((await thief.client.get(path)).body.total, path).toBe(0);
});

test("another organization's contact or list in a body is not found, and its runs are in no filter", async () => {
  const { client } = await newOrganization();
  const thief = await newOrganization();
  const contact = (await client.post('/contacts', { phone: newPhone() })).body.id;
  const list = (await client.post('/contacts/lists', { name: 'Ours' })).body.id;
  const { own } = await operations(client);
  const workflow = Number(own[0]![1].split('/').at(-1));
  await client.post(`/automation-workflows/${workflow}/execute`, { contact_id: contact });
  const theirs = await createActiveWorkflow(thief.client, { trigger: { type: 'manual', config: {} } });
  const [trigger] = (await thief.client.get(`/automation-workflows/${theirs}/triggers`)).body.triggers;
  const at = `/automation-workflows/${theirs}`;
  for (const path of [`${at}/execute`, `${at}/test`])
    expect((await thief.client.post(path, { contact_id: contact })).status, path).toBe(404);
  expect((await thief.client.post(`${at}/triggers/${trigger.id}/fire`, { contact_ids: [contact] })).status).toBe(404);
  expect(
    (await thief.client.post(`${at}/triggers`, { type: 'schedule', config: { cron: '0 9 * * *', audience: { list_id: list } } })).status,
  ).toBe(422);
  expect(
    (await thief.client.patch(at, { trigger: { type: 'schedule', config: { cron: '0 9 * * *', audience: { list_id: list } } } })).status,
  ).toBe(422);
  for (const query of [`contact_id=${contact}`, `automation_workflow_id=${workflow}`, `trigger_id=1`])
    expect((await thief.client.get(`/automation-workflows/runs?${query}`)).body, query).toMatchObject({ runs: [], total: 0 });
});

test('a key that only reads may read everything and change nothing', async () => {
  const { client } = await newOrganization({ scopes: ['admin'] });
  const minted = await client.post('/user/api-keys', { name: 'reader', scopes: ['read'] });
  const reader = new Client(minted.body.api_key);
  const { own, general } = await operations(client);
  for (const one of [...own, ...general]) expect((await call(reader, one)).status, one.join(' ')).toBe(one[0] === 'get' ? 200 : 403);
});

test('without credentials only the webhook answers, and every path answers with a trailing slash', async () => {
  const { client } = await newOrganization();
  const { own, general } = await operations(client);
  const nobody = new Client(undefined);
  for (const one of [...own, ...general]) expect((await call(nobody, one)).status, one.join(' ')).toBe(401);
  for (const [method, path] of [...general, ...own].filter(([one]) => one === 'get')) {
    const [plain, slashed] = [await client[method](path), await client[method](`${path}/`)];
    expect(slashed.status, path).toBe(200);
    expect(Object.keys(slashed.body), path).toEqual(Object.keys(plain.body));
  }
});

test('no input makes these paths answer 500', async () => {
  const { client } = await newOrganization();
  const { own, general } = await operations(client);
  const strange = [
    [],
    'text',
    7,
    null,
    {
      name: null,
      definition: { nodes: [null, 7, { id: 'x' }], edges: [null, {}] },
      trigger: [],
      settings: 'x',
      context_schema: 7,
      config: null,
      context: { a: '\u0000\uD800' },
      event_type: '\u0000',
      phone: '\uD800',
      data: { '': 1 },
      contact_ids: [1e300],
      contact_id: -1,
    },
  ];
  for (const [method, path] of [...general, ...own].filter(([one]) => one === 'post' || one === 'patch'))
    for (const body of strange) {
      const answer = await client[method as 'post' | 'patch'](path, JSON.stringify(body));
      expect(answer.status, `${method} ${path} ${JSON.stringify(body)}`).toBeLessThan(500);
    }
  const long = 'x'.repeat(5000);
  for (const path of [
    '/automation-workflows?search=%00',
    `/automation-workflows?cursor=${long}`,
    '/automation-workflows/runs?cursor=bnVsbA',
    '/automation-workflows/99999999999999999999',
    '/events?search=%00%F0%9F%92%A3',
    `/events?search=${encodeURIComponent('"*^(){}:-+')}`,
    '/events?limit=1e3',
    '/events?offset=99999999999999999999',
    '/events?cursor=W251bGwsMV0',
    '/events?start_date=0000-00-00',
  ])
    expect((await client.get(path)).status, path).toBeLessThan(500);
  for (const body of ['{"a":"\uD800"}', '\u0000', '{"__proto__":{"x":1}}']) {
    const hook = (
      await client.post(own[0]![1] + '/triggers', {
        type: 'webhook',
        config: { mapping: { phone: '__proto__.x', name: 'constructor.name' }, delivery_id: '$.a' },
      })
    ).body;
    const response = await exports.default.fetch(
      new Request(hook.webhook_url, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } }),
    );
    expect(response.status, body).toBeLessThan(500);
  }
});
