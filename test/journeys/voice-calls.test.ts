import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { nextInside } from '../../src/library/time/weekly-slots.ts';
import * as calls from '../support/journey-calls.ts';
import { createActiveWorkflow, waitForRunState, runStub } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

const {
  waitForCallRow: callRow,
  readCallRows: callRows,
  callingJourney,
  organizationWithAgent: callingOrganization,
  executeWorkflow: execute,
  stubCallSlots: heldSlots,
  readHistory: historyOf,
  completeCallAndNotify: settleCall,
  callingJourneyWithoutErrorEdge: unforgiving,
} = calls;

async function person(client: Client, more: object = {}): Promise<{ id: number; phone: string }> {
  const phone = newPhone();
  return { id: (await client.post('/contacts', { phone, first_name: 'Ada', ...more })).body.id, phone };
}

/** A run that waits for its requested call. */
async function waiting(data: object = {}, settings: object = {}) {
  const { client, id, agentId } = await callingOrganization();
  const slots = heldSlots(id);
  const workflow = await createActiveWorkflow(client, { definition: callingJourney({ workflow_id: agentId, ...data }), settings });
  const contact = await person(client);
  const run = await execute(client, workflow, { contact_id: contact.id });
  const call = await callRow(id);
  await waitForRunState(client, run, 'waiting');
  return { client, id, agentId, workflow, contact, run, call, slots };
}

/** Runs the alarm as if at that moment. */
const passAt = (organizationId: number, run: number, moment: number) =>
  runInDurableObject(runStub(organizationId, run), async (instance) => {
    const object = instance as unknown as { clock: () => number; alarm(): Promise<void> };
    object.clock = () => moment;
    await object.alarm();
  });

const keyOf = (run: number, item = 'call:1:1') => `journey:${run}:${item}`;

describe('a call', () => {
  test('is requested once, for the contact of the run, and the run sleeps until the call is settled', async () => {
    const { client, id, agentId, contact, run, call, slots } = await waiting({ initial_context: { name: '{{ contact.first_name }}' } });
    expect(call).toMatchObject({
      attempt_key: keyOf(run),
      automation_run_id: run,
      contact_id: contact.id,
      phone: contact.phone,
      agent_id: agentId,
      initial_context: JSON.stringify({ name: 'Ada' }),
    });
    expect(slots.requests).toMatchObject([
      {
        owner: { kind: 'journey', id: run },
        epoch: 0,
        maxConcurrency: null,
        calls: [{ key: keyOf(run), phone: contact.phone, agentId, contactId: contact.id, notAfter: null }],
      },
    ]);
    const sleeping = await waitForRunState(client, run, 'waiting');
    expect(sleeping).toMatchObject({
      current_node_id: 'call',
      voice_call_run_id: call.id,
      context: { steps: { call: { call_run_id: call.id } } },
    });
    expect((await historyOf(client, run))[1]).toMatchObject({
      node_type: 'voice_call',
      status: 'waiting',
      output: { call_run_id: call.id, phone: contact.phone, why: expect.stringContaining('until the call') },
    });
    const result = {
      outcome: 'completed' as const,
      disposition: 'interested',
      extracted_variables: { budget: 900 },
      summary: 'Wants one.',
      duration_seconds: 31,
    };
    await settleCall(id, call, result);
    const ended = await waitForRunState(client, run, 'completed');
    expect(ended).toMatchObject({ outcome: 'completed ', voice_call_run_id: call.id });
    expect(ended.context.steps.call).toMatchObject({ call_run_id: call.id, reason: null, ...result });
    expect((await historyOf(client, run)).map((record) => `${record.node_id} ${record.status}`)).toEqual([
      'in completed',
      'call completed',
      'completed completed',
    ]);
    const listed = await client.get('/automation-workflows/runs');
    expect(listed.body.runs).toMatchObject([{ id: run, voice_call_run_id: call.id }]);
    expect(slots).toMatchObject({ requests: { length: 1 }, withdrawn: [] });
  });

  test('whose end is notified early, twice, late or to another run changes nothing more', async () => {
    const { client, id, run, call } = await waiting();
    const object = runStub(id, run);
    await object.callSettled(call.id);
    await object.callSettled(call.id + 1000);
    expect((await client.get(`/automation-workflows/runs/${run}`)).body.state).toBe('waiting');
    await settleCall(id, call, { outcome: 'busy' });
    await object.callSettled(call.id);
    await object.callSettled(call.id);
    expect((await waitForRunState(client, run, 'completed')).outcome).toBe('busy ');
    await object.callSettled(call.id);
    expect((await historyOf(client, run)).filter((record) => record.node_id === 'call')).toHaveLength(1);
  });

  test('that was settled before its run fell asleep is found', async () => {
    const { client, id, agentId } = await callingOrganization();
    const slots = heldSlots(id);
    const settled = vi.spyOn(env.CALL_SLOTS, 'getByName').mockReturnValue({
      request: async () => {
        await calls.completeCall((await callRow(id)).id, { outcome: 'no_answer' });
        return { queued: 0, known: 1, isStale: false };
      },
    } as never);
    const workflow = await createActiveWorkflow(client, { definition: callingJourney({ workflow_id: agentId, phone: newPhone() }) });
    expect((await waitForRunState(client, await execute(client, workflow), 'completed')).outcome).toBe('no_answer ');
    expect(settled).toHaveBeenCalled();
    expect(slots.withdrawn).toEqual([]);
  });

  test('wakes a run that was evicted in the meantime', async () => {
    const { client, id, run, call } = await waiting();
    await evictDurableObject(runStub(id, run));
    await settleCall(id, call, { outcome: 'voicemail' });
    expect((await waitForRunState(client, run, 'completed')).outcome).toBe('voicemail ');
  });

  test('whose end was not notified is found at the timeout', async () => {
    const { client, id, run, call, slots } = await waiting({ timeout: 'PT1H' });
    await calls.completeCall(call.id, { outcome: 'busy' });
    await passAt(id, run, Date.now() + 3_600_000);
    expect((await waitForRunState(client, run, 'completed')).outcome).toBe('busy ');
    expect(slots.withdrawn).toEqual([keyOf(run)]);
  });

  test('without wait_for_result lets the run go on at once', async () => {
    const { client, id, agentId } = await callingOrganization();
    const slots = heldSlots(id);
    const definition = callingJourney({ workflow_id: agentId, phone: newPhone(), wait_for_result: false });
    const workflow = await createActiveWorkflow(client, { definition });
    const run = await waitForRunState(client, await execute(client, workflow), 'completed');
    const call = await callRow(id);
    expect(run).toMatchObject({ outcome: 'default ', voice_call_run_id: call.id });
    await settleCall(id, call);
    expect(slots).toMatchObject({ requests: { length: 1 }, withdrawn: [] });
  });
});

