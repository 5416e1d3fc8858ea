import { env, exports } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { deliver, deliverDeadLettersForADay, dropQueueMessages } from '../support/background.ts';
import { createActiveWorkflow, waitForEndedRuns } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { recordedClient, rowsRead } from '../support/recorded-database.ts';

afterEach(() => vi.restoreAllMocks());

async function newHook(client: Client, config: Record<string, unknown> = {}) {
  const trigger = { type: 'webhook', config: { auth: { type: 'none' }, delivery_id: '$.id', ...config } };
  const workflow = await createActiveWorkflow(client, { trigger });
  const [{ webhook_url: url, id }] = (await client.get(`/automation-workflows/${workflow}/triggers`)).body.triggers;
  const send = async (body: object): Promise<string> => {
    const headers = { 'content-type': 'application/json', authorization: 'Bearer hidden-token' };
    const response = await exports.default.fetch(new Request(url, { method: 'POST', body: JSON.stringify(body), headers }));
    expect(response.status).toBe(202);
    return (await response.json<{ delivery_id: string }>()).delivery_id;
  };
  return { workflow, trigger: id as number, path: `/automation-workflows/${workflow}/triggers/${id}/deliveries`, send };
}

const handled = (client: Client, path: string, count: number) =>
  vi.waitFor(
    async () => {
      const { body } = await client.get(path);
      expect(body.deliveries.filter(({ state }: { state: string }) => state !== 'open')).toHaveLength(count);
      return body.deliveries;
    },
    { timeout: 10_000, interval: 20 },
  );

test('a delivery shows its run, its note, and the shape of its body without the values', async () => {
  const { client } = await newOrganization();
  const hook = await newHook(client, { filter: { field: 'total', operator: 'gt', value: 10 }, mapping: { phone: 'customer.phone' } });
  const phone = newPhone();
  await hook.send({ id: 'o-1', total: 20, customer: { phone, names: ['Ada', 'Bob'] }, notes: null });
  await hook.send({ id: 'o-2', total: 5 });
  const [run] = await waitForEndedRuns(client, hook.workflow);
  const [second, first] = await handled(client, hook.path, 2);
  expect(first).toMatchObject({
    delivery_id: 'o-1',
    trigger_id: hook.trigger,
    contact_id: run.contact_id,
    state: 'started',
    note: null,
    failure: null,
    run: { run_id: run.id, automation_workflow_id: hook.workflow, state: 'completed', outcome: 'done' },
    payload_shape: { id: 'string', total: 'number', customer: { phone: 'string', names: ['string'] }, notes: 'null' },
  });
  expect(first.payload).toBeUndefined();
  expect(second).toMatchObject({ delivery_id: 'o-2', state: 'not_started', note: "The trigger's filter does not match", run: null });
  const { body: detail } = await client.get(`${hook.path}/o-1`);
  expect(detail.payload.body).toMatchObject({ total: 20, customer: { phone } });
  expect(JSON.stringify(detail)).not.toContain('hidden-token');
});

test('deliveries are filtered by state and by date, and pages follow each other without gap', async () => {
  const { client } = await newOrganization();
  const hook = await newHook(client, { filter: { field: 'even', operator: 'eq', value: true } });
  for (let number = 0; number < 6; number++) await hook.send({ id: `n-${number}`, even: number % 2 === 0 });
  await handled(client, hook.path, 6);
  const names = (body: any): string[] => body.deliveries.map((delivery: any) => delivery.delivery_id);
  expect(names((await client.get(`${hook.path}?state=started`)).body)).toEqual(['n-4', 'n-2', 'n-0']);
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body }: { body: any } = await client.get(`${hook.path}?limit=2&state=not_started${cursor && `&cursor=${cursor}`}`);
    seen.push(...names(body));
    cursor = body.next_cursor;
  }
  expect(seen).toEqual(['n-5', 'n-3', 'n-1']);
  expect((await client.get(`${hook.path}?limit=6`)).body.next_cursor).toBeNull();
  const today = new Date().toISOString().slice(0, 10);
  expect(names((await client.get(`${hook.path}?start_date=${today}`)).body)).toHaveLength(6);
  expect(names((await client.get(`${hook.path}?end_date=2020-01-01`)).body)).toEqual([]);
  expect(names((await client.get(`${hook.path}?start_date=2999-01-01`)).body)).toEqual([]);
  expect((await client.get(`${hook.path}?state=lost`)).status).toBe(422);
  expect((await client.get(`${hook.path}?cursor=abc`)).status).toBe(422);
});

