import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { deliver, dropQueueMessages, tickAt } from '../support/background.ts';
import { readFailedMessages, exhaustFailedMessages } from '../support/failed-messages.ts';
import { createActiveWorkflow, chain, waitForRunState } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

const dayMs = 86_400_000;
const lastAttempt = 6;
const nap = chain({ id: 'nap', type: 'wait', data: { duration: 'P1D' } });

const hearing = {
  nodes: [
    { id: 'in', type: 'trigger', data: {} },
    { id: 'wait', type: 'wait_for_event', data: { event_types: ['paid'], timeout: 'P1D' } },
    { id: 'out', type: 'exit', data: { outcome: 'done' } },
  ],
  edges: [
    { id: 'start', source: 'in', target: 'wait' },
    { id: 'received', source: 'wait', target: 'out', source_handle: 'received' },
  ],
};

const start = async (client: Client, workflow: number, contact?: number): Promise<number> => {
  const { body } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {}, ...(contact && { contact_id: contact }) });
  await waitForRunState(client, body.id, 'waiting');
  return body.id;
};

/** An object whose every method throws. */
function poison(organizationId: number, run: number) {
  const real = env.AUTOMATION_RUN.getByName.bind(env.AUTOMATION_RUN);
  return vi.spyOn(env.AUTOMATION_RUN, 'getByName').mockImplementation((name) => {
    if (name === `${organizationId}/${run}`) throw new Error('its storage is broken');
    return real(name as string);
  });
}

