import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { deliver, tickAt } from '../support/background.ts';
import { createActiveWorkflow, chain, waitForEndedRuns, waitForRunState, runStub } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const nap = chain({ id: 'nap', type: 'wait', data: { duration: 'P7D' } });
const execute = async (client: Client, id: number, body: Record<string, unknown> = {}) => {
  const answer = await client.post(`/automation-workflows/${id}/execute`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
};

test('a run record has every field, and lists, GET and stop tell the same of it', async () => {
  const { client, id: organizationId } = await newOrganization();
  const contact = (await client.post('/contacts', { phone: newPhone() })).body.id;
  const workflow = await createActiveWorkflow(client, { definition: nap });
  const started = await execute(client, workflow, { context: { total: 7 }, contact_id: contact });
  const record = {
    id: started.id,
    organization_id: organizationId,
    automation_workflow_id: workflow,
    workflow_version: 1,
    state: 'waiting',
    current_node_id: 'nap',
    context: { total: 7, steps: { nap: { until: timestamp, why: 'P7D after the step began' } } },
    initial_context: { total: 7 },
    outcome: null,
    error: null,
    hold: null,
    trouble: null,
    trigger_id: null,
    contact_id: contact,
    entry_key: String(contact),
    voice_call_run_id: null,
    is_test: false,
    started_at: timestamp,
    completed_at: null,
    created_at: timestamp,
  };
  const waiting = await waitForRunState(client, started.id, 'waiting');
  expect(waiting).toEqual(record);
  expect((await client.get(`/automation-workflows/${workflow}/runs/`)).body.runs).toEqual([waiting]);
  expect((await client.get('/automation-workflows/runs/')).body).toEqual({
    runs: [waiting],
    total: 1,
    limit: 50,
    offset: 0,
    next_cursor: null,
  });
  expect((await client.get(`/automation-workflows/${workflow}`)).body).toMatchObject({ runs_count: 1, active_runs_count: 1 });
  const stopped = await client.post(`/automation-workflows/runs/${started.id}/stop/`);
  expect(stopped).toMatchObject({ status: 200, body: { ...record, state: 'cancelled', completed_at: timestamp } });
  expect((await client.get(`/automation-workflows/runs/${started.id}`)).body).toEqual(stopped.body);
  expect((await client.get('/automation-workflows/runs')).body.runs).toEqual([stopped.body]);
  const again = await client.post(`/automation-workflows/runs/${started.id}/stop`);
  expect(again).toMatchObject({ status: 409, body: { detail: expect.stringMatching(/is cancelled .*queued, pending, running, waiting/) } });
});

test('runs are filtered by state, workflow, trigger, contact, time and test, each alone and together', async () => {
  const { client } = await newOrganization();
  const [ada, bob] = [
    (await client.post('/contacts', { phone: newPhone() })).body.id,
    (await client.post('/contacts', { phone: newPhone() })).body.id,
  ];
  const quick = await createActiveWorkflow(client, { trigger: { type: 'manual', config: {} } });
  const slow = await createActiveWorkflow(client, { definition: nap });
  const [trigger] = (await client.get(`/automation-workflows/${quick}/triggers`)).body.triggers;
  const fired = (await client.post(`/automation-workflows/${quick}/triggers/${trigger.id}/fire`, { contact_ids: [ada] })).body.runs[0];
  const direct = await execute(client, quick, { contact_id: bob });
  const asleep = await execute(client, slow, { contact_id: ada });
  const stopped = await execute(client, slow);
  const tested = (await client.post(`/automation-workflows/${quick}/test`, {})).body;
  for (const run of [fired, direct]) await waitForRunState(client, run.id, 'completed');
  await waitForRunState(client, asleep.id, 'waiting');
  await client.post(`/automation-workflows/runs/${stopped.id}/stop`);
  await env.DB.prepare('UPDATE automation_run SET created_at = created_at - 86400000 WHERE id = ?').bind(fired.id).run();
  const yesterday = new Date(Date.now() - 3_600_000).toISOString();

  const ids = async (query: string, of = '') => {
    const { status, body } = await client.get(`/automation-workflows/${of}runs?${query}`);
    expect(status, query).toBe(200);
    expect(body.total, query).toBe(body.runs.length);
    return body.runs.map(({ id }: { id: number }) => id);
  };
  expect(await ids('')).toEqual([stopped.id, asleep.id, direct.id, fired.id]);
  expect(await ids('state=completed')).toEqual([direct.id, fired.id]);
  expect(await ids('state=waiting')).toEqual([asleep.id]);
  expect(await ids('state=cancelled')).toEqual([stopped.id]);
  expect(await ids('state=failed')).toEqual([]);
  expect(await ids(`automation_workflow_id=${slow}`)).toEqual([stopped.id, asleep.id]);
  expect(await ids(`automation_workflow_id=${slow}&state=waiting`)).toEqual([asleep.id]);
  expect(await ids(`trigger_id=${trigger.id}`)).toEqual([fired.id]);
  expect(await ids(`contact_id=${ada}`)).toEqual([asleep.id, fired.id]);
  expect(await ids(`contact_id=${ada}&state=completed`)).toEqual([fired.id]);
  expect(await ids(`created_after=${yesterday}`)).toEqual([stopped.id, asleep.id, direct.id]);
  expect(await ids(`created_before=${yesterday}`)).toEqual([fired.id]);
  expect(await ids('is_test=true')).toEqual([tested.id]);
  expect(await ids('is_test=true&state=completed')).toEqual([tested.id]);
  expect(await ids('', `${quick}/`)).toEqual([direct.id, fired.id]);
  expect(await ids(`contact_id=${bob}`, `${quick}/`)).toEqual([direct.id]);
  expect(await ids('state=waiting', `${slow}/`)).toEqual([asleep.id]);
  for (const wrong of [
    'state=sideways',
    'trigger_id=x',
    'contact_id=0',
    'created_after=yesterday',
    'is_test=perhaps',
    'limit=501',
    'cursor=x',
  ])
    expect((await client.get(`/automation-workflows/runs?${wrong}`)).status, wrong).toBe(422);

  const counted = await env.DB.prepare(
    `SELECT w.id, w.runs_count, w.active_runs_count, count(r.id) AS runs, coalesce(sum(r.state IN ('queued', 'pending', 'running', 'waiting')), 0) AS active
     FROM automation_workflow w LEFT JOIN automation_run r ON r.workflow_id = w.id AND r.is_test = 0 WHERE w.id IN (?, ?) GROUP BY w.id`,
  )
    .bind(quick, slow)
    .all<Record<string, number>>();
  for (const row of counted.results) expect(row).toMatchObject({ runs_count: row.runs, active_runs_count: row.active });
});

test('pages by offset and by cursor return the same, even while new runs are added', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, {});
  const ids: number[] = [];
  for (let count = 0; count < 7; count++) ids.unshift((await execute(client, workflow)).id);
  await waitForEndedRuns(client, workflow, 7);
  const page = async (query: string) => (await client.get(`/automation-workflows/${workflow}/runs?${query}`)).body;
  expect((await page('limit=3&offset=2')).runs.map(({ id }: { id: number }) => id)).toEqual(ids.slice(2, 5));
  const seen: number[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const found: any = await page(`limit=3${cursor && `&cursor=${cursor}`}`);
    seen.push(...found.runs.map(({ id }: { id: number }) => id));
    cursor = found.next_cursor;
    if (seen.length === 3) await execute(client, workflow);
  }
  expect(seen).toEqual(ids);
});