describe('a call that cannot be made', () => {
  const outcomeOf = async (client: Client, data: { workflow_id: number } & Record<string, unknown>, prepare?: () => Promise<unknown>) => {
    const workflow = await createActiveWorkflow(client, { definition: callingJourney({ phone: newPhone(), ...data }) });
    await prepare?.();
    return waitForRunState(client, await execute(client, workflow), 'completed');
  };

  test('to a suppressed number leads along failed with the reason, and is not requested', async () => {
    const { client, id, agentId } = await callingOrganization();
    const slots = heldSlots(id);
    const phone = newPhone();
    await env.DB.prepare(`INSERT INTO suppression (organization_id, phone, reason, created_at) VALUES (?, ?, 'asked not to be called', 1)`)
      .bind(id, phone)
      .run();
    const run = await outcomeOf(client, { workflow_id: agentId, phone });
    expect(run).toMatchObject({ outcome: expect.stringMatching(/^failed suppressed: .*asked not to be called/), voice_call_run_id: null });
    expect(await callRows(id)).toEqual([]);
    expect(slots.requests).toEqual([]);
  });

  test('to a number that no numbering plan knows leads along failed with the reason, and is not requested', async () => {
    const { client, id, agentId } = await callingOrganization();
    const slots = heldSlots(id);
    const run = await outcomeOf(client, { workflow_id: agentId, phone: '+999 123 456 789' });
    expect(run).toMatchObject({ outcome: expect.stringMatching(/^failed number_unassignable: \+999123456789 /), voice_call_run_id: null });
    expect(await callRows(id)).toEqual([]);
    expect(slots.requests).toEqual([]);
    const single = await client.post(`/workflow/${agentId}/runs`, { mode: 'telephony', phone: '+999123456789' });
    expect([single.status, single.body]).toMatchObject([409, { detail: 'number_unassignable' }]);
  });

  test('by an archived agent or without telephony leads along error, with the next step', async () => {
    const { client, id, agentId } = await callingOrganization();
    heldSlots(id);
    const archive = () => env.DB.prepare(`UPDATE voice_agent SET status = 'archived' WHERE id = ?`).bind(agentId).run();
    const archived = await outcomeOf(client, { workflow_id: agentId }, archive);
    expect(archived).toMatchObject({
      outcome: 'error ',
      context: { steps: { call: { error: { type: 'conflict', message: expect.stringContaining('archived') } } } },
    });
    const other = await newOrganization();
    const silent = await outcomeOf(other.client, { workflow_id: await calls.newAgent(other.id) });
    expect(silent).toMatchObject({
      outcome: 'error ',
      context: {
        steps: {
          call: { error: { type: 'telephony_not_configured', message: expect.stringContaining('/organizations/telephony-configs') } },
        },
      },
    });
    expect([...(await callRows(id)), ...(await callRows(other.id))]).toEqual([]);
  });

  test('by an unknown, archived or foreign agent prevents the activation', async () => {
    const [mine, theirs] = [await newOrganization(), await newOrganization()];
    for (const workflow_id of [await calls.newAgent(theirs.id), await calls.newAgent(mine.id, 'archived'), 999_999_999]) {
      const { body } = await mine.client.post('/automation-workflows/', { name: 'Calls', definition: callingJourney({ workflow_id }) });
      const loc = ['body', 'definition', 'nodes', 'call', 'data', 'workflow_id'];
      expect(await mine.client.patch(`/automation-workflows/${body.id}`, { status: 'active' })).toMatchObject({
        status: 422,
        body: { detail: [{ loc, type: 'not_found', msg: expect.stringContaining('GET /workflow/') }] },
      });
      expect((await mine.client.post(`/automation-workflows/${body.id}/validate`, {})).body).toMatchObject({
        valid: false,
        errors: [{ loc }],
      });
    }
  });
});

