import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { deliver, tickAt } from '../support/background.ts';
import { faultyDatabase, type DatabaseFault } from '../support/faulty-database.ts';
import { chain, createActiveWorkflow, runStub, waitForEndedRuns, waitForRunState, type WorkflowOptions } from '../support/journeys.ts';
import { newOrganization, newPhone } from '../support/organization.ts';
import { ownRows } from '../support/own-rows.ts';
import { recordedDatabase, type Recording } from '../support/recorded-database.ts';

// Runs whose steps only decide are completed by the consumer that starts them.

beforeEach(() => void vi.spyOn(env.EVENTS_QUEUE, 'send').mockResolvedValue(undefined as never));
afterEach(() => vi.restoreAllMocks());

const onOrder = { type: 'contact_event', config: { event_types: ['ordered'] } };

/** Greets the contact, and decides by the order's total. */
const deciding = {
  nodes: [
    { id: 'in', type: 'trigger' },
    { id: 'greet', type: 'set_context', data: { assign: { greeting: 'Hello {{ contact.first_name }}' } } },
    { id: 'large', type: 'condition', data: { condition: { field: 'event.data.total', operator: 'gt', value: 100 } } },
    { id: 'big', type: 'exit', data: { outcome: 'large' } },
    { id: 'small', type: 'exit', data: { outcome: 'small' } },
  ],
  edges: [
    { id: 'a', source: 'in', target: 'greet' },
    { id: 'b', source: 'greet', target: 'large' },
    { id: 'c', source: 'large', source_handle: 'true', target: 'big' },
    { id: 'd', source: 'large', source_handle: 'false', target: 'small' },
  ],
};

/** An organization with a journey on `ordered`, and messages of orders with these totals, which the test delivers. */
async function orders(totals: number[], options: WorkflowOptions = {}) {
  const { client, id } = await newOrganization();
  const contact = (await client.post('/contacts', { phone: newPhone(), first_name: 'Ada' })).body;
  const workflow = await createActiveWorkflow(client, { definition: deciding, trigger: onOrder, ...options });
  const messages: object[] = [];
  for (const total of totals) {
    const { body } = await client.post('/events', { event_type: 'ordered', phone: contact.phone, data: { total } });
    messages.push({ v: 1, kind: 'event', organization_id: id, id: body.event_id });
  }
  return { client, id, workflow, messages, contact };
}

/** The database of the shard of new organizations, under the name by which `bindings` have it. */
const withDatabase = (replace: (real: D1Database) => D1Database): Env =>
  new Proxy(env, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      return value === ownRows ? replace(ownRows) : value;
    },
  });

const startedObjects = (id: number): string[] =>
  vi
    .mocked(env.AUTOMATION_RUN.getByName)
    .mock.calls.map(([name]) => name as string)
    .filter((name) => name.startsWith(`${id}/`));

const watchObjects = () => vi.spyOn(env.AUTOMATION_RUN, 'getByName');

type Orders = Awaited<ReturnType<typeof orders>>;
const runsOf = async ({ client, workflow }: Orders): Promise<any[]> =>
  (await client.get(`/automation-workflows/${workflow}/runs`)).body.runs;
const stepsOf = async ({ client }: Orders, run: number) =>
  (await client.get(`/automation-workflows/runs/${run}/history`)).body.history.map(
    (record: { node_id: string; status: string }) => `${record.node_id} ${record.status}`,
  );

test('a batch of runs that only decide is completed by one write, without an object, and shows everything', async () => {
  const given = await orders([20, 400, 150]);
  watchObjects();
  const recording: Recording = { statements: [], calls: 0 };
  await deliver(
    'events',
    given.messages,
    withDatabase((real) => recordedDatabase(real, recording)),
  );
  expect(startedObjects(given.id)).toEqual([]);
  expect(recording.statements.filter(({ sql }) => sql.startsWith('UPDATE automation_run'))).toHaveLength(1);
  const runs = await runsOf(given);
  expect(runs.map(({ state, outcome }) => `${state} ${outcome}`).toSorted()).toEqual([
    'completed large',
    'completed large',
    'completed small',
  ]);
  for (const run of runs) {
    const record = (await given.client.get(`/automation-workflows/runs/${run.id}`)).body;
    expect(record).toMatchObject({ context: { greeting: 'Hello Ada' }, error: null, trouble: null });
    const node = run.outcome === 'small' ? 'small' : 'big';
    expect(record.current_node_id).toBe(node);
    expect(await stepsOf(given, run.id)).toEqual(['in', 'greet', 'large', node].map((step) => `${step} completed`));
  }
});

test('a run that is completed at once has the record and the history of one that its object completes', async () => {
  const given = await orders([400]);
  await deliver('events', given.messages);
  const [atOnce] = await runsOf(given);
  const { body } = await given.client.get(`/automation-workflows/runs/${atOnce.id}`);
  // The same run as its object finds it, when whoever inserted the row has died.
  await ownRows
    .prepare(
      `UPDATE automation_run SET state = 'queued', revision = 0, completed_at = NULL, started_at = NULL, outcome = NULL, current_node_id = NULL,
       context_changes = NULL, history = NULL, wake_at = created_at WHERE id = ?`,
    )
    .bind(atOnce.id)
    .run();
  const before = (await given.client.get(`/automation-workflows/runs/${atOnce.id}`)).body;
  expect(before.state).toBe('queued');
  await runStub(given.id, atOnce.id).start(given.id, atOnce.id);
  const again = await waitForRunState(given.client, atOnce.id, 'completed');
  const timeless = ({ started_at: _started, completed_at: _completed, duration_ms: _duration, ...record }: any) => record;
  expect(timeless(again)).toEqual(timeless(body));
  expect(await stepsOf(given, atOnce.id)).toEqual(['in', 'greet', 'large', 'big'].map((step) => `${step} completed`));
});

