import { expect, test, vi } from 'vitest';
import { createActiveWorkflow, waitForEndedRuns, waitForRunState } from '../support/journeys.ts';
import { Client, newOrganization } from '../support/organization.ts';
import { ownRows } from '../support/own-rows.ts';

const edge = (source: string, target: string, handle?: string) => ({
  id: `${source}-${target}`,
  source,
  target,
  ...(handle && { source_handle: handle }),
});

/** One half takes a mail, both end with an outcome by their variant. */
const splitJourney = {
  nodes: [
    { id: 'in', type: 'trigger', data: {} },
    {
      id: 'test',
      type: 'split',
      data: {
        variants: [
          { key: 'short', weight: 1 },
          { key: 'long', weight: 1 },
        ],
      },
    },
    { id: 'note', type: 'set_context', data: { assign: { mailed: true } } },
    { id: 'won', type: 'exit', data: { outcome: 'won' } },
    { id: 'lost', type: 'exit', data: { outcome: 'lost' } },
  ],
  edges: [edge('in', 'test'), edge('test', 'note', 'short'), edge('note', 'won'), edge('test', 'lost', 'long')],
};

const napping = {
  nodes: [
    { id: 'in', type: 'trigger', data: {} },
    { id: 'nap', type: 'wait', data: { duration: 'P1D' } },
    { id: 'out', type: 'exit', data: { outcome: 'done' } },
  ],
  edges: [edge('in', 'nap'), edge('nap', 'out')],
};

