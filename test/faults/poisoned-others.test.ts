import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import type { StoredAttempt } from '../../durable-objects/call-slots/stored-attempt.ts';
import { changeAttempt, knownAttempts } from '../support/call-slots.ts';
import { deliver, dropQueueMessages, tickAt } from '../support/background.ts';
import { callingOrganization, carrierLedger } from '../support/carrier.ts';
import { readFailedMessages, exhaustFailedMessages } from '../support/failed-messages.ts';
import { createActiveWorkflow } from '../support/journeys.ts';
import { newOrganization, newPhone } from '../support/organization.ts';
import { newRun, withAgent } from '../voice-agents/runs.ts';

afterEach(() => vi.restoreAllMocks());

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const broken = () => {
  throw new Error('its storage is broken');
};

test('a schedule that cannot be read holds up no other, is tried on its own, and ends with the reason on its trigger', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, {});
  const create = async (name: string) =>
    (
      await client.post(`/automation-workflows/${workflow}/triggers`, {
        type: 'schedule',
        name,
        config: { cron: '0 * * * *', timezone: 'UTC' },
      })
    ).body.id as number;
  const [poisoned, sound] = [await create('Poisoned'), await create('Sound')];
  const due = Math.floor(Date.now() / 60_000) * 60_000;
  await env.DB.prepare('UPDATE automation_trigger SET next_fire_at = ? WHERE organization_id = ?').bind(due, id).run();
  await env.DB.prepare(`UPDATE automation_trigger SET config = '{"cron":"nonsense","timezone":"UTC"}' WHERE id = ?`).bind(poisoned).run();
  const lost = dropQueueMessages();
  await tickAt(due + 1000);
  lost.restore();
  const fires = await env.DB.prepare('SELECT trigger_id FROM schedule_fire WHERE organization_id = ?').bind(id).all();
  expect(fires.results).toEqual([{ trigger_id: sound }]);
  expect(await readFailedMessages(id)).toMatchObject([{ key: `schedule:${poisoned}`, reason: expect.stringContaining('nonsense') }]);
  await exhaustFailedMessages(id);
  const { body } = await client.get(`/automation-workflows/${workflow}/triggers`);
  expect(body.triggers.find((trigger: { id: number }) => trigger.id === poisoned)).toMatchObject({
    next_fire_at: null,
    last_error: expect.stringMatching(/^given_up: the schedule could not be fired/),
  });
  // Saving the schedule makes it due again.
  const saved = await client.patch(`/automation-workflows/${workflow}/triggers/${poisoned}`, {
    config: { cron: '0 * * * *', timezone: 'UTC' },
  });
  expect(saved.body.next_fire_at).not.toBeNull();
});

test('a schedule that can be read again fires what it missed', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, {});
  const config = { cron: '* * * * *', timezone: 'UTC', catch_up: 'once' };
  const { body } = await client.post(`/automation-workflows/${workflow}/triggers`, { type: 'schedule', name: 'Each minute', config });
  const due = Math.floor(Date.now() / 60_000) * 60_000;
  const write = (text: string) =>
    env.DB.prepare('UPDATE automation_trigger SET config = ?, next_fire_at = ? WHERE id = ?').bind(text, due, body.id).run();
  await write('{"cron":"nonsense"}');
  await tickAt(due + 1000);
  await write(JSON.stringify(config));
  await deliver('fanout', [{ v: 1, kind: 'schedule', organization_id: id, id: body.id }]);
  const fires = await env.DB.prepare('SELECT scheduled_at FROM schedule_fire WHERE organization_id = ?').bind(id).all();
  expect(fires.results).toHaveLength(1);
  expect(await readFailedMessages(id)).toEqual([]);
});

