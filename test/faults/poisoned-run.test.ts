import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { createActiveWorkflow, chain, waitForRunState, runStub } from '../support/journeys.ts';
import { newOrganization, type Client } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

const hourMs = 3_600_000;
const nap = chain({ id: 'nap', type: 'wait', data: { duration: 'P1D' } });

/** A sleeping run whose large context was spoiled in R2. */
async function poisoned(client: Client, organizationId: number, spoil: (name: string) => Promise<unknown>) {
  const workflow = await createActiveWorkflow(client, { definition: nap, settings: { timeout: 'P30D' } });
  const run = (await client.post(`/automation-workflows/${workflow}/execute`, { context: { text: 'a'.repeat(70_000) } })).body.id;
  await waitForRunState(client, run, 'waiting');
  const row = await env.DB.prepare('SELECT initial_context FROM automation_run WHERE id = ?')
    .bind(run)
    .first<{ initial_context: string }>();
  const name = row!.initial_context.split(':').slice(2).join(':');
  expect(name).toContain(`payloads/${organizationId}/`);
  await spoil(name);
  return { workflow, run };
}

/** Runs the alarm as if so much time had passed. Returns the ms from then until the next alarm. */
const passAfter = (organizationId: number, run: number, aheadMs: number) =>
  runInDurableObject(runStub(organizationId, run), async (instance, state) => {
    const object = instance as unknown as { clock: () => number; alarm(): Promise<void> };
    object.clock = () => Date.now() + aheadMs;
    await object.alarm();
    return ((await state.storage.getAlarm()) ?? 0) - object.clock();
  });

const gone = (name: string) => env.FILES.delete(name);
const damaged = (name: string) => env.FILES.put(name, '{"text": "a');

for (const [what, spoil] of Object.entries({ gone, damaged })) {
  test(`a run whose payload is ${what} is tried for a day, then fails with the reason, and can be read meanwhile`, async () => {
    const { client, id } = await newOrganization();
    const { workflow, run } = await poisoned(client, id, spoil);
    const pauses: number[] = [];
    for (let ahead = 24 * hourMs + 1000; ahead < 47 * hourMs; ahead += pauses.at(-1)! + 1000) pauses.push(await passAfter(id, run, ahead));
    expect(pauses[0]! / 60_000).toBeCloseTo(1, 0);
    expect(pauses[1]! / 60_000).toBeCloseTo(2, 0);
    expect(pauses.at(-1)! / 60_000).toBeCloseTo(60, 0);
    const { body: waiting } = await client.get(`/automation-workflows/runs/${run}`);
    expect(waiting).toMatchObject({ state: 'waiting', error: null, initial_context: { _gone: expect.stringContaining('payload ') } });
    expect((await client.get(`/automation-workflows/${workflow}/runs`)).body.runs).toMatchObject([{ id: run }]);
    await passAfter(id, run, 49 * hourMs);
    expect((await client.get(`/automation-workflows/runs/${run}`)).body).toMatchObject({
      state: 'failed',
      error: { type: 'cannot_go_on', message: expect.stringMatching(/^given_up: .*payload .* (not in storage|damaged)/) },
    });
  });
}

test('a run whose payload is gone can be stopped, and is archived with its workflow', async () => {
  const { client, id } = await newOrganization();
  const stopped = await poisoned(client, id, gone);
  const answer = await client.post(`/automation-workflows/runs/${stopped.run}/stop`);
  expect([answer.status, answer.body.state]).toEqual([200, 'cancelled']);
  const archived = await poisoned(client, id, gone);
  await client.delete(`/automation-workflows/${archived.workflow}`);
  await waitForRunState(client, archived.run, 'cancelled');
});

test('a run goes on undisturbed when its payload is there again', async () => {
  const { client, id } = await newOrganization();
  let kept: { name: string; text: string } | undefined;
  const { run } = await poisoned(client, id, async (name) => {
    kept = { name, text: await (await env.FILES.get(name))!.text() };
    await env.FILES.delete(name);
  });
  await passAfter(id, run, 24 * hourMs + 1000);
  await env.FILES.put(kept!.name, kept!.text);
  await passAfter(id, run, 25 * hourMs);
  expect((await client.get(`/automation-workflows/runs/${run}`)).body).toMatchObject({ state: 'completed', outcome: 'done' });
});
