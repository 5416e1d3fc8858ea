import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { crashAtCall } from '../support/crashing-object.ts';
import { deliver, dropQueueMessages, tickAt } from '../support/background.ts';
import { createActiveWorkflow, runStub, waitForRunState } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { recordedClient, rowsRead } from '../support/recorded-database.ts';

afterEach(() => vi.restoreAllMocks());

/** A journey that rests at node `rest` until an event comes, or until a call of `wake`, and ends with an outcome. */
const resting = (outcome: string, more: { nodeId?: string; type?: 'wait' | 'wait_for_event' } = {}) => {
  const { nodeId = 'rest', type = 'wait_for_event' } = more;
  const data = type === 'wait' ? { duration: 'P1D' } : { event_types: ['go'], timeout: 'P1D' };
  return {
    nodes: [
      { id: 'in', type: 'trigger', data: {} },
      { id: nodeId, type, data },
      { id: 'say', type: 'emit_event', data: { event_type: `said-${outcome}`, data: {} } },
      { id: 'out', type: 'exit', data: { outcome } },
    ],
    edges: [
      { id: 'a', source: 'in', target: nodeId },
      { id: 'b', source: nodeId, target: 'say', ...(type === 'wait_for_event' && { source_handle: 'received' }) },
      { id: 'c', source: 'say', target: 'out' },
    ],
  };
};

async function waitingRun(client: Client, workflow: number, input: object = {}): Promise<number> {
  const { body } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {}, ...input });
  await waitForRunState(client, body.id, 'waiting');
  await vi.waitFor(async () =>
    expect(await env.DB.prepare('SELECT 1 FROM run_waiter WHERE run_id = ?').bind(body.id).first()).not.toBeNull(),
  );
  return body.id as number;
}

async function newVersion(client: Client, workflow: number, definition: object): Promise<number> {
  const { status, body } = await client.patch(`/automation-workflows/${workflow}`, { definition });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.version as number;
}

const person = async (client: Client) => {
  const phone = newPhone();
  return { phone, id: (await client.post('/contacts', { phone })).body.id as number };
};

const finishedMove = (client: Client, workflow: number, id: number): Promise<any> =>
  vi.waitFor(
    async () => {
      const { body } = await client.get(`/automation-workflows/${workflow}/moves/${id}`);
      expect(body.state).toBe('finished');
      return body;
    },
    { timeout: 15_000, interval: 20 },
  );

const movesOf = async (client: Client, run: number): Promise<any[]> =>
  (await client.get(`/automation-workflows/runs/${run}/history`)).body.history.filter(({ status }: any) => status === 'moved');

test('waiting runs go on in the new version, once, and their history says so', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: resting('old') });
  const ada = await person(client);
  const run = await waitingRun(client, workflow, { contact_id: ada.id });
  const version = await newVersion(client, workflow, resting('new'));
  const { body: preview } = await client.get(`/automation-workflows/${workflow}/versions/${version}/movable-runs`);
  expect(preview.runs).toMatchObject([{ run_id: run, workflow_version: version - 1, node_id: 'rest', can_move: true, reason: null }]);
  expect(preview.groups).toMatchObject([{ workflow_version: version - 1, node_id: 'rest', state: 'waiting', runs: 1, can_move: true }]);
  expect((await client.get(`/automation-workflows/runs/${run}`)).body.workflow_version).toBe(version - 1);
  const { body: move } = await client.post(`/automation-workflows/${workflow}/versions/${version}/move-runs`);
  expect(await finishedMove(client, workflow, move.id)).toMatchObject({ version, moved: 1, kept: 0, reasons: [] });
  expect((await client.get(`/automation-workflows/runs/${run}`)).body).toMatchObject({ workflow_version: version, state: 'waiting' });
  await client.post('/events', { event_type: 'go', phone: ada.phone });
  expect(await waitForRunState(client, run, 'completed')).toMatchObject({ outcome: 'new', workflow_version: version });
  expect(await movesOf(client, run)).toMatchObject([
    { node_id: 'rest', node_type: 'wait_for_event', output: { move_id: move.id, from_version: version - 1, to_version: version } },
  ]);
  expect((await client.get('/events?event_type=said-new')).body.total).toBe(1);
  expect((await client.get('/events?event_type=said-old')).body.total).toBe(0);
  expect((await client.get(`/automation-workflows/${workflow}/moves`)).body.moves).toHaveLength(1);
});

