import { expect, test, vi } from 'vitest';
import { env } from 'cloudflare:workers';
import { deliver } from '../support/background.ts';
import { connectIntegration } from '../support/integrations.ts';
import { newAgent } from '../support/journey-calls.ts';
import { createActiveWorkflow, chain, waitForRunState } from '../support/journeys.ts';
import { newOrganization, type Client } from '../support/organization.ts';

const create = async (client: Client, body: Record<string, unknown> = {}) => {
  const answer = await client.post('/automation-workflows', { name: 'Journey', definition: chain(), ...body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
};
const workflow = (id: number) => `/automation-workflows/${id}`;
const nap = chain({ id: 'nap', type: 'wait', data: { duration: 'P7D' } });

test('a new workflow needs only a name: it is a draft of version 1 with all defaults', async () => {
  const { client, id } = await newOrganization();
  const created = await client.post('/automation-workflows/', { name: 'Welcome', colour: 'ignored' });
  expect(created).toMatchObject({
    status: 201,
    body: {
      organization_id: id,
      name: 'Welcome',
      description: '',
      version: 1,
      status: 'draft',
      definition: { nodes: [], edges: [] },
      trigger: {},
      context_schema: {},
      settings: { entry_key: null, timeout: 'P30D', on_error: 'fail', retry: { max_attempts: 3, initial_delay_seconds: 5 } },
      updated_at: null,
      runs_count: 0,
      active_runs_count: 0,
    },
  });
  expect(created.body.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(created.body).not.toHaveProperty('colour');
  expect((await client.get(workflow(created.body.id))).body).toEqual(created.body);
});

test('every wrong field of a new workflow is a 422 that names it', async () => {
  const { client } = await newOrganization();
  const refused = async (body: unknown, ...locs: string[]) => {
    const answer = await client.post('/automation-workflows/', body);
    expect(answer.status, JSON.stringify(body)).toBe(422);
    expect(answer.body.detail.map((issue: { loc: string[] }) => issue.loc.join('.'))).toEqual(locs);
    for (const { loc } of answer.body.detail) for (const part of loc) expect(typeof part).toBe('string');
  };
  await refused({}, 'body.name');
  await refused({ name: '  ' }, 'body.name');
  await refused({ name: 'x'.repeat(201) }, 'body.name');
  await refused({ name: 'x', definition: [] }, 'body.definition');
  await refused({ name: 'x', definition: { nodes: 'none' } }, 'body.definition.nodes');
  await refused({ name: 'x', settings: { timeout: '3 days', on_error: 'ignore' } }, 'body.settings.timeout', 'body.settings.on_error');
  await refused({ name: 'x', settings: { retry: { max_attempts: 0 } } }, 'body.settings.retry.max_attempts');
  await refused({ name: 'x', settings: { entry_key: '{{ contact.id' } }, 'body.settings.entry_key');
  await refused({ name: 'x', context_schema: { type: 'strang' } }, 'body.context_schema.type');
  await refused({ name: 'x', context_schema: { $ref: '#/$defs/none' } }, 'body.context_schema.$ref');
  await refused({ name: 'x', trigger: { type: 'sometimes' } }, 'body.trigger.type');
  await refused({ name: 'x', trigger: { type: 'schedule', config: { cron: '99 * * * *' } } }, 'body.trigger.config.cron');
  await refused({ name: 'x', trigger: { type: 'manual', config: 'red' } }, 'body.trigger.config');
  await refused({ name: 'x', trigger: { type: 'schedule', cron: 'often' } }, 'body.trigger.config.cron');
  expect((await client.post('/automation-workflows/', '{"name":')).status).toBe(422);
  expect((await client.get('/automation-workflows/')).body.total).toBe(0);
});

test('PATCH keeps what is absent, clears what is null, and only a changed definition is a new version', async () => {
  const { client } = await newOrganization();
  const { id } = await create(client, { description: 'old', settings: { timeout: 'P1D' }, context_schema: { type: 'object' } });
  const renamed = await client.patch(workflow(id), { name: 'New name', description: null });
  expect(renamed.body).toMatchObject({ name: 'New name', description: '', version: 1, settings: { timeout: 'P1D' } });
  expect(typeof renamed.body.updated_at).toBe('string');
  const cleared = await client.patch(workflow(id), { settings: null, context_schema: null });
  expect(cleared.body).toMatchObject({ settings: { timeout: 'P30D' }, context_schema: {}, version: 1 });
  expect((await client.patch(workflow(id), { definition: chain() })).body.version).toBe(1);
  expect((await client.patch(workflow(id), { definition: nap })).body).toMatchObject({ version: 2, definition: nap });
  expect((await client.patch(workflow(id), { definition: null })).body).toMatchObject({ version: 3, definition: { nodes: [], edges: [] } });
  const versions = await client.get(`${workflow(id)}/versions`);
  expect(versions.body).toMatchObject({ total: 3, next_cursor: null });
  expect(versions.body.versions.map(({ version }: { version: number }) => version)).toEqual([3, 2, 1]);
  expect(versions.body.versions[1]).toMatchObject({ definition: nap });
  const page = await client.get(`${workflow(id)}/versions?limit=1`);
  const rest = await client.get(`${workflow(id)}/versions?limit=5&cursor=${page.body.next_cursor}`);
  expect(rest.body.versions.map(({ version }: { version: number }) => version)).toEqual([2, 1]);
});

test('the status follows its transitions, and a refusal names the present status and the allowed ones', async () => {
  const { client } = await newOrganization();
  const { id } = await create(client);
  const move = (status: string) => client.patch(workflow(id), { status });
  const refused = async (status: string, detail: RegExp) => {
    const answer = await move(status);
    expect(answer.status).toBe(409);
    expect(answer.body.detail).toMatch(detail);
  };
  await refused('paused', /is draft and cannot become paused; .*active or archived/);
  expect((await move('active')).body.status).toBe('active');
  await refused('draft', /is active and cannot become draft; .*paused or archived/);
  expect((await move('active')).status).toBe(200);
  expect((await move('paused')).body.status).toBe('paused');
  await refused('draft', /is paused and cannot become draft; .*active or archived/);
  expect((await move('active')).body.status).toBe('active');
  expect((await client.delete(workflow(id))).body.status).toBe('archived');
  expect((await client.delete(workflow(id))).body.status).toBe('archived');
  await refused('active', /is archived and cannot become active; .*draft/);
  await refused('paused', /is archived/);
  expect((await move('draft')).body.status).toBe('draft');
  expect((await move('sideways')).status).toBe(422);
  for (const status of ['draft', 'paused', 'archived']) {
    if (status === 'paused') for (const step of ['active', 'paused']) await move(step);
    if (status === 'archived') await move('archived');
    const executed = await client.post(`${workflow(id)}/execute`, { context: {} });
    expect(executed.status).toBe(409);
    expect(executed.body.detail).toContain(`is ${status}; only an active workflow`);
  }
});

const broken = {
  nodes: [
    { id: 'in', type: 'trigger', data: {} },
    { id: 'x', type: 'no_such_node', data: {} },
    { id: 'c', type: 'condition', data: { condition: { field: 'total', operator: 'matches', value: 1 } } },
    { id: 'w', type: 'wait', data: { timezone: 'Mars/Base', duration: 'PT1H' } },
    { id: 't', type: 'set_context', data: { assign: { greeting: '{{ contact.first_name | upcaze }}' } } },
    { id: 'lost', type: 'exit', data: {} },
  ],
  edges: [
    { id: 'a', source: 'in', target: 'c' },
    { id: 'b', source: 'c', target: 'w', source_handle: 'maybe' },
    { id: 'd', source: 'c', target: 'ghost', source_handle: 'true' },
    { id: 'e', source: 'w', target: 't' },
    { id: 'f', source: 't', target: 'x' },
  ],
};
const places = [
  'nodes.x.type',
  'nodes.c.data.condition.operator',
  'nodes.w.data.timezone',
  'nodes.t.data.assign.greeting',
  'edges.b.source_handle',
  'edges.d.target',
  'nodes.lost',
];
const locsOf = (issues: { loc: string[] }[]) => issues.map(({ loc }) => loc.join('.'));

test('a broken graph is kept as a draft, and going active lists every problem at its node or edge', async () => {
  const { client } = await newOrganization();
  const { id } = await create(client, { definition: broken });
  const refused = await client.patch(workflow(id), { status: 'active' });
  expect(refused.status).toBe(422);
  for (const place of places) expect(locsOf(refused.body.detail)).toContain(`body.definition.${place}`);
  expect((await client.get(workflow(id))).body.status).toBe('draft');
  const checked = await client.post(`${workflow(id)}/validate`, {});
  expect(checked).toMatchObject({ status: 200, body: { valid: false } });
  expect(checked.body.errors).toEqual(refused.body.detail);
  expect((await client.post(`${workflow(id)}/validate`)).body.valid).toBe(false);
  expect((await client.post(`${workflow(id)}/validate`, { definition: chain() })).body).toEqual({ valid: true, errors: [], warnings: [] });
  expect((await client.post(`${workflow(id)}/test`, {})).status).toBe(422);
  const repaired = await client.patch(workflow(id), { status: 'active', definition: chain() });
  expect(repaired.body).toMatchObject({ status: 'active', version: 2 });
});

test('a definition that replaces an active or paused one must be sound; a draft takes any', async () => {
  const { client } = await newOrganization();
  const id = await createActiveWorkflow(client, {});
  for (const status of ['active', 'paused']) {
    await client.patch(workflow(id), { status });
    expect((await client.patch(workflow(id), { definition: broken })).status).toBe(422);
    expect((await client.patch(workflow(id), { definition: null })).status).toBe(422);
  }
  expect((await client.get(workflow(id))).body).toMatchObject({ version: 1, definition: chain() });
  expect((await client.patch(workflow(id), { status: 'archived' })).body.status).toBe('archived');
  expect((await client.patch(workflow(id), { status: 'draft', definition: broken })).body.version).toBe(2);
});

test('two changes at once are both kept, each as its own version', async () => {
  const { client } = await newOrganization();
  const { id } = await create(client);
  const outcomes = ['a', 'b', 'c', 'd'];
  const definitionOf = (outcome: string) => ({
    ...chain(),
    nodes: [...chain().nodes.slice(0, -1), { id: 'out', type: 'exit', data: { outcome } }],
  });
  const answers = await Promise.all([
    ...outcomes.map((outcome) => client.patch(workflow(id), { definition: definitionOf(outcome) })),
    client.patch(workflow(id), { name: 'Renamed' }),
    client.patch(workflow(id), { description: 'described' }),
    client.patch(workflow(id), { trigger: { type: 'manual', config: {} } }),
    client.patch(workflow(id), { trigger: { type: 'manual', name: 'Button', config: {} } }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect((await client.get(workflow(id))).body).toMatchObject({ name: 'Renamed', description: 'described', version: 5 });
  expect((await client.get(`${workflow(id)}/versions`)).body.total).toBe(5);
  expect((await client.get(`${workflow(id)}/triggers`)).body.total).toBe(1);
});

const triggersOf = async (client: Client, id: number, query = '') => (await client.get(`${workflow(id)}/triggers${query}`)).body.triggers;

test('the trigger object of a workflow is its primary trigger row, and they change together', async () => {
  const { client } = await newOrganization();
  const trigger = { type: 'contact_event', name: 'Orders', config: { event_types: ['ordered'] } };
  const { id, trigger: shown } = await create(client, { trigger });
  expect(shown).toEqual(trigger);
  const [first] = await triggersOf(client, id);
  expect(first).toMatchObject({ type: 'contact_event', name: 'Orders', config: { event_types: ['ordered'] }, state: 'active' });

  await client.patch(workflow(id), { trigger: { ...trigger, config: { event_type: 'paid' } } });
  const [changed] = await triggersOf(client, id);
  expect(changed).toMatchObject({ id: first.id, uuid: first.uuid, config: { event_types: ['paid'] } });

  const hooked = await client.patch(workflow(id), { trigger: { type: 'webhook', config: {} } });
  expect(hooked.body.trigger).toMatchObject({ type: 'webhook', config: { auth: { type: 'none' } } });
  const rows = await triggersOf(client, id);
  expect(rows).toMatchObject([{ type: 'webhook', state: 'active' }]);
  expect(await triggersOf(client, id, '?status=archived')).toMatchObject([{ id: first.id, state: 'archived' }]);

  await client.patch(workflow(id), { name: 'Same trigger' });
  expect(await triggersOf(client, id)).toEqual(rows);
  expect((await client.patch(workflow(id), { trigger: null })).body.trigger).toEqual({});
  expect(await triggersOf(client, id)).toEqual([]);
});

test('a change of the primary trigger through its own endpoints shows on the workflow', async () => {
  const { client } = await newOrganization();
  const { id } = await create(client, { trigger: { type: 'contact_event', config: { event_types: ['ordered'] } } });
  const [primary] = await triggersOf(client, id);
  await client.patch(`/automation-workflows/triggers/${primary.id}`, { name: 'Paid', config: { event_types: ['paid'] } });
  expect((await client.get(workflow(id))).body.trigger).toEqual({ type: 'contact_event', name: 'Paid', config: { event_types: ['paid'] } });
  await client.delete(`/automation-workflows/triggers/${primary.id}`);
  expect((await client.get(workflow(id))).body.trigger).toEqual({});
});

test('a trigger object without a type is kept as it is and fires nothing', async () => {
  const { client } = await newOrganization();
  const { id, trigger } = await create(client, { trigger: { note: 'to do', secret: 'kept-sealed' } });
  expect(trigger).toEqual({ note: 'to do', secret: '****' });
  expect(await triggersOf(client, id)).toEqual([]);
  const { results } = await env.DB.prepare('SELECT "trigger" AS text FROM automation_workflow WHERE id = ?')
    .bind(id)
    .all<{ text: string }>();
  expect(results[0]!.text).not.toContain('kept-sealed');
});

test('an additional trigger does not touch the trigger object', async () => {
  const { client } = await newOrganization();
  const { id } = await create(client, { trigger: { type: 'manual', config: {} } });
  await client.post(`${workflow(id)}/triggers`, { type: 'manual', name: 'second' });
  await client.patch(workflow(id), { trigger: {} });
  expect(await triggersOf(client, id)).toMatchObject([{ name: 'second', state: 'active' }]);
});

test('archiving cancels live runs with the reason, by DELETE and by PATCH, and a restored workflow runs again', async () => {
  const { client } = await newOrganization();
  for (const archive of [(id: number) => client.delete(workflow(id)), (id: number) => client.patch(workflow(id), { status: 'archived' })]) {
    const id = await createActiveWorkflow(client, { definition: nap });
    const { body: run } = await client.post(`${workflow(id)}/execute`, {});
    await waitForRunState(client, run.id, 'waiting');
    expect((await archive(id)).body.status).toBe('archived');
    expect((await waitForRunState(client, run.id, 'cancelled')).error).toMatchObject({ type: 'workflow_archived', node_id: 'nap' });
    expect((await client.get(workflow(id))).body).toMatchObject({ runs_count: 1, active_runs_count: 0 });
    await client.patch(workflow(id), { status: 'draft' });
    await client.patch(workflow(id), { status: 'active' });
    const again = await client.post(`${workflow(id)}/execute`, {});
    await waitForRunState(client, again.body.id, 'waiting');
  }
});

test('a late cleanup does not cancel the runs that a restored workflow has started since', async () => {
  const { client } = await newOrganization();
  const lost = vi.spyOn(env.FANOUT_QUEUE, 'send').mockResolvedValue(undefined as never);
  const id = await createActiveWorkflow(client, { definition: nap });
  const { body: old } = await client.post(`${workflow(id)}/execute`, {});
  await client.delete(workflow(id));
  await client.patch(workflow(id), { status: 'draft' });
  await client.patch(workflow(id), { status: 'active' });
  const { body: young } = await client.post(`${workflow(id)}/execute`, {});
  lost.mockRestore();
  const { results } = await env.DB.prepare("SELECT id, organization_id FROM cleanup WHERE kind = 'workflow_archived' AND subject_id = ?")
    .bind(id)
    .all<{ id: number; organization_id: number }>();
  await deliver('fanout', [{ v: 1, kind: 'cleanup', organization_id: results[0]!.organization_id, id: results[0]!.id }]);
  await waitForRunState(client, old.id, 'cancelled');
  await waitForRunState(client, young.id, 'waiting');
});

test('workflows are listed newest first, without the archived ones, by status and by part of the name', async () => {
  const { client } = await newOrganization();
  const names = ['Win back', 'Welcome', 'Winter sale', '100% off', 'welcome_2'];
  const ids: number[] = [];
  for (const name of names) ids.push((await create(client, { name })).id);
  await client.delete(workflow(ids[1]!));
  await client.patch(workflow(ids[0]!), { status: 'active' });
  const list = async (query: string) => {
    const { status, body } = await client.get(`/automation-workflows${query}`);
    expect(status).toBe(200);
    return { ...body, names: body.automation_workflows.map(({ name }: { name: string }) => name) };
  };
  expect(await list('')).toMatchObject({
    total: 4,
    limit: 50,
    offset: 0,
    next_cursor: null,
    names: ['welcome_2', '100% off', 'Winter sale', 'Win back'],
  });
  expect((await list('/?status=archived')).names).toEqual(['Welcome']);
  expect((await list('/?status=active')).names).toEqual(['Win back']);
  expect((await list('?search=WIN')).names).toEqual(['Winter sale', 'Win back']);
  expect((await list('?search=%25')).names).toEqual(['100% off']);
  expect((await list('?search=e_2')).names).toEqual(['welcome_2']);
  expect(await list('?limit=1&offset=1')).toMatchObject({ total: 4, names: ['100% off'] });
  const first = await list('?limit=2');
  await create(client, { name: 'Newer' });
  const second = await list(`?limit=2&cursor=${first.next_cursor}`);
  expect(second).toMatchObject({ names: ['Winter sale', 'Win back'], next_cursor: null });
  for (const wrong of ['?limit=0', '?limit=501', '?offset=-1', '?cursor=nonsense', '?status=sideways'])
    expect((await client.get(`/automation-workflows${wrong}`)).status, wrong).toBe(422);
});

test('each node type describes itself: its example fits its schema, and every handle has a name', async () => {
  const { client, id: organizationId } = await newOrganization();
  const { body } = await client.get('/automation-workflows/node-types/');
  expect(body.node_types.map(({ type }: { type: string }) => type).toSorted()).toEqual([
    'calendar_event',
    'chatapp_message',
    'condition',
    'emit_event',
    'exit',
    'http_request',
    'knowledge_search',
    'list_membership',
    'llm',
    'run_workflow',
    'send_message',
    'set_context',
    'sheet_row',
    'split',
    'switch',
    'tracker_issue',
    'trigger',
    'update_contact',
    'voice_call',
    'wait',
    'wait_for_event',
  ]);
  const sheet = await connectIntegration(client, 'sheet');
  for (const type of body.node_types) {
    expect(type.data_schema.type).toBe('object');
    // The other journey, the voice agent or the integration that an example names must be one of this organization.
    const { id } = await create(client);
    const named = type.type === 'voice_call' ? await newAgent(organizationId) : id;
    const data = {
      ...type.example,
      ...('workflow_id' in type.example && { workflow_id: named }),
      ...('integration_id' in type.example && { integration_id: sheet.id }),
    };
    const only = type.type === 'trigger' ? chain() : chain({ id: 'x', type: type.type, data });
    const edges = only.edges.map((edge: { source: string }) => (edge.source === 'x' ? { ...edge, source_handle: type.handles[0] } : edge));
    const definition = type.type === 'exit' ? { nodes: only.nodes.slice(0, -1), edges: edges.slice(0, -1) } : { ...only, edges };
    expect((await client.post(`${workflow(id)}/validate`, { definition })).body.errors, type.type).toEqual([]);
  }
});

test('a PATCH of settings keeps absent settings; null restores the default; retry changes key by key', async () => {
  const { client } = await newOrganization();
  const { id } = await create(client);
  const patch = async (settings: unknown) => (await client.patch(workflow(id), { settings })).body.settings;
  await patch({ exit_on: [{ event_type: 'left' }], timeout: 'P60D', retry: { max_attempts: 5 } });
  const next = await patch({ max_active_runs: 5, retry: { factor: 3 } });
  expect(next).toMatchObject({
    exit_on: [{ event_type: 'left' }],
    timeout: 'P60D',
    max_active_runs: 5,
    retry: { max_attempts: 5, factor: 3 },
  });
  const cleared = await patch({ timeout: null, exit_on: null, retry: null });
  expect(cleared).toMatchObject({ timeout: 'P30D', exit_on: [], max_active_runs: 5, retry: { max_attempts: 3 } });
  expect(await patch(null)).toMatchObject({ max_active_runs: null });
  const misspelt = await client.patch(workflow(id), { settings: { timeot: 'P1D', retry: { colour: 1 } } });
  expect(misspelt.body).toMatchObject({
    settings: { timeout: 'P30D', timeot: 'P1D', retry: { max_attempts: 3, colour: 1 } },
    warnings: [
      { loc: ['body', 'settings', 'retry', 'colour'] },
      { loc: ['body', 'settings', 'timeot'], msg: '`timeot` is not known and has no effect; did you mean `timeout`?' },
    ],
  });
  expect(await patch({ max_active_runs: 2 })).toMatchObject({ timeot: 'P1D', retry: { colour: 1 } });
  expect(await patch({ timeot: null })).not.toHaveProperty('timeot');
});

test('execute checks the context against the schema and the contact against the organization', async () => {
  const { client } = await newOrganization();
  const schema = {
    type: 'object',
    required: ['total'],
    properties: { total: { type: 'number' }, items: { type: 'array', items: { type: 'string' } } },
  };
  const id = await createActiveWorkflow(client, { context_schema: schema });
  const execute = (body: unknown) => client.post(`${workflow(id)}/execute/`, body);
  const locs = async (body: unknown) => {
    const answer = await execute(body);
    expect(answer.status).toBe(422);
    return answer.body.detail.map(({ loc }: { loc: string[] }) => loc.join('.'));
  };
  expect(await locs({ context: {} })).toEqual(['body.context.total']);
  expect(await locs({})).toEqual(['body.context.total']);
  expect(await locs({ context: { total: 'many', items: ['a', 1] } })).toEqual(['body.context.total', 'body.context.items.1']);
  expect(await locs({ context: [] })).toEqual(['body.context']);
  expect((await execute({ context: { total: 1 }, contact_id: 987_654_321 })).status).toBe(404);
  expect(await locs({ context: { total: 1 }, contact_id: 'x' })).toEqual(['body.contact_id']);
  const run = await execute({ context: { total: 1 } });
  expect(run).toMatchObject({
    status: 200,
    body: { state: 'running', initial_context: { total: 1 }, trigger_id: null, is_test: false, completed_at: null },
  });
  expect(run.body.started_at).toBe(run.body.created_at);
});

test('an entry key that cannot be rendered is a 422 for the caller, not a 500', async () => {
  const { client } = await newOrganization();
  const id = await createActiveWorkflow(client, {
    settings: { entry_key: '{{ data.at | date: "%H", data.zone }}' },
    trigger: { type: 'manual', config: {} },
  });
  const bad = { context: { at: '2026-11-20T10:00:00Z', zone: 'Mars/Base' } };
  const [trigger] = await triggersOf(client, id);
  for (const path of [`${workflow(id)}/execute`, `${workflow(id)}/test`, `${workflow(id)}/triggers/${trigger.id}/fire`]) {
    const answer = await client.post(path, bad);
    expect(answer.status, path).toBe(422);
    expect(answer.body.detail[0].msg).toContain('Mars/Base');
  }
  expect((await client.post(`${workflow(id)}/execute`, { context: { at: '2026-11-20T10:00:00Z', zone: 'UTC' } })).body.entry_key).toBe(
    '10',
  );
});
