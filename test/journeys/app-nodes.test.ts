// @module-tag soak
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { App } from '../../src/library/connectable-apps.ts';
import { crashBeforeStart } from '../support/background.ts';
import { readCalendarEvent, listIssues, leadRowCount, readPostedMessages, readRowsAfter } from '../support/connected-tools.ts';
import { crashAtCall, evictWhenReached, type CrashPoint } from '../support/crashing-object.ts';
import { connectIntegration, deletedUrl, setAccountStatus, leadsUrl, planFault } from '../support/integrations.ts';
import { createActiveWorkflow, chain, waitForEndedRuns, readEverythingStored, waitForRunState, runStub } from '../support/journeys.ts';
import { newOrganization, type Client } from '../support/organization.ts';
import { stubFetch } from '../support/stub-fetch.ts';
import { realFetch } from '../support/real-fetch.ts';

afterEach(() => vi.restoreAllMocks());

const { COMPOSIO_BASE_URL: broker, COMPOSIO_API_KEY: key } = env as unknown as Record<string, string>;
const channel = 'C0000000001';

type NodeType = 'chatapp_message' | 'tracker_issue' | 'calendar_event' | 'sheet_row';

const appOf: Record<NodeType, App> = {
  chatapp_message: 'chatapp',
  tracker_issue: 'tracker',
  calendar_event: 'calendar',
  sheet_row: 'sheet',
};
const types = Object.keys(appOf) as NodeType[];

const dataOf: Record<NodeType, object> = {
  chatapp_message: { channel, text: 'Lead {{ n }}' },
  tracker_issue: { project: 'OPS', summary: 'Lead {{ n }}' },
  calendar_event: { start: '2026-12-01T10:00:00Z', duration: 'PT30M', summary: 'Lead {{ n }}' },
  sheet_row: { values: { 'Full Name': 'Lead {{ n }}', City: 'Rome' } },
};

const act = (type: NodeType, data: object = {}) => ({ id: 'act', type, data: { ...dataOf[type], ...data } });

/** An organization that has connected the tool of a node type. */
async function organizationWith(type: NodeType, options: { scopes?: string } = {}) {
  const organization = await newOrganization();
  const integration = await connectIntegration(organization.client, appOf[type], options);
  if (type === 'sheet_row') await selectSheet(organization.client, integration.id);
  return { ...organization, integration };
}

async function selectSheet(client: Client, id: number) {
  const selection = { sheet_url: leadsUrl, sheet_name: 'Leads', contact_list_name: 'Leads' };
  expect((await client.post(`/integration/${id}/sheet/select`, selection)).status).toBe(200);
  // Reading into the list calls the provider, too, and is not counted by these tests.
  await vi.waitFor(
    async () => {
      const shown = (await client.get('/integration/')).body.find((one: { id: number }) => one.id === id);
      expect(shown.provider_data.last_sync.status).toBe('completed');
    },
    { timeout: 15_000, interval: 20 },
  );
}

interface Execution {
  context?: object;
  settings?: object;
}

/** Executes a journey with one such node. Returns the ended run with the records of the node. */
async function execute(client: Client, node: object, { context = { n: 1 }, settings = {} }: Execution = {}) {
  const retry = { max_attempts: 2, initial_delay_seconds: 0 };
  const workflow = await createActiveWorkflow(client, { definition: chain(node as never), settings: { retry, ...settings } });
  await client.post(`/automation-workflows/${workflow}/execute`, { context });
  const [run] = await waitForEndedRuns(client, workflow);
  return { run, history: (await historyOf(client, run.id)).filter(({ node_id: id }) => id === 'act') };
}

const historyOf = async (client: Client, run: number): Promise<any[]> =>
  (await client.get(`/automation-workflows/runs/${run}/history`)).body.history;