describe('a call that is not needed any more is withdrawn', () => {
  test('when its run is stopped', async () => {
    const { client, id, run, call, slots } = await waiting();
    expect((await client.post(`/automation-workflows/runs/${run}/stop`)).body).toMatchObject({ state: 'cancelled' });
    await vi.waitFor(() => expect(slots.withdrawn).toEqual([keyOf(run)]));
    await settleCall(id, call, { outcome: 'cancelled', returned: 'withdrawn' });
    expect((await client.get(`/automation-workflows/runs/${run}`)).body).toMatchObject({ state: 'cancelled', voice_call_run_id: call.id });
  });

  test('when an exit event ends its run', async () => {
    const { client, contact, run, slots } = await waiting({}, { exit_on: [{ event_type: 'ordered' }] });
    await client.post('/events', { event_type: 'ordered', phone: contact.phone });
    expect((await waitForRunState(client, run, 'completed')).outcome).toBe('exited');
    await vi.waitFor(() => expect(slots.withdrawn).toEqual([keyOf(run)]));
  });

  test('when its contact is deleted', async () => {
    const { client, contact, run, slots } = await waiting();
    await client.delete(`/contacts/${contact.id}`);
    expect((await waitForRunState(client, run, 'cancelled')).error).toMatchObject({ type: 'contact_deleted' });
    await vi.waitFor(() => expect(slots.withdrawn).toEqual([keyOf(run)]));
  });

  test('when its workflow is archived, or its run takes too long', async () => {
    const archived = await waiting();
    await archived.client.delete(`/automation-workflows/${archived.workflow}`);
    await waitForRunState(archived.client, archived.run, 'cancelled');
    await vi.waitFor(() => expect(archived.slots.withdrawn).toEqual([keyOf(archived.run)]));
    vi.restoreAllMocks();
    const late = await waiting({}, { timeout: 'PT1H' });
    await passAt(late.id, late.run, Date.now() + 3_600_000);
    expect((await waitForRunState(late.client, late.run, 'failed')).error).toMatchObject({ type: 'timeout' });
    await vi.waitFor(() => expect(late.slots.withdrawn).toEqual([keyOf(late.run)]));
  });

  test('at its timeout, and the run goes on at failed', async () => {
    const { client, id, run, call, slots } = await waiting({ timeout: 'PT2H' });
    await passAt(id, run, Date.now() + 2 * 3_600_000 - 60_000);
    expect((await client.get(`/automation-workflows/runs/${run}`)).body.state).toBe('waiting');
    await passAt(id, run, Date.now() + 2 * 3_600_000);
    expect(await waitForRunState(client, run, 'completed')).toMatchObject({
      outcome: expect.stringMatching(/^failed timeout: the call had not ended by/),
      context: { steps: { call: { call_run_id: call.id, outcome: 'failed' } } },
    });
    expect(slots.withdrawn).toEqual([keyOf(run)]);
  });

  test('when a run that does not wait for it is stopped, but not when that run has ended', async () => {
    const { client, id, agentId } = await callingOrganization();
    const slots = heldSlots(id);
    const definition = callingJourney({ workflow_id: agentId, phone: newPhone(), wait_for_result: false });
    definition.nodes.push({ id: 'nap', type: 'wait', data: { duration: 'P1D' } });
    definition.edges.find(({ id: edge }) => edge === 'default')!.target = 'nap';
    definition.edges.push({ id: 'on', source: 'nap', target: 'default' });
    const workflow = await createActiveWorkflow(client, { definition });
    const [stopped, ended] = [await execute(client, workflow), await execute(client, workflow)];
    for (const run of [stopped, ended]) expect((await waitForRunState(client, run, 'waiting')).current_node_id).toBe('nap');
    await client.post(`/automation-workflows/runs/${stopped}/stop`);
    await passAt(id, ended, Date.now() + 86_400_000);
    await waitForRunState(client, ended, 'completed');
    await vi.waitFor(() => expect(slots.withdrawn).toEqual([keyOf(stopped)]));
  });

  test('when its run is stopped during the request: the answer is recorded, and nothing follows', async () => {
    const { client, id, agentId } = await callingOrganization();
    const slots = heldSlots(id);
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    vi.spyOn(env.CALL_SLOTS, 'getByName').mockReturnValue({
      request: async () => {
        asked.resolve();
        await answer.promise;
        return { queued: 1, known: 0, isStale: false };
      },
      withdrawCalls: async (_organization: number, keys: string[]) => void slots.withdrawn.push(...keys),
    } as never);
    const workflow = await createActiveWorkflow(client, { definition: callingJourney({ workflow_id: agentId, phone: newPhone() }) });
    const run = await execute(client, workflow);
    await asked.promise;
    await client.post(`/automation-workflows/runs/${run}/stop`);
    answer.resolve();
    await vi.waitFor(() => expect(slots.withdrawn).toContain(keyOf(run)));
    expect(await historyOf(client, run)).toMatchObject([
      { node_id: 'in' },
      { node_id: 'call', output: { call_run_id: (await callRow(id)).id } },
    ]);
    expect((await client.get(`/automation-workflows/runs/${run}`)).body.state).toBe('cancelled');
  });

  test('even if the call slots do not answer at first', async () => {
    const { client, run } = await waiting();
    const withdrawn: string[] = [];
    let failures = 4;
    vi.spyOn(env.CALL_SLOTS, 'getByName').mockReturnValue({
      withdrawCalls: async (_organization: number, keys: string[]) => {
        if (failures-- > 0) throw new Error('away');
        withdrawn.push(...keys);
      },
    } as never);
    await client.post(`/automation-workflows/runs/${run}/stop`);
    await vi.waitFor(() => expect(withdrawn).toEqual([keyOf(run)]), { timeout: 10_000 });
  });
});

