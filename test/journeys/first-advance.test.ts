import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { crashBeforeStart, tickAt } from '../support/background.ts';
import { countWrites } from '../support/count-writes.ts';
import { crashAtCall, evictWhenReached, type CrashPoint } from '../support/crashing-object.ts';
import { chain, createActiveWorkflow, runStub, waitForEndedRuns, waitForRunState } from '../support/journeys.ts';
import { newOrganization, newPhone } from '../support/organization.ts';
import { stubFetch } from '../support/stub-fetch.ts';
import { storedRun } from '../support/stored-run.ts';

afterEach(() => vi.restoreAllMocks());

const shop = 'https://shop.example.com/';

/** Decides by the contact, computes, and ends: nothing that could be lost or repeated. */
const pure = {
  nodes: [
    { id: 'in', type: 'trigger' },
    { id: 'greet', type: 'set_context', data: { assign: { greeting: 'Hello {{ contact.first_name }}' } } },
    { id: 'known', type: 'condition', data: { condition: { field: 'contact.first_name', operator: 'eq', value: 'Ada' } } },
    { id: 'out', type: 'exit', data: { outcome: 'ada' } },
  ],
  edges: [
    { id: 'a', source: 'in', target: 'greet' },
    { id: 'b', source: 'greet', target: 'known' },
    { id: 'c', source: 'known', source_handle: 'true', target: 'out' },
  ],
};
const pureSteps = ['in completed', 'greet completed', 'known completed', 'out completed'];

const acting = chain(
  { id: 'contact', type: 'update_contact', data: { add_tags: ['seen'] } },
  { id: 'call', type: 'http_request', data: { method: 'POST', url: shop, body: { run: '{{ run.id }}' } } },
  { id: 'note', type: 'set_context', data: { assign: { status: '{{ steps.call.status }}' } } },
);

/** A run whose row is written and whose object has not begun. */
async function unstartedRun(definition: unknown, settings: object = {}) {
  const { client, id } = await newOrganization();
  const contact = (await client.post('/contacts', { phone: newPhone(), first_name: 'Ada' })).body.id as number;
  const workflow = await createActiveWorkflow(client, { definition, settings });
  const { body } = await crashBeforeStart(() =>
    client.post(`/automation-workflows/${workflow}/execute`, { context: {}, contact_id: contact }),
  );
  const run = body.id as number;
  const stub = () => runStub(id, run);
  return { client, id, contact, workflow, run, stub, start: () => stub().start(id, run) };
}

type NewRun = Awaited<ReturnType<typeof unstartedRun>>;

const stepsOf = async ({ client, run }: NewRun) =>
  (await client.get(`/automation-workflows/runs/${run}/history`)).body.history.map(
    (record: { node_id: string; status: string }) => `${record.node_id} ${record.status}`,
  );

/** The state in the row, which is read without the object. */
const rowOf = async ({ run }: NewRun) => (await env.DB.prepare('SELECT * FROM automation_run WHERE id = ?').bind(run).first<any>())!;
const rowHasEnded = (run: NewRun) => vi.waitFor(async () => expect((await rowOf(run)).completed_at).not.toBeNull());

const tablesOf = ({ stub }: NewRun) =>
  runInDurableObject(stub(), (_instance, { storage }) =>
    storage.sql
      .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'")
      .toArray()
      .map(({ name }) => name),
  );

/** The rows that a run's object writes from its start to its end. */
async function rowsOf(run: NewRun): Promise<number> {
  const written = await countWrites((look) => runInDurableObject(run.stub(), look as never));
  await run.start();
  await rowHasEnded(run);
  await vi.waitFor(async () => expect(await tablesOf(run)).toEqual([]));
  return written().object;
}

test('a run of steps that can be taken again writes no row in its object, and its end shows everything', async () => {
  const run = await unstartedRun(pure);
  expect(await rowsOf(run)).toBe(0);
  expect(await waitForRunState(run.client, run.run, 'completed')).toMatchObject({ outcome: 'ada', context: { greeting: 'Hello Ada' } });
  expect(await stepsOf(run)).toEqual(pureSteps);
  expect(await run.start()).toBe('ended');
});