/** The changes in the tools, a text for each. */
async function done(type: NodeType, organizationId: number, outputs: any[] = []): Promise<string[]> {
  if (type === 'chatapp_message') return (await readPostedMessages(organizationId)).map(({ text }) => text);
  if (type === 'tracker_issue') return (await listIssues(organizationId)).map(({ summary }) => summary);
  if (type === 'sheet_row') return (await readRowsAfter(organizationId, leadRowCount)).map(([name]) => name ?? '');
  const ids = new Set(outputs.map(({ id }) => id as string));
  return Promise.all([...ids].map(async (id) => (await readCalendarEvent(organizationId, id)).summary as string));
}

describe('a node that acts in a connected tool', () => {
  test('posts to a channel, with text of others shown literally', async () => {
    const { client, id } = await organizationWith('chatapp_message');
    const { run } = await execute(client, act('chatapp_message', { text: '<!here> {{ name }}' }), { context: { name: '<!channel> & co' } });
    expect(run.context.steps.act).toEqual({
      channel,
      text: '<!here> &lt;!channel&gt; &amp; co',
      ts: expect.stringMatching(/^\d+\.\d+$/),
    });
    expect(await readPostedMessages(id)).toEqual([{ channel, text: '<!here> &lt;!channel&gt; &amp; co' }]);
  });

  test('posts to the default channel when the node names none, and without a default says how to choose one', async () => {
    const { client, id, integration } = await organizationWith('chatapp_message');
    const node = act('chatapp_message', { channel: null });
    const { run } = await execute(client, node);
    expect(run.error).toMatchObject({
      type: 'no_channel',
      attempt: 1,
      message: expect.stringContaining(`PUT /integration/${integration.id}`),
    });
    await client.put(`/integration/${integration.id}`, { channel });
    expect((await execute(client, node)).run).toMatchObject({ state: 'completed', context: { steps: { act: { channel } } } });
    expect(await readPostedMessages(id)).toHaveLength(1);
  });

  test('makes an issue with its fields, and with the defaults of the integration', async () => {
    const { client, id, integration } = await organizationWith('tracker_issue');
    const data = { description: 'One\n\nTwo', fields: { labels: ['very important'], priority: { name: 'High' } } };
    const { run } = await execute(client, act('tracker_issue', { ...data, project: null }));
    expect(run.error).toMatchObject({ type: 'no_project', message: expect.stringContaining(`PUT /integration/${integration.id}`) });
    await client.put(`/integration/${integration.id}`, { project: 'OPS' });
    const made = await execute(client, act('tracker_issue', { ...data, project: null }));
    expect(made.run.context.steps.act).toMatchObject({ key: 'OPS-1', url: 'https://acme.atlassian.net/browse/OPS-1', summary: 'Lead 1' });
    expect(await listIssues(id)).toMatchObject([
      {
        summary: 'Lead 1',
        issuetype: { name: 'Task' },
        priority: { name: 'High' },
        labels: ['very-important', expect.stringMatching(/^va-[0-9a-f]{32}$/)],
        description: { content: [{ type: 'paragraph' }, { type: 'paragraph' }] },
      },
    ]);
  });

  test('creates an event with guests', async () => {
    const { client, id } = await organizationWith('calendar_event');
    const { run } = await execute(client, act('calendar_event', { attendees: ['ada@example.com'], location: 'Rome' }));
    const { act: output } = run.context.steps;
    expect(output).toMatchObject({ url: expect.stringMatching(/^https:/), isNew: true, start: '2026-12-01T10:00:00.000Z' });
    expect(await readCalendarEvent(id, output.id)).toMatchObject({
      summary: 'Lead 1',
      location: 'Rome',
      start: { dateTime: '2026-12-01T10:00:00.000Z', timeZone: 'UTC' },
      end: { dateTime: '2026-12-01T10:30:00.000Z' },
      attendees: [{ email: 'ada@example.com' }],
    });
  });

  test('adds a row by the headers of the sheet, as text', async () => {
    const { client, id, integration } = await organizationWith('sheet_row');
    const values = { 'Mobile  No.': '{{ phone }}', Company: '=1+1' };
    const { run } = await execute(client, act('sheet_row', { integration_id: integration.id, values }), {
      context: { phone: '+12125550100' },
    });
    expect(run.context.steps.act).toMatchObject({ sheet: 'Leads', row: leadRowCount + 1, isNew: true });
    expect(await readRowsAfter(id, leadRowCount)).toEqual([['', '+12125550100', '', '=1+1']]);
  });

  test('adds no row for a column that the sheet does not have, and names those that it has', async () => {
    const { client, id } = await organizationWith('sheet_row');
    const { run } = await execute(client, act('sheet_row', { values: { Phone: '1' } }));
    expect(run.error).toMatchObject({ type: 'unknown_column', attempt: 1, message: expect.stringMatching(/"Phone".*"Mobile No\."/) });
    expect(await readRowsAfter(id, leadRowCount)).toEqual([]);
  });

  test.each(types)('%s does nothing in a dry run and shows what it would do', async (type) => {
    const { client, id } = await organizationWith(type);
    const { body } = await client.post('/automation-workflows', { name: 'Draft', definition: chain(act(type)) });
    const tried = (await client.post(`/automation-workflows/${body.id}/test`, { context: { n: 1 } })).body;
    expect(tried).toMatchObject({ state: 'completed' });
    expect(tried.history[1]).toMatchObject({ status: 'simulated', output: { simulated: true } });
    expect(JSON.stringify(tried.history[1].output)).toContain('Lead 1');
    expect(await done(type, id)).toEqual([]);
  });
});

