import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { Database } from '../../src/database/client.ts';
import { findFactsOfRuns } from '../../src/automation-workflows/runs/store.ts';
import { crashBeforeStart } from '../support/background.ts';
import { createActiveWorkflow, runStub, waitForEndedRuns } from '../support/journeys.ts';
import { newOrganization, newPhone } from '../support/organization.ts';
import { stubFetch } from '../support/stub-fetch.ts';

afterEach(() => vi.restoreAllMocks());

const shop = 'https://shop.example.com/';
const line = (...nodes: { id: string; type: string; data?: object }[]) => ({
  nodes: [{ id: 'in', type: 'trigger' }, ...nodes],
  edges: nodes.map(({ id }, index) => ({
    id: `e${index}`,
    source: index ? nodes[index - 1]!.id : 'in',
    target: id,
    ...(nodes[index - 1]?.type === 'condition' && { source_handle: 'true' }),
  })),
});

const notesVip = [
  { id: 'vip', type: 'condition', data: { condition: { field: 'contact.tags', operator: 'contains', value: 'vip' } } },
  { id: 'out', type: 'exit', data: { outcome: '{{ contact.title }}' } },
];

/** A run whose row is written, of a contact that is not started yet. */
async function unstartedRun(definition: unknown) {
  const { client, id } = await newOrganization();
  const contact = (await client.post('/contacts', { phone: newPhone(), title: 'CTO' })).body.id as number;
  const workflow = await createActiveWorkflow(client, { definition });
  const answer = await crashBeforeStart(() =>
    client.post(`/automation-workflows/${workflow}/execute`, { context: {}, contact_id: contact }),
  );
  const run = answer.body.id as number;
  return { client, id, contact, workflow, run, stub: () => runStub(id, run) };
}

const request = { id: 'tell', type: 'http_request', data: { method: 'POST', url: shop, body: { of: '{{ contact.id }}' } } };

test('a step sees what the receiver of the request before it changed in the contact', async () => {
  const run = await unstartedRun(line(request, ...notesVip));
  stubFetch(shop, async () => {
    await run.client.put(`/contacts/${run.contact}`, { tags: ['vip'], title: 'CEO' });
    return Response.json({});
  });
  await run.stub().start(run.id, run.run);
  expect(await waitForEndedRuns(run.client, run.workflow, 1)).toMatchObject([{ state: 'completed', outcome: 'CEO' }]);
});

test('steps in a row read the contact once, and see their own change of it', async () => {
  const change = { id: 'change', type: 'update_contact', data: { set: { title: '{{ contact.title }} of Acme' }, add_tags: ['vip'] } };
  const run = await unstartedRun(line(change, ...notesVip));
  const prepared: string[] = [];
  const prepare = env.DB.prepare.bind(env.DB);
  vi.spyOn(env.DB, 'prepare').mockImplementation((sql) => {
    prepared.push(sql);
    return prepare(sql);
  });
  await run.stub().start(run.id, run.run);
  await vi.waitFor(async () => {
    const row = await prepare('SELECT outcome FROM automation_run WHERE id = ?').bind(run.run).first();
    expect(row).toEqual({ outcome: 'CTO of Acme' });
  });
  const reads = prepared.filter((sql) => /FROM (json_each\(\?\) j CROSS JOIN )?contact\b/.test(sql));
  expect(reads).toHaveLength(1);
});

test('a run whose row was ended after the caller read it has no side effect', async () => {
  const run = await unstartedRun(line(request, ...notesVip));
  const asked = vi.fn(() => Response.json({}));
  stubFetch(shop, asked);
  const facts = await findFactsOfRuns(new Database(env.DB, true), run.id, [run.run]);
  expect(facts).toHaveLength(1);
  expect((await run.client.post(`/automation-workflows/runs/${run.run}/stop`)).status).toBe(200);
  await run.stub().start(run.id, run.run, facts[0]);
  await vi.waitFor(async () => expect(await run.stub().hasEnded()).toBe(false));
  expect(asked).not.toHaveBeenCalled();
  expect((await run.client.get(`/automation-workflows/runs/${run.run}`)).body).toMatchObject({ state: 'cancelled', outcome: null });
});

test("facts of another organization's run are not found", async () => {
  const [run, other] = [await unstartedRun(line(...notesVip)), await newOrganization()];
  expect(await findFactsOfRuns(new Database(env.DB, true), other.id, [run.run])).toEqual([]);
});