test('a delivery that fails shows its tries, and after a day that it was given up', async () => {
  const { client, id: organizationId } = await newOrganization();
  const hook = await newHook(client);
  const lost = dropQueueMessages();
  await hook.send({ id: 'stuck' });
  lost.restore();
  const { id } = (await env.DB.prepare('SELECT id FROM webhook_delivery WHERE trigger_id = ?').bind(hook.trigger).first<{ id: number }>())!;
  const message = { v: 1, kind: 'delivery', organization_id: organizationId, id };
  await deliver('events-dead', [message]);
  expect((await client.get(`${hook.path}?state=open`)).body.deliveries).toMatchObject([{ delivery_id: 'stuck', failure: { tries: 1 } }]);
  await deliverDeadLettersForADay('events-dead', organizationId, [message]);
  const { body } = await client.get(`${hook.path}?state=given_up`);
  expect(body.deliveries).toMatchObject([
    { delivery_id: 'stuck', state: 'given_up', failure: null, note: expect.stringMatching(/^given_up:/) },
  ]);
});

test('a large payload is in the record, and a list of many large ones leaves shapes out', async () => {
  const { client } = await newOrganization();
  const hook = await newHook(client);
  await hook.send({ id: 'big', text: 'x'.repeat(200_000) });
  await handled(client, hook.path, 1);
  const { body } = await client.get(`${hook.path}/big`);
  expect(body.payload_bytes).toBeGreaterThan(200_000);
  expect(body.payload.body.text).toHaveLength(200_000);
  expect(body.payload_shape).toEqual({ id: 'string', text: 'string' });
});

test('deliveries of another organization or of another journey are not found', async () => {
  const [own, other] = [await newOrganization(), await newOrganization()];
  const hook = await newHook(own.client);
  await hook.send({ id: 'a' });
  expect((await other.client.get(hook.path)).status).toBe(404);
  expect((await other.client.get(`${hook.path}/a`)).status).toBe(404);
  const elsewhere = await createActiveWorkflow(own.client, {});
  expect((await own.client.get(`/automation-workflows/${elsewhere}/triggers/${hook.trigger}/deliveries`)).status).toBe(404);
  expect((await own.client.get(`${hook.path}/unknown`)).status).toBe(404);
});

test('a page costs the same however many deliveries the trigger and its neighbours have', async () => {
  const { client, id: organizationId, key } = await newOrganization();
  const hook = await newHook(client);
  for (const id of ['a', 'b', 'c']) await hook.send({ id });
  await handled(client, hook.path, 3);
  const read = async (query: string) => {
    const { client: recorded, recording } = recordedClient(key);
    expect((await recorded.get(`${hook.path}?limit=2${query}`)).body.deliveries).toHaveLength(2);
    return { calls: recording.calls, rows: rowsRead(recording) };
  };
  await read('');
  const before = await read('');
  const rows = JSON.stringify(Array.from({ length: 500 }, (_, index) => index));
  for (const trigger of [hook.trigger, 987_654_321])
    await env.DB.prepare(
      `INSERT INTO webhook_delivery (organization_id, trigger_id, delivery_id, payload, created_at, handled_at)
       SELECT ?1, ?2, 'fill:' || value, '{"body":{}}', 1, 1 FROM json_each(?3)`,
    )
      .bind(organizationId, trigger, rows)
      .run();
  const after = await read('');
  expect(after.calls).toBe(before.calls);
  expect(after.rows).toBeLessThanOrEqual(before.rows + 2);
});