describe('a node whose tool cannot act', () => {
  test.each(types)('%s says that nothing is connected, and how to do so', async (type) => {
    const { client } = await newOrganization();
    const { run } = await execute(client, act(type));
    expect(run.error).toMatchObject({
      node_id: 'act',
      type: 'not_connected',
      attempt: 1,
      message: expect.stringContaining('POST /integration/connect'),
    });
  });

  test.each(types)('%s says that the grant has ended, and the integration does so, too', async (type) => {
    const { client, integration } = await organizationWith(type);
    await setAccountStatus(integration.integration_id, 'EXPIRED');
    const { run, history } = await execute(client, act(type));
    expect(run.error).toMatchObject({ type: 'not_connected', attempt: 1, message: expect.stringContaining('connect it again') });
    expect(history).toHaveLength(1);
    const { body } = await client.get('/integration/');
    expect(body).toMatchObject([{ id: integration.id, is_active: false, last_error: expect.any(String) }]);
    const again = await execute(client, act(type));
    expect(again.run.error).toMatchObject({ type: 'not_connected', attempt: 1 });
  });

  test.each<[NodeType, string, string]>([
    ['chatapp_message', 'channels:read', 'chat:write'],
    ['tracker_issue', 'read:jira-work', 'scope'],
    ['calendar_event', 'calendar.readonly', 'scope'],
  ])('%s says which permission is missing, and is not tried again', async (type, scopes, named) => {
    const { client } = await organizationWith(type, { scopes });
    const { run } = await execute(client, act(type));
    expect(run.error).toMatchObject({
      type: 'insufficient_permissions',
      attempt: 1,
      message: expect.stringMatching(new RegExp(`${named}.*connect it again`)),
    });
  });

  test.each<[NodeType, object, RegExp]>([
    ['chatapp_message', { channel: 'C9999999999' }, /no such channel/],
    ['tracker_issue', { project: 'NOPE' }, /valid project is required/],
    ['calendar_event', { calendar_id: 'nobody@example.com' }, /Not Found/],
  ])('%s says why the provider refuses, and takes the error edge', async (type, data, words) => {
    const { client } = await organizationWith(type);
    const definition = chain(act(type, data));
    definition.nodes.push({
      id: 'sorry',
      type: 'exit',
      data: { outcome: '{{ steps.act.error.type }}: {{ steps.act.error.message }}' },
    } as never);
    definition.edges.push({ id: 'no', source: 'act', target: 'sorry', source_handle: 'error' } as never);
    const workflow = await createActiveWorkflow(client, { definition });
    await client.post(`/automation-workflows/${workflow}/execute`, { context: { n: 1 } });
    const [run] = await waitForEndedRuns(client, workflow);
    expect(run.outcome).toMatch(/^rejected: /);
    expect(run.outcome).toMatch(words);
  });

  test('a sheet that was deleted or is in the bin is named', async () => {
    const { client, integration } = await organizationWith('sheet_row');
    const select = (sheetUrl: string) =>
      env.DB.prepare(`UPDATE integration SET provider_data = json_set(provider_data, '$.sheet_url', ?) WHERE id = ?`)
        .bind(sheetUrl, integration.id)
        .run();
    await select(deletedUrl);
    expect((await execute(client, act('sheet_row'))).run.error).toMatchObject({ type: 'rejected', attempt: 1 });
    await env.DB.prepare(`UPDATE integration SET provider_data = '{}' WHERE id = ?`).bind(integration.id).run();
    expect((await execute(client, act('sheet_row'))).run.error).toMatchObject({
      type: 'no_sheet',
      message: expect.stringContaining(`/integration/${integration.id}/sheet/select`),
    });
  });

  test('a sheet that was disconnected since the journey went active is reported', async () => {
    const { client, integration } = await organizationWith('sheet_row');
    const workflow = await createActiveWorkflow(client, { definition: chain(act('sheet_row', { integration_id: integration.id })) });
    await client.post(`/integration/${integration.id}/disconnect`);
    await client.post(`/automation-workflows/${workflow}/execute`, { context: { n: 1 } });
    const [run] = await waitForEndedRuns(client, workflow);
    expect(run.error).toMatchObject({ type: 'not_connected', message: expect.stringContaining(`no integration ${integration.id}`) });
  });

  test.each(types)('%s waits out a rate limit, and then acts once', async (type) => {
    const { client, id } = await organizationWith(type);
    const provider = { chatapp: 'slack', tracker: 'jira', calendar: 'googlecalendar', sheet: 'googlesheets' }[appOf[type] as 'chatapp'];
    await planFault({
      provider,
      match: { method: 'POST' },
      times: type === 'calendar_event' ? 3 : 1,
      status: 429,
      headers: { 'retry-after': '1' },
    });
    const { run, history } = await execute(client, act(type));
    expect(run).toMatchObject({ state: 'completed', error: null });
    expect(history.map(({ status, error }) => error?.type ?? status)).toEqual(['rate_limited', 'completed']);
    expect(await done(type, id, [run.context.steps.act])).toEqual(['Lead 1']);
  });

  test("the broker's key is shown nowhere, even if the provider repeats it", async () => {
    const lines: string[] = [];
    for (const level of ['log', 'info', 'warn', 'error', 'debug'] as const)
      vi.spyOn(console, level).mockImplementation((...values) => void lines.push(values.map(String).join(' ')));
    const { client, id, integration } = await organizationWith('chatapp_message');
    proxied(integration.integration_id, () =>
      Response.json({ error: { message: `Bad key ${key}`, code: 1, slug: 'x', status: 401 } }, { status: 401 }),
    );
    const { run, history } = await execute(client, act('chatapp_message'));
    const texts =
      JSON.stringify([run, history, lines, (await client.get('/integration/')).body]) + (await readEverythingStored(id, run.id));
    expect(texts).toContain('failed');
    expect(texts).not.toContain(key);
  });
});