describe('a call that was returned undialled', () => {
  test('because it was too soon is requested again at that time, under the next key', async () => {
    const { client, id, run, call, slots } = await waiting();
    const until = Date.now() + 3_600_000;
    await settleCall(id, call, { outcome: 'cancelled', returned: 'too_soon', returned_until: until, reason: 'too_soon: called at 9:30' });
    await vi.waitFor(async () =>
      expect((await historyOf(client, run))[1]).toMatchObject({
        status: 'retrying',
        output: { why: 'too_soon: called at 9:30; it is asked for again', until: new Date(until).toISOString() },
      }),
    );
    expect(slots.keys()).toEqual([keyOf(run)]);
    await passAt(id, run, until);
    const second = await callRow(id, 2);
    expect(slots.keys()).toEqual([keyOf(run), keyOf(run, 'call:1:2')]);
    expect(await waitForRunState(client, run, 'waiting')).toMatchObject({ voice_call_run_id: second.id });
    await settleCall(id, call, {});
    await settleCall(id, second, { outcome: 'completed' });
    await passAt(id, run, until + 1);
    await waitForRunState(client, run, 'completed');
    const records = await historyOf(client, run);
    expect(records.map((record) => `${record.node_id} ${record.visit}.${record.attempt} ${record.status}`)).toEqual([
      'in 1.1 completed',
      'call 1.1 retrying',
      'call 1.2 completed',
      'completed 1.1 completed',
    ]);
  });

  test('is not requested again by a run that was stopped in the meantime', async () => {
    const { client, id, run, call, slots } = await waiting();
    await settleCall(id, call, { returned: 'too_soon', returned_until: Date.now() + 3_600_000 });
    await vi.waitFor(async () => expect((await historyOf(client, run))[1].status).toBe('retrying'));
    await client.post(`/automation-workflows/runs/${run}/stop`);
    await passAt(id, run, Date.now() + 3_600_000).catch(() => undefined);
    expect(slots.keys()).toEqual([keyOf(run)]);
    expect(slots.withdrawn).toEqual([]);
  });

  test('because its agent is archived fails the run, and a retry of the run requests another call', async () => {
    const { client, id, agentId } = await callingOrganization();
    const slots = heldSlots(id);
    const definition = unforgiving({ workflow_id: agentId, phone: newPhone() });
    const workflow = await createActiveWorkflow(client, { definition });
    const run = await execute(client, workflow);
    await settleCall(id, await callRow(id), { outcome: 'failed', returned: 'agent_archived', reason: 'agent_archived: restore it' });
    const failed = await waitForRunState(client, run, 'failed');
    expect(failed.error).toMatchObject({ type: 'agent_archived', message: 'agent_archived: restore it', node_id: 'call' });
    await client.post(`/automation-workflows/runs/${run}/retry`);
    await settleCall(id, await callRow(id, 2), {});
    expect((await waitForRunState(client, run, 'completed')).outcome).toBe('completed ');
    expect(slots).toMatchObject({ requests: { length: 2 }, withdrawn: [] });
    expect(slots.keys()).toEqual([keyOf(run), keyOf(run, 'call:1:2')]);
  });
});