test('the history tells every step in order, with pages, live and after the end', async () => {
  const { client, id: organizationId } = await newOrganization();
  const steps = Array.from({ length: 4 }, (_, index) => ({
    id: `s${index}`,
    type: 'set_context',
    data: { assign: { [`v${index}`]: index } },
  }));
  const last = { id: 'nap', type: 'wait', name: 'A nap', data: { duration: 'P7D' } };
  const workflow = await createActiveWorkflow(client, { definition: chain(...steps, last) });
  const { id } = await execute(client, workflow);
  await waitForRunState(client, id, 'waiting');
  const page = async (query = '') => (await client.get(`/automation-workflows/runs/${id}/history?${query}`)).body;
  const live = await page();
  expect(live).toMatchObject({ total: 6, limit: 50, offset: 0, next_cursor: null });
  expect(live.history[1]).toEqual({
    id: 2,
    node_id: 's0',
    node_type: 'set_context',
    node_name: null,
    visit: 1,
    attempt: 1,
    status: 'completed',
    input: { assign: { v0: 0 } },
    output: { v0: 0 },
    error: null,
    started_at: timestamp,
    completed_at: timestamp,
    duration_ms: expect.any(Number),
  });
  expect(live.history[5]).toMatchObject({ node_id: 'nap', node_name: 'A nap', status: 'waiting', completed_at: null, duration_ms: null });
  const paged = async () => {
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const found: any = await page(`limit=4${cursor && `&cursor=${cursor}`}`);
      expect(found.total).toBe(6);
      seen.push(...found.history.map(({ node_id }: { node_id: string }) => node_id));
      cursor = found.next_cursor;
    }
    return seen;
  };
  expect(await paged()).toEqual(['in', 's0', 's1', 's2', 's3', 'nap']);
  expect(await page('offset=5&limit=1')).toMatchObject({ total: 6, history: [{ node_id: 'nap' }] });
  expect(await page('offset=9')).toMatchObject({ total: 6, history: [] });
  await client.post(`/automation-workflows/runs/${id}/stop`);
  await vi.waitFor(async () => expect(await runStub(organizationId, id).snapshot()).toBeNull());
  expect(await paged()).toEqual(['in', 's0', 's1', 's2', 's3', 'nap']);
  expect(await page('offset=9')).toMatchObject({ total: 6, history: [] });
  expect(await page('offset=900')).toMatchObject({ total: 6, history: [] });
});

