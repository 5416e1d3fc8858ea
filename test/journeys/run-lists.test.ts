import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { insertRow } from '../support/insert-row.ts';
import { newOrganization } from '../support/organization.ts';

const states = ['completed', 'completed', 'failed', 'waiting'];
// Of this moment, since the ids of all runs grow with their times.
const base = Date.now() - 200_000;

test('each page of each filter has the newest runs of all workflows and triggers, in their order', async () => {
  const { client, id } = await newOrganization();
  const at = { organization_id: id, created_at: base };
  const workflows: { workflow: number; triggers: (number | null)[] }[] = [];
  for (let count = 0; count < 4; count++) {
    const workflow = await insertRow('automation_workflow', { ...at, status: 'active', settings: '{}' });
    const triggers: (number | null)[] = [null];
    for (let more = 0; more < count; more++)
      triggers.push(await insertRow('automation_trigger', { ...at, workflow_id: workflow, state: more ? 'archived' : 'active' }));
    workflows.push({ workflow, triggers });
  }
  const draws = fc.sample(fc.record({ workflow: fc.nat(3), trigger: fc.nat(3), state: fc.nat(3), test: fc.nat(9), contact: fc.nat(5) }), {
    numRuns: 120,
    seed: 7,
  });
  const runs: Record<string, any>[] = [];
  for (const [index, draw] of draws.entries()) {
    const { workflow, triggers } = workflows[draw.workflow]!;
    const run = {
      workflow_id: workflow,
      trigger_id: triggers[draw.trigger % triggers.length]!,
      state: states[draw.state]!,
      is_test: draw.test === 0 ? 1 : 0,
      contact_id: draw.contact === 0 ? 900_000 + id : null,
      created_at: base + index * 1000,
    };
    const more = { organization_id: id, workflow_version: 1, source: 'run', initial_context: '{}', revision: 1, completed_at: 1 };
    runs.unshift({ ...run, id: await insertRow('automation_run', { ...run, ...more, error: null }) });
  }
  const trigger = workflows[3]!.triggers[2]!;
  const secondOf = (index: number) => base + index * 1000;
  const filters: [query: string, isWanted: (run: Record<string, any>) => boolean][] = [
    ['', () => true],
    ['state=failed', (run) => run['state'] === 'failed'],
    ['state=completed', (run) => run['state'] === 'completed'],
    [`automation_workflow_id=${workflows[2]!.workflow}`, (run) => run['workflow_id'] === workflows[2]!.workflow],
    [
      `automation_workflow_id=${workflows[2]!.workflow}&state=waiting`,
      (run) => run['workflow_id'] === workflows[2]!.workflow && run['state'] === 'waiting',
    ],
    [`trigger_id=${trigger}`, (run) => run['trigger_id'] === trigger],
    [`trigger_id=${trigger}&state=failed`, (run) => run['trigger_id'] === trigger && run['state'] === 'failed'],
    [`contact_id=${900_000 + id}`, (run) => run['contact_id'] !== null],
    [
      `created_after=${new Date(secondOf(30)).toISOString()}&created_before=${new Date(secondOf(80)).toISOString()}`,
      (run) => run['created_at'] >= secondOf(30) && run['created_at'] <= secondOf(80),
    ],
  ];
  for (const [query, isWanted] of filters) {
    const wanted = runs.filter((run) => run['is_test'] === 0 && isWanted(run)).map((run) => run['id']);
    expect(wanted.length, query).toBeGreaterThan(0);
    const seen: number[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await client.get(`/automation-workflows/runs?limit=7&${query}${cursor && `&cursor=${cursor}`}`);
      if (query !== '' && !query.startsWith('automation_workflow_id')) expect(body.total, query).toBe(wanted.length);
      seen.push(...body.runs.map((run: any) => run.id));
      cursor = body.next_cursor;
    }
    expect(seen, query).toEqual(wanted);
    const { body } = await client.get(`/automation-workflows/runs?limit=5&offset=3&${query}`);
    expect(
      body.runs.map((run: any) => run.id),
      query,
    ).toEqual(wanted.slice(3, 8));
  }
  const { body } = await client.get('/automation-workflows/runs?is_test=true&limit=100');
  expect(body.runs.map((run: any) => run.id)).toEqual(runs.filter((run) => run['is_test'] === 1).map((run) => run['id']));
});