test('a call whose request failed repeatedly is withdrawn, and requested under the same key when a person retries the run', async () => {
  const { client, id, agentId } = await callingOrganization();
  const withdrawn: string[] = [];
  const asked: string[] = [];
  let isAway = true;
  vi.spyOn(env.CALL_SLOTS, 'getByName').mockReturnValue({
    request: async (_organization: number, { calls: [call] }: { calls: { key: string }[] }) => {
      asked.push(call!.key);
      // The request took effect, and its answer was lost.
      if (isAway) throw new Error('away');
      return { queued: 0, known: 1, isStale: false };
    },
    withdrawCalls: async (_organization: number, keys: string[]) => void withdrawn.push(...keys),
  } as never);
  const definition = unforgiving({ workflow_id: agentId, phone: newPhone() });
  const settings = { retry: { max_attempts: 2, initial_delay_seconds: 0 } };
  const run = await execute(client, await createActiveWorkflow(client, { definition, settings }));
  expect((await waitForRunState(client, run, 'failed')).error).toMatchObject({ type: 'internal', attempt: 2 });
  await vi.waitFor(() => expect(withdrawn).toEqual([keyOf(run)]));
  isAway = false;
  await client.post(`/automation-workflows/runs/${run}/retry`);
  await settleCall(id, await callRow(id), {});
  expect((await waitForRunState(client, run, 'completed')).outcome).toBe('completed ');
  expect(new Set(asked)).toEqual(new Set([keyOf(run)]));
  expect(await callRows(id)).toHaveLength(1);
});

test('a call whose request failed is withdrawn by a run that goes on without it', async () => {
  const { client, agentId } = await callingOrganization();
  const withdrawn: string[] = [];
  vi.spyOn(env.CALL_SLOTS, 'getByName').mockReturnValue({
    request: async () => {
      throw new Error('away');
    },
    withdrawCalls: async (_organization: number, keys: string[]) => void withdrawn.push(...keys),
  } as never);
  const definition = callingJourney({ workflow_id: agentId, phone: newPhone() });
  definition.nodes.push({ id: 'nap', type: 'wait', data: { duration: 'P1D' } });
  definition.edges.find(({ id: edge }) => edge === 'error')!.target = 'nap';
  definition.edges.push({ id: 'on', source: 'nap', target: 'error' });
  const workflow = await createActiveWorkflow(client, { definition, settings: { retry: { max_attempts: 1 } } });
  const run = await execute(client, workflow);
  await vi.waitFor(async () => {
    expect((await waitForRunState(client, run, 'waiting')).current_node_id).toBe('nap');
    expect(withdrawn).toEqual([keyOf(run)]);
  });
});