test('a run writes a row for the intent and the result of a request, and none for a change of its contact', async () => {
  stubFetch(shop, () => Response.json({ ok: true }));
  const run = await unstartedRun(acting);
  const rows = await rowsOf(run);
  expect(rows).toBeLessThanOrEqual(5);
  expect(await stepsOf(run)).toEqual(['in', 'contact', 'call', 'note', 'out'].map((node) => `${node} completed`));
});

/** Runs of a journey of which each is to die at another of its calls, all at their end; `died`: whether each did. */
async function dieAtEachCall(definition: unknown, calls: number, moment: CrashPoint): Promise<{ runs: NewRun[]; died: boolean[] }> {
  const runs: NewRun[] = [];
  for (let index = 0; index < calls; index++) runs.push(await unstartedRun(definition));
  const deaths = await Promise.all(
    runs.map(async (run, index) => {
      const watch = await crashAtCall(run.stub(), index + 1, moment);
      const started = run.start().catch(() => undefined);
      if (moment === 'during') await evictWhenReached(watch, run.stub());
      await started;
      return watch;
    }),
  );
  await vi.waitFor(
    async () => {
      await tickAt(Date.now() + 300_000);
      for (const run of runs) expect((await rowOf(run)).state).toBe('completed');
    },
    { timeout: 25_000, interval: 200 },
  );
  return { runs, died: deaths.map((watch) => watch.died) };
}

/** Effects of the database alone. The second journey decides by the contact that it changes, so its effects are recorded. */
const writing = [
  { id: 'rename', type: 'update_contact', data: { set: { first_name: 'Grace' } } },
  { id: 'say', type: 'emit_event', data: { event_type: 'said', data: { run: '{{ run.id }}' } } },
  { id: 'out', type: 'exit', data: { outcome: 'ada' } },
];
const deciding = [pure.nodes[2]!, ...writing];
/** Decides by what its effect answers, which is another the second time. */
const listing = [
  { id: 'list', type: 'list_membership', data: { add: ['Seen'] } },
  { id: 'new', type: 'condition', data: { condition: { field: 'steps.list.added', operator: 'contains', value: 'Seen' } } },
  ...writing,
];
const toJourney = (nodes: { id: string; type: string; data?: object }[]) => ({
  nodes: [{ id: 'in', type: 'trigger' }, ...nodes],
  edges: nodes.map(({ id }, index) => ({
    id: `e${index}`,
    source: nodes[index - 1]?.id ?? 'in',
    target: id,
    ...(nodes[index - 1]?.type === 'condition' && { source_handle: 'true' }),
  })),
});

test('a run whose effects are all in the database writes no row in its object', async () => {
  const run = await unstartedRun(toJourney(writing));
  expect(await rowsOf(run)).toBe(0);
  expect(await stepsOf(run)).toEqual(['in', 'rename', 'say', 'out'].map((node) => `${node} completed`));
});

for (const [name, nodes] of Object.entries({
  'changes its contact': writing,
  'decides by the contact that it changes': deciding,
}))
  for (const moment of ['before', 'after', 'during'] as CrashPoint[])
    test(`a run that ${name} and dies ${moment} any of its calls does everything once`, { tags: 'soak' }, async () => {
      const { runs, died } = await dieAtEachCall(toJourney(nodes), 9, moment);
      for (const run of runs) {
        expect(await stepsOf(run)).toEqual(['in', ...nodes.map(({ id }) => id)].map((node) => `${node} completed`));
        expect((await rowOf(run)).outcome).toBe('ada');
        expect((await run.client.get(`/contacts/${run.contact}`)).body.first_name).toBe('Grace');
        expect((await run.client.get('/events?event_type=said')).body.total).toBe(1);
        const { revision } = (await env.DB.prepare('SELECT revision FROM contact WHERE id = ?').bind(run.contact).first<any>())!;
        expect(revision).toBe(2);
      }
      expect(died.filter(Boolean).length).toBeGreaterThan(3);
    });