test.each<[string, WorkflowOptions, string[]]>([
  ['has an effect', { definition: chain({ id: 'say', type: 'emit_event', data: { event_type: 'said' } }) }, ['in', 'say', 'out']],
  ['waits', { definition: chain({ id: 'nap', type: 'wait', data: { duration: 'PT0.1S' } }) }, ['in', 'nap', 'out']],
  ['may be one of few', { definition: chain(), settings: { max_active_runs: 5 } }, ['in', 'out']],
  [
    'may be ended by an event',
    {
      definition: chain(),
      settings: { exit_on: [{ event_type: 'cancelled', match: { field: 'data.order', value: '{{ event.data.order }}' } }] },
    },
    ['in', 'out'],
  ],
  [
    'takes many steps',
    {
      definition: chain(
        ...Array.from({ length: 60 }, (_, index) => ({ id: `s${index}`, type: 'set_context', data: { assign: { [`v${index}`]: '1' } } })),
      ),
    },
    ['in', ...Array.from({ length: 60 }, (_, index) => `s${index}`), 'out'],
  ],
])('a run that %s has its object, and takes each step once', async (_name, options, nodes) => {
  const given = await orders([400], options);
  watchObjects();
  await deliver('events', given.messages);
  const [run] = await waitForEndedRuns(given.client, given.workflow, 1);
  expect(startedObjects(given.id)).not.toEqual([]);
  expect(run.state).toBe('completed');
  const steps = (await given.client.get(`/automation-workflows/runs/${run.id}/history?limit=200`)).body.history;
  expect(steps.map((record: { node_id: string }) => record.node_id)).toEqual(nodes);
});

test('a run whose step fails is failed by its object, and can be retried', async () => {
  const endless = '{% for i in (1..1000000) %}{% for j in (1..1000000) %}{{ i }}{% endfor %}{% endfor %}';
  const definition = chain({ id: 'much', type: 'set_context', data: { assign: { much: endless } } });
  const given = await orders([400], { definition, settings: { retry: { max_attempts: 1 } } });
  await deliver('events', given.messages);
  const [run] = await waitForEndedRuns(given.client, given.workflow, 1);
  expect(run.state).toBe('failed');
  expect(await stepsOf(given, run.id)).toEqual(['in completed', 'much failed']);
  expect((await given.client.post(`/automation-workflows/runs/${run.id}/retry`)).status).toBe(200);
});

test('the end of a run starts the journeys that listen to it', async () => {
  const given = await orders([400]);
  const filter = { field: 'data.outcome', operator: 'eq', value: 'large' };
  const trigger = { type: 'event', config: { event: 'run.completed', filter } };
  const listener = await createActiveWorkflow(given.client, { definition: chain(), trigger });
  vi.restoreAllMocks();
  await deliver('events', given.messages);
  await waitForEndedRuns(given.client, given.workflow, 1);
  await waitForEndedRuns(given.client, listener, 1);
});

test('a run that is stopped before its end is written stays stopped', async () => {
  const given = await orders([400]);
  const stopped: Promise<unknown>[] = [];
  const recording: Recording = { statements: [], calls: 0 };
  const stopFirst = async (sql: string[]) => {
    if (!sql[0]!.startsWith('UPDATE automation_run') || stopped.length > 0) return;
    const [run] = await runsOf(given);
    stopped.push(given.client.post(`/automation-workflows/runs/${run.id}/stop`));
    expect(await stopped[0]).toMatchObject({ status: 200, body: { state: 'cancelled' } });
  };
  await deliver(
    'events',
    given.messages,
    withDatabase((real) => recordedDatabase(real, recording, stopFirst)),
  );
  expect(stopped).toHaveLength(1);
  expect(await runsOf(given)).toMatchObject([{ state: 'cancelled', outcome: null }]);
});

test('a message that comes twice at a time completes its run once', async () => {
  const given = await orders([20, 400]);
  await Promise.all([deliver('events', given.messages), deliver('events', given.messages), deliver('events', given.messages)]);
  const runs = await waitForEndedRuns(given.client, given.workflow, 2);
  for (const run of runs) expect(await stepsOf(given, run.id)).toHaveLength(4);
});

/** A database whose `at`-th call from now fails, and all after it, as those of a consumer that dies there. */
function dyingDatabase(at: number, fault: DatabaseFault): { bindings: Env; calls: () => number } {
  let calls = 0;
  const bindings = withDatabase((real) => faultyDatabase(real, () => (++calls < at ? null : calls === at ? fault : 'refused')));
  return { bindings, calls: () => calls };
}

for (const fault of ['refused', 'lost'] as const)
  test(`a consumer whose calls to the database are ${fault} from any on leaves runs that come to one end`, { tags: 'soak' }, async () => {
    for (let at = 1; at <= 8; at++) {
      const given = await orders([20, 400]);
      const { bindings } = dyingDatabase(at, fault);
      const away = watchObjects().mockImplementation(() => {
        throw new Error('the isolate died');
      });
      await deliver('events', given.messages, bindings).catch(() => undefined);
      away.mockRestore();
      await deliver('events', given.messages);
      await tickAt(Date.now() + 180_000);
      const runs = await waitForEndedRuns(given.client, given.workflow, 2);
      expect(runs.map(({ outcome }) => outcome).toSorted()).toEqual(['large', 'small']);
      for (const run of runs) expect(await stepsOf(given, run.id)).toHaveLength(4);
    }
  });
