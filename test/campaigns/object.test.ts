import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { newOrganization } from '../support/organization.ts';
import {
  allRows,
  answered,
  dialing,
  draftCampaign,
  ended,
  goTo,
  inside,
  inState,
  keyOf,
  monday,
  newActionId,
  people,
  refusal,
  returned,
  rowAt,
  rowOf,
  runningCampaign,
  settle,
  standAt,
  standingCampaign,
  until,
} from './live-campaigns.ts';

test('a campaign reads its source, requests its calls and completes with the last row', async () => {
  const campaign = await runningCampaign();
  const keys = campaign.slots.keys();
  expect(keys).toEqual([1, 2, 3].map((row) => keyOf(campaign, row)));
  expect(campaign.slots.calls().get(keys[1]!)).toMatchObject({
    phone: '+12125550001',
    agentId: campaign.agentId,
    contactId: null,
    initialContext: JSON.stringify({ first_name: 'Person 2', phone_number: '+12125550001' }),
    notAfter: null,
  });
  expect(campaign.slots.requests[0]).toMatchObject({ owner: { kind: 'campaign', id: campaign.id }, maxConcurrency: 100 });
  await campaign.stub().applyReports(keys.map((key, index) => dialing(key, index + 10)));
  expect(await campaign.stub().snapshot()).toMatchObject({ state: 'running', in_flight: 3 });
  await campaign.stub().applyReports(keys.map((key, index) => answered(key, index + 10)));
  await campaign.stub().applyReports(keys.map((key, index) => ended(key, 'completed', { runId: index + 10 })));
  const live = await inState(campaign, 'completed');
  expect(live).toMatchObject({ total_rows: 3, completed_rows: 3, processed_rows: 3, in_flight: 0, state_reason: null });
  expect(live.completed_at).toBeGreaterThanOrEqual(live.started_at);
  expect(await rowOf(campaign.id)).toMatchObject({ state: 'completed', completed_rows: 3, total_rows: 3, in_flight: 0 });
  // No work is left, so no tick needs to wake it.
  await until(async () => expect((await rowOf(campaign.id))['wake_at']).toBeNull());
  expect(await rowAt(campaign, 2)).toMatchObject({ row_number: 2, state: 'completed', outcome: 'completed', run_ids: [11], attempts: 1 });
});

test('rows that cannot be called are stored with their reason, and a campaign with no other rows completes at once', async () => {
  const campaign = await draftCampaign({ csv: 'phone\nnonsense\n+12125550001\n+12125550001\n' });
  await campaign.stub().start(campaign.organizationId, campaign.id, newActionId());
  await until(async () => expect(campaign.slots.keys()).toEqual([keyOf(campaign, 2)]));
  expect((await allRows(campaign)).map(({ state, reason }) => [state, reason?.split(':')[0] ?? null])).toEqual([
    ['failed', 'not_a_number'],
    ['pending', null],
    ['skipped', 'duplicate'],
  ]);
  const hopeless = await draftCampaign({ csv: 'phone\nnonsense\n12\n' });
  await hopeless.stub().start(hopeless.organizationId, hopeless.id, newActionId());
  expect(await inState(hopeless, 'completed')).toMatchObject({ total_rows: 2, failed_rows: 2 });
});