test('a change of a contact that cannot be read holds up no other, and ends with the reason on the triggers that watch', async () => {
  const { client, id } = await newOrganization();
  const contacts = [newPhone(), newPhone()].map(async (phone) => (await client.post('/contacts', { phone })).body.id as number);
  const [poisoned, sound] = await Promise.all(contacts);
  const workflow = await createActiveWorkflow(client, {
    trigger: { type: 'data_condition', config: { condition: { field: 'contact.tags', operator: 'contains', value: 'vip' } } },
  });
  const lost = dropQueueMessages();
  for (const contact of [poisoned, sound]) await client.put(`/contacts/${contact}`, { tags: ['vip'] });
  lost.restore();
  const first = await env.DB.prepare('SELECT id FROM contact_change WHERE organization_id = ? AND contact_id = ?')
    .bind(id, poisoned!)
    .first<{ id: number }>();
  await env.DB.prepare(`UPDATE contact_change SET before = '{"id":' WHERE id = ?`).bind(first!.id).run();
  const result = await deliver('fanout', [{ v: 1, kind: 'contact_changes', organization_id: id }]);
  expect(result.retryMessages).toHaveLength(1);
  const left = async () => (await env.DB.prepare('SELECT id FROM contact_change WHERE organization_id = ?').bind(id).all()).results;
  expect(await left()).toEqual([{ id: first!.id }]);
  expect((await client.get(`/automation-workflows/${workflow}/runs`)).body.total).toBe(1);
  await deliver('fanout', [{ v: 1, kind: 'contact_changes', organization_id: id }], env, 6);
  await exhaustFailedMessages(id);
  expect(await left()).toEqual([]);
  const { body } = await client.get(`/automation-workflows/${workflow}/triggers`);
  expect(body.triggers.map((trigger: { last_error: string }) => trigger.last_error)).toContainEqual(
    expect.stringMatching(/^given_up: a change of a contact could not be worked off/),
  );
});

test('an agent that cannot be read keeps no call of another agent from being dialled', async () => {
  const organization = await callingOrganization({ concurrentCalls: 10 });
  const { id, client, account, agentId: poisoned } = organization;
  const other = await client.post('/workflow/create/definition', {
    name: 'Sound',
    workflow_definition: JSON.parse(
      (await env.DB.prepare('SELECT definition FROM voice_agent_definition WHERE agent_id = ?')
        .bind(poisoned)
        .first<{ definition: string }>())!.definition,
    ) as object,
  });
  await env.DB.prepare(`UPDATE voice_agent_definition SET definition = '{' WHERE agent_id = ?`).bind(poisoned).run();
  const reports: { key: string; reason?: string }[] = [];
  vi.spyOn(env.CAMPAIGN, 'getByName').mockReturnValue({
    applyReports: async (received: typeof reports) => void reports.push(...structuredClone(received)),
  } as never);
  const call = (key: string, agentId: number, phone: string) => ({
    key,
    phone,
    agentId,
    contactId: null,
    initialContext: '{}',
    name: 'A call',
    notAfter: null,
  });
  await env.CALL_SLOTS.getByName(String(id)).request(id, {
    owner: { kind: 'campaign', id: 1 },
    epoch: 0,
    maxConcurrency: null,
    calls: [call('campaign:1:1:1', poisoned, '+13035552001'), call('campaign:1:2:1', other.body.id, '+13035552002')],
  });
  await vi.waitFor(async () => expect((await carrierLedger(account)).calls).toMatchObject([{ attempt_key: 'campaign:1:2:1' }]), {
    timeout: 15_000,
  });
  await vi.waitFor(() => expect(reports).toContainEqual(expect.objectContaining({ key: 'campaign:1:1:1', reason: 'agent_unsound' })), {
    timeout: 15_000,
  });
});

