import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { chain, waitForRunState } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client, type NewOrganization } from '../support/organization.ts';
import { stubFetch } from '../support/stub-fetch.ts';

afterEach(() => vi.restoreAllMocks());

type Node = Parameters<typeof chain>[number];

interface Tested {
  id: number;
  state: string;
  outcome: string | null;
  error: { node_id: string; type: string; message: string; attempt: number } | null;
  context: Record<string, any>;
  history: {
    node_id: string;
    status: string;
    visit: number;
    input: any;
    output: any;
    started_at: string;
    completed_at: string;
    duration_ms: number;
  }[];
  [key: string]: unknown;
}

async function dryRun(client: Client, workflow: Record<string, unknown>, body: Record<string, unknown> = {}): Promise<Tested> {
  const created = await client.post('/automation-workflows', { name: 'Journey', ...workflow });
  const tested = await client.post(`/automation-workflows/${created.body.id}/test`, body);
  expect(tested.status, JSON.stringify(tested.body)).toBe(200);
  return tested.body;
}

const dryRunOf = async (nodes: Node[], body: Record<string, unknown> = {}, organization: NewOrganization = {}) =>
  dryRun((await newOrganization(organization)).client, { definition: chain(...nodes), settings: { timeout: 'P5Y' } }, body);

const outputOf = (run: Tested, nodeId: string) => run.history.find((entry) => entry.node_id === nodeId)!.output;
const day = 86_400_000;

test('a dry run walks a draft over a year of waits at once, and its history tells the moments of its own clock', async () => {
  const startedAt = Date.now();
  const run = await dryRunOf([
    { id: 'year', type: 'wait', data: { duration: 'P365D' } },
    { id: 'stamp', type: 'set_context', data: { assign: { at: '{{ now }}' } } },
  ]);
  expect(Date.now() - startedAt).toBeLessThan(2000);
  expect(run).toMatchObject({ state: 'completed', outcome: 'done', is_test: true, current_node_id: 'out' });
  expect(run.history.map(({ node_id, status }) => `${node_id} ${status}`)).toEqual([
    'in completed',
    'year completed',
    'stamp completed',
    'out completed',
  ]);
  const year = run.history[1]!;
  expect(year.duration_ms).toBe(365 * day);
  expect(Date.parse(run.context.at) - Date.parse(year.started_at)).toBe(365 * day);
  expect(Date.parse(String(run.completed_at)) - Date.parse(String(run.started_at))).toBe(365 * day);
});

test('a dry run is stored like any test run: readable with its history, and in lists and counts only on request', async () => {
  const { client } = await newOrganization();
  const run = await dryRun(client, { definition: chain({ id: 'nap', type: 'wait', data: { duration: 'P1D' } }) }, { context: { a: 1 } });
  const { history, ...record } = run;
  expect((await client.get(`/automation-workflows/runs/${run.id}`)).body).toEqual(record);
  expect((await client.get(`/automation-workflows/runs/${run.id}/history`)).body).toMatchObject({ history, total: history.length });
  expect((await client.get('/automation-workflows/runs')).body.total).toBe(0);
  expect((await client.get('/automation-workflows/runs?is_test=true')).body).toMatchObject({ total: 1, runs: [record] });
  const workflow = `/automation-workflows/${String(run.automation_workflow_id)}`;
  expect((await client.get(`${workflow}/runs?is_test=true`)).body.total).toBe(1);
  expect((await client.get(workflow)).body).toMatchObject({ runs_count: 0, active_runs_count: 0 });
});

