import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { faultyDatabase } from '../support/faulty-database.ts';
import { deliver, deliverDeadLettersForADay, dropQueueMessages, waitUntilHandled } from '../support/background.ts';
import { chain, createActiveWorkflow, waitForEndedRuns, waitForRunState } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { recordedClient, rowsRead } from '../support/recorded-database.ts';

afterEach(() => vi.restoreAllMocks());

const onOrder = (config: object = {}) => ({ type: 'contact_event', config: { event_type: 'ordered', ...config } });
const forever = chain({ id: 'rest', type: 'wait', data: { duration: 'P1D' } });

async function postEvent(client: Client, event: object): Promise<number> {
  const { body } = await client.post('/events', event);
  await waitUntilHandled(body.event_id);
  return body.event_id as number;
}

const outcomeOf = async (client: Client, id: number) => {
  const { status, body } = await client.get(`/events/${id}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};

test('an event shows the run that it started, the filter that did not match, and the journey that is paused', async () => {
  const { client } = await newOrganization();
  const starts = await createActiveWorkflow(client, { trigger: onOrder() });
  const filtered = await createActiveWorkflow(client, { trigger: onOrder({ filter: { field: 'total', operator: 'gt', value: 100 } }) });
  const paused = await createActiveWorkflow(client, { trigger: onOrder() });
  await client.patch(`/automation-workflows/${paused}`, { status: 'paused' });
  const id = await postEvent(client, { event_type: 'ordered', data: { total: 5 } });
  const [run] = await waitForEndedRuns(client, starts);
  const outcome = await outcomeOf(client, id);
  expect(outcome).toMatchObject({ id, state: 'handled', note: null, failure: null, woken_total: 0, exited_total: 0 });
  expect(outcome.started).toEqual([
    { run_id: run.id, automation_workflow_id: starts, trigger_id: run.trigger_id, state: 'completed', outcome: 'done', hold: null },
  ]);
  expect(outcome.not_started.map(({ automation_workflow_id, rule }: any) => [automation_workflow_id, rule])).toEqual([
    [filtered, 'filter'],
    [paused, 'inactive'],
  ]);
  expect(outcome.not_started[1].message).toBe('The journey is paused at present');
});

test('a refusal names the rule of admission, and a filter that cannot be evaluated its error', async () => {
  const { client } = await newOrganization();
  const once = await createActiveWorkflow(client, { trigger: onOrder(), settings: { reentry: { mode: 'never' } } });
  const broken = await createActiveWorkflow(client, {
    trigger: onOrder({ entry_key: "{{ now | date: '%H', 'Mars/Base' }}" }),
  });
  const phone = newPhone();
  await client.post('/contacts', { phone });
  await postEvent(client, { event_type: 'ordered', phone, data: { total: 1 } });
  const id = await postEvent(client, { event_type: 'ordered', phone, data: { total: 2 } });
  const { not_started: notStarted, started } = await outcomeOf(client, id);
  expect(started).toEqual([]);
  const rules = Object.fromEntries(notStarted.map((entry: any) => [entry.automation_workflow_id, entry]));
  expect(rules[once]).toMatchObject({ rule: 'reentry' });
  expect(rules[once].trigger_name).toEqual(expect.any(String));
  expect(rules[broken]).toMatchObject({ rule: 'error' });
});

test('an event names the runs that it woke, and the runs that it ended', async () => {
  const { client } = await newOrganization();
  const phone = newPhone();
  const { body: contact } = await client.post('/contacts', { phone });
  const waiting = chain({ id: 'hear', type: 'wait_for_event', data: { event_types: ['paid'], timeout: 'P1D' } });
  waiting.edges[1] = { ...waiting.edges[1]!, source_handle: 'received' } as never;
  const listens = await createActiveWorkflow(client, { definition: waiting });
  const exits = await createActiveWorkflow(client, { definition: forever, settings: { exit_on: [{ event_type: 'paid' }] } });
  const [woken, ended] = await Promise.all(
    [listens, exits].map(async (workflow) => {
      const { body } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {}, contact_id: contact.id });
      await waitForRunState(client, body.id, 'waiting');
      return body.id as number;
    }),
  );
  await vi.waitFor(async () =>
    expect(await env.DB.prepare('SELECT 1 FROM run_waiter WHERE run_id = ?').bind(woken).first()).not.toBeNull(),
  );
  const id = await postEvent(client, { event_type: 'paid', phone });
  await waitForRunState(client, woken!, 'completed');
  const outcome = await outcomeOf(client, id);
  expect(outcome).toMatchObject({ woken_total: 1, exited_total: 1 });
  expect(outcome.woken).toMatchObject([{ run_id: woken, automation_workflow_id: listens, state: 'completed', outcome: 'done' }]);
  expect(outcome.exited).toMatchObject([{ run_id: ended, automation_workflow_id: exits, state: 'completed', outcome: 'exited' }]);
});

/** Bindings of a process that dies after its call `count` to the database. */
function dyingBindings(count: number): { bindings: Env; calls: () => number } {
  let made = 0;
  const die = () => Promise.reject(new Error('the process dies here'));
  const DB = faultyDatabase(
    env.DB,
    () => {
      made += 1;
      if (made > count) throw new Error('the process is dead');
      return made === count ? 'died' : null;
    },
    die,
  );
  return { bindings: new Proxy(env, { get: (target, name) => (name === 'DB' ? DB : Reflect.get(target, name)) }), calls: () => made };
}

test('the runs that an event woke and ended are named although its consumer died after any of its calls to the database', async () => {
  const { client, id: organizationId } = await newOrganization();
  const waiting = chain({ id: 'hear', type: 'wait_for_event', data: { event_types: ['paid'], timeout: 'P1D' } });
  waiting.edges[1] = { ...waiting.edges[1]!, source_handle: 'received' } as never;
  const listens = await createActiveWorkflow(client, { definition: waiting });
  const exits = await createActiveWorkflow(client, { definition: forever, settings: { exit_on: [{ event_type: 'paid' }] } });
  const lost = dropQueueMessages();
  let openDeaths = 0;
  for (let count = 1; count <= 5; count++) {
    const phone = newPhone();
    const { body: contact } = await client.post('/contacts', { phone });
    const begin = async (workflow: number) => {
      const { body } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {}, contact_id: contact.id });
      await waitForRunState(client, body.id, 'waiting');
      return body.id as number;
    };
    const [woken, ended] = [await begin(listens), await begin(exits)];
    await vi.waitFor(async () =>
      expect(await env.DB.prepare('SELECT 1 FROM run_waiter WHERE run_id = ?').bind(woken).first()).not.toBeNull(),
    );
    const id = (await client.post('/events', { event_type: 'paid', phone })).body.event_id as number;
    const message = { v: 1, kind: 'event', organization_id: organizationId, id };
    const dying = dyingBindings(count);
    await deliver('events', [message], dying.bindings);
    expect(dying.calls()).toBeGreaterThanOrEqual(count);
    openDeaths += (await outcomeOf(client, id)).state === 'open' ? 1 : 0;
    await deliver('events', [message]);
    await vi.waitFor(async () =>
      expect(await outcomeOf(client, id), `call ${count}`).toMatchObject({
        state: 'handled',
        woken_total: 1,
        woken: [{ run_id: woken, automation_workflow_id: listens }],
        exited_total: 1,
        exited: [{ run_id: ended, automation_workflow_id: exits, outcome: 'exited' }],
      }),
    );
    await env.DB.prepare('DELETE FROM event WHERE id = ?').bind(id).run();
  }
  lost.restore();
  expect(openDeaths).toBeGreaterThan(2);
  expect(await env.DB.prepare('SELECT 1 FROM affected_run WHERE organization_id = ?').bind(organizationId).first()).toBeNull();
}, 60_000);

test('a run that takes an event which came before its wait is named, too', async () => {
  const { client } = await newOrganization();
  const phone = newPhone();
  const { body: contact } = await client.post('/contacts', { phone });
  const id = await postEvent(client, { event_type: 'paid', phone });
  const waiting = chain({ id: 'hear', type: 'wait_for_event', data: { event_types: ['paid'], timeout: 'P1D', lookback: 'PT1H' } });
  waiting.edges[1] = { ...waiting.edges[1]!, source_handle: 'received' } as never;
  const workflow = await createActiveWorkflow(client, { definition: waiting });
  const { body: run } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {}, contact_id: contact.id });
  await waitForRunState(client, run.id, 'completed');
  expect(await outcomeOf(client, id)).toMatchObject({ woken_total: 1, woken: [{ run_id: run.id, state: 'completed' }] });
});

test('what an event did before its handling failed is still named when it is handled again', async () => {
  const { client, id: organizationId } = await newOrganization();
  const phone = newPhone();
  const { body: contact } = await client.post('/contacts', { phone });
  const exits = await createActiveWorkflow(client, { definition: forever, settings: { exit_on: [{ event_type: 'ordered' }] } });
  const { body: run } = await client.post(`/automation-workflows/${exits}/execute`, { context: {}, contact_id: contact.id });
  await waitForRunState(client, run.id, 'waiting');
  await createActiveWorkflow(client, { trigger: onOrder() });
  const lost = dropQueueMessages();
  const id = (await client.post('/events', { event_type: 'ordered', phone })).body.event_id as number;
  const message = { v: 1, kind: 'event', organization_id: organizationId, id };
  const stub = env.AUTOMATION_RUN.getByName.bind(env.AUTOMATION_RUN);
  const broken = vi.spyOn(env.AUTOMATION_RUN, 'getByName').mockImplementation((name: string) => {
    if (name !== `${organizationId}/${run.id}`) throw new Error('the object cannot be reached');
    return stub(name);
  });
  await deliver('events', [message]);
  broken.mockRestore();
  // The tick of another test may handle it meanwhile.
  expect(await outcomeOf(client, id)).toMatchObject({ exited_total: 1 });
  await deliver('events', [message]);
  lost.restore();
  expect(await outcomeOf(client, id)).toMatchObject({ state: 'handled', exited_total: 1, exited: [{ run_id: run.id }] });
});

test('an event that fails shows its tries, and after a day that it was given up', async () => {
  const { client, id: organizationId } = await newOrganization();
  await createActiveWorkflow(client, { trigger: onOrder() });
  const lost = dropQueueMessages();
  const id = (await client.post('/events', { event_type: 'ordered' })).body.event_id as number;
  lost.restore();
  const message = { v: 1, kind: 'event', organization_id: organizationId, id };
  await deliver('events-dead', [message]);
  const open = await outcomeOf(client, id);
  expect(open).toMatchObject({ state: 'open', handled_at: null, failure: { tries: 1 }, not_started: [] });
  await deliverDeadLettersForADay('events-dead', organizationId, [message]);
  expect(await outcomeOf(client, id)).toMatchObject({ state: 'given_up', failure: null });
});

test('an event of another organization is not found', async () => {
  const [own, other] = [await newOrganization(), await newOrganization()];
  const id = await postEvent(own.client, { event_type: 'ordered' });
  expect((await other.client.get(`/events/${id}`)).status).toBe(404);
  expect((await own.client.get('/events/0')).status).toBe(422);
  const reader = await newOrganization({ scopes: ['read'] });
  const readable = await postEvent(own.client, { event_type: 'ordered' });
  expect((await reader.client.get(`/events/${readable}`)).status).toBe(404);
});

test('reading an event costs the same however many journeys, events and runs the organization has', async () => {
  const { client, id: organizationId, key } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onOrder() });
  const id = await postEvent(client, { event_type: 'ordered' });
  await waitForEndedRuns(client, workflow);
  const read = async () => {
    const { client: recorded, recording } = recordedClient(key);
    expect((await recorded.get(`/events/${id}`)).status).toBe(200);
    return { calls: recording.calls, rows: rowsRead(recording) };
  };
  await read();
  const before = await read();
  const rows = JSON.stringify(Array.from({ length: 300 }, (_, index) => index));
  await env.DB.batch([
    env.DB.prepare(
      `INSERT INTO event (organization_id, event_type, data, created_at, handled_at) SELECT ?1, 'ordered', '{}', 1, 1 FROM json_each(?2)`,
    ).bind(organizationId, rows),
    env.DB.prepare(
      `INSERT INTO automation_run (organization_id, workflow_id, workflow_version, state, dedup_key, source, created_at, completed_at)
       SELECT ?1, ?3, 1, 'completed', 'event:' || (?4 + 1 + value) || ':trigger:9', 'event', 1, 1 FROM json_each(?2)`,
    ).bind(organizationId, rows, workflow, id),
  ]);
  const after = await read();
  expect(after.calls).toBe(before.calls);
  expect(after.rows).toBeLessThanOrEqual(before.rows + 2);
});