for (const moment of ['before', 'after', 'during'] as CrashPoint[])
  test(`a run that dies ${moment} any of its calls goes one way by what its effect answered`, { tags: 'soak' }, async () => {
    const { runs, died } = await dieAtEachCall(toJourney(listing), 9, moment);
    for (const run of runs) {
      const steps = await stepsOf(run);
      const isRenamed = (await run.client.get(`/contacts/${run.contact}`)).body.first_name === 'Grace';
      const said = (await run.client.get('/events?event_type=said')).body.total;
      // Who died between the effect and its record is answered that the contact was on the list, and goes the other way.
      expect([isRenamed, said]).toEqual(steps.includes('rename completed') ? [true, 1] : [false, 0]);
      expect((await rowOf(run)).outcome).toBe(isRenamed ? 'ada' : null);
    }
    expect(died.filter(Boolean).length).toBeGreaterThan(3);
  });

for (const moment of ['before', 'after', 'during'] as CrashPoint[])
  test(`a run that dies ${moment} any of its calls is begun again by the minute tick, and decides the same`, { tags: 'soak' }, async () => {
    const { runs, died } = await dieAtEachCall(pure, 8, moment);
    for (const run of runs) {
      expect(await stepsOf(run)).toEqual(pureSteps);
      expect(await waitForEndedRuns(run.client, run.workflow, 1)).toMatchObject([{ outcome: 'ada', context: { greeting: 'Hello Ada' } }]);
    }
    expect(died.filter(Boolean).length).toBeGreaterThan(3);
    expect(died.at(-1)).toBe(false);
  });

test('an end that the database refuses is written by a timer, and its history is complete', async () => {
  const run = await unstartedRun(pure);
  let refusals = 0;
  await runInDurableObject(run.stub(), (instance) => {
    const object = instance as unknown as { env: Env };
    const real = object.env;
    const DB = new Proxy(real.DB, {
      get: (target, name) => {
        if (name !== 'batch') return Reflect.get(target, name).bind(target);
        return (statements: D1PreparedStatement[]) =>
          statements.length > 1 && refusals++ < 6
            ? Promise.reject(new Error('D1_ERROR: D1 DB is overloaded. Requests queued for too long.'))
            : target.batch(statements);
      },
    });
    object.env = new Proxy(real, { get: (target, name) => (name === 'DB' ? DB : Reflect.get(target, name)) });
  });
  await run.start();
  await rowHasEnded(run);
  expect(refusals).toBeGreaterThan(5);
  expect(await waitForRunState(run.client, run.run, 'completed')).toMatchObject({ outcome: 'ada', trouble: null });
  await vi.waitFor(async () => expect(await tablesOf(run)).toEqual([]));
  expect(await stepsOf(run)).toEqual(pureSteps);
});

/** A run in the middle of its request to the shop, which answers when told. */
const isFirstAdvanceOf = ({ stub }: NewRun) => runInDurableObject(stub(), (_instance, { storage }) => storedRun(storage)?.isFirstAdvance);

async function asking() {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const asked = stubFetch(shop, async () => {
    await released;
    return Response.json({ ok: true });
  });
  const run = await unstartedRun(acting);
  expect(await run.start()).toBe('started');
  await vi.waitFor(() => expect(asked).toHaveLength(1));
  return { run, asked, release };
}

test('who asks for a run during its first steps is answered, and the run goes on', async () => {
  const { run, asked, release } = await asking();
  expect(await isFirstAdvanceOf(run)).toBe(true);
  expect(await run.start()).toBe('running');
  expect((await run.client.get(`/automation-workflows/runs/${run.run}`)).body).toMatchObject({ state: 'running', current_node_id: 'call' });
  expect(await stepsOf(run)).toEqual(['in completed', 'contact completed', 'call started']);
  expect(await isFirstAdvanceOf(run)).toBe(undefined);
  release();
  await waitForRunState(run.client, run.run, 'completed');
  expect(asked).toHaveLength(1);
  expect(await stepsOf(run)).toEqual(['in', 'contact', 'call', 'note', 'out'].map((node) => `${node} completed`));
});