describe('a start', () => {
  test('is answered with the state that the row shows', async () => {
    const campaign = await draftCampaign();
    expect(await campaign.stub().start(campaign.organizationId, campaign.id, newActionId())).toMatchObject({
      state: 'syncing',
      total_rows: 0,
    });
    expect((await rowOf(campaign.id))['state']).not.toBe('draft');
  });

  test('happens once, and its repetition under the same action id is no conflict', async () => {
    const campaign = await draftCampaign();
    const start = (actionId: string) => campaign.stub().start(campaign.organizationId, campaign.id, actionId);
    const actionId = newActionId();
    await Promise.all([start(actionId), start(actionId)]);
    expect(await refusal(start(newActionId()))).toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/^This campaign is (syncing|running); .* draft$/),
    });
    await inState(campaign, 'running');
    expect(await start(actionId)).toMatchObject({ total_rows: 3 });
  });

  test('of an unknown campaign, or one of another organization, is a 404 and creates nothing', async () => {
    const campaign = await draftCampaign();
    const other = await newOrganization();
    const stub = env.CAMPAIGN.getByName(`${other.id}/${campaign.id}`);
    expect(await refusal(stub.start(other.id, campaign.id, newActionId()) as Promise<unknown>)).toMatchObject({ code: 'not_found' });
    expect(await stub.snapshot()).toBeNull();
    expect((await rowOf(campaign.id))['state']).toBe('draft');
  });

  test('that broke off before the object was created is completed by a wake-up', async () => {
    const campaign = await draftCampaign();
    await env.DB.prepare("UPDATE campaign SET state = 'syncing', started_at = 5, wake_at = 5 WHERE id = ?").bind(campaign.id).run();
    await campaign.stub().wakeStalled(campaign.organizationId, campaign.id);
    expect(await inState(campaign, 'running')).toMatchObject({ total_rows: 3, started_at: 5 });
  });

  test('with a source that cannot be read fails, and says why', async () => {
    const campaign = await draftCampaign({ csv: 'name\nAda\n' });
    await campaign.stub().start(campaign.organizationId, campaign.id, newActionId());
    const live = await inState(campaign, 'failed');
    expect(live.state_reason).toMatch(/^source_unreadable: .*phone/);
    expect(live.logs[0]).toMatchObject({ level: 'error', event: 'source_unreadable' });
    expect(await rowOf(campaign.id)).toMatchObject({ state: 'failed', state_reason: live.state_reason });
    expect(live.completed_at).not.toBeNull();
  });

  test('with a source that is damaged further on ends the rows that were read', async () => {
    const campaign = await draftCampaign({ csv: `${people(1500)}+12125559999,${'x'.repeat(2 << 20)}\n` });
    await campaign.stub().start(campaign.organizationId, campaign.id, newActionId());
    const live = await inState(campaign, 'failed');
    expect(live.state_reason).toMatch(/^source_unreadable: /);
    await until(async () => {
      const { total_rows, skipped_rows } = (await campaign.stub().snapshot())!;
      expect(total_rows).toBeGreaterThan(0);
      expect(skipped_rows).toBe(total_rows);
    });
    expect(campaign.slots.requests).toEqual([]);
  });

  test('of a campaign that could never dial pauses it with the reason', async () => {
    const campaign = await draftCampaign();
    await env.DB.prepare("UPDATE voice_agent SET status = 'archived' WHERE id = ?").bind(campaign.agentId).run();
    await campaign.stub().start(campaign.organizationId, campaign.id, newActionId());
    expect(await inState(campaign, 'paused')).toMatchObject({ state_reason: 'agent_archived', total_rows: 3 });
    const silent = await draftCampaign();
    await env.DB.prepare('DELETE FROM telephony_config WHERE organization_id = ?').bind(silent.organizationId).run();
    await silent.stub().start(silent.organizationId, silent.id, newActionId());
    expect(await inState(silent, 'paused')).toMatchObject({ state_reason: 'telephony_not_configured' });
    expect([...campaign.slots.requests, ...silent.slots.requests]).toEqual([]);
  });
});