async function read(client: Client, id: number, query = ''): Promise<any> {
  const { status, body } = await client.get(`/statistics/journeys/${id}?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

async function execute(client: Client, id: number): Promise<number> {
  const { status, body } = await client.post(`/automation-workflows/${id}/execute`, {});
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body.id ?? body.run_id;
}

const nodeOf = (statistics: any, id: string) => statistics.nodes.find(({ node_id }: { node_id: string }) => node_id === id);

test('the funnel has how many runs reached each node and ended there, and compares the variants of a split', async () => {
  const { client } = await newOrganization();
  const id = await createActiveWorkflow(client, { definition: splitJourney });
  for (let count = 0; count < 12; count++) await execute(client, id);
  const runs = await waitForEndedRuns(client, id, 12);
  const won = runs.filter(({ outcome }) => outcome === 'won').length;
  const statistics = await read(client, id);
  expect(statistics).toMatchObject({
    automation_workflow_id: id,
    name: 'Journey',
    runs: 12,
    live: 0,
    live_capped: false,
    without_nodes: 0,
    ended: { completed: 12, failed: 0, cancelled: 0 },
  });
  expect(nodeOf(statistics, 'test')).toMatchObject({ reached: 12, reached_share: { rate: 1 }, waiting: 0, ended: { completed: 0 } });
  expect(nodeOf(statistics, 'note')?.reached ?? 0).toBe(won);
  expect(nodeOf(statistics, 'won')?.ended.completed ?? 0).toBe(won);
  expect(statistics.variants.map(({ variant, runs: count }: any) => [variant, count]).toSorted()).toEqual(
    [
      ['long', 12 - won],
      ['short', won],
    ].filter(([, count]) => count !== 0),
  );
  for (const { variant, runs: count, outcomes } of statistics.variants)
    expect(outcomes).toEqual([
      { outcome: variant === 'short' ? 'won' : 'lost', runs: count, share: expect.objectContaining({ rate: 1, high: 1 }) },
    ]);
  expect(statistics.over_time.at(-1)).toMatchObject({ period: new Date().toISOString().slice(0, 10), completed: 12 });
  expect(statistics.over_time).toHaveLength(30);
});

test('runs that wait are counted where they wait, and at their end when they have ended', async () => {
  const { client } = await newOrganization();
  const id = await createActiveWorkflow(client, { definition: napping });
  const runId = await execute(client, id);
  await execute(client, id);
  await waitForRunState(client, runId, 'waiting');
  await vi.waitFor(async () => expect(await read(client, id)).toMatchObject({ runs: 2, live: 2 }));
  await vi.waitFor(async () => expect(nodeOf(await read(client, id), 'nap')).toMatchObject({ reached: 2, waiting: 2 }));
  await client.post(`/automation-workflows/runs/${runId}/stop`);
  const statistics = await read(client, id);
  expect(statistics).toMatchObject({ runs: 2, live: 1, ended: { completed: 0, cancelled: 1 } });
  expect(nodeOf(statistics, 'nap')).toMatchObject({ reached: 2, waiting: 1, ended: { cancelled: 1 } });
});

test('a failed run that is retried counts once, at its latest end', async () => {
  const { client } = await newOrganization();
  const failing = {
    nodes: [
      { id: 'in', type: 'trigger', data: {} },
      { id: 'ask', type: 'llm', data: { prompt: '{{ data.missing }}' } },
      { id: 'out', type: 'exit', data: { outcome: 'done' } },
    ],
    edges: [edge('in', 'ask'), edge('ask', 'out')],
  };
  const id = await createActiveWorkflow(client, { definition: failing });
  const runId = await execute(client, id);
  await waitForRunState(client, runId, 'failed');
  await vi.waitFor(async () => expect((await read(client, id)).ended).toMatchObject({ failed: 1 }));
  const retried = await client.post(`/automation-workflows/runs/${runId}/retry`);
  expect(retried.status, JSON.stringify(retried.body)).toBe(200);
  await vi.waitFor(async () => {
    const { results } = await ownRows.prepare('SELECT revision, state FROM automation_run WHERE id = ?').bind(runId).all<any>();
    expect(results[0]).toMatchObject({ state: 'failed' });
    expect(results[0].revision).toBeGreaterThan(2);
  });
  expect(await read(client, id)).toMatchObject({ runs: 1, live: 0, ended: { failed: 1 } });
});

test('versions are told apart, one can be asked for, and test runs count nowhere', async () => {
  const { client } = await newOrganization();
  const id = await createActiveWorkflow(client, {});
  await execute(client, id);
  await waitForEndedRuns(client, id, 1);
  const [first] = (await read(client, id)).versions;
  const changed = await client.patch(`/automation-workflows/${id}`, { definition: splitJourney });
  expect(changed.status, JSON.stringify(changed.body)).toBe(200);
  await execute(client, id);
  await waitForEndedRuns(client, id, 2);
  await client.post(`/automation-workflows/${id}/test`, {});
  const statistics = await read(client, id);
  expect(statistics.ended.completed).toBe(2);
  expect(statistics.versions).toHaveLength(2);
  expect(statistics.versions[0].version).toBeGreaterThan(first.version);
  const one = await read(client, id, `version=${first.version}&interval=month`);
  expect(one).toMatchObject({ runs: 1, versions: [{ version: first.version, runs: 1 }] });
});

test('paths that are together more text than fits into memory are refused, with what to do', async () => {
  const { client, id: organizationId } = await newOrganization();
  const id = await createActiveWorkflow(client, {});
  await ownRows
    .prepare(
      `INSERT INTO journey_statistic (organization_id, workflow_id, is_day, period, version, state, outcome, end_node, trail, runs)
       WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
       SELECT ?1, ?2, 0, ?3, 1 + i % 2, 'completed', '', 'out', json_object('nodes', json_array('in', hex(zeroblob(5000)) || i)), 1 FROM n`,
    )
    .bind(organizationId, id, Math.floor(Date.now() / 900_000) * 900_000)
    .run();
  const { status, body } = await client.get(`/statistics/journeys/${id}`);
  expect(status).toBe(422);
  expect(body.detail[0]).toMatchObject({ type: 'too_many_groups', msg: expect.stringMatching(/characters together; .*`version`/) });
  expect(await read(client, id, 'version=1')).toMatchObject({ ended: { completed: 450 } });
});

test('a wrong range is refused, an unknown journey is not found, and so is that of another organization', async () => {
  const { client } = await newOrganization();
  const id = await createActiveWorkflow(client, {});
  for (const [query, field] of [
    ['interval=hour', 'interval'],
    ['version=0', 'version'],
    ['from=2026-02-01&to=2026-01-01', 'from'],
  ] as const) {
    const { status, body } = await client.get(`/statistics/journeys/${id}?${query}`);
    expect(status).toBe(422);
    expect(body.detail[0].loc).toEqual(['query', field]);
  }
  expect((await client.get('/statistics/journeys/999999999')).status).toBe(404);
  const { client: other } = await newOrganization();
  expect((await other.get(`/statistics/journeys/${id}`)).status).toBe(404);
  expect((await new Client(undefined).get(`/statistics/journeys/${id}`)).status).toBe(401);
});
