// @module-tag soak
import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { tickAt } from '../support/background.ts';
import { crashAtCall } from '../support/crashing-object.ts';
import { createActiveWorkflow, chain, waitForEndedRuns, waitForRunState, runStub } from '../support/journeys.ts';
import { newOrganization, newPhone } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

/** A parent starts a child. The child may run alone, looks for exit events at its start, acts, and notifies its parent at its end. */
async function family() {
  const { client, id } = await newOrganization();
  const contact = (await client.post('/contacts', { phone: newPhone() })).body.id as number;
  const child = await createActiveWorkflow(client, {
    definition: chain(
      { id: 'nap', type: 'wait', data: { duration: 'PT2S' } },
      { id: 'say', type: 'emit_event', data: { event_type: 'said' } },
    ),
    settings: { max_active_runs: 1, one_live_run_per_key: true, entry_key: '{{ name }}', exit_on: [{ event_type: 'left' }] },
  });
  const asking = chain({ id: 'ask', type: 'run_workflow', data: { workflow_id: child, context: { name: '{{ name }}' }, wait: true } });
  const parent = await createActiveWorkflow(client, { definition: asking });
  const ask = async (name: string) =>
    (await client.post(`/automation-workflows/${parent}/execute`, { context: { name }, contact_id: contact })).body.id as number;
  return { client, id, child, ask };
}

const calls = 16;

for (const moment of ['before', 'after'] as const)
  test(`a run that dies ${moment} any of its calls still lets the next run begin, frees its key and notifies its parent`, async () => {
    const deaths = await Promise.all(
      Array.from({ length: calls }, async (_, index) => {
        const { client, id, child, ask } = await family();
        const first = await ask('first');
        const childRun = await vi.waitFor(
          async () => {
            const row = await env.DB.prepare('SELECT id FROM automation_run WHERE workflow_id = ?').bind(child).first<{ id: number }>();
            expect(row).not.toBeNull();
            return row!.id;
          },
          { timeout: 10_000, interval: 1 },
        );
        const watch = await crashAtCall(runStub(id, childRun), index + 1, moment).catch(() => ({ died: false }));
        const second = await ask('second');
        await vi.waitFor(
          async () => {
            if (watch.died)
              await runStub(id, childRun)
                .start(id, childRun)
                .catch(() => undefined);
            // If a run dies between admitting another run and starting it, the tick starts the other run.
            if (watch.died) await tickAt(Date.now() + 180_000);
            for (const run of [first, second])
              expect((await client.get(`/automation-workflows/runs/${run}`)).body.state, `call ${index + 1}`).toBe('completed');
          },
          { timeout: 25_000, interval: 300 },
        );
        await waitForEndedRuns(client, child, 2);
        expect((await client.get('/events?event_type=said')).body.total).toBe(2);
        expect((await client.get(`/automation-workflows/${child}`)).body).toMatchObject({ runs_count: 2, active_runs_count: 0 });
        const again = await ask('first');
        await waitForRunState(client, again, 'completed');
        return watch.died;
      }),
    );
    expect(deaths.filter(Boolean).length).toBeGreaterThan(3);
  }, 90_000);