test('a campaign and a chat that cannot be reached are woken on their own, and say why they stand still', async () => {
  const { id, context, agent, client } = await withAgent();
  const long = Date.now() - hourMs;
  const { results } = await env.DB.prepare(
    `INSERT INTO campaign (organization_id, name, agent_id, state, source_type, source_id, source_options, max_concurrency, retry_config,
       schedule_config, circuit_breaker, wake_at, created_at) VALUES (?, 'Spring', ?, 'running', 'csv', 'x', '{}', 1, '{}', '{}', '{}', ?, ?) RETURNING id`,
  )
    .bind(id, agent.id, long, long)
    .all<{ id: number }>();
  const campaign = results[0]!.id;
  const chat = await newRun(context, agent, { mode: 'textchat', attemptKey: `chat:${crypto.randomUUID()}` });
  await env.DB.prepare('UPDATE voice_agent_run SET wake_at = ? WHERE id = ?').bind(long, chat.id).run();
  vi.spyOn(env.CAMPAIGN, 'getByName').mockImplementation(broken);
  vi.spyOn(env.CALL, 'getByName').mockImplementation(broken);
  await tickAt(Date.now());
  expect(await readFailedMessages(id)).toMatchObject([
    { key: `poke:campaign:${campaign}`, reason: 'its storage is broken' },
    { key: `poke:chat:${chat.id}`, reason: 'its storage is broken' },
  ]);
  await exhaustFailedMessages(id);
  vi.restoreAllMocks();
  const given = expect.stringMatching(/^given_up: its object could not be reached .*its storage is broken/);
  expect(await env.DB.prepare('SELECT state_reason FROM campaign WHERE id = ?').bind(campaign).first()).toEqual({ state_reason: given });
  expect(await env.DB.prepare('SELECT is_completed, outcome, reason FROM voice_agent_run WHERE id = ?').bind(chat.id).first()).toEqual({
    is_completed: 1,
    outcome: 'failed',
    reason: given,
  });
  await client.delete(`/campaign/${campaign}`);
});

test('a call whose talk cannot be reached for a day is completed from what its line tells, with the reason', async () => {
  const { id, context, agent } = await withAgent();
  const key = 'campaign:1:1:1';
  vi.spyOn(env.CAMPAIGN, 'getByName').mockReturnValue({ applyReports: async () => {} } as never);
  vi.spyOn(env.CALL, 'getByName').mockImplementation(broken);
  const run = await newRun(context, agent, { attemptKey: key });
  const slots = env.CALL_SLOTS.getByName(String(id));
  await slots.request(id, {
    owner: { kind: 'campaign', id: 1 },
    epoch: 0,
    maxConcurrency: null,
    calls: [{ key, phone: '+13035553001', agentId: agent.id, contactId: null, initialContext: '{}', name: 'A call', notAfter: null }],
  });
  const endedAgo = (ms: number) =>
    changeAttempt(slots, key, {
      state: 'ended',
      outcome: 'completed',
      followUp: 'talk',
      isAgentConnected: true,
      runId: run.id,
      endedAt: Date.now() - ms,
      checkAt: null,
      detail: null,
    });
  const checkAfter = async () => {
    await slots.wakeStalled();
    return vi.waitFor(
      async () => {
        const [{ checkAt }] = (await knownAttempts(slots)) as [StoredAttempt];
        expect(checkAt).not.toBeNull();
        return checkAt! - Date.now();
      },
      { timeout: 5000 },
    );
  };
  // Soon at first, then after a tenth of the time since the first failure.
  await endedAgo(1000);
  expect(await checkAfter()).toBeLessThan(6000);
  await endedAgo(5 * hourMs);
  expect((await checkAfter()) / 60_000).toBeCloseTo(30, 0);
  await endedAgo(dayMs + 1000);
  await slots.wakeStalled();
  await vi.waitFor(
    async () =>
      expect(await env.DB.prepare('SELECT is_completed, outcome, reason FROM voice_agent_run WHERE id = ?').bind(run.id).first()).toEqual({
        is_completed: 1,
        outcome: 'completed',
        reason: expect.stringMatching(/^given_up: what was said is lost.*its storage is broken/),
      }),
    { timeout: 10_000 },
  );
});

test('a move of vectors that cannot be sent for keeps no other from being sent for', async () => {
  const [poisoned, sound] = [(await newOrganization()).id, (await newOrganization()).id];
  for (const id of [poisoned, sound])
    await env.DB.prepare(`INSERT INTO vector_placement (organization_id, kept_in, due_at) VALUES (?, 'embedded', ?)`)
      .bind(id, Date.now() - hourMs + id)
      .run();
  const sent: number[] = [];
  vi.spyOn(env.FANOUT_QUEUE, 'send').mockImplementation(async (message) => {
    const { kind, organization_id } = message as { kind: string; organization_id: number };
    if (kind === 'vector_move' && organization_id === poisoned) throw new Error('the queue is full');
    if (kind === 'vector_move') sent.push(organization_id);
    return undefined as never;
  });
  await tickAt(Date.now());
  expect(sent).toContain(sound);
  await env.DB.prepare('DELETE FROM vector_placement WHERE organization_id IN (?, ?)').bind(poisoned, sound).run();
});