test('side effects are shown as the requests that would have gone out, and nothing happens', async () => {
  const { client } = await newOrganization();
  const asked = stubFetch('https://shop.example.com/orders/K-200', () => Response.json({}));
  const contact = (await client.post('/contacts', { phone: newPhone(), first_name: 'Ada' })).body;
  const run = await dryRun(
    client,
    {
      definition: chain(
        { id: 'contact', type: 'update_contact', data: { set: { title: 'Bought {{ sku }}' }, add_tags: ['buyer'] } },
        { id: 'list', type: 'list_membership', data: { add: ['Buyers of {{ sku }}'] } },
        { id: 'emit', type: 'emit_event', data: { event_type: 'bought_{{ sku }}', data: { total: '{{ total | times: 2 }}' } } },
        {
          id: 'call',
          type: 'http_request',
          data: {
            method: 'POST',
            url: 'https://shop.example.com/orders/{{ sku }}',
            query: { q: '{{ contact.first_name }}' },
            headers: { 'X-Order': '{{ sku }}' },
            body: { name: '{{ contact.first_name }}', total: '{{ total }}' },
          },
        },
      ),
    },
    { contact_id: contact.id, context: { sku: 'K-200', total: 21 } },
  );
  expect(run).toMatchObject({ state: 'completed', contact_id: contact.id, entry_key: String(contact.id) });
  for (const id of ['contact', 'list', 'emit', 'call']) expect(run.history.find(({ node_id }) => node_id === id)!.status).toBe('simulated');
  expect(outputOf(run, 'contact')).toEqual({
    simulated: true,
    request: { set: { title: 'Bought K-200' }, add_tags: ['buyer'], remove_tags: [] },
  });
  expect(outputOf(run, 'list').request).toEqual({ add: ['Buyers of K-200'], remove: [] });
  expect(outputOf(run, 'emit').request).toEqual({ event_type: 'bought_K-200', data: { total: 42 } });
  expect(outputOf(run, 'call').request).toMatchObject({
    method: 'POST',
    url: 'https://shop.example.com/orders/K-200?q=Ada',
    headers: { 'x-order': '****', 'content-type': 'application/json' },
    body: '{"name":"Ada","total":21}',
  });
  expect(asked).toEqual([]);
  expect((await client.get(`/contacts/${contact.id}`)).body).toMatchObject({ title: null, tags: [], lists: [] });
  expect((await client.get('/events')).body.total).toBe(0);
  expect((await client.get('/contacts/lists')).body.total).toBe(0);
});

test('dry_run false performs side effects, on a draft too, and the run stays a test', async () => {
  const { client } = await newOrganization();
  const contact = (await client.post('/contacts', { phone: newPhone() })).body;
  const definition = chain({ id: 'tag', type: 'update_contact', data: { add_tags: ['real'] } });
  const { body: workflow } = await client.post('/automation-workflows', { name: 'Journey', definition });
  const { body: run } = await client.post(`/automation-workflows/${workflow.id}/test`, { contact_id: contact.id, dry_run: false });
  expect(run).toMatchObject({ state: 'running', is_test: true });
  expect(run).not.toHaveProperty('history');
  await waitForRunState(client, run.id, 'completed');
  expect((await client.get(`/contacts/${contact.id}`)).body.tags).toEqual(['real']);
  expect((await client.get(`/automation-workflows/${workflow.id}`)).body).toMatchObject({ status: 'draft', runs_count: 0 });
  await client.delete(`/automation-workflows/${workflow.id}`);
  expect((await client.post(`/automation-workflows/${workflow.id}/test`, { contact_id: contact.id })).body.state).toBe('completed');
});

test('a test with an impossible contact or context is refused', async () => {
  const { client } = await newOrganization();
  const other = await newOrganization();
  const theirs = (await other.client.post('/contacts', { phone: newPhone() })).body.id;
  const schema = { type: 'object', required: ['total'] };
  const { body } = await client.post('/automation-workflows', { name: 'Journey', definition: chain(), context_schema: schema });
  const tested = (input: unknown) => client.post(`/automation-workflows/${body.id}/test`, input);
  expect((await tested({ context: { total: 1 }, contact_id: theirs })).status).toBe(404);
  expect((await tested({ context: {} })).body.detail[0].loc).toEqual(['body', 'context', 'total']);
  expect((await tested({ context: { total: 1 }, dry_run: 'perhaps' })).body.detail[0].loc).toEqual(['body', 'dry_run']);
  expect((await tested({ context: { total: 1 } })).status).toBe(200);
});

test('a loop with a wait ends at its step limit or timeout, and a large history is returned whole', async () => {
  const loop = (duration: string) => ({
    nodes: [
      { id: 'in', type: 'trigger', data: {} },
      { id: 'again', type: 'wait', data: { duration } },
    ],
    edges: [
      { id: 'a', source: 'in', target: 'again' },
      { id: 'b', source: 'again', target: 'again' },
    ],
  });
  const { client } = await newOrganization();
  const steps = await dryRun(client, { definition: loop('PT1M') });
  expect(steps).toMatchObject({ state: 'failed', error: { type: 'too_many_steps', node_id: 'again' } });
  expect(steps.error!.message).toContain('10000');
  expect(steps.history).toHaveLength(10_000);
  const { body: page } = await client.get(`/automation-workflows/runs/${steps.id}/history?limit=500&offset=9900`);
  expect(page).toMatchObject({ total: 10_000, next_cursor: null });
  expect(page.history.map(({ visit }: { visit: number }) => visit)).toEqual(Array.from({ length: 100 }, (_, index) => 9900 + index));
  const timeout = await dryRun(client, { definition: loop('P1D'), settings: { timeout: 'P10D' } });
  expect(timeout).toMatchObject({ state: 'failed', error: { type: 'timeout', node_id: 'again' } });
  expect(timeout.history.at(-1)).toMatchObject({ visit: 10, status: 'failed' });
  expect(Date.parse(String(timeout.completed_at)) - Date.parse(String(timeout.started_at))).toBe(10 * day);
});