test('a run whose node is missing or has another type stays, and preview and move name the reason', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: resting('old') });
  const ada = await person(client);
  const run = await waitingRun(client, workflow, { contact_id: ada.id });
  const missing = await newVersion(client, workflow, resting('renamed', { nodeId: 'pause' }));
  const changed = await newVersion(client, workflow, resting('retyped', { type: 'wait' }));
  for (const [version, reason] of [
    [missing, 'node_missing'],
    [changed, 'node_changed'],
  ] as const) {
    const { body: preview } = await client.get(`/automation-workflows/${workflow}/versions/${version}/movable-runs`);
    expect(preview.runs).toMatchObject([{ run_id: run, can_move: false, reason, message: expect.stringContaining('"rest"') }]);
    const { body: move } = await client.post(`/automation-workflows/${workflow}/versions/${version}/move-runs`);
    expect(await finishedMove(client, workflow, move.id)).toMatchObject({
      moved: 0,
      kept: 1,
      reasons: [{ reason, runs: 1, run_ids: [run] }],
    });
  }
  await client.post('/events', { event_type: 'go', phone: ada.phone });
  expect(await waitForRunState(client, run, 'completed')).toMatchObject({ outcome: 'old', workflow_version: 1 });
  expect(await movesOf(client, run)).toEqual([]);
});

test('a run that waits for its turn begins in the new version, and one on the version already is left alone', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, {
    definition: resting('old'),
    settings: { max_active_runs: 1 },
    trigger: { type: 'contact_event', config: { event_type: 'enter' } },
  });
  const [ada, bob] = [await person(client), await person(client)];
  for (const { phone } of [ada, bob]) {
    await client.post('/events', { event_type: 'enter', phone });
    await vi.waitFor(async () => expect((await client.get(`/automation-workflows/${workflow}/runs`)).body.total).toBeGreaterThan(0));
  }
  const listed = await vi.waitFor(async () => {
    const { body } = await client.get(`/automation-workflows/${workflow}/runs`);
    expect(body.runs.map(({ state }: any) => state).toSorted()).toEqual(['queued', 'waiting']);
    return body.runs;
  });
  const version = await newVersion(client, workflow, resting('new'));
  const move = async () => {
    const { body } = await client.post(`/automation-workflows/${workflow}/versions/${version}/move-runs`);
    return finishedMove(client, workflow, body.id);
  };
  expect(await move()).toMatchObject({ moved: 2, kept: 0 });
  expect(await move()).toMatchObject({ moved: 0, kept: 0 });
  for (const { phone } of [ada, bob]) {
    await vi.waitFor(
      async () => {
        await client.post('/events', { event_type: 'go', phone });
        const { body } = await client.get(`/automation-workflows/${workflow}/runs?state=completed`);
        expect(body.runs.some(({ contact_id: id }: any) => id === (phone === ada.phone ? ada.id : bob.id))).toBe(true);
      },
      { timeout: 10_000, interval: 100 },
    );
  }
  for (const { id } of listed)
    expect((await client.get(`/automation-workflows/runs/${id}`)).body).toMatchObject({ outcome: 'new', workflow_version: version });
});