test('a paused workflow calls nobody', async () => {
  const { client, id, agentId } = await callingOrganization();
  const slots = heldSlots(id);
  const definition = callingJourney({ workflow_id: agentId, phone: newPhone() });
  definition.nodes.push({ id: 'nap', type: 'wait', data: { duration: 'PT0.3S' } });
  definition.edges.find(({ id: edge }) => edge === 'start')!.target = 'nap';
  definition.edges.push({ id: 'on', source: 'nap', target: 'call' });
  const workflow = await createActiveWorkflow(client, { definition });
  const run = await execute(client, workflow);
  await client.patch(`/automation-workflows/${workflow}`, { status: 'paused' });
  await vi.waitFor(async () => expect((await client.get(`/automation-workflows/runs/${run}`)).body).toMatchObject({ hold: 'paused' }));
  expect(slots.requests).toEqual([]);
  await client.patch(`/automation-workflows/${workflow}`, { status: 'active' });
  const call = await callRow(id);
  // The workflow was paused, so a queued call is returned: the run is held, and requests the call again later.
  await client.patch(`/automation-workflows/${workflow}`, { status: 'paused' });
  await waitForRunState(client, run, 'waiting');
  await settleCall(id, call, { outcome: 'cancelled', returned: 'withdrawn', reason: 'withdrawn: the workflow is paused' });
  await vi.waitFor(async () => expect((await client.get(`/automation-workflows/runs/${run}`)).body).toMatchObject({ hold: 'paused' }), {
    timeout: 5000,
  });
  await client.patch(`/automation-workflows/${workflow}`, { status: 'active' });
  await settleCall(id, await callRow(id, 2), {});
  expect((await waitForRunState(client, run, 'completed')).outcome).toBe('completed ');
});

test('in quiet hours the call waits with the run, and it must not be dialled when they begin again', async () => {
  const { client, id, agentId } = await callingOrganization();
  const slots = heldSlots(id);
  const hour = 3_600_000;
  const now = Math.floor(Date.now() / 60_000) * 60_000;
  const slot = (from: number, to: number) => ({
    day_of_week: (new Date(from).getUTCDay() + 6) % 7,
    start_time: new Date(from).toISOString().slice(11, 16),
    end_time: new Date(to).toISOString().slice(11, 16),
  });
  const [open, closed] = [now + 2 * hour, now + 5 * hour];
  const quiet = [slot(now - hour, open), slot(closed, closed + hour)];
  expect(nextInside(quiet, 'UTC', now)).toBe(now);
  const workflow = await createActiveWorkflow(client, {
    definition: callingJourney({ workflow_id: agentId, phone: newPhone() }),
    settings: { quiet_hours: { timezone: 'organization', slots: quiet } },
  });
  const run = await execute(client, workflow);
  await waitForRunState(client, run, 'waiting');
  expect(slots.requests).toEqual([]);
  await passAt(id, run, open);
  expect(slots.requests).toMatchObject([{ calls: [{ key: keyOf(run), notAfter: closed }] }]);
  expect((await historyOf(client, run)).map((record) => `${record.node_id} ${record.status}`)).toEqual([
    'in completed',
    'call completed',
    'call waiting',
  ]);
});

test('a dry run shows the call and does not request it', async () => {
  const { client, id, agentId } = await callingOrganization();
  const slots = heldSlots(id);
  const contact = await person(client);
  const { body: workflow } = await client.post('/automation-workflows', {
    name: 'Calls',
    definition: callingJourney({ workflow_id: agentId }),
  });
  const { body } = await client.post(`/automation-workflows/${workflow.id}/test`, { contact_id: contact.id });
  expect(body).toMatchObject({ state: 'completed', outcome: 'completed ', voice_call_run_id: null });
  expect(body.history[1]).toMatchObject({ status: 'simulated', output: { request: { workflow_id: agentId, phone: contact.phone } } });
  expect(slots.requests).toEqual([]);
  expect(await callRows(id)).toEqual([]);
});