describe('the definition of such a node', () => {
  test('names a sheet integration of this organization', async () => {
    const { client, integration } = await organizationWith('sheet_row');
    const { integration: theirs } = await organizationWith('sheet_row');
    const chat = await connectIntegration(client, 'chatapp');
    const errorsOf = async (integration_id: number) => {
      const { body } = await client.post('/automation-workflows', {
        name: 'Draft',
        definition: chain(act('sheet_row', { integration_id })),
      });
      return (await client.post(`/automation-workflows/${body.id}/validate`, {})).body.errors;
    };
    expect(await errorsOf(integration.id)).toEqual([]);
    for (const wrong of [theirs.id, chat.id, 999_999_999])
      expect(await errorsOf(wrong)).toEqual([
        {
          loc: ['body', 'definition', 'nodes', 'act', 'data', 'integration_id'],
          msg: `There is no sheet integration ${wrong} in this organization; name one of GET /integration/`,
          type: 'not_found',
        },
      ]);
  });

  test('is refused with the place of the fault', async () => {
    const { client } = await newOrganization();
    const nodes = [act('chatapp_message', { text: '' }), { ...act('tracker_issue', { summary: '{{ x' }), id: 'issue' }];
    const { body } = await client.post('/automation-workflows', { name: 'Draft', definition: chain(...nodes) });
    const answer = await client.patch(`/automation-workflows/${body.id}`, { status: 'active' });
    expect(answer.status).toBe(422);
    expect(answer.body.detail.map(({ loc }: { loc: string[] }) => loc.join('.'))).toEqual([
      'body.definition.nodes.act.data.text',
      'body.definition.nodes.issue.data.summary',
    ]);
  });
});