test('a template that cannot be rendered fails its step with the reason, and an error handle may catch it', async () => {
  const bad = { id: 'bad', type: 'set_context', data: { assign: { hour: '{{ now | date: "%H", zone }}' } } };
  const run = await dryRunOf([bad], { context: { zone: 'Mars/Base' } });
  expect(run).toMatchObject({ state: 'failed', current_node_id: 'bad', error: { node_id: 'bad', type: 'template_error', attempt: 1 } });
  expect(run.error!.message).toContain('Mars/Base');
  expect(run.history.at(-1)).toMatchObject({ node_id: 'bad', status: 'failed', error: { type: 'template_error' } });
  const caught = chain({
    id: 'call',
    type: 'http_request',
    data: { method: 'GET', url: 'https://example.com/{{ now | date: "%H", zone }}' },
  });
  caught.nodes.push({ id: 'sorry', type: 'exit', data: { outcome: '{{ steps.call.error.type }}' } });
  caught.edges.push({ id: 'x', source: 'call', target: 'sorry', source_handle: 'error' } as (typeof caught.edges)[number]);
  const { client } = await newOrganization();
  expect(await dryRun(client, { definition: caught }, { context: { zone: 'Mars/Base' } })).toMatchObject({
    state: 'completed',
    outcome: 'template_error',
  });
});

