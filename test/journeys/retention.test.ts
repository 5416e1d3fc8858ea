import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { tickAt } from '../support/background.ts';
import { createActiveWorkflow, chain, waitForEndedRuns, waitForRunState } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

const day = 86_400_000;
const longAgo = () => Date.now() - 91 * day;

/** Lets the walk over a table begin at these rows, as if they had come 91 days ago and nothing had come before them. */
async function age(table: string, ids: number[]): Promise<void> {
  await env.DB.batch([
    env.DB.prepare(`UPDATE ${table} SET created_at = ? WHERE id IN (SELECT value FROM json_each(?))`).bind(longAgo(), JSON.stringify(ids)),
    env.DB.prepare('INSERT OR REPLACE INTO progress (name, value) VALUES (?, ?)').bind(`${table}_retained`, Math.min(...ids) - 1),
  ]);
}

const stored = async (table: string, organizationId: number) =>
  (
    await env.DB.prepare(`SELECT id FROM ${table} WHERE organization_id = ? ORDER BY id`).bind(organizationId).all<{ id: number }>()
  ).results.map(({ id }) => id);

async function archived(organizationId: number, table: string): Promise<Record<string, unknown>[]> {
  const { objects } = await env.FILES.list({ prefix: `archive/${organizationId}/${table}/` });
  const texts = await Promise.all(objects.map(async ({ key }) => (await env.FILES.get(key))!.text()));
  return texts.flatMap((text) => text.split('\n')).map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** The counters, beside a count of the rows. */
async function counters(client: Client, workflow: number) {
  const rows = await env.DB.prepare(
    `SELECT count(*) AS runs, coalesce(sum(state IN ('queued', 'pending', 'running', 'waiting')), 0) AS active FROM automation_run WHERE workflow_id = ? AND is_test = 0`,
  )
    .bind(workflow)
    .first<{ runs: number; active: number }>();
  const { body } = await client.get(`/automation-workflows/${workflow}`);
  expect({ runs: body.runs_count, active: body.active_runs_count }).toEqual(rows);
  expect((await client.get(`/automation-workflows/${workflow}/runs`)).body.total).toBe(rows!.runs);
  return rows;
}

test('ended runs, handled events and deliveries move into files after their retention, and the counters stay right', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: { type: 'contact_event', config: { event_type: 'ordered' } } });
  const hook = (await client.post(`/automation-workflows/${workflow}/triggers`, { type: 'webhook' })).body;
  const events: number[] = [];
  for (const event_type of ['ordered', 'seen', 'ordered'])
    events.push((await client.post('/events', { event_type, phone: newPhone(), data: { order: event_type } })).body.event_id);
  const delivery = Number((await client.post(`/automation-workflows/webhook/${hook.uuid}`, { a: 1 })).body.delivery_id);
  const runs = (await waitForEndedRuns(client, workflow, 3)).map((run) => run.id).toSorted((a, b) => a - b);
  await tickAt(Date.now());
  expect(await counters(client, workflow)).toEqual({ runs: 3, active: 0 });
  // Others are newer, so that none of these is the last of its table.
  await client.post('/events', { event_type: 'seen' });
  await client.post(`/automation-workflows/webhook/${hook.uuid}`, {});
  await waitForEndedRuns(client, workflow, 4);
  // A tick begins with another table each minute: what started a run may come before the run, and leaves in the second tick.
  for (const _tick of ['first', 'second']) {
    await age('automation_run', runs);
    await age('event', events);
    await age('webhook_delivery', [delivery]);
    await tickAt(Date.now());
  }
  expect((await archived(id, 'automation_run')).map((row) => row.id)).toEqual(runs);
  expect((await archived(id, 'event')).map((row) => [row.id, row.data])).toEqual(
    events.map((eventId, index) => [eventId, `{"order":"${['ordered', 'seen', 'ordered'][index]}"}`]),
  );
  expect((await archived(id, 'webhook_delivery')).map((row) => row.id)).toEqual([delivery]);
  expect(await stored('event', id)).toHaveLength(1);
  expect(await stored('webhook_delivery', id)).toHaveLength(1);
  expect(await counters(client, workflow)).toEqual({ runs: 1, active: 0 });
  expect((await client.get('/events')).body.total).toBe(1);
  expect((await client.get(`/automation-workflows/runs/${runs[0]}`)).status).toBe(404);
  await tickAt(Date.now());
  expect(await counters(client, workflow)).toEqual({ runs: 1, active: 0 });
  expect((await client.get('/events')).body.total).toBe(1);
});