describe('a run that cannot be reached', () => {
  test('delays no other work of an event: other runs end, wake and start, and this run is retried apart until it is given up', async () => {
    const { client, id } = await newOrganization();
    const phone = newPhone();
    const contact = (await client.post('/contacts', { phone })).body.id;
    const leaving = await createActiveWorkflow(client, { definition: nap, settings: { exit_on: [{ event_type: 'paid' }] } });
    const waiting = await createActiveWorkflow(client, {
      definition: hearing,
    });
    const listening = await createActiveWorkflow(client, {
      definition: nap,
      trigger: { type: 'contact_event', config: { event_type: 'paid' } },
    });
    const [poisoned, other] = [await start(client, leaving, contact), await start(client, leaving, contact)];
    const woken = await start(client, waiting, contact);
    const lost = dropQueueMessages();
    const { body } = await client.post('/events', { event_type: 'paid', phone });
    lost.restore();
    const spy = poison(id, poisoned);
    const message = { v: 1, kind: 'event', organization_id: id, id: body.event_id };
    const first = await deliver('events', [message]);
    expect(first.retryMessages).toHaveLength(1);
    await waitForRunState(client, other, 'completed');
    await waitForRunState(client, woken, 'completed');
    expect((await client.get(`/automation-workflows/${listening}/runs`)).body.total).toBe(1);
    expect(await readFailedMessages(id)).toEqual([]);
    // The queue's last try: the event is handled, and its failed part is retried on its own.
    const last = await deliver('events', [message], env, lastAttempt);
    expect(last.explicitAcks).toHaveLength(1);
    expect((await client.get(`/automation-workflows/${listening}/runs`)).body.total).toBe(1);
    expect(await readFailedMessages(id)).toMatchObject([{ key: `run_end:${poisoned}`, tries: 1, reason: 'its storage is broken' }]);
    await exhaustFailedMessages(id);
    spy.mockRestore();
    const row = await env.DB.prepare('SELECT state, outcome, error FROM automation_run WHERE id = ?').bind(poisoned).first<any>();
    expect(row).toMatchObject({ state: 'completed', outcome: 'exited' });
    expect(JSON.parse(row.error)).toMatchObject({
      type: 'unreachable',
      message: expect.stringMatching(/^given_up: .*its storage is broken/),
    });
    expect(await readFailedMessages(id)).toEqual([]);
  });

  test('gets the event that it waits for in a retry, and takes it when it works again', async () => {
    const { client, id } = await newOrganization();
    const phone = newPhone();
    const contact = (await client.post('/contacts', { phone })).body.id;
    const waiting = await createActiveWorkflow(client, {
      definition: hearing,
    });
    const [poisoned, given] = [await start(client, waiting, contact), await start(client, waiting, contact)];
    const lost = dropQueueMessages();
    const { body } = await client.post('/events', { event_type: 'paid', phone });
    lost.restore();
    const spy = poison(id, poisoned);
    await deliver('events', [{ v: 1, kind: 'event', organization_id: id, id: body.event_id }], env, lastAttempt);
    await waitForRunState(client, given, 'completed');
    expect(await readFailedMessages(id)).toMatchObject([{ key: `run_event:${body.event_id}:${poisoned}` }]);
    spy.mockRestore();
    await tickAt(Date.now() + 2 * 60_000);
    expect(await waitForRunState(client, poisoned, 'completed')).toMatchObject({ outcome: 'done' });
    await vi.waitFor(async () => expect(await readFailedMessages(id)).toEqual([]), { timeout: 5000 });
  });

  test('is given up with a note on the event that it was to take, which can be sent again', async () => {
    const { client, id } = await newOrganization();
    const phone = newPhone();
    const contact = (await client.post('/contacts', { phone })).body.id;
    const waiting = await createActiveWorkflow(client, {
      definition: hearing,
    });
    const poisoned = await start(client, waiting, contact);
    const lost = dropQueueMessages();
    const { body } = await client.post('/events', { event_type: 'paid', phone });
    lost.restore();
    const spy = poison(id, poisoned);
    await deliver('events', [{ v: 1, kind: 'event', organization_id: id, id: body.event_id }], env, lastAttempt);
    await exhaustFailedMessages(id);
    spy.mockRestore();
    const { body: listed } = await client.get('/events?event_type=paid');
    expect(listed.events[0].note).toMatch(new RegExp(`^given_up: run ${poisoned}, .*its storage is broken`));
    expect((await client.post(`/events/${body.event_id}/retry`)).status).toBe(200);
    await waitForRunState(client, poisoned, 'completed');
  });

  test('does not keep the other runs of an archived workflow alive, and ends cancelled when it is well', async () => {
    const { client, id } = await newOrganization();
    const workflow = await createActiveWorkflow(client, { definition: nap });
    const runs = [await start(client, workflow), await start(client, workflow), await start(client, workflow)];
    const spy = poison(id, runs[0]!);
    await client.delete(`/automation-workflows/${workflow}`);
    for (const run of runs.slice(1)) await waitForRunState(client, run, 'cancelled');
    await vi.waitFor(async () => expect(await readFailedMessages(id)).toMatchObject([{ key: `run_end:${runs[0]}` }]), { timeout: 5000 });
    expect((await env.DB.prepare('SELECT id FROM cleanup WHERE organization_id = ?').bind(id).all()).results).toEqual([]);
    spy.mockRestore();
    await tickAt(Date.now() + 2 * 60_000);
    expect(await waitForRunState(client, runs[0]!, 'cancelled')).toMatchObject({ error: { type: 'workflow_archived' } });
  });

  test('does not keep the contact that it is about from being erased', async () => {
    const { client, id } = await newOrganization();
    const phone = newPhone();
    const contact = (await client.post('/contacts', { phone })).body.id;
    const workflow = await createActiveWorkflow(client, { definition: nap });
    const [poisoned, other] = [await start(client, workflow, contact), await start(client, workflow, contact)];
    await client.post('/events', { event_type: 'noted', phone });
    const spy = poison(id, poisoned);
    await client.delete(`/contacts/${contact}`);
    await waitForRunState(client, other, 'cancelled');
    await vi.waitFor(async () => expect((await client.get('/events?event_type=noted')).body.events[0].contact_id).toBeNull(), {
      timeout: 5000,
    });
    await vi.waitFor(async () => expect(await readFailedMessages(id)).toMatchObject([{ key: `run_end:${poisoned}` }]), { timeout: 5000 });
    await exhaustFailedMessages(id);
    spy.mockRestore();
    expect((await client.get(`/automation-workflows/runs/${poisoned}`)).body).toMatchObject({
      state: 'cancelled',
      error: { type: 'unreachable' },
    });
  });

  test('does not keep others of its workflow held, and goes on when it is well', async () => {
    const { client, id } = await newOrganization();
    const phone = newPhone();
    const contact = (await client.post('/contacts', { phone })).body.id;
    const acting = chain(
      { id: 'nap', type: 'wait', data: { duration: 'PT1S' } },
      { id: 'tag', type: 'update_contact', data: { add_tags: ['reached'] } },
    );
    const workflow = await createActiveWorkflow(client, { definition: acting });
    const runs = [await start(client, workflow, contact), await start(client, workflow, contact)];
    await client.patch(`/automation-workflows/${workflow}`, { status: 'paused' });
    for (const run of runs)
      await vi.waitFor(async () => expect((await client.get(`/automation-workflows/runs/${run}`)).body.hold).toBe('paused'), {
        timeout: 10_000,
      });
    const spy = poison(id, runs[0]!);
    await client.patch(`/automation-workflows/${workflow}`, { status: 'active' });
    await waitForRunState(client, runs[1]!, 'completed');
    await vi.waitFor(async () => expect(await readFailedMessages(id)).toMatchObject([{ key: `run_release:${runs[0]}` }]), {
      timeout: 5000,
    });
    spy.mockRestore();
    await tickAt(Date.now() + 2 * 60_000);
    await waitForRunState(client, runs[0]!, 'completed');
  });

  test('is woken on its own and less often, then fails with the reason, and its parent goes on', async () => {
    const { client, id } = await newOrganization();
    const child = await createActiveWorkflow(client, { definition: nap });
    const parent = await createActiveWorkflow(client, {
      definition: chain({ id: 'ask', type: 'run_workflow', data: { workflow_id: child, wait: true } }),
    });
    const waiting = await start(client, parent);
    const run = await vi.waitFor(
      async () => {
        const { body } = await client.get(`/automation-workflows/${child}/runs?state=waiting`);
        expect(body.total).toBe(1);
        return body.runs[0].id as number;
      },
      { timeout: 5000 },
    );
    const spy = poison(id, run);
    await tickAt(Date.now() + dayMs + 5 * 60_000);
    const [failed] = await readFailedMessages(id);
    expect(failed).toMatchObject({ key: `poke:run:${run}`, tries: 1, reason: 'its storage is broken' });
    await exhaustFailedMessages(id);
    spy.mockRestore();
    expect((await client.get(`/automation-workflows/runs/${run}`)).body).toMatchObject({
      state: 'failed',
      error: { type: 'unreachable', message: expect.stringMatching(/^given_up: .*its storage is broken/) },
    });
    await waitForRunState(client, waiting, 'completed');
  });

  test('does not stop the end of its child, and is notified of it when it works again', async () => {
    const { client, id } = await newOrganization();
    const child = await createActiveWorkflow(client, { definition: nap });
    const parent = await createActiveWorkflow(client, {
      definition: chain({ id: 'ask', type: 'run_workflow', data: { workflow_id: child, wait: true } }),
    });
    const waiting = await start(client, parent);
    const { body } = await client.get(`/automation-workflows/${child}/runs`);
    const run = body.runs[0].id as number;
    await waitForRunState(client, run, 'waiting');
    const spy = poison(id, waiting);
    await client.post(`/automation-workflows/runs/${run}/stop`);
    // The history of the child is in R2, and the object of the child is gone.
    await vi.waitFor(async () => expect(await env.AUTOMATION_RUN.getByName(`${id}/${run}`).snapshot()).toBeNull(), { timeout: 10_000 });
    expect(await readFailedMessages(id)).toMatchObject([{ key: `run_told:run:${run}`, reason: 'its storage is broken' }]);
    spy.mockRestore();
    await tickAt(Date.now() + 2 * 60_000);
    await waitForRunState(client, waiting, 'completed');
  });

  test('that alone holds an entry key keeps no run of another key from starting', async () => {
    const { client, id } = await newOrganization();
    const settings = { entry_key: '{{ contact.id }}', one_live_run_per_key: true };
    const trigger = { type: 'contact_event', config: { event_type: 'paid' } };
    const sole = await createActiveWorkflow(client, { definition: nap, settings, trigger });
    const other = await createActiveWorkflow(client, { definition: nap, trigger });
    const phone = newPhone();
    const contact = (await client.post('/contacts', { phone })).body.id;
    const holder = await start(client, sole, contact);
    const lost = dropQueueMessages();
    const { body } = await client.post('/events', { event_type: 'paid', phone });
    lost.restore();
    poison(id, holder);
    await deliver('events', [{ v: 1, kind: 'event', organization_id: id, id: body.event_id }]);
    expect((await client.get(`/automation-workflows/${other}/runs`)).body.total).toBe(1);
    await deliver('events', [{ v: 1, kind: 'event', organization_id: id, id: body.event_id }], env, lastAttempt);
    expect((await client.get('/events?event_type=paid')).body.events[0].note).toContain(`Run ${holder} with entry key`);
  });
});