describe('a pause', () => {
  test('has withdrawn the queued calls when it is answered, and no call is requested after it', async () => {
    const campaign = await standingCampaign({ csv: people(60), configs: { max_concurrency: 5 } });
    expect(campaign.slots.keys()).toHaveLength(30);
    const before = campaign.slots.requests[0]!.epoch;
    expect(await campaign.stub().pause(newActionId())).toMatchObject({ state: 'paused', state_reason: null });
    expect(campaign.slots.withdrawn).toEqual([before + 1]);
    expect(await rowOf(campaign.id)).toMatchObject({ state: 'paused' });
    await campaign.stub().applyReports([
      ...campaign.slots
        .keys()
        .slice(0, 28)
        .map((key) => returned(key, 'withdrawn')),
      ended(keyOf(campaign, 29), 'completed'),
    ]);
    await goTo(campaign, monday + 3_600_000);
    // Requested calls without a report are requested again so that they are given back; none of them may be dialled.
    const later = campaign.slots.requests.slice(1).flatMap(({ calls }) => calls);
    expect(later.map(({ notAfter }) => notAfter).filter((moment) => moment !== 0)).toEqual([]);
    expect(await campaign.stub().snapshot()).toMatchObject({ completed_rows: 1, in_flight: 0, state: 'paused' });
  });

  test('lets live calls end, and their outcomes count', async () => {
    const campaign = await standingCampaign();
    await campaign.stub().applyReports([dialing(keyOf(campaign, 1)), dialing(keyOf(campaign, 2))]);
    await campaign.stub().pause(newActionId());
    await campaign.stub().applyReports([ended(keyOf(campaign, 1), 'completed'), ended(keyOf(campaign, 2), 'busy')]);
    expect(await rowAt(campaign, 1)).toMatchObject({ state: 'completed' });
    expect(await rowAt(campaign, 2)).toMatchObject({ state: 'scheduled', next_attempt_at: monday + 120_000 });
    expect(await campaign.stub().snapshot()).toMatchObject({ state: 'paused' });
  });

  test('is not answered when the slots are unreachable, and reaches them later', async () => {
    const campaign = await standingCampaign();
    campaign.slots.isDown = true;
    expect((await refusal(campaign.stub().pause(newActionId()))).message).toContain('do not answer');
    expect(await rowOf(campaign.id)).toMatchObject({ state: 'running' });
    campaign.slots.isDown = false;
    await goTo(campaign, monday + 2000);
    expect(campaign.slots.withdrawn).toEqual([2]);
    expect(await rowOf(campaign.id)).toMatchObject({ state: 'paused' });
  });

  test('and its resumption continue the campaign under a later epoch', async () => {
    const campaign = await standingCampaign({ csv: people(40), configs: { max_concurrency: 1 } });
    const first = campaign.slots.keys();
    expect(first).toHaveLength(22);
    await campaign.stub().pause(newActionId());
    await campaign.stub().applyReports(first.map((key) => returned(key, 'withdrawn')));
    expect((await allRows(campaign)).map(({ state }) => state)).toEqual(Array.from({ length: 40 }, () => 'pending'));
    expect(await campaign.stub().resume(newActionId())).toMatchObject({ state: 'running' });
    await settle(campaign);
    const again = campaign.slots.requests.at(-1)!;
    expect(again.epoch).toBe(2);
    // No person was called, so the attempt keys are the same.
    expect(again.calls.map(({ key }) => key)).toEqual(first);
  });

  test('during the reading stops the reading, which goes on after a resume', async () => {
    const campaign = await draftCampaign({ csv: people(3000) });
    await standAt(campaign, monday);
    await campaign.stub().start(campaign.organizationId, campaign.id, newActionId());
    let batches = 0;
    await inside(campaign.stub(), (object) => {
      const real = object.env;
      const prepare = (sql: string) => {
        // Each batch looks up the contacts of its numbers.
        if (sql.includes('contact') && ++batches === 3) void campaign.stub().pause(newActionId());
        return real.DB.prepare(sql);
      };
      const database = { prepare, batch: (statements: D1PreparedStatement[]) => real.DB.batch(statements) };
      object.env = new Proxy(real, { get: (target, name) => (name === 'DB' ? database : Reflect.get(target, name)) });
    });
    await settle(campaign);
    const paused = await inState(campaign, 'paused');
    expect(paused.total_rows).toBeGreaterThan(0);
    expect(paused.total_rows).toBeLessThan(3000);
    expect(campaign.slots.requests).toEqual([]);
    expect(await campaign.stub().resume(newActionId())).toMatchObject({ state: 'syncing' });
    await settle(campaign);
    expect(await inState(campaign, 'running')).toMatchObject({ total_rows: 3000 });
    expect((await allRows(campaign)).map(({ row_number }) => row_number)).toEqual(Array.from({ length: 3000 }, (_, index) => index + 1));
  });
});

