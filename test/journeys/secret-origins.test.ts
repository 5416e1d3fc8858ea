import { afterEach, describe, expect, test, vi } from 'vitest';
import { createActiveWorkflow, chain, waitForEndedRuns } from '../support/journeys.ts';
import { newOrganization, type Client } from '../support/organization.ts';
import { stubFetch } from '../support/stub-fetch.ts';

afterEach(() => vi.restoreAllMocks());

const data = {
  method: 'POST',
  url: 'https://hook.example.com/in?api_key=canary-in-url&page=1',
  headers: { Accept: 'application/json', 'X-Shop': 'canary-shop' },
  query: { access_token: 'canary-in-query', limit: '5' },
  body: { password: 'canary-in-body', homepage_url: 'https://one.example.com/' },
};
const node = (more: Record<string, unknown> = {}) => ({ id: 'call', type: 'http_request', data: { ...data, ...more } });

const shownData = async (client: Client, id: number) => (await client.get(`/automation-workflows/${id}`)).body.definition.nodes[1].data;
const save = (client: Client, id: number, changed: Record<string, unknown>) =>
  client.patch(`/automation-workflows/${id}`, { definition: chain({ id: 'call', type: 'http_request', data: changed }) });
const places = (answer: { body: { detail: { loc: string[] }[] } }) =>
  answer.body.detail.map(({ loc }) => loc.slice(5).join('.')).toSorted();

test('every header that is not a plain one is masked, and every parameter of an address that looks like a key', async () => {
  const { client } = await newOrganization();
  const id = await createActiveWorkflow(client, { definition: chain(node()) });
  expect(await shownData(client, id)).toMatchObject({
    url: 'https://hook.example.com/in?api_key=****&page=1',
    headers: { Accept: 'application/json', 'X-Shop': '****' },
    query: { access_token: '****', limit: '5' },
    body: { password: '****', homepage_url: 'https://one.example.com/' },
  });
});

test('secrets are sent as they are, and neither run, history nor dry run shows them', async () => {
  const requests = stubFetch('https://hook.example.com/', () =>
    Response.json({ ok: true }, { headers: { 'X-Session': 'canary-answered' } }),
  );
  const { client } = await newOrganization();
  const id = await createActiveWorkflow(client, { definition: chain(node()) });
  const { body: run } = await client.post(`/automation-workflows/${id}/execute`, {});
  await waitForEndedRuns(client, id);
  expect(requests.map(({ url }) => url)).toEqual([
    'https://hook.example.com/in?api_key=canary-in-url&page=1&access_token=canary-in-query&limit=5',
  ]);
  expect(requests[0]!.headers.get('x-shop')).toBe('canary-shop');
  const shown = [
    await client.get(`/automation-workflows/runs/${run.id}`),
    await client.get(`/automation-workflows/runs/${run.id}/history`),
    await client.get(`/automation-workflows/runs`),
    await client.post(`/automation-workflows/${id}/test`, {}),
    await client.get(`/automation-workflows/${id}/versions`),
  ];
  for (const answer of shown) {
    expect(answer.status).toBe(200);
    expect(JSON.stringify(answer.body)).not.toContain('canary');
  }
});

test('an invalid address is shown without its keys', async () => {
  const { client } = await newOrganization();
  const url = '{{ "ftp" }}://hook.example.com/?token=canary-in-url';
  const id = await createActiveWorkflow(client, { definition: chain(node({ url })) });
  const { body: run } = await client.post(`/automation-workflows/${id}/execute`, {});
  await waitForEndedRuns(client, id);
  const { body } = await client.get(`/automation-workflows/runs/${run.id}/history`);
  expect(JSON.stringify(body)).toContain('url renders to');
  expect(JSON.stringify(body)).not.toContain('canary');
});

describe('a mask', () => {
  test('keeps the secret when the path or another part of the query changes', async () => {
    const bodies: unknown[] = [];
    const requests = stubFetch('https://hook.example.com/', async (request) => {
      bodies.push(await request.json());
      return Response.json({ ok: true });
    });
    const { client } = await newOrganization();
    const id = await createActiveWorkflow(client, { definition: chain(node()) });
    const shown = await shownData(client, id);
    const changed = { ...shown, url: 'https://HOOK.example.com:443/other/{{ data.x }}?page=2&api_key=****' };
    expect((await save(client, id, changed)).status).toBe(200);
    await client.post(`/automation-workflows/${id}/execute`, { context: { x: 'a' } });
    await waitForEndedRuns(client, id);
    expect(requests[0]!.url).toBe('https://hook.example.com/other/a?page=2&api_key=canary-in-url&access_token=canary-in-query&limit=5');
    expect(requests[0]!.headers.get('x-shop')).toBe('canary-shop');
    expect(bodies).toMatchObject([{ password: 'canary-in-body' }]);
  });

  test.each([
    ['another host', 'https://thief.example.com/in?api_key=****'],
    ['another scheme', 'http://hook.example.com/in?api_key=****'],
    ['another port', 'https://hook.example.com:8443/in?api_key=****'],
    ['a host from a template', 'https://{{ data.host }}/in?api_key=****'],
    ['a host that goes on in a template', 'https://hook.example.com{{ data.more }}/in?api_key=****'],
    ['a user before another host', 'https://hook.example.com@thief.example.com/in?api_key=****'],
    ['a backslash before another host', 'https:\\\\thief.example.com/in?api_key=****'],
    ['a template alone', '{{ data.url }}?api_key=****'],
  ])('is refused with %s, and names each secret that must be sent again', async (_what, url) => {
    const { client } = await newOrganization();
    const id = await createActiveWorkflow(client, { definition: chain(node()) });
    const refused = await save(client, id, { ...(await shownData(client, id)), url });
    expect(refused.status).toBe(422);
    expect(places(refused)).toEqual(['body.password', 'headers.X-Shop', 'query.access_token', 'url']);
    expect(refused.body.detail[0]).toMatchObject({ msg: expect.stringContaining('give the secret itself once more'), type: 'mask' });
    expect(await shownData(client, id)).toMatchObject({ url: 'https://hook.example.com/in?api_key=****&page=1' });
  });

  test('is refused when the address is added, removed or renamed', async () => {
    const { client } = await newOrganization();
    const id = await createActiveWorkflow(client, { definition: chain(node()) });
    const { url: _url, ...without } = await shownData(client, id);
    expect((await save(client, id, without)).status).toBe(422);
    expect((await save(client, id, { ...without, endpoint_url: 'https://hook.example.com/in' })).status).toBe(422);
  });

  test('is not needed when every secret is sent again with another address', async () => {
    const { client } = await newOrganization();
    const id = await createActiveWorkflow(client, { definition: chain(node()) });
    const answer = await save(client, id, { ...data, url: 'https://other.example.com/in?api_key=new' });
    expect(answer.status).toBe(200);
    expect(JSON.stringify(answer.body)).not.toContain('canary');
  });

  test('gives another organization no secret', async () => {
    const [one, other] = [await newOrganization(), await newOrganization()];
    const id = await createActiveWorkflow(one.client, { definition: chain(node()) });
    expect((await save(other.client, id, await shownData(one.client, id))).status).toBe(404);
    const copy = await other.client.post('/automation-workflows', {
      name: 'Copy',
      definition: chain(node(await shownData(one.client, id))),
    });
    expect((await other.client.patch(`/automation-workflows/${copy.body.id}`, { status: 'active' })).status).toBe(422);
  });
});