test('a move goes on page by page, after a lost message by the minute tick, and counts each run once', async () => {
  const { client, id: organizationId } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: resting('old', { type: 'wait' }) });
  const runs: number[] = [];
  for (let number = 0; number < 55; number++)
    runs.push((await client.post(`/automation-workflows/${workflow}/execute`, { context: {} })).body.id);
  await vi.waitFor(async () => expect((await client.get(`/automation-workflows/${workflow}/runs?state=waiting`)).body.total).toBe(55), {
    timeout: 15_000,
  });
  const version = await newVersion(client, workflow, resting('new', { type: 'wait' }));
  const lost = dropQueueMessages();
  const { body: move } = await client.post(`/automation-workflows/${workflow}/versions/${version}/move-runs`);
  const message = { v: 1, kind: 'run_move', organization_id: organizationId, id: move.id };
  expect((await client.post(`/automation-workflows/${workflow}/versions/${version}/move-runs`)).body.id).toBe(move.id);
  expect((await client.post(`/automation-workflows/${workflow}/versions/1/move-runs`)).status).toBe(409);
  // The first page twice, as if its consumer had died before it recorded the page.
  await deliver('fanout', [message]);
  expect((await client.get(`/automation-workflows/${workflow}/moves/${move.id}`)).body).toMatchObject({ state: 'moving', moved: 50 });
  await env.DB.prepare('UPDATE run_move SET cursor = 0, moved = 0 WHERE id = ?').bind(move.id).run();
  lost.restore();
  await env.DB.prepare('UPDATE run_move SET due_at = 1 WHERE id = ?').bind(move.id).run();
  await tickAt(Date.now());
  expect(await finishedMove(client, workflow, move.id)).toMatchObject({ moved: 55, kept: 0 });
  for (const run of [runs[0]!, runs[54]!]) expect(await movesOf(client, run)).toHaveLength(1);
  await deliver('fanout', [message]);
  expect(await finishedMove(client, workflow, move.id)).toMatchObject({ moved: 55 });
});

test.each(['before', 'after'] as const)('a run whose object dies %s any call of its move is moved once, and acts once', async (moment) => {
  const { client, id: organizationId } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: resting('old') });
  const people = await Promise.all(Array.from({ length: 4 }, () => person(client)));
  const runs = await Promise.all(people.map(({ id }) => waitingRun(client, workflow, { contact_id: id })));
  const version = await newVersion(client, workflow, resting('new'));
  let deaths = 0;
  for (const [index, run] of runs.entries()) {
    const watch = await crashAtCall(runStub(organizationId, run), index + 1, moment);
    const first = await runStub(organizationId, run)
      .moveToVersion(version, 77)
      .catch(() => 'died');
    if (watch.died) deaths += 1;
    else expect(first).toEqual({ result: 'moved' });
    // Whoever comes next completes the move: the event, or the move that is asked for again.
    if (index % 2 === 0) expect(await runStub(organizationId, run).moveToVersion(version, 77)).toEqual({ result: 'moved' });
    await client.post('/events', { event_type: 'go', phone: people[index]!.phone });
    const ended = await waitForRunState(client, run, 'completed');
    const moves = await movesOf(client, run);
    // A run that died before it had stored the intent stays where it was, and nothing of it is half moved.
    expect([ended.outcome, ended.workflow_version, moves.length], `call ${index + 1}`).toEqual(
      moves.length === 1 ? ['new', version, 1] : ['old', 1, 0],
    );
    if (index % 2 === 0) expect(moves).toHaveLength(1);
  }
  expect(deaths).toBeGreaterThanOrEqual(2);
  const said = await Promise.all(['old', 'new'].map(async (word) => (await client.get(`/events?event_type=said-${word}`)).body.total));
  expect(said[0] + said[1]).toBe(4);
});

test('a move that broke off is completed by the timer of the run, without anybody asking', async () => {
  const { client, id: organizationId } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: resting('old') });
  const ada = await person(client);
  const run = await waitingRun(client, workflow, { contact_id: ada.id });
  const version = await newVersion(client, workflow, resting('new'));
  const stub = runStub(organizationId, run);
  // The second call writes the row, after the intent is stored.
  const watch = await crashAtCall(stub, 2, 'before');
  await stub.moveToVersion(version, 9).catch(() => undefined);
  expect(watch.died).toBe(true);
  expect(
    (await env.DB.prepare('SELECT workflow_version AS at FROM automation_run WHERE id = ?').bind(run).first<{ at: number }>())!.at,
  ).toBe(1);
  await runInDurableObject(runStub(organizationId, run), async (instance) => {
    const object = instance as unknown as { clock: () => number; alarm(): Promise<void> };
    object.clock = () => Date.now() + 60_000;
    await object.alarm();
  });
  expect(await movesOf(client, run)).toHaveLength(1);
  expect((await client.get(`/automation-workflows/runs/${run}`)).body).toMatchObject({ workflow_version: version, state: 'waiting' });
});