describe('a resumption', () => {
  test('of a campaign that could never dial keeps it paused with the reason', async () => {
    const campaign = await standingCampaign();
    await campaign.stub().pause(newActionId());
    await env.DB.prepare("UPDATE voice_agent SET status = 'archived' WHERE id = ?").bind(campaign.agentId).run();
    const live = await campaign.stub().resume(newActionId());
    expect(live).toMatchObject({
      state: 'paused',
      state_reason: 'agent_archived',
      logs: [expect.objectContaining({ event: 'agent_archived' }), expect.anything(), expect.anything(), expect.anything()],
    });
    expect(await rowOf(campaign.id)).toMatchObject({ state: 'paused', state_reason: 'agent_archived' });
    await env.DB.prepare("UPDATE voice_agent SET status = 'active' WHERE id = ?").bind(campaign.agentId).run();
    expect(await campaign.stub().resume(newActionId())).toMatchObject({ state: 'running', state_reason: null });
  });

  test('waits until the withdrawal is done', async () => {
    const campaign = await standingCampaign();
    campaign.slots.isDown = true;
    await refusal(campaign.stub().pause(newActionId()));
    expect((await refusal(campaign.stub().resume(newActionId()))).message).toContain('do not answer');
    expect(await campaign.stub().snapshot()).toMatchObject({ state: 'paused' });
    campaign.slots.isDown = false;
    expect(await campaign.stub().resume(newActionId())).toMatchObject({ state: 'running' });
    expect(campaign.slots.withdrawn).toEqual([2]);
  });
});

describe('a cancellation', () => {
  test('ends rows without a live call at once, and the others by their outcome, without a retry', async () => {
    const campaign = await standingCampaign({ csv: people(50), configs: { max_concurrency: 5 } });
    const keys = campaign.slots.keys();
    await campaign.stub().applyReports([dialing(keys[0]!), dialing(keys[1]!), answered(keys[2]!)]);
    const live = await campaign.stub().cancel(newActionId());
    // 30 were requested: 27 of them are given back by the withdrawal.
    expect(live).toMatchObject({ state: 'cancelled', skipped_rows: 20, in_flight: 3, total_rows: 50 });
    expect(live.completed_at).toBe(monday);
    expect(campaign.slots.withdrawn).toEqual([2]);
    await campaign.stub().applyReports(keys.slice(3).map((key) => returned(key, 'withdrawn')));
    expect(await campaign.stub().snapshot()).toMatchObject({ skipped_rows: 47, in_flight: 3 });
    await campaign.stub().applyReports([ended(keys[0]!, 'busy'), ended(keys[1]!, 'carrier_trouble'), ended(keys[2]!, 'completed')]);
    expect(await rowAt(campaign, 1)).toMatchObject({
      state: 'failed',
      outcome: 'busy',
      reason: expect.stringContaining('cancelled'),
      next_attempt_at: null,
    });
    expect(await rowAt(campaign, 2)).toMatchObject({ state: 'failed', outcome: 'failed' });
    expect(await rowAt(campaign, 3)).toMatchObject({ state: 'completed' });
    expect(await rowAt(campaign, 40)).toMatchObject({ state: 'skipped', reason: 'cancelled: the campaign was cancelled' });
    await goTo(campaign, monday + 5000);
    expect(await rowOf(campaign.id)).toMatchObject({
      state: 'cancelled',
      skipped_rows: 47,
      failed_rows: 2,
      completed_rows: 1,
      in_flight: 0,
      total_rows: 50,
    });
  });

  test('ends every row whose request was lost on its way, too', async () => {
    const campaign = await draftCampaign();
    await standAt(campaign, monday);
    campaign.slots.isDown = true;
    await campaign.stub().start(campaign.organizationId, campaign.id, newActionId());
    await settle(campaign).catch(() => undefined);
    expect(await campaign.stub().snapshot()).toMatchObject({ state: 'running' });
    campaign.slots.isDown = false;
    await campaign.stub().cancel(newActionId());
    await goTo(campaign, monday + 10_000);
    // Requested once more with a closed window: the slots give back calls that they never had.
    const asked = campaign.slots.requests.at(-1)!;
    expect(asked.calls.map(({ key, notAfter }) => [key, notAfter])).toEqual([1, 2, 3].map((row) => [keyOf(campaign, row), 0]));
    expect(asked.epoch).toBe(2);
    await campaign.stub().applyReports(asked.calls.map(({ key }) => returned(key, 'window_closed')));
    expect(await campaign.stub().snapshot()).toMatchObject({ state: 'cancelled', skipped_rows: 3, in_flight: 0 });
  });

  test('is possible while the source is read and while it is paused', async () => {
    const campaign = await standingCampaign();
    await campaign.stub().pause(newActionId());
    await campaign.stub().applyReports(campaign.slots.keys().map((key) => returned(key, 'withdrawn')));
    expect(await campaign.stub().cancel(newActionId())).toMatchObject({ state: 'cancelled', skipped_rows: 3 });
    const early = await draftCampaign();
    await standAt(early, monday);
    await early.stub().start(early.organizationId, early.id, newActionId());
    await early.stub().cancel(newActionId());
    await goTo(early, monday + 10_000);
    expect(await early.stub().snapshot()).toMatchObject({ state: 'cancelled', total_rows: 0 });
  });
});

