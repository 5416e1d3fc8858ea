import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { tickAt, waitUntilHandled } from '../support/background.ts';
import { createActiveWorkflow, chain, waitForEndedRuns, waitForRunState } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

const onOrder = { type: 'contact_event', config: { event_type: 'ordered' } };
const nap = chain({ id: 'nap', type: 'wait', data: { duration: 'P1D' } });

/**
 * Waits until the organization has had `total` runs and no work is left: its events are handled, and the work after each run's end is done,
 * as its history in its row or in a file shows.
 */
async function settledRuns(organizationId: number, total: number): Promise<void> {
  await vi.waitFor(
    async () => {
      const row = await env.DB.prepare(
        `SELECT (SELECT count(*) FROM automation_run WHERE organization_id = ?1) AS total,
           (SELECT count(*) FROM automation_run WHERE organization_id = ?1 AND state IN ('queued', 'pending', 'running', 'waiting')) AS live,
           (SELECT count(*) FROM event WHERE organization_id = ?1 AND handled_at IS NULL) AS unhandled,
           (SELECT json_group_array(id) FROM automation_run WHERE organization_id = ?1 AND history IS NOT NULL) AS settled`,
      )
        .bind(organizationId)
        .first<{ settled: string }>();
      const { objects } = await env.FILES.list({ prefix: `runs/${organizationId}/` });
      const settled = new Set([...(JSON.parse(row!.settled) as number[]), ...objects.map(({ key }) => Number(key.split('/')[2]))]).size;
      expect({ ...row, settled }).toEqual({ total, live: 0, unhandled: 0, settled: total });
    },
    { timeout: 25_000, interval: 50 },
  );
}

const notesOf = async (client: Client, type: string): Promise<string[]> =>
  (await client.get(`/events?event_type=${type}&limit=500`)).body.events.flatMap((event: { note: string | null }) => event.note ?? []);

test('three nodes that name their own journey set off as many runs as the plan allows, and the others say why not', async () => {
  const { client, id } = await newOrganization({ plan: { max_chained_runs: 20 } });
  const { body } = await client.post('/automation-workflows', { name: 'Hydra' });
  const again = ['one', 'two', 'three'].map((name) => ({ id: name, type: 'run_workflow', data: { workflow_id: body.id } }));
  const definition = chain(...again);
  await client.patch(`/automation-workflows/${body.id}`, { definition });
  const active = await client.patch(`/automation-workflows/${body.id}`, { status: 'active' });
  expect(active.status, JSON.stringify(active.body)).toBe(200);
  const first = (await client.post(`/automation-workflows/${body.id}/execute`, { context: {} })).body.id;
  await settledRuns(id, 21);
  const { results } = await env.DB.prepare('SELECT error, context_changes FROM automation_run WHERE organization_id = ?').bind(id).all();
  expect(JSON.stringify(results)).toContain(`Run ${first} has set off 20 runs by now, as many as the plan allows (max_chained_runs)`);
});

test('runs by emitted events count to the chain of the first run, and events beyond the limit say so', async () => {
  const { client, id } = await newOrganization({ plan: { max_chained_runs: 10 } });
  const emits = ['one', 'two', 'three'].map((name) => ({ id: name, type: 'emit_event', data: { event_type: 'ordered' } }));
  await createActiveWorkflow(client, { trigger: onOrder, definition: chain(...emits) });
  await client.post('/events', { event_type: 'ordered' });
  await settledRuns(id, 11);
  // One event came from outside and three from each run. All events except those that started a run have a note with the reason.
  const notes = await notesOf(client, 'ordered');
  expect(notes).toHaveLength(1 + 3 * 11 - 11);
  for (const note of notes) expect(note).toContain('max_chained_runs');
  // Another event from outside begins its own chain.
  await client.post('/events', { event_type: 'ordered' });
  await settledRuns(id, 22);
});