test('a live run stays with its event, however old it is, and goes on', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, {
    definition: chain({ id: 'nap', type: 'wait', data: { duration: 'P400D' } }),
    settings: { timeout: 'P2Y' },
    trigger: { type: 'contact_event', config: { event_type: 'ordered' } },
  });
  const { event_id } = (await client.post('/events', { event_type: 'ordered', data: { order: 'A-17' } })).body;
  const unhandled = (await client.post('/events', { event_type: 'seen' })).body.event_id;
  await client.post('/events', { event_type: 'seen' });
  const run = await vi.waitFor(async () => {
    const { body } = await client.get(`/automation-workflows/${workflow}/runs`);
    expect(body.total).toBe(1);
    return body.runs[0];
  });
  await waitForRunState(client, run.id, 'waiting');
  await env.DB.prepare('UPDATE event SET handled_at = NULL WHERE id = ?').bind(unhandled).run();
  await age('automation_run', [run.id]);
  await age('event', [event_id]);
  await tickAt(Date.now());
  await tickAt(Date.now());
  expect(await stored('event', id)).toEqual(expect.arrayContaining([event_id, unhandled]));
  expect((await client.get(`/automation-workflows/runs/${run.id}`)).body).toMatchObject({
    state: 'waiting',
    initial_context: { order: 'A-17' },
  });
  expect(await counters(client, workflow)).toEqual({ runs: 1, active: 1 });
});

test('the newest row of a table stays, so that no id is ever given twice', async () => {
  const { client, id } = await newOrganization();
  const { event_id } = (await client.post('/events', { event_type: 'seen' })).body;
  await env.DB.prepare('UPDATE event SET handled_at = 1 WHERE id = ?').bind(event_id).run();
  await age('event', [event_id]);
  await tickAt(Date.now());
  expect(await stored('event', id)).toEqual([event_id]);
  const next = (await client.post('/events', { event_type: 'seen' })).body.event_id;
  expect(next).toBe(event_id + 1);
  await age('event', [event_id]);
  await tickAt(Date.now());
  expect(await stored('event', id)).toEqual([next]);
});

test('thousands of old rows that still live do not keep the others from leaving, and many leave in one tick', async () => {
  const { client, id } = await newOrganization();
  const fill = (count: number, handledAt: number | null) =>
    env.DB.prepare(
      `INSERT INTO event (organization_id, event_type, data, created_at, handled_at, note)
       WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ?2) SELECT ?1, 'filled', '{}', ?3, ?4, 'x' FROM n`,
    )
      .bind(id, count, longAgo(), handledAt)
      .run();
  const before = (await env.DB.prepare('SELECT max(id) AS id FROM event').first<{ id: number }>())!.id;
  await fill(5200, null);
  await fill(1200, 1);
  await client.post('/events', { event_type: 'seen' });
  const left = async () =>
    (await env.DB.prepare('SELECT count(*) AS left FROM event WHERE organization_id = ? AND handled_at = 1')
      .bind(id)
      .first<{ left: number }>())!.left;
  await age('event', [before + 1]);
  await tickAt(Date.now());
  expect(await left()).toBe(0);
  await env.DB.prepare("UPDATE event SET handled_at = 2 WHERE organization_id = ? AND event_type = 'filled'").bind(id).run();
}, 20_000);