test('a history of more than five hundred records is archived in parts and read across them', async () => {
  const { client, id: organizationId } = await newOrganization();
  // A loop of waits that are over at once: it ends when the counter has reached its goal.
  const definition = {
    nodes: [
      { id: 'in', type: 'trigger', data: {} },
      { id: 'count', type: 'set_context', data: { assign: { count: '{{ count | plus: 1 }}' } } },
      { id: 'pause', type: 'wait', data: { duration: 'PT0S' } },
      { id: 'more', type: 'condition', data: { condition: { field: 'count', operator: 'lt', value: 400 } } },
      { id: 'out', type: 'exit', data: { outcome: 'done' } },
    ],
    edges: [
      { id: 'a', source: 'in', target: 'count' },
      { id: 'b', source: 'count', target: 'pause' },
      { id: 'c', source: 'pause', target: 'more' },
      { id: 'd', source: 'more', target: 'count', source_handle: 'true' },
      { id: 'e', source: 'more', target: 'out', source_handle: 'false' },
    ],
  };
  const workflow = await createActiveWorkflow(client, { definition });
  const { id } = await execute(client, workflow);
  const run = await waitForRunState(client, id, 'completed');
  expect(run.context.count).toBe(400);
  await vi.waitFor(async () => expect(await runStub(organizationId, id).snapshot()).toBeNull(), { timeout: 5000 });
  const page = async (query: string) => (await client.get(`/automation-workflows/runs/${id}/history?${query}`)).body;
  const across = await page('limit=500&offset=400');
  expect(across.total).toBe(1202);
  expect(across.history.map((entry: { id: number }) => entry.id)).toEqual(Array.from({ length: 500 }, (_, index) => 401 + index));
  expect((await page('limit=2&offset=1200')).history).toMatchObject([{ node_id: 'more', visit: 400 }, { node_id: 'out' }]);
  const parts = await env.FILES.list({ prefix: `runs/${organizationId}/${id}/` });
  expect(parts.objects.map(({ key }) => key.split('/').at(-1))).toEqual(['history-0.json', 'history-1.json', 'history-2.json']);
});

