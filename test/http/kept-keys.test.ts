import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { validDefinition } from '../support/agent-definitions.ts';

type Json = Record<string, unknown>;

interface Kept {
  name: string;
  /** Where a new one is made, and how it is changed. */
  create: (client: Client, config: Json) => Promise<{ status: number; body: any }>;
  path: (record: any) => string;
  method: 'put' | 'patch' | null;
  /** The config in a record, and a change of the config. */
  config: (record: any) => Json;
  change: (config: Json) => Json;
}

const agent = async (client: Client, more: Json = {}) =>
  client.post('/workflow/create/definition', { name: 'A', workflow_definition: validDefinition, ...more });
const journey = async (client: Client, more: Json = {}) => client.post('/automation-workflows/', { name: 'J', ...more });
const campaign = async (client: Client, more: Json) => {
  const list = await client.post('/contacts/lists', { name: `L ${crypto.randomUUID()}` });
  const workflow_id = (await agent(client)).body.id;
  return client.post('/campaign/create', { name: 'C', workflow_id, source_type: 'contact_list', source_id: String(list.body.id), ...more });
};
const session = async (client: Client, more: Json) => {
  const { id } = (await agent(client)).body;
  return client.post('/simtest/test-sessions', { name: 'T', actor_workflow_id: id, adversary_workflow_id: id, ...more });
};

const workflowPath = (record: any) => `/automation-workflows/${record.id}`;
const campaignPath = (record: any) => `/campaign/${record.id}`;

const kinds: Kept[] = [
  ...['retry_config', 'schedule_config', 'circuit_breaker'].map((field): Kept => ({
    name: field,
    create: (client, config) => campaign(client, { [field]: config }),
    path: campaignPath,
    method: 'patch',
    config: (record) => record[field],
    change: (config) => ({ [field]: config }),
  })),
  {
    name: 'settings',
    create: (client, settings) => journey(client, { settings }),
    path: workflowPath,
    method: 'patch',
    config: ({ settings }) => settings,
    change: (settings) => ({ settings }),
  },
  {
    name: 'settings.retry',
    create: (client, retry) => journey(client, { settings: { retry } }),
    path: workflowPath,
    method: 'patch',
    config: ({ settings }) => settings.retry,
    change: (retry) => ({ settings: { retry } }),
  },
  {
    name: 'the data of a node',
    create: (client, data) => journey(client, { definition: { nodes: [{ id: 'w', type: 'wait', data }], edges: [] } }),
    path: workflowPath,
    method: null,
    config: ({ definition }) => definition.nodes[0].data,
    change: (data) => ({ definition: { nodes: [{ id: 'w', type: 'wait', data }], edges: [] } }),
  },
  {
    name: 'config of the primary trigger',
    create: (client, config) => journey(client, { trigger: { type: 'manual', config } }),
    path: workflowPath,
    method: null,
    config: ({ trigger }) => trigger.config,
    change: (config) => ({ trigger: { type: 'manual', config } }),
  },
  {
    name: 'workflow_configurations',
    create: (client, workflow_configurations) => agent(client, { workflow_configurations }),
    path: (record) => `/workflow/${record.id}`,
    method: 'put',
    config: ({ workflow_configurations }) => workflow_configurations,
    change: (workflow_configurations) => ({ workflow_configurations }),
  },
  {
    name: 'phrases',
    create: (client, phrases) => agent(client, { workflow_configurations: { phrases } }),
    path: (record) => `/workflow/${record.id}`,
    method: 'put',
    config: ({ workflow_configurations }) => workflow_configurations.phrases,
    change: (phrases) => ({ workflow_configurations: { phrases } }),
  },
  {
    name: 'config of a test',
    create: (client, config) => session(client, { config }),
    path: (record) => `/simtest/test-sessions/${record.id}`,
    method: null,
    config: ({ config }) => config,
    change: (config) => ({ config }),
  },
  {
    name: 'column_schema',
    create: (client, column) =>
      client.post('/contacts/lists', { name: `L ${crypto.randomUUID()}`, column_schema: [{ ...column, key: 'tier' }] }),
    path: (record) => `/contacts/lists/${record.id}`,
    method: null,
    config: ({ column_schema }) => column_schema[0],
    change: (column) => ({ column_schema: [{ ...column, key: 'tier' }] }),
  },
];

const unknown = { zz_colour: 'red', constructor: 'c', toString: 1, 'Zz-Über': { deep: [1, null, { x: false }] } };

test.each(kinds)(
  '$name: unknown keys are kept, echoed, warned of and removed by null',
  async ({ create, path, method, config, change }) => {
    const { client } = await newOrganization();
    const created = await create(client, unknown);
    expect([200, 201], JSON.stringify(created.body)).toContain(created.status);
    expect(config(created.body)).toMatchObject(unknown);
    const keys = created.body.warnings.map(({ loc }: { loc: string[] }) => loc.at(-1));
    expect(keys.toSorted()).toEqual(Object.keys(unknown).toSorted());
    for (const { loc, msg } of created.body.warnings)
      expect([loc[0], msg]).toEqual(['body', expect.stringContaining('is not known and has no effect')]);
    const read = await client.get(path(created.body));
    expect(config(read.body)).toMatchObject(unknown);
    expect(read.body.warnings).toEqual(created.body.warnings);
    if (method === null) return;
    const changed = await client[method](path(created.body), change({ zz_colour: null, zz_size: 2 }));
    expect(config(changed.body)).toMatchObject({ zz_size: 2, constructor: 'c' });
    expect(config(changed.body)).not.toHaveProperty('zz_colour');
    expect(config((await client.get(path(created.body))).body)).toEqual(config(changed.body));
  },
);