type Between = (request: Request) => Response | Promise<Response>;

/** Answers the requests for each of these connected accounts in place of the broker. */
const proxiedAll = (answers: ReadonlyMap<string, Between>): void =>
  void stubFetch(`${broker}/tools/execute/proxy`, async (request) => {
    const { connected_account_id: account } = (await request.clone().json()) as { connected_account_id: string };
    return (answers.get(account) ?? realFetch)(request);
  });

const proxied = (accountId: string, answer: Between): void => proxiedAll(new Map([[accountId, answer]]));

/** The answer of the provider to the n-th request that changes something is lost: it was done. */
function losingAnswers(accountId: string, isLost: (count: number) => boolean): void {
  let count = 0;
  proxied(accountId, async (request) => {
    const { method } = (await request.clone().json()) as { method: string };
    const answer = await realFetch(request);
    if (method === 'GET' || !isLost(++count)) return answer;
    await answer.text();
    throw new TypeError('the connection was lost');
  });
}

describe('a lost answer', () => {
  test.each(types)('to %s does not repeat the act', async (type) => {
    const { client, id, integration } = await organizationWith(type);
    losingAnswers(integration.integration_id, (count) => count === 1);
    const { run } = await execute(client, act(type));
    if (type === 'chatapp_message')
      expect(run.error).toMatchObject({ type: 'unknown', attempt: 1, message: expect.stringContaining('not done again') });
    else expect(run).toMatchObject({ state: 'completed', error: null });
    expect(await done(type, id, [run.context.steps.act])).toEqual(['Lead 1']);
  });

  test('about a row that exists several times is unknown, and the row is not added again', async () => {
    const { client, id, integration } = await organizationWith('sheet_row');
    await execute(client, act('sheet_row'));
    losingAnswers(integration.integration_id, (count) => count === 1);
    const { run } = await execute(client, act('sheet_row'));
    expect(run.error).toMatchObject({ type: 'unknown', attempt: 2, message: expect.stringMatching(/122, 123.*look at the sheet/) });
    expect(await done('sheet_row', id)).toEqual(['Lead 1', 'Lead 1']);
  });

  test('about a row that was not added makes the next try add it', async () => {
    const { client, id, integration } = await organizationWith('sheet_row');
    let isLost = true;
    proxied(integration.integration_id, async (request) => {
      const { method } = (await request.clone().json()) as { method: string };
      if (method === 'GET' || !isLost) return realFetch(request);
      isLost = false;
      throw new TypeError('the connection was lost');
    });
    expect((await execute(client, act('sheet_row'))).run).toMatchObject({ state: 'completed' });
    expect(await done('sheet_row', id)).toEqual(['Lead 1']);
  });
});

/** More calls than such a run makes, so that the last case runs undisturbed. */
const callsOfARun: Record<NodeType, number> = { chatapp_message: 12, tracker_issue: 13, calendar_event: 12, sheet_row: 15 };