test('contexts over 64 KiB are kept whole, whether they were given or grew during the run', async () => {
  const { client } = await newOrganization();
  const given = 'é'.repeat(50_000);
  const growing = chain({ id: 'grow', type: 'set_context', data: { assign: { grown: '{{ given }}' } } });
  const workflow = await createActiveWorkflow(client, { definition: growing });
  const { id } = await execute(client, workflow, { context: { given } });
  const run = await waitForRunState(client, id, 'completed');
  expect([run.initial_context.given, run.context.given, run.context.grown]).toEqual([given, given, given]);
  expect((await client.get(`/automation-workflows/${workflow}/runs`)).body.runs[0].context.grown).toBe(given);
  const row = await env.DB.prepare('SELECT initial_context, context_changes FROM automation_run WHERE id = ?')
    .bind(id)
    .first<Record<string, string>>();
  for (const text of Object.values(row!)) expect(text).toMatch(/^@r2:\d+:payloads\//);
});

test('a run that adds more than 256 KiB to its context fails with the reason', async () => {
  const { client } = await newOrganization();
  const definition = chain(
    { id: 'much', type: 'set_context', data: { assign: { a: '{{ given }}', b: '{{ given }}' } } },
    { id: 'more', type: 'set_context', data: { assign: { c: '{{ given }}' } } },
  );
  const workflow = await createActiveWorkflow(client, { definition });
  const { id } = await execute(client, workflow, { context: { given: 'x'.repeat(60_000) } });
  const run = await waitForRunState(client, id, 'failed');
  expect(run).toMatchObject({ current_node_id: 'more', error: { node_id: 'more', type: 'context_too_large', attempt: 1 } });
  expect(run.context.b).toHaveLength(60_000);
});

test('an event of 256 KiB starts its run with the whole of its data', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, {
    trigger: { type: 'contact_event', config: { event_type: 'imported', filter: { field: 'data.last', operator: 'eq', value: 'z' } } },
  });
  const text = 'x'.repeat(256 * 1024 - '{"text":"","last":"z"}'.length);
  expect((await client.post('/events', { event_type: 'imported', data: { text, last: 'z' } })).status).toBe(201);
  const [run] = await waitForEndedRuns(client, workflow, 1);
  expect(run.initial_context.text).toBe(text);
});

test('deleting a contact cancels its waiting runs, and all other runs stay as they are', async () => {
  const { client } = await newOrganization();
  const [ada, bob] = [
    (await client.post('/contacts', { phone: newPhone() })).body.id,
    (await client.post('/contacts', { phone: newPhone() })).body.id,
  ];
  const workflow = await createActiveWorkflow(client, { definition: nap });
  const quick = await createActiveWorkflow(client, {});
  const theirs = await execute(client, workflow, { contact_id: ada });
  const done = await execute(client, quick, { contact_id: ada });
  const others = await execute(client, workflow, { contact_id: bob });
  await waitForRunState(client, done.id, 'completed');
  for (const run of [theirs, others]) await waitForRunState(client, run.id, 'waiting');
  await client.delete(`/contacts/${ada}`);
  expect((await waitForRunState(client, theirs.id, 'cancelled')).error).toMatchObject({ type: 'contact_deleted', node_id: 'nap' });
  expect((await client.get(`/automation-workflows/runs/${others.id}`)).body.state).toBe('waiting');
  expect((await client.get(`/automation-workflows/runs/${done.id}`)).body.state).toBe('completed');
  expect((await client.get(`/automation-workflows/runs/${theirs.id}/history`)).body.history.at(-1)).toMatchObject({
    node_id: 'nap',
    status: 'skipped',
  });
});

