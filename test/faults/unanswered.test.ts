import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import {
  callingJourney,
  organizationWithAgent,
  waitForCallRow,
  completeCall,
  executeWorkflow,
  stubCallSlots,
} from '../support/journey-calls.ts';
import { createActiveWorkflow, chain, waitForRunState, runStub } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { dropQueueMessages, tickAt } from '../support/background.ts';

afterEach(() => vi.restoreAllMocks());

const minuteMs = 60_000;

/** Runs the alarm as if at that moment. */
const passAt = (organizationId: number, run: number, moment: number) =>
  runInDurableObject(runStub(organizationId, run), async (instance) => {
    const object = instance as unknown as { clock: () => number; alarm(): Promise<void> };
    const realMs = Date.now();
    object.clock = () => moment + Date.now() - realMs;
    await object.alarm();
  });

const wakeAtOf = async (run: number) =>
  (await env.DB.prepare('SELECT wake_at FROM automation_run WHERE id = ?').bind(run).first<{ wake_at: number }>())!.wake_at;

/** Its child sleeps for a day. */
async function runThatAwaitsAnother(client: Client): Promise<number> {
  const child = await createActiveWorkflow(client, { definition: chain({ id: 'nap', type: 'wait', data: { duration: 'P1D' } }) });
  const asking = chain({ id: 'ask', type: 'run_workflow', data: { workflow_id: child, wait: true } });
  const parent = await createActiveWorkflow(client, { definition: asking });
  const run = (await client.post(`/automation-workflows/${parent}/execute`, { context: {} })).body.id;
  await waitForRunState(client, run, 'waiting');
  return run;
}

test("a run that is not notified of its child's end finds it out by itself, and goes on", async () => {
  const { client, id } = await newOrganization();
  const run = await runThatAwaitsAnother(client);
  const began = await wakeAtOf(run);
  expect(began - Date.now()).toBeGreaterThan(8 * minuteMs);
  expect(began - Date.now()).toBeLessThan(11 * minuteMs);
  // The child is alive: the next look comes after twice the time.
  await passAt(id, run, began);
  expect((await client.get(`/automation-workflows/runs/${run}`)).body.state).toBe('waiting');
  const second = await wakeAtOf(run);
  expect(second - began).toBeGreaterThanOrEqual(20 * minuteMs);
  expect(second - began).toBeLessThan(21 * minuteMs);
  // As after a restore: the row says that the child ended, and nothing notifies the parent.
  await env.DB.prepare("UPDATE automation_run SET state = 'cancelled', completed_at = ?, wake_at = NULL WHERE parent_run_id = ?")
    .bind(Date.now(), run)
    .run();
  await passAt(id, run, second);
  await waitForRunState(client, run, 'completed');
});

test('the tick restores the lost alarm of a run that waits for another run', async () => {
  const { client, id } = await newOrganization();
  const run = await runThatAwaitsAnother(client);
  const armed = await runInDurableObject(runStub(id, run), async (_instance, state) => {
    const before = await state.storage.getAlarm();
    await state.storage.deleteAlarm();
    return before;
  });
  await tickAt((await wakeAtOf(run)) + 5 * minuteMs);
  const again = await runInDurableObject(runStub(id, run), (_instance, state) => state.storage.getAlarm());
  expect(again).toBe(armed);
});

test("a run that is not notified of its call's end finds it out by itself, and goes on", async () => {
  const { client, id, agentId } = await organizationWithAgent();
  stubCallSlots(id);
  const workflow = await createActiveWorkflow(client, { definition: callingJourney({ workflow_id: agentId }) });
  const contact = (await client.post('/contacts', { phone: newPhone() })).body.id;
  const run = await executeWorkflow(client, workflow, { contact_id: contact });
  const call = await waitForCallRow(id);
  await waitForRunState(client, run, 'waiting');
  const began = await wakeAtOf(run);
  expect(began - Date.now()).toBeLessThan(11 * minuteMs);
  await completeCall(call.id);
  await passAt(id, run, began);
  await waitForRunState(client, run, 'completed');
});

test('a held run that is not released finds out by itself that its workflow goes on', async () => {
  const { client, id } = await newOrganization();
  const acting = chain(
    { id: 'nap', type: 'wait', data: { duration: 'PT1S' } },
    { id: 'tag', type: 'update_contact', data: { add_tags: ['reached'] } },
  );
  const workflow = await createActiveWorkflow(client, { definition: acting });
  const contact = (await client.post('/contacts', { phone: newPhone() })).body.id;
  const run = (await client.post(`/automation-workflows/${workflow}/execute`, { context: {}, contact_id: contact })).body.id;
  await waitForRunState(client, run, 'waiting');
  await client.patch(`/automation-workflows/${workflow}`, { status: 'paused' });
  await vi.waitFor(
    async () => expect((await client.get(`/automation-workflows/runs/${run}`)).body).toMatchObject({ state: 'waiting', hold: 'paused' }),
    { timeout: 10_000, interval: 20 },
  );
  const began = await wakeAtOf(run);
  // While the workflow is paused, the run stays held, and its history does not grow.
  await passAt(id, run, began);
  const { body } = await client.get(`/automation-workflows/runs/${run}/history`);
  expect(body.history.map((record: { node_id: string; status: string }) => `${record.node_id} ${record.status}`)).toEqual([
    'in completed',
    'nap completed',
    'tag waiting',
  ]);
  // The message that would release the run is lost for good.
  const lost = dropQueueMessages();
  await env.DB.prepare("UPDATE automation_workflow SET status = 'active' WHERE id = ?").bind(workflow).run();
  lost.restore();
  await passAt(id, run, await wakeAtOf(run));
  await waitForRunState(client, run, 'completed');
});