test('actions in the wrong state are conflicts that name the state and the allowed ones', async () => {
  const campaign = await draftCampaign();
  const stub = campaign.stub();
  const refused = async (actionId: Promise<unknown>, ...words: string[]) => {
    const error = await refusal(actionId);
    expect(error).toMatchObject({ code: 'conflict' });
    for (const word of words) expect(error.message).toContain(word);
  };
  await refused(stub.pause(newActionId()), 'draft', 'running or syncing');
  await refused(stub.resume(newActionId()), 'draft', 'paused');
  await refused(stub.cancel(newActionId()), 'draft');
  await refused(stub.change({ name: 'New' }), 'draft', 'paused');
  expect([await stub.snapshot(), await stub.progress(), await stub.rows({ limit: 1, offset: 0 }), await stub.reportRows(0, 1)]).toEqual([
    null,
    null,
    null,
    null,
  ]);
  await stub.pauseForArchivedAgent();
  await stub.removeContact(1);
  await stub.applyReports([ended(keyOf(campaign, 1), 'completed')]);
  await stub.start(campaign.organizationId, campaign.id, newActionId());
  await inState(campaign, 'running');
  await refused(stub.resume(newActionId()), 'running', 'paused');
  await refused(stub.change({ name: 'New' }), 'running', 'paused');
  await stub.pause(newActionId());
  await refused(stub.pause(newActionId()), 'paused', 'running or syncing');
  await stub.cancel(newActionId());
  for (const actionId of [stub.pause(newActionId()), stub.resume(newActionId()), stub.cancel(newActionId()), stub.change({})])
    await refused(actionId, 'cancelled');
});

test('an action that is repeated because its answer was lost is no conflict', async () => {
  const campaign = await standingCampaign();
  for (const verb of ['pause', 'resume', 'cancel'] as const) {
    const actionId = newActionId();
    const first = await campaign.stub()[verb](actionId);
    expect((await campaign.stub()[verb](actionId)).state).toBe(first.state);
  }
  expect((await campaign.stub().snapshot())!.logs.map(({ event }) => event)).toEqual([
    'cancelled',
    'resumed',
    'paused',
    'synced',
    'started',
  ]);
});

test('a change of a paused campaign is in its row when it is answered, and counts from the resumption on', async () => {
  const campaign = await standingCampaign({ csv: people(60), configs: { max_concurrency: 1 } });
  await campaign.stub().pause(newActionId());
  const configs = { ...campaign.all, max_concurrency: 7, retry_config: { ...campaign.all.retry_config, max_retries: 0 } };
  expect(await campaign.stub().change({ name: 'Autumn', configs })).toMatchObject({ name: 'Autumn', configs, state: 'paused' });
  const row = await rowOf(campaign.id);
  expect([row['name'], row['max_concurrency'], JSON.parse(row['retry_config'])]).toEqual(['Autumn', 7, configs.retry_config]);
  await campaign.stub().resume(newActionId());
  await settle(campaign);
  expect(campaign.slots.requests.at(-1)).toMatchObject({ maxConcurrency: 7, epoch: 2 });
  expect(campaign.slots.requests.at(-1)!.calls[0]!.name).toContain('Autumn');
  await campaign.stub().applyReports([ended(keyOf(campaign, 1), 'busy')]);
  expect(await rowAt(campaign, 1)).toMatchObject({ state: 'failed', outcome: 'busy', reason: 'busy: on the last of 1 attempt' });
});