describe('an event whose payload is gone', () => {
  const large = { text: 'a'.repeat(70_000) };

  async function spoiled(client: Client, listening = true) {
    if (listening)
      await createActiveWorkflow(client, { definition: nap, trigger: { type: 'contact_event', config: { event_type: 'paid' } } });
    const lost = dropQueueMessages();
    const poisoned = (await client.post('/events', { event_type: 'paid', phone: newPhone(), data: large })).body.event_id as number;
    const sound = (await client.post('/events', { event_type: 'paid', phone: newPhone(), data: large })).body.event_id as number;
    lost.restore();
    const row = await env.DB.prepare('SELECT data FROM event WHERE id = ?').bind(poisoned).first<{ data: string }>();
    await env.FILES.delete(row!.data.split(':').slice(2).join(':'));
    return { poisoned, sound };
  }

  test('holds up no other of its batch, is shown as gone, and ends with the reason', async () => {
    const { client, id } = await newOrganization();
    const { poisoned, sound } = await spoiled(client);
    const messages = [poisoned, sound].map((one) => ({ v: 1, kind: 'event', organization_id: id, id: one }));
    const result = await deliver('events', messages, env, lastAttempt);
    expect(result.explicitAcks).toHaveLength(1);
    const { body } = await client.get('/events?event_type=paid');
    const byId = new Map<number, any>(body.events.map((event: { id: number }) => [event.id, event]));
    expect(byId.get(poisoned).event_data).toEqual({ _gone: expect.stringContaining('is not in storage') });
    expect(byId.get(sound).event_data).toEqual(large);
    await env.DB.prepare('UPDATE failed_message SET first_failed_at = first_failed_at - ? WHERE organization_id = ?').bind(dayMs, id).run();
    await deliver('events-dead', [messages[0]]);
    const after = (await client.get('/events?event_type=paid')).body.events.find((event: { id: number }) => event.id === poisoned);
    expect(after.note).toMatch(/^given_up: .*the last was: payload .* is not in storage/);
  });
});