describe.each(types)('a run at %s', (type) => {
  test.each<CrashPoint>(['before', 'after', 'during'])(
    'that dies at any of its calls (%s) acts once',
    async (moment) => {
      vi.spyOn(console, 'log').mockReturnValue();
      const cases = await dyingRuns(type, callsOfARun[type]);
      const answers = new Map<string, Between>();
      proxiedAll(answers);
      const ends = await Promise.all(
        cases.map(async ({ client, id, run, account }, index) => {
          const stub = runStub(id, run);
          const watch = await crashAtCall(stub, index + 1, moment);
          answers.set(account, (request) => (watch.died ? realFetch(request) : watch.watched(() => realFetch(request))));
          const start = () => runStub(id, run).start(id, run);
          const started = start().catch(() => undefined);
          if (moment === 'during') await evictWhenReached(watch, stub);
          await started;
          const ended = await vi.waitFor(
            async () => {
              if (watch.died) await start();
              const { body } = await client.get(`/automation-workflows/runs/${run}`);
              expect(['completed', 'failed'], `call ${index + 1}`).toContain(body.state);
              return body;
            },
            { timeout: 25_000, interval: 100 },
          );
          const outputs = ended.state === 'completed' ? [ended.context.steps.act] : [];
          return { died: watch.died, error: ended.error?.type ?? null, made: await done(type, id, outputs) };
        }),
      );
      for (const [index, { error, made }] of ends.entries()) {
        // Nobody can find out afterwards whether a message was posted, so the message may be missing when the run reports that.
        if (type === 'chatapp_message' && error === 'unknown') expect(made.length, `call ${index + 1}`).toBeLessThanOrEqual(1);
        else expect({ error, made }, `call ${index + 1}`).toEqual({ error: null, made: ['Lead 1'] });
      }
      expect(ends.filter(({ error }) => error !== null).length).toBeLessThanOrEqual(moment === 'during' ? 0 : 4);
      expect(ends.filter(({ died }) => died).length).toBeGreaterThan(5);
      expect(ends.at(-1)!.died).toBe(false);
    },
    60_000,
  );
});

/** Runs, each of an organization of its own, whose objects have not been started yet. */
async function dyingRuns(type: NodeType, count: number) {
  const journeys = await Promise.all(
    Array.from({ length: count }, async () => {
      const { client, id, integration } = await organizationWith(type);
      const workflow = await createActiveWorkflow(client, {
        definition: chain(act(type)),
        settings: { retry: { initial_delay_seconds: 0 } },
      });
      return { client, id, workflow, account: integration.integration_id as string };
    }),
  );
  const begin = async ({ client, workflow }: { client: Client; workflow: number }): Promise<number> =>
    (await client.post(`/automation-workflows/${workflow}/execute`, { context: { n: 1 } })).body.id;
  const runs = await crashBeforeStart(() => Promise.all(journeys.map(begin)));
  return journeys.map((journey, index) => ({ ...journey, run: runs[index]! }));
}

test('two runs with the same request act twice', async () => {
  for (const type of types) {
    const { client, id } = await organizationWith(type);
    const runs = [await execute(client, act(type)), await execute(client, act(type))];
    const outputs = runs.map(({ run }) => run.context.steps.act);
    expect(await done(type, id, outputs), type).toEqual(['Lead 1', 'Lead 1']);
  }
});

test('a paused journey does nothing in a tool until it is resumed', async () => {
  const { client, id } = await organizationWith('chatapp_message');
  const definition = chain({ id: 'nap', type: 'wait', data: { duration: 'PT1S' } }, act('chatapp_message'));
  const workflow = await createActiveWorkflow(client, { definition });
  const { body } = await client.post(`/automation-workflows/${workflow}/execute`, { context: { n: 1 } });
  await client.patch(`/automation-workflows/${workflow}`, { status: 'paused' });
  await vi.waitFor(async () => expect((await client.get(`/automation-workflows/runs/${body.id}`)).body.hold).toBe('paused'), {
    timeout: 10_000,
  });
  expect(await readPostedMessages(id)).toEqual([]);
  await client.patch(`/automation-workflows/${workflow}`, { status: 'active' });
  await waitForRunState(client, body.id, 'completed');
  expect(await readPostedMessages(id)).toHaveLength(1);
});