test('values over 8 KiB are cut in the history and say so, and stay whole in the context', async () => {
  const text = 'x'.repeat(20_000);
  const run = await dryRunOf(
    [
      { id: 'big', type: 'set_context', data: { assign: { text: '{{ given }}' } } },
      { id: 'literal', type: 'set_context', data: { assign: { literal: text } } },
    ],
    { context: { given: text } },
  );
  expect(run.context.text).toBe(text);
  expect(outputOf(run, 'big')).toEqual({
    _cut: expect.stringContaining('characters of JSON'),
    beginning: expect.stringMatching(/^\{"text":"x{4000,}$/),
  });
  const { input } = run.history.find(({ node_id }) => node_id === 'literal')!;
  expect(input._cut).toContain('characters of JSON');
  expect(JSON.stringify(input).length).toBeLessThan(8192);
});

test('the answer of a dry run is limited to 8 MiB of values: later values are left out and marked', async () => {
  const definition = {
    nodes: [
      { id: 'in', type: 'trigger', data: {} },
      { id: 'big', type: 'set_context', data: { assign: { text: 'x'.repeat(4000), count: '{{ count | plus: 1 }}' } } },
      { id: 'pause', type: 'wait', data: { duration: 'PT1S' } },
      { id: 'more', type: 'condition', data: { condition: { field: 'count', operator: 'lt', value: 1200 } } },
    ],
    edges: [
      { id: 'a', source: 'in', target: 'big' },
      { id: 'b', source: 'big', target: 'pause' },
      { id: 'c', source: 'pause', target: 'more' },
      { id: 'd', source: 'more', target: 'big', source_handle: 'true' },
    ],
  };
  const run = await dryRun((await newOrganization()).client, { definition });
  expect(run).toMatchObject({ state: 'completed', context: { count: 1200 } });
  expect(run.history).toHaveLength(3601);
  expect(run.history[1]!.output.text).toHaveLength(4000);
  expect(run.history.at(-1)!.output._cut).toContain('8 MiB');
  expect(JSON.stringify(run.history).length).toBeLessThan(10 * 1024 * 1024);
});

test('steps add at most 256 KiB to the context', async () => {
  const run = await dryRunOf(
    [
      { id: 'much', type: 'set_context', data: { assign: { a: '{{ given }}', b: '{{ given }}' } } },
      { id: 'more', type: 'set_context', data: { assign: { c: '{{ given }}' } } },
    ],
    { context: { given: 'x'.repeat(60_000) } },
  );
  expect(run).toMatchObject({ state: 'failed', error: { node_id: 'more', type: 'context_too_large' } });
});

test('conditions and switches compare what the payload means: numbers, dates, and the keys of long ids as they were sent', async () => {
  const compare = async (operator: string, value: unknown, context: string) => {
    const { client } = await newOrganization();
    const definition = {
      nodes: [
        { id: 'in', type: 'trigger', data: {} },
        { id: 'x', type: 'condition', data: { condition: { field: 'data.x', operator, value } } },
        { id: 'yes', type: 'exit', data: { outcome: 'yes' } },
        { id: 'no', type: 'exit', data: { outcome: 'no' } },
      ],
      edges: [
        { id: 'a', source: 'in', target: 'x' },
        { id: 'b', source: 'x', target: 'yes', source_handle: 'true' },
        { id: 'c', source: 'x', target: 'no', source_handle: 'false' },
      ],
    };
    const { body: workflow } = await client.post('/automation-workflows', { name: 'Journey', definition });
    const { body } = await client.post(`/automation-workflows/${workflow.id}/test`, `{"context":{"x":${context}}}`);
    expect(body.history[1].output.comparisons).toMatchObject([{ field: 'data.x', operator }]);
    return body.outcome;
  };
  expect(await compare('gt', 100, '"150.5"')).toBe('yes');
  expect(await compare('gt', 100, '"99"')).toBe('no');
  expect(await compare('eq', '6012345678901234567', '6012345678901234567')).toBe('yes');
  expect(await compare('eq', '6012345678901234567', '6012345678901234568')).toBe('no');
  expect(await compare('lt', '2026-11-20T12:00:00Z', '"2026-11-20T12:00:00+02:00"')).toBe('yes');
  expect(await compare('in', ['a', 'b'], '"b"')).toBe('yes');
  expect(await compare('not_exists', undefined, 'null')).toBe('yes');
});

test('a switch goes on at the first equal case with numbers as numbers, else at default', async () => {
  const definition = {
    nodes: [
      { id: 'in', type: 'trigger', data: {} },
      {
        id: 's',
        type: 'switch',
        data: {
          value: '{{ tier }}',
          cases: [
            { key: 'one', equals: 1 },
            { key: 'gold', equals: 'gold' },
          ],
        },
      },
      ...['one', 'gold', 'other'].map((outcome) => ({ id: outcome, type: 'exit', data: { outcome } })),
    ],
    edges: [
      { id: 'a', source: 'in', target: 's' },
      { id: 'b', source: 's', target: 'one', source_handle: 'one' },
      { id: 'c', source: 's', target: 'gold', source_handle: 'gold' },
      { id: 'd', source: 's', target: 'other', source_handle: 'default' },
    ],
  };
  const { client } = await newOrganization();
  for (const [tier, outcome] of [
    ['1', 'one'],
    [1, 'one'],
    ['gold', 'gold'],
    ['silver', 'other'],
    [null, 'other'],
  ] as const)
    expect((await dryRun(client, { definition }, { context: { tier } })).outcome).toBe(outcome);
});

test('a split takes the same variant for the same key, whatever the run, and divides keys by weight', async () => {
  const definition = {
    nodes: [
      { id: 'in', type: 'trigger', data: {} },
      {
        id: 's',
        type: 'split',
        data: {
          variants: [
            { key: 'a', weight: 3 },
            { key: 'b', weight: 1 },
          ],
        },
      },
      ...['a', 'b'].map((outcome) => ({ id: outcome, type: 'exit', data: { outcome } })),
    ],
    edges: [
      { id: 'e', source: 'in', target: 's' },
      { id: 'f', source: 's', target: 'a', source_handle: 'a' },
      { id: 'g', source: 's', target: 'b', source_handle: 'b' },
    ],
  };
  const { client } = await newOrganization();
  const { body: workflow } = await client.post('/automation-workflows', {
    name: 'Split',
    definition,
    settings: { entry_key: '{{ data.key }}' },
  });
  const variantOf = async (key: number) =>
    (await client.post(`/automation-workflows/${workflow.id}/test`, { context: { key: `person-${key}` } })).body.outcome;
  const keys = Array.from({ length: 60 }, (_, index) => index);
  const first = await Promise.all(keys.map(variantOf));
  expect(await Promise.all(keys.map(variantOf))).toEqual(first);
  const share = first.filter((variant) => variant === 'a').length;
  expect(share).toBeGreaterThan(33);
  expect(share).toBeLessThan(57);
});

test('set_context keeps types, reads the context as it was before, and payload keys do not shadow the roots', async () => {
  const run = await dryRunOf(
    [
      {
        id: 'set',
        type: 'set_context',
        data: {
          assign: {
            number: '{{ total | times: 2 }}',
            list: '{{ items }}',
            text: 'n: {{ total }}',
            same: '{{ number }}',
            literal: { deep: ['{{ total }}', true, null] },
          },
        },
      },
      {
        id: 'set2',
        type: 'set_context',
        data: { assign: { hidden: '{{ contact }}', whole: '{{ data.contact }}', steps_seen: '{{ steps.set.number }}' } },
      },
    ],
    { context: { total: 21, items: [1, 'b'], number: 'before', contact: 'payload' } },
  );
  expect(run.context).toMatchObject({ number: 42, list: [1, 'b'], text: 'n: 21', same: 'before', literal: { deep: [21, true, null] } });
  expect(run.context).toMatchObject({ hidden: null, whole: 'payload', steps_seen: 42 });
  expect(run.initial_context).toEqual({ total: 21, items: [1, 'b'], number: 'before', contact: 'payload' });
});

const untilOf = (run: Tested, id: string) => outputOf(run, id).until as string;

test('every form of wait sleeps until the right moment in the right zone', async () => {
  const { client } = await newOrganization({ timezone: 'America/New_York' });
  const contact = (await client.post('/contacts', { phone: newPhone(), custom_fields: { timezone: 'Asia/Tokyo' } })).body.id;
  const wait = async (data: Record<string, unknown>, context: Record<string, unknown> = {}) => {
    const definition = chain({ id: 'w', type: 'wait', data });
    const run = await dryRun(client, { definition, settings: { timeout: 'P2Y' } }, { contact_id: contact, context });
    return { run, startedAt: Date.parse(String(run.started_at)) };
  };
  const hourIn = (zone: string, iso: string) =>
    new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit' }).format(new Date(iso));

  const exact = await wait({ duration: '{{ pause }}' }, { pause: 'PT90M' });
  expect(Date.parse(untilOf(exact.run, 'w')) - exact.startedAt).toBe(90 * 60_000);

  for (const [timezone, zone] of [
    [undefined, 'Asia/Tokyo'],
    ['contact', 'Asia/Tokyo'],
    ['organization', 'America/New_York'],
    ['Europe/Berlin', 'Europe/Berlin'],
  ] as const) {
    const { run } = await wait({ time_of_day: '09:30', ...(timezone ? { timezone } : {}) });
    expect(hourIn(zone, untilOf(run, 'w')), String(timezone)).toBe('09:30');
    expect(outputOf(run, 'w')).toMatchObject({ timezone: zone, why: expect.stringContaining(`until 09:30 on any day in ${zone}`) });
  }
  const monday = await wait({ time_of_day: '09:30', days: [0], timezone: 'UTC' });
  expect(new Date(untilOf(monday.run, 'w')).getUTCDay()).toBe(1);

  const days = await wait({ calendar_days: 200, timezone: 'America/New_York' });
  expect(hourIn('America/New_York', untilOf(days.run, 'w'))).toBe(hourIn('America/New_York', String(days.run.started_at)));

  const soon = new Date(Date.now() + 3 * day).toISOString();
  expect(untilOf((await wait({ until: '{{ at }}' }, { at: soon })).run, 'w')).toBe(soon);
  expect(untilOf((await wait({ until: '2027-07-01T09:00', timezone: 'Europe/Berlin' })).run, 'w')).toBe('2027-07-01T07:00:00.000Z');

  const past = { at: '2020-01-01T00:00:00Z' };
  expect((await wait({ until: '{{ at }}' }, past)).run).toMatchObject({ state: 'completed', outcome: 'done' });
  expect((await wait({ until: '{{ at }}', past_due: 'skip' }, past)).run).toMatchObject({ state: 'completed', outcome: 'skipped' });
  expect((await wait({ until: '{{ at }}', past_due: 'fail' }, past)).run).toMatchObject({ state: 'failed', error: { type: 'past_due' } });
  expect((await wait({ until: '{{ at }}' }, { at: 'soon' })).run).toMatchObject({ state: 'failed', error: { type: 'invalid_wait' } });
});

test('a dry run makes a fixed number of D1 calls, however many steps read the contact', async () => {
  const { client } = await newOrganization();
  const contact = (await client.post('/contacts', { phone: newPhone(), first_name: 'Ada' })).body.id;
  const nodes = Array.from({ length: 150 }, (_, index) => ({
    id: `n${index}`,
    type: 'set_context',
    data: { assign: { name: '{{ contact.first_name }}' } },
  }));
  const { body: workflow } = await client.post('/automation-workflows', { name: 'Journey', definition: chain(...nodes) });
  const calls = vi.spyOn(env.DB, 'prepare');
  const { body } = await client.post(`/automation-workflows/${workflow.id}/test`, { contact_id: contact });
  expect(body).toMatchObject({ state: 'completed', context: { name: 'Ada' } });
  expect(calls.mock.calls.length).toBeLessThan(20);
});