test('a run that is stopped during its first steps stays stopped, and takes no further step', async () => {
  const { run, release } = await asking();
  expect(await run.client.post(`/automation-workflows/runs/${run.run}/stop`)).toMatchObject({ status: 200, body: { state: 'cancelled' } });
  release();
  await vi.waitFor(async () => expect(await tablesOf(run)).toEqual([]));
  expect(await rowOf(run)).toMatchObject({ state: 'cancelled' });
  expect(await stepsOf(run)).toEqual(['in completed', 'contact completed', 'call completed']);
});

test('an object that dies during a request goes on by its alarm, under the same key', async () => {
  const keys: (string | null)[] = [];
  let isFirst = true;
  const asked = stubFetch(shop, async (request) => {
    keys.push(request.headers.get('idempotency-key'));
    if (!isFirst) return Response.json({ ok: true });
    isFirst = false;
    return new Promise(() => undefined);
  });
  const run = await unstartedRun(acting);
  await run.start();
  await vi.waitFor(() => expect(asked).toHaveLength(1));
  await runInDurableObject(run.stub(), (_instance, state) => state.abort('the object dies here')).catch(() => undefined);
  await rowHasEnded(run);
  expect(keys).toEqual([`${run.run}:call:1:1`, `${run.run}:call:1:1`]);
  expect(await stepsOf(run)).toEqual(['in', 'contact', 'call', 'note', 'out'].map((node) => `${node} completed`));
});

test('a run of which much is in memory gets tables, and loses nothing', async () => {
  stubFetch(shop, () => Response.json({ ok: true }));
  const long = 'x'.repeat(15_000);
  const nodes = Array.from({ length: 8 }, (_, index) => ({
    id: `s${index}`,
    type: 'set_context',
    data: { assign: { [`v${index}`]: long } },
  }));
  const run = await unstartedRun(chain(...nodes, { id: 'call', type: 'http_request', data: { method: 'POST', url: shop } }));
  await run.start();
  await rowHasEnded(run);
  expect(await stepsOf(run)).toEqual(['in', ...nodes.map(({ id }) => id), 'call', 'out'].map((node) => `${node} completed`));
});

test('an object that died after the end was in the row takes no further step', async () => {
  const asked = stubFetch(shop, () => Response.json({ ok: true }));
  const run = await unstartedRun(acting);
  const left = new Promise<string>((resolve) => {
    void runInDurableObject(run.stub(), (_instance, { storage }) => {
      const exec = storage.sql.exec.bind(storage.sql);
      // The first row that the object writes, as it would find it after a death.
      storage.sql.exec = ((query: string, ...values: SqlStorageValue[]) => {
        if (query.startsWith('INSERT INTO run_record')) resolve(values[0] as string);
        return exec(query, ...values);
      }) as typeof exec;
    });
  });
  await run.start();
  await rowHasEnded(run);
  await vi.waitFor(async () => expect(await tablesOf(run)).toEqual([]));
  const stored = await left;
  await evictDurableObject(run.stub());
  await runInDurableObject(run.stub(), (_instance, { storage }) => {
    storage.sql.exec('CREATE TABLE run_record (record TEXT NOT NULL)');
    storage.sql.exec('INSERT INTO run_record (record) VALUES (?)', stored);
  });
  await evictDurableObject(run.stub());
  expect(await run.start()).toBe('running');
  await vi.waitFor(async () => expect(await tablesOf(run)).toEqual([]));
  expect(asked).toHaveLength(1);
  expect(await stepsOf(run)).toEqual(['in', 'contact', 'call', 'note', 'out'].map((node) => `${node} completed`));
});

test("an organization's deletion ends a run during its first steps", async () => {
  const { run, release } = await asking();
  await run.stub().deleteAllData();
  release();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await tablesOf(run)).toEqual([]);
});

test('a run that waits in its first advance survives eviction', async () => {
  const run = await unstartedRun(chain({ id: 'nap', type: 'wait', data: { duration: 'PT1S' } }));
  await run.start();
  await vi.waitFor(async () => expect((await rowOf(run)).state).toBe('waiting'));
  await evictDurableObject(run.stub());
  await rowHasEnded(run);
});
