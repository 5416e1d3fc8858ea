import { expect, test } from 'vitest';
import { createActiveWorkflow, chain } from '../support/journeys.ts';
import { newOrganization } from '../support/organization.ts';
import { recordedClient } from '../support/recorded-database.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('a run that begins while its workflow is being archived is cancelled, too', { tags: 'soak' }, async () => {
  const { client, key } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: chain({ id: 'nap', type: 'wait', data: { duration: 'P1D' } }) });
  let late: any;
  const { client: slow } = recordedClient(key, {
    beforeCall: async (sql) => {
      if (late || !sql.some((one) => one.trim().startsWith('UPDATE automation_workflow SET name'))) return;
      // The archiving write is on its way to D1; another isolate starts a run.
      await pause(5);
      late = (await client.post(`/automation-workflows/${workflow}/execute`, { context: {} })).body;
    },
  });
  const archived = await slow.delete(`/automation-workflows/${workflow}`);
  expect(archived.body.status).toBe('archived');
  expect(late.state).toBe('running');
  await pause(3000);
  const { body } = await client.get(`/automation-workflows/runs/${late.id}`);
  expect({ state: body.state, active: (await client.get(`/automation-workflows/${workflow}`)).body.active_runs_count }).toEqual({
    state: 'cancelled',
    active: 0,
  });
});