test('ends of runs count to the chain, too, and the trigger says what it did not start', async () => {
  const { client, id } = await newOrganization({ plan: { max_chained_runs: 6 } });
  const onEnd = { type: 'event', config: { event: 'run.completed' } };
  const workflows = [await createActiveWorkflow(client, { trigger: onEnd }), await createActiveWorkflow(client, { trigger: onEnd })];
  await client.post(`/automation-workflows/${workflows[0]}/execute`, { context: {} });
  await settledRuns(id, 7);
  await vi.waitFor(async () => {
    const { results } = await env.DB.prepare('SELECT last_error FROM automation_trigger WHERE organization_id = ?').bind(id).all();
    expect(JSON.stringify(results)).toContain('max_chained_runs');
  });
});

test('no more runs live at one time than the plan allows: events say so, execute is a 409, and a run that ends makes room', async () => {
  const { client } = await newOrganization({ plan: { max_live_runs: 3 } });
  const workflow = await createActiveWorkflow(client, { trigger: onOrder, definition: nap });
  const events: number[] = [];
  for (let sent = 0; sent < 5; sent++) events.push((await client.post('/events', { event_type: 'ordered' })).body.event_id);
  for (const event of events) await waitUntilHandled(event);
  const { body } = await client.get(`/automation-workflows/${workflow}/runs`);
  expect(body.total).toBe(3);
  const notes = await notesOf(client, 'ordered');
  expect(notes).toHaveLength(2);
  expect(notes[0]).toContain('(3, max_live_runs)');
  const execute = () => client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  expect(await execute()).toMatchObject({ status: 409, body: { detail: expect.stringContaining('max_live_runs') } });
  await waitForRunState(client, body.runs[0].id, 'waiting');
  await client.post(`/automation-workflows/runs/${body.runs[0].id}/stop`);
  expect((await execute()).status).toBe(200);
  expect((await execute()).status).toBe(409);
});

test('runs beyond those of a minute wait for the next one, and none is lost', async () => {
  const { client, id } = await newOrganization({ plan: { runs_per_minute: 5 } });
  const workflow = await createActiveWorkflow(client, { trigger: onOrder });
  const began = Date.now();
  const events = await Promise.all(Array.from({ length: 12 }, () => client.post('/events', { event_type: 'ordered' })));
  for (const { body } of events) await waitUntilHandled(body.event_id);
  const count = async (state: string) => (await client.get(`/automation-workflows/${workflow}/runs?state=${state}`)).body.total as number;
  await vi.waitFor(async () => expect(await count('completed')).toBe(5));
  expect(await count('queued')).toBe(7);
  // A tick in the same minute starts no more runs.
  await tickAt(began + 30_000);
  expect(await count('queued')).toBe(7);
  const execute = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  expect(execute).toMatchObject({ status: 429, body: { detail: expect.stringContaining('runs_per_minute') } });
  expect(Number(execute.headers.get('retry-after'))).toBeGreaterThan(0);
  await tickAt(Date.now() + 61_000);
  await vi.waitFor(async () => expect(await count('completed')).toBe(10));
  expect(await count('queued')).toBe(2);
  await tickAt(Date.now() + 121_000);
  await waitForEndedRuns(client, workflow, 12);
  await settledRuns(id, 12);
});

test('more runs at once than a whole minute has are a 409, since waiting would not help', async () => {
  const { client } = await newOrganization({ plan: { runs_per_minute: 2 } });
  const workflow = await createActiveWorkflow(client, { trigger: { type: 'manual' } });
  const trigger = (await client.get(`/automation-workflows/${workflow}/triggers`)).body.triggers[0].id;
  const ids: number[] = [];
  for (let made = 0; made < 3; made++) ids.push((await client.post('/contacts', { phone: newPhone() })).body.id);
  const fire = (contact_ids: number[]) => client.post(`/automation-workflows/${workflow}/triggers/${trigger}/fire`, { contact_ids });
  expect(await fire(ids)).toMatchObject({ status: 409, body: { detail: expect.stringContaining('runs_per_minute') } });
  expect((await fire(ids.slice(0, 2))).status).toBeLessThan(300);
});