test('a hundred and fifty sleeping runs of an archived workflow are all cancelled, in pages', { tags: 'soak' }, async () => {
  const { client, id: organizationId } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: nap, trigger: { type: 'manual', config: {} } });
  const [trigger] = (await client.get(`/automation-workflows/${workflow}/triggers`)).body.triggers;
  const contacts = Array.from({ length: 150 }, () => ({ phone: newPhone() }));
  const { body } = await client.post('/contacts/bulk-upsert', { list_name: 'All', contacts });
  const ids = body.contacts.map(({ id }: { id: number }) => id);
  for (const part of [ids.slice(0, 100), ids.slice(100)])
    expect((await client.post(`/automation-workflows/${workflow}/triggers/${trigger.id}/fire`, { contact_ids: part })).body.triggered).toBe(
      part.length,
    );
  await client.delete(`/automation-workflows/${workflow}`);
  await vi.waitFor(
    async () =>
      expect((await client.get(`/automation-workflows/${workflow}`)).body).toMatchObject({ runs_count: 150, active_runs_count: 0 }),
    {
      timeout: 15_000,
      interval: 50,
    },
  );
  const { results } = await env.DB.prepare('SELECT id FROM cleanup WHERE organization_id = ?').bind(organizationId).all();
  await vi.waitFor(() => expect(results).toEqual([]));
});

test('one overdue run that cannot be reached holds up no other', async () => {
  const { client, id: organizationId } = await newOrganization();
  const workflow = await createActiveWorkflow(client, {});
  const dead = vi.spyOn(env.AUTOMATION_RUN, 'getByName').mockImplementation(() => {
    throw new Error('the isolate died');
  });
  const [first, second] = [await execute(client, workflow), await execute(client, workflow)];
  dead.mockRestore();
  const real = env.AUTOMATION_RUN.getByName.bind(env.AUTOMATION_RUN);
  const half = vi.spyOn(env.AUTOMATION_RUN, 'getByName').mockImplementation((name) => {
    if (name === `${organizationId}/${first.id}`) throw new Error('it is still dead');
    return real(name);
  });
  const overdueAt = Date.now() + 180_000;
  await tickAt(overdueAt);
  await waitForRunState(client, second.id, 'completed');
  half.mockRestore();
  // Parts that could not be reached are retried on their own, the first a minute later.
  await tickAt(overdueAt + 60_000);
  await waitForRunState(client, first.id, 'completed');
});

test('an unknown id is a 404, and an invalid id is a 422', async () => {
  const { client, id: organizationId } = await newOrganization();
  for (const path of ['', '/history']) {
    expect((await client.get(`/automation-workflows/runs/987654321${path}`)).status).toBe(404);
    expect((await client.get(`/automation-workflows/runs/x${path}`)).status).toBe(422);
  }
  expect((await client.post('/automation-workflows/runs/987654321/stop')).status).toBe(404);
  expect((await client.get('/automation-workflows/987654321/runs')).status).toBe(404);
  await deliver('fanout', [{ v: 1, kind: 'cleanup', organization_id: organizationId, id: 987_654_321 }]);
});

test('on_error continue goes on at default, and fails the run at a node without default', async () => {
  const { client } = await newOrganization();
  const definition = {
    nodes: [
      { id: 'in', type: 'trigger', data: {} },
      { id: 'hear', type: 'wait_for_event', data: { event_types: ['x'], timeout: 'PT1H' } },
      { id: 'out', type: 'exit', data: {} },
    ],
    edges: [
      { id: 'a', source: 'in', target: 'hear' },
      { id: 'b', source: 'hear', target: 'out', source_handle: 'received' },
    ],
  };
  const workflow = await createActiveWorkflow(client, { definition, settings: { on_error: 'continue' } });
  const { body } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  expect((await waitForRunState(client, body.id, 'failed')).error).toMatchObject({ node_id: 'hear', type: 'no_contact' });
});

test('a change of the settings applies to a sleeping run when it wakes', async () => {
  const { client } = await newOrganization();
  const definition = chain(
    { id: 'nap', type: 'wait', data: { duration: 'PT1S' } },
    { id: 'call', type: 'http_request', data: { url: '{{ missing }}' } },
  );
  const workflow = await createActiveWorkflow(client, { definition });
  const { body } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  await waitForRunState(client, body.id, 'waiting');
  await client.patch(`/automation-workflows/${workflow}`, { settings: { on_error: 'continue' } });
  expect((await waitForRunState(client, body.id, 'completed')).outcome).toBe('done');
});