test.each(kinds)('$name: whatever JSON object is given is taken or a 422 that names the place, never a 500', async ({ create, config }) => {
  const { client } = await newOrganization();
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string({ maxLength: 20 }), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 6 }), async (given) => {
      const sent = JSON.parse(JSON.stringify(given).replaceAll('__proto__', 'proto')) as Json;
      const { status, body } = await create(client, sent);
      expect([200, 201, 422], JSON.stringify(body)).toContain(status);
      if (status === 422) return expect(body.detail[0].loc[0]).toBe('body');
      const stored = config(body);
      for (const [key, value] of Object.entries(sent))
        if (value !== null && key !== 'key' && body.warnings.some(({ loc }: { loc: string[] }) => loc.at(-1) === key))
          expect(Object.hasOwn(stored, key), key).toBe(true);
    }),
    { numRuns: 12 },
  );
});

test('a record that was read can be posted back', async () => {
  const { client } = await newOrganization();
  const back = async (created: { body: any }, path: string, create: string, method: 'put' | 'patch' | null) => {
    const { body: record } = await client.get(path);
    expect(record).toEqual(created.body);
    const again = await client.post(create, { ...record, name: `${record.name} again` });
    expect([200, 201], JSON.stringify(again.body)).toContain(again.status);
    const same = ({
      id: _id,
      name: _name,
      created_at: _at,
      updated_at: _updated,
      uuid: _uuid,
      current_definition_id: _definition,
      ...rest
    }: any) => rest;
    expect(same(again.body)).toEqual(same(record));
    if (method === null) return;
    const changed = await client[method](path, record);
    expect(changed.status, JSON.stringify(changed.body)).toBe(200);
    expect(same(changed.body)).toEqual(same(record));
  };
  const config = { max_duration: 1, phrases: { goodbye: 'Bye' } };
  const talker = await agent(client, {
    workflow_configurations: config,
    template_context_variables: { a: { b: 1 } },
    call_disposition_codes: { sold: 'x' },
  });
  await back(talker, `/workflow/${talker.body.id}`, '/workflow/create/definition', 'put');
  const unsound = await agent(client, { workflow_definition: { nodes: 'none' } });
  await back(unsound, `/workflow/${unsound.body.id}`, '/workflow/create/definition', 'put');
  const calling = await campaign(client, { retry_config: { colour: 1 }, time_slots: [{ day: 'mon', start: '9:00', end: '17:00' }] });
  await back(calling, `/campaign/${calling.body.id}`, '/campaign/create', 'patch');
  const quiet = { slots: [{ day_of_week: 0, start_time: '9:00:00', end_time: '17:00' }] };
  const made = await journey(client, { settings: { colour: 1, quiet_hours: quiet }, description: 'd', context_schema: { type: 'object' } });
  expect(made.body.settings.quiet_hours.slots[0].start_time).toBe('09:00');
  await back(made, workflowPath(made.body), '/automation-workflows/', 'patch');
  const check = { name: 'says', type: 'contains', value: 'hello', colour: 1 };
  const tested = await session(client, { config: { checks: [check], persona: null } });
  await back(tested, `/simtest/test-sessions/${tested.body.id}`, '/simtest/test-sessions', null);
  const trigger = await client.post(`${workflowPath(made.body)}/triggers`, {
    type: 'schedule',
    cron: '0 9 * * *',
    name: 'Mornings',
    colour: 1,
  });
  expect(trigger.body).toMatchObject({
    config: { cron: '0 9 * * *', timezone: 'UTC', colour: 1 },
    warnings: [{ loc: ['body', 'config', 'colour'] }],
  });
  const again = await client.post(`${workflowPath(made.body)}/triggers`, trigger.body);
  expect(again.body.config).toEqual(trigger.body.config);
  expect((await client.patch(`/automation-workflows/triggers/${trigger.body.id}`, trigger.body)).body.config).toEqual(trigger.body.config);
  const moved = await client.patch(`/automation-workflows/triggers/${trigger.body.id}`, { cron: '0 8 * * *', colour: null });
  expect(moved.body.config).toEqual({ cron: '0 8 * * *', timezone: 'UTC', catch_up: 'skip' });
});

test('an event type of 255 characters is taken everywhere, and starts a journey; one of 256 nowhere', async () => {
  const { client } = await newOrganization();
  const long = 'e'.repeat(255);
  const made = await journey(client, {
    settings: { exit_on: [{ event_type: long }] },
    trigger: { type: 'contact_event', event_type: long },
  });
  expect(made.body.trigger.config).toEqual({ event_types: [long] });
  expect((await client.post('/events', { event_type: long, phone: newPhone() })).status).toBe(201);
  expect((await client.get(`/events?event_type=${long}`)).body.total).toBe(1);
  const longer = `${long}e`;
  expect((await client.post('/events', { event_type: longer })).status).toBe(422);
  expect((await journey(client, { settings: { exit_on: [{ event_type: longer }] } })).status).toBe(422);
  expect((await journey(client, { trigger: { type: 'contact_event', event_type: longer } })).status).toBe(422);
});