test('an archived agent pauses a running campaign, and does not change a paused one', async () => {
  const campaign = await standingCampaign();
  await campaign.stub().pauseForArchivedAgent();
  expect(await campaign.stub().snapshot()).toMatchObject({ state: 'paused', state_reason: 'agent_archived' });
  expect(campaign.slots.withdrawn).toEqual([2]);
  await campaign.stub().pauseForArchivedAgent();
  expect(campaign.slots.withdrawn).toEqual([2]);
  expect(await rowOf(campaign.id)).toMatchObject({ state: 'paused', state_reason: 'agent_archived' });
});

test('a deleted contact is not called, and its data is erased', async () => {
  const campaign = await draftCampaign({ csv: people(30), configs: { max_concurrency: 1 } });
  const contacts = [];
  for (const index of [0, 1, 2, 29]) {
    const { body } = await campaign.client.post('/contacts', { phone: `+1212${5_550_000 + index}` });
    contacts.push(body.id as number);
  }
  await standAt(campaign, monday);
  await campaign.stub().start(campaign.organizationId, campaign.id, newActionId());
  await settle(campaign);
  await campaign.stub().applyReports([dialing(keyOf(campaign, 2)), ended(keyOf(campaign, 3), 'completed')]);
  for (const contact of contacts) await campaign.stub().removeContact(contact);
  // Queued: it is given back first.
  expect(campaign.slots.withdrawnKeys).toContain(keyOf(campaign, 1));
  await campaign.stub().applyReports([returned(keyOf(campaign, 1), 'withdrawn'), ended(keyOf(campaign, 2), 'busy')]);
  const gone = { contact_id: expect.any(Number), variables: {}, next_attempt_at: null };
  expect(await rowAt(campaign, 1)).toMatchObject({ ...gone, state: 'skipped', reason: 'contact_deleted: the contact was deleted' });
  expect(await rowAt(campaign, 2)).toMatchObject({
    ...gone,
    state: 'failed',
    outcome: 'busy',
    reason: expect.stringContaining('the contact was deleted'),
  });
  expect(await rowAt(campaign, 3)).toMatchObject({ ...gone, state: 'completed' });
  expect(await rowAt(campaign, 30)).toMatchObject({ ...gone, state: 'skipped', reason: 'contact_deleted: the contact was deleted' });
  expect(await rowAt(campaign, 4)).toMatchObject({ state: 'pending', variables: { first_name: 'Person 4' } });
});