test('events that come while runs are moved wake each run once, in one version or the other', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: resting('old') });
  const people = await Promise.all(Array.from({ length: 12 }, () => person(client)));
  const runs = await Promise.all(people.map(({ id }) => waitingRun(client, workflow, { contact_id: id })));
  const version = await newVersion(client, workflow, resting('new'));
  const [{ body: move }] = await Promise.all([
    client.post(`/automation-workflows/${workflow}/versions/${version}/move-runs`),
    ...people.map(({ phone }) => client.post('/events', { event_type: 'go', phone })),
  ]);
  await finishedMove(client, workflow, move.id);
  for (const run of runs) {
    const { outcome, workflow_version: at } = await waitForRunState(client, run, 'completed');
    const moves = await movesOf(client, run);
    expect([outcome, at]).toEqual(moves.length === 1 ? ['new', version] : ['old', 1]);
  }
  const said = await Promise.all(['old', 'new'].map(async (word) => (await client.get(`/events?event_type=said-${word}`)).body.total));
  expect(said[0] + said[1]).toBe(12);
});

test('a stopped run is not moved, and a version that cannot run or is not there is refused', async () => {
  const { client, id: organizationId } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: resting('old') });
  const ada = await person(client);
  const run = await waitingRun(client, workflow, { contact_id: ada.id });
  const version = await newVersion(client, workflow, resting('new'));
  await client.post(`/automation-workflows/runs/${run}/stop`);
  expect(['no_object', { result: 'kept', obstacle: 'ended' }]).toContainEqual(await runStub(organizationId, run).moveToVersion(version, 5));
  const path = (wanted: number | string) => `/automation-workflows/${workflow}/versions/${wanted}`;
  for (const [verb, tail] of [
    ['get', 'movable-runs'],
    ['post', 'move-runs'],
  ] as const) {
    expect((await client[verb](`${path(99)}/${tail}`)).status).toBe(404);
    expect((await client[verb](`${path('x')}/${tail}`)).status).toBe(422);
    const other = await newOrganization();
    expect((await other.client[verb](`${path(version)}/${tail}`)).status).toBe(404);
  }
  for (const scope of ['read', 'operate'] as const) {
    const limited = await newOrganization({ scopes: [scope] });
    expect((await limited.client.post(`${path(version)}/move-runs`)).status).toBe(403);
  }
  expect((await client.get(`/automation-workflows/${workflow}/moves/999999999`)).status).toBe(404);
  await client.patch(`/automation-workflows/${workflow}`, { status: 'draft' });
  const broken = await client.patch(`/automation-workflows/${workflow}`, {
    definition: {
      nodes: [
        { id: 'in', type: 'trigger', data: {} },
        { id: 'x', type: 'wait', data: {} },
      ],
      edges: [{ id: 'a', source: 'in', target: 'x' }],
    },
  });
  if (broken.status === 200) expect((await client.post(`${path(broken.body.version)}/move-runs`)).status).toBe(409);
});

test('a preview costs the same however many runs have ended', async () => {
  const { client, id: organizationId, key } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: resting('old', { type: 'wait' }) });
  await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  await vi.waitFor(async () => expect((await client.get(`/automation-workflows/${workflow}/runs?state=waiting`)).body.total).toBe(1));
  const version = await newVersion(client, workflow, resting('new', { type: 'wait' }));
  const read = async () => {
    const { client: recorded, recording } = recordedClient(key);
    expect((await recorded.get(`/automation-workflows/${workflow}/versions/${version}/movable-runs`)).body.runs).toHaveLength(1);
    return { calls: recording.calls, rows: rowsRead(recording) };
  };
  await read();
  const before = await read();
  await env.DB.prepare(
    `INSERT INTO automation_run (organization_id, workflow_id, workflow_version, state, dedup_key, source, created_at, completed_at)
     SELECT ?1, ?2, 1, iif(value % 2, 'completed', 'failed'), 'fill:' || value, 'event', 1, 1 FROM json_each(?3)`,
  )
    .bind(organizationId, workflow, JSON.stringify(Array.from({ length: 400 }, (_, index) => index)))
    .run();
  expect(await read()).toEqual(before);
});