test('a campaign answers its progress, pages of rows, and the rows of a redial', async () => {
  const campaign = await standingCampaign({ csv: people(10), configs: { max_concurrency: 1 } });
  const key = (row: number) => keyOf(campaign, row);
  await campaign
    .stub()
    .applyReports([
      ended(key(1), 'completed'),
      ended(key(2), 'busy'),
      dialing(key(3)),
      answered(key(4)),
      ended(key(5), 'number_refused', { detail: 'There is no such number' }),
      returned(key(6), 'suppressed'),
    ]);
  expect(await campaign.stub().progress()).toEqual({
    state: 'running',
    state_reason: null,
    total_rows: 10,
    processed_rows: 3,
    completed_rows: 1,
    failed_rows: 1,
    skipped_rows: 1,
    in_flight: 2,
    rows: { pending: 4, scheduled: 1, dialing: 1, in_call: 1, completed: 1, failed: 1, skipped: 1 },
    attempts: 3,
    reached_share: 0.5,
    outcomes: { completed: 1, busy: 0, no_answer: 0, voicemail: 0, failed: 1, cancelled: 0 },
    next_attempt_at: monday + 120_000,
    next_window_at: null,
    waiting: { queued: 3, live: 2, organization_live: 5, limit: 10, waiting_for: 'a call slot' },
  });
  const numbers = async (state: Parameters<ReturnType<typeof campaign.stub>['rows']>[0]['state'], limit = 10, offset = 0) => {
    const { rows, total } = (await campaign.stub().rows({ state, limit, offset }))!;
    return { rows: rows.map(({ row_number }) => row_number), total };
  };
  expect(await numbers(undefined, 3, 8)).toEqual({ rows: [9, 10], total: 10 });
  expect(await numbers('pending', 2, 1)).toEqual({ rows: [8, 9], total: 4 });
  for (const [state, row] of [
    ['scheduled', 2],
    ['dialing', 3],
    ['in_call', 4],
    ['completed', 1],
    ['failed', 5],
    ['skipped', 6],
  ] as const)
    expect(await numbers(state)).toEqual({ rows: [row], total: 1 });
  campaign.slots.isDown = true;
  expect(await campaign.stub().progress()).toMatchObject({ waiting: null, total_rows: 10 });
  expect(await campaign.stub().redialRows(['failed', 'busy'], 0, 10)).toEqual([
    { row_number: 5, phone: '+12125550004', contact_id: null, variables: { first_name: 'Person 5' } },
  ]);
  expect(await campaign.stub().redialRows(['failed'], 5, 10)).toEqual([]);
});

test('campaign.completed starts journeys, once', async () => {
  const campaign = await draftCampaign({ csv: people(1) });
  const journey = await campaign.client.post('/automation-workflows/', {
    name: 'After the campaign',
    definition: {
      nodes: [
        { id: 'in', type: 'trigger', data: {} },
        { id: 'out', type: 'exit', data: { outcome: '{{ campaign_name }}: {{ completed_rows }} of {{ total_rows }}' } },
      ],
      edges: [{ id: 'e', source: 'in', target: 'out' }],
    },
    trigger: { type: 'event', config: { event: 'campaign.completed' } },
  });
  expect(journey.status, JSON.stringify(journey.body)).toBe(201);
  await campaign.client.patch(`/automation-workflows/${journey.body.id}`, { status: 'active' });
  await campaign.stub().start(campaign.organizationId, campaign.id, newActionId());
  await until(async () => expect(campaign.slots.keys()).toHaveLength(1));
  await campaign.stub().applyReports([ended(keyOf(campaign, 1), 'completed')]);
  await until(async () => {
    const { body } = await campaign.client.get(`/automation-workflows/${journey.body.id}/runs`);
    expect(body.runs).toMatchObject([{ state: 'completed' }]);
  });
  await campaign.stub().applyReports([ended(keyOf(campaign, 1), 'completed')]);
  expect((await campaign.client.get(`/automation-workflows/${journey.body.id}/runs`)).body.total).toBe(1);
});

test('a campaign names what its remaining rows wait for: the slots, then a retry, a person who was just called, or the window', async () => {
  const campaign = await standingCampaign({ csv: people(1) });
  const waitingFor = async () => (await campaign.stub().progress())!.waiting!.waiting_for;
  expect(await waitingFor()).toBe('a call slot');
  campaign.slots.waiting = { queued: 0, waitingFor: null };
  expect(await waitingFor()).toBeNull();
  await campaign.stub().applyReports([returned(keyOf(campaign, 1), 'too_soon', monday + 3_600_000)]);
  expect(await waitingFor()).toBe(
    `min_hours_between_calls: whoever is left was called not long ago; the first may be called again at ${new Date(monday + 3_600_000).toISOString()}`,
  );
  await goTo(campaign, monday + 3_600_000);
  await campaign.stub().applyReports([ended(keyOf(campaign, 1), 'busy', { at: monday + 3_600_001 })]);
  expect(await waitingFor()).toMatch(/^retry_delay: /);
  campaign.slots.waiting = { queued: 1, waitingFor: 'call_slots: all are live' };
  expect(await waitingFor()).toBe('call_slots: all are live');
});
