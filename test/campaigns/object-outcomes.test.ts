import { describe, expect, test } from 'vitest';
import type { AttemptOutcome } from '../../src/calls/attempt/outcomes.ts';
import {
  allRows,
  answered,
  dialing,
  draftCampaign,
  ended,
  goTo,
  inside,
  keyOf,
  monday,
  newActionId,
  people,
  returned,
  rowAt,
  rowOf,
  settle,
  standAt,
  standingCampaign,
  until,
} from './live-campaigns.ts';
import { slot } from './schedules.ts';

const hour = 3_600_000;
const day = 24 * hour;
const officeHours = [0, 1, 2, 3, 4].map((weekday) => slot(weekday, '09:00', '17:00'));
const inOffice = (more: { slots?: ReturnType<typeof slot>[]; use_contact_timezone?: boolean } = {}) => ({
  schedule_config: { enabled: true, timezone: 'UTC', slots: officeHours, use_contact_timezone: false, ...more },
});
const noBreaker = { circuit_breaker: { enabled: false, failure_threshold: 0.5, window_seconds: 120, min_calls_in_window: 5 } };

const alarmsOf = (campaign: Parameters<typeof settle>[0]) =>
  inside(campaign.stub(), async (_object, state) => ({
    alarm: await state.storage.getAlarm(),
    timers: state.storage.sql
      .exec<{ kind: string; due: number }>("SELECT kind, due FROM timer WHERE kind <> 'project' ORDER BY due")
      .toArray(),
  }));

describe('the end of a call', () => {
  const table: [AttemptOutcome, Record<string, unknown>][] = [
    ['completed', { state: 'completed', outcome: 'completed', attempts: 1 }],
    ['busy', { state: 'scheduled', outcome: null, attempts: 1, next_attempt_at: monday + 120_000 }],
    ['no_answer', { state: 'scheduled', attempts: 1, next_attempt_at: monday + 120_000 }],
    ['voicemail', { state: 'scheduled', attempts: 1, next_attempt_at: monday + 120_000 }],
    ['failed', { state: 'failed', outcome: 'failed', attempts: 1 }],
    ['cancelled', { state: 'failed', outcome: 'cancelled', attempts: 1 }],
    ['carrier_trouble', { state: 'scheduled', outcome: null, attempts: 0, next_attempt_at: monday + 5000 }],
    ['rate_limited', { state: 'scheduled', outcome: null, attempts: 0, next_attempt_at: monday + 10_000 }],
    ['number_refused', { state: 'failed', outcome: 'failed', attempts: 1 }],
    ['number_blocked', { state: 'failed', outcome: 'failed', attempts: 1 }],
  ];
  test.each(table)('%s', async (outcome, expected) => {
    const campaign = await standingCampaign({ csv: people(2), configs: noBreaker });
    const key = keyOf(campaign, 1);
    await campaign.stub().applyReports([dialing(key, 41), ended(key, outcome, { runId: 41 })]);
    expect(await rowAt(campaign, 1)).toMatchObject({ run_ids: outcome === 'rate_limited' ? [] : [41], ...expected });
    expect(await campaign.stub().snapshot()).toMatchObject({ state: 'running' });
  });

  test('with a delay of 0 each retry is requested at once, and none after the last', async () => {
    const retry_config = { enabled: true, max_retries: 50, retry_delay_seconds: 0, backoff_factor: 10 };
    const configs = {
      ...noBreaker,
      retry_config: { ...retry_config, retry_on_busy: true, retry_on_no_answer: true, retry_on_voicemail: true },
    };
    const campaign = await standingCampaign({ csv: people(1), configs });
    for (let attempt = 1; attempt <= 51; attempt += 1) {
      const key = keyOf(campaign, 1, attempt);
      await settle(campaign);
      expect(campaign.slots.keys()).toHaveLength(attempt);
      expect(campaign.slots.keys().at(-1)).toBe(key);
      await campaign.stub().applyReports([dialing(key, attempt), ended(key, 'busy', { runId: attempt })]);
    }
    await settle(campaign);
    expect(campaign.slots.keys()).toHaveLength(51);
    expect(await rowAt(campaign, 1)).toMatchObject({ state: 'failed', outcome: 'busy', attempts: 51 });
  });

  test('a person who does not answer is called three times, each under a key of its own, and then no more', async () => {
    const campaign = await standingCampaign({ csv: people(1), configs: noBreaker });
    const keys = [1, 2, 3].map((attempt) => keyOf(campaign, 1, attempt));
    let now = monday;
    for (const [index, key] of keys.entries()) {
      expect(campaign.slots.keys()).toEqual(keys.slice(0, index + 1));
      await campaign.stub().applyReports([dialing(key, index + 5), ended(key, 'no_answer', { runId: index + 5 })]);
      // Just before its moment it is not requested.
      await goTo(campaign, now + 119_000);
      expect(campaign.slots.keys()).toHaveLength(index + 1);
      await goTo(campaign, (now += 120_000));
    }
    expect(await rowAt(campaign, 1)).toMatchObject({
      state: 'failed',
      outcome: 'no_answer',
      reason: 'no_answer: on the last of 3 attempts',
      attempts: 3,
      run_ids: [5, 6, 7],
    });
    expect(await campaign.stub().snapshot()).toMatchObject({ state: 'completed', failed_rows: 1 });
  });

  test('carrier trouble uses up no attempt, and ends the row after three more tries', async () => {
    const campaign = await standingCampaign({ csv: people(1), configs: noBreaker });
    let now = monday;
    for (const attempt of [1, 2, 3, 4]) {
      await campaign.stub().applyReports([ended(keyOf(campaign, 1, attempt), 'carrier_trouble', { detail: 'HTTP 503' })]);
      await goTo(campaign, (now += 600_000));
    }
    expect(campaign.slots.keys()).toHaveLength(4);
    expect(await rowAt(campaign, 1)).toMatchObject({
      state: 'failed',
      outcome: 'failed',
      attempts: 0,
      reason: expect.stringMatching(/^carrier_trouble: HTTP 503/),
    });
  });

  test('retries that are due go before rows that are new', async () => {
    const campaign = await standingCampaign({ csv: people(60), configs: { ...noBreaker, max_concurrency: 5 } });
    const first = campaign.slots.keys();
    expect(first).toHaveLength(30);
    await campaign.stub().applyReports(first.slice(0, 10).map((key) => ended(key, 'busy')));
    await settle(campaign);
    // Ten new ones took the place of those that wait.
    expect(campaign.slots.keys().slice(30)).toEqual(Array.from({ length: 10 }, (_, index) => keyOf(campaign, 31 + index)));
    await standAt(campaign, monday + 120_000);
    await campaign.stub().applyReports(
      campaign.slots
        .keys()
        .slice(10, 25)
        .map((key) => ended(key, 'completed')),
    );
    await settle(campaign);
    const asked = campaign.slots.keys().slice(40);
    expect(asked.slice(0, 10)).toEqual(Array.from({ length: 10 }, (_, index) => keyOf(campaign, 1 + index, 2)));
    expect(asked.slice(10)).toEqual(Array.from({ length: 5 }, (_, index) => keyOf(campaign, 41 + index)));
  });

  test('requested calls never exceed twice the concurrency plus twenty, whatever is given back', async () => {
    const campaign = await standingCampaign({ csv: people(200), configs: { max_concurrency: 3 } });
    const over = new Set<string>();
    const out = () => campaign.slots.keys().filter((key) => !over.has(key));
    for (let turn = 0; turn < 40; turn += 1) {
      expect(out().length).toBe(Math.min(26, 200 - over.size));
      const ending = out().slice(0, 1 + (turn % 7));
      await campaign.stub().applyReports(ending.map((key) => ended(key, 'completed')));
      for (const key of ending) over.add(key);
      await settle(campaign);
      await until(async () => expect(out().length).toBe(Math.min(26, 200 - over.size)));
    }
    expect((await campaign.stub().snapshot())!.completed_rows).toBe(over.size);
  });
});

describe('a call that is given back undialled', () => {
  test('waits, ends or pauses the campaign by its reason', async () => {
    const campaign = await standingCampaign({ csv: people(5) });
    await campaign
      .stub()
      .applyReports([
        { kind: 'waiting', key: keyOf(campaign, 1), at: 0, reason: 'another call to this person is under way' },
        returned(keyOf(campaign, 2), 'too_soon', monday + hour),
        returned(keyOf(campaign, 3), 'suppressed'),
        returned(keyOf(campaign, 4), 'contact_deleted'),
      ]);
    expect(await rowAt(campaign, 1)).toMatchObject({ state: 'pending', reason: 'waiting: another call to this person is under way' });
    expect(await rowAt(campaign, 2)).toMatchObject({ state: 'scheduled', next_attempt_at: monday + hour, attempts: 0 });
    expect(await rowAt(campaign, 3)).toMatchObject({ state: 'skipped', reason: 'suppressed: because of suppressed', outcome: null });
    expect(await rowAt(campaign, 4)).toMatchObject({ state: 'skipped', reason: 'contact_deleted: because of contact_deleted' });
    expect(await campaign.stub().snapshot()).toMatchObject({ state: 'running' });
    await goTo(campaign, monday + hour);
    // Nobody was called, so it is the same attempt.
    expect(campaign.slots.requests.at(-1)!.calls.map(({ key }) => key)).toEqual([keyOf(campaign, 2)]);
  });

  test.each(['agent_archived', 'telephony_not_configured'] as const)('%s pauses it, once, and no row is lost', async (reason) => {
    const campaign = await standingCampaign({ csv: people(3) });
    await campaign.stub().applyReports(campaign.slots.keys().map((key) => returned(key, reason)));
    await settle(campaign);
    const live = (await campaign.stub().snapshot())!;
    expect(live).toMatchObject({ state: 'paused', state_reason: reason, total_rows: 3, processed_rows: 0, in_flight: 0 });
    expect(live.logs.filter(({ event }) => event === reason)).toHaveLength(1);
    expect((await allRows(campaign)).map(({ state }) => state)).toEqual(['pending', 'pending', 'pending']);
  });
});

describe('a carrier that refuses us', () => {
  test.each(['account_refused', 'caller_id_refused', 'request_refused'] as const)(
    '%s pauses the campaign with its sentence',
    async (outcome) => {
      const campaign = await standingCampaign({ csv: people(3) });
      const [first, second] = campaign.slots.keys();
      await campaign.stub().applyReports([dialing(first!, 3), ended(first!, outcome, { runId: 3, detail: 'Authenticate (20003)' })]);
      const live = (await campaign.stub().snapshot())!;
      expect(live).toMatchObject({ state: 'paused', state_reason: `${outcome}: Authenticate (20003)`, in_flight: 0 });
      expect(live.logs[0]).toMatchObject({ level: 'error', event: outcome });
      expect(await rowAt(campaign, 1)).toMatchObject({ state: 'pending', attempts: 0, run_ids: [3] });
      await until(async () => expect(campaign.slots.withdrawn).toEqual([2]));
      await campaign.stub().applyReports([ended(second!, outcome, { detail: 'Authenticate (20003)' })]);
      expect((await campaign.stub().snapshot())!.logs.filter(({ event }) => event === outcome)).toHaveLength(1);
      await campaign.stub().resume(newActionId());
      await settle(campaign);
      expect(campaign.slots.requests.at(-1)!.calls.map(({ key }) => key)).toEqual([keyOf(campaign, 1, 2), keyOf(campaign, 2, 2)]);
    },
  );
});

describe('the circuit breaker', () => {
  const now = () => ({ at: monday });

  test('pauses the campaign at the share of failures, and names the calls', async () => {
    const campaign = await standingCampaign({ csv: people(20) });
    const keys = campaign.slots.keys();
    const failed = (key: string) => ended(key, 'failed', { ...now(), detail: 'the line was cut' });
    await campaign
      .stub()
      .applyReports([failed(keys[0]!), failed(keys[1]!), ended(keys[2]!, 'busy', now()), ended(keys[3]!, 'no_answer', now())]);
    expect(await campaign.stub().snapshot()).toMatchObject({ state: 'running' });
    // A call that is reported twice counts once.
    await campaign.stub().applyReports([failed(keys[0]!), failed(keys[1]!)]);
    expect(await campaign.stub().snapshot()).toMatchObject({ state: 'running' });
    await campaign.stub().applyReports([failed(keys[4]!)]);
    const live = (await campaign.stub().snapshot())!;
    expect(live).toMatchObject({ state: 'paused', state_reason: 'circuit_breaker' });
    expect(live.logs[0]).toMatchObject({
      level: 'error',
      event: 'circuit_breaker',
      details: {
        ended_calls: 5,
        failed_calls: 3,
        share: 0.6,
        last_failures: [5, 2, 1].map((row) => ({ row_number: row, outcome: 'failed', reason: 'failed: the line was cut' })),
      },
    });
    await until(async () => expect(campaign.slots.withdrawn).toEqual([2]));
    expect(await rowOf(campaign.id)).toMatchObject({ state: 'paused', state_reason: 'circuit_breaker' });
  });

  test('keeps its calls over a restart, and drops them on resume', async () => {
    const campaign = await standingCampaign({ csv: people(20) });
    const keys = campaign.slots.keys();
    const failed = (key: string) => ended(key, 'failed', now());
    await campaign.stub().applyReports(keys.slice(0, 4).map(failed));
    await inside(campaign.stub(), (_object, state) => state.abort('evicted')).catch(() => undefined);
    await standAt(campaign, monday);
    await campaign.stub().applyReports([failed(keys[4]!)]);
    expect(await campaign.stub().snapshot()).toMatchObject({ state: 'paused', state_reason: 'circuit_breaker' });
    await campaign.stub().resume(newActionId());
    await standAt(campaign, monday + 1000);
    await campaign.stub().applyReports(keys.slice(5, 9).map((key) => ended(key, 'failed', { at: monday + 1000 })));
    expect(await campaign.stub().snapshot()).toMatchObject({ state: 'running' });
    await campaign.stub().applyReports([ended(keys[9]!, 'failed', { at: monday + 1000 })]);
    expect(await campaign.stub().snapshot()).toMatchObject({ state: 'paused' });
  });

  test('counts no call that ended a window ago', async () => {
    const campaign = await standingCampaign({ csv: people(20) });
    const keys = campaign.slots.keys();
    await campaign.stub().applyReports(keys.slice(0, 4).map((key) => ended(key, 'failed', now())));
    await standAt(campaign, monday + 120_000);
    await campaign.stub().applyReports([ended(keys[4]!, 'failed', { at: monday + 120_000 })]);
    expect(await campaign.stub().snapshot()).toMatchObject({ state: 'running' });
    const stored = await inside(campaign.stub(), (_object, state) => state.storage.sql.exec('SELECT * FROM ended_call').toArray().length);
    expect(stored).toBe(1);
  });
});

describe('calling windows', () => {
  test('set the moment after which the slots must not dial', async () => {
    const campaign = await standingCampaign({ configs: inOffice() });
    expect([...campaign.slots.calls().values()].map(({ notAfter }) => notAfter)).toEqual([1, 2, 3].map(() => monday + 5 * hour));
  });

  test('that are closed let the campaign sleep until one opens, with one alarm', async () => {
    const night = monday + 10 * hour;
    const campaign = await standingCampaign({ csv: people(40), configs: inOffice() }, night);
    const opening = monday + 21 * hour;
    expect(campaign.slots.requests).toEqual([]);
    expect(await campaign.stub().progress()).toMatchObject({
      state: 'running',
      state_reason: null,
      next_window_at: opening,
      next_attempt_at: opening,
      rows: { pending: 0, scheduled: 40 },
    });
    const first = {
      state: 'scheduled',
      outcome: null,
      reason: 'window_closed: no calling window is open',
      attempts: 0,
      next_attempt_at: opening,
    };
    expect(await rowAt(campaign, 1)).toMatchObject(first);
    const page = async (state: 'pending' | 'scheduled') => (await campaign.stub().rows({ state, limit: 2, offset: 38 }))!;
    expect(await page('scheduled')).toMatchObject({ total: 40, rows: [{ row_number: 39, state: 'scheduled' }, { row_number: 40 }] });
    expect(await page('pending')).toEqual({ total: 0, rows: [] });
    expect((await campaign.stub().reportRows(39, 10))![0]).toMatchObject({ row_number: 40, ...first });
    const live = (await campaign.stub().snapshot())!;
    expect(live.logs[0]).toMatchObject({ event: 'window_closed', details: { next_window_at: new Date(opening).toISOString() } });
    await goTo(campaign, night + 5000);
    expect(await alarmsOf(campaign)).toEqual({ alarm: opening, timers: [{ kind: 'ask', due: opening }] });
    expect(await rowOf(campaign.id)).toMatchObject({ wake_at: opening });
    await goTo(campaign, opening - 1);
    expect(campaign.slots.requests).toEqual([]);
    await goTo(campaign, opening);
    expect(campaign.slots.keys()).toHaveLength(40);
    expect((await campaign.stub().snapshot())!.logs.filter(({ event }) => event === 'window_closed')).toHaveLength(1);
  });

  test('give back calls that they close on, for the next window', async () => {
    const campaign = await standingCampaign({ csv: people(2), configs: inOffice() });
    const closing = monday + 5 * hour;
    await standAt(campaign, closing);
    await campaign.stub().applyReports(campaign.slots.keys().map((key) => returned(key, 'window_closed')));
    const opening = monday + 21 * hour;
    expect(await rowAt(campaign, 1)).toMatchObject({
      state: 'scheduled',
      next_attempt_at: opening,
      reason: expect.stringMatching(/^window_closed: /),
    });
    expect(await campaign.stub().progress()).toMatchObject({ next_attempt_at: opening, rows: { scheduled: 2 } });
    await settle(campaign);
    expect(campaign.slots.requests).toHaveLength(1);
    await goTo(campaign, opening);
    expect(campaign.slots.requests.at(-1)!.calls.map(({ key, notAfter }) => [key, notAfter])).toEqual(
      [1, 2].map((row) => [keyOf(campaign, row), opening + 8 * hour]),
    );
  });

  test('delay a retry until the next window', async () => {
    const campaign = await standingCampaign({ csv: people(1), configs: inOffice() }, monday + 5 * hour - 1000);
    await campaign.stub().applyReports([ended(keyOf(campaign, 1), 'busy')]);
    expect(await rowAt(campaign, 1)).toMatchObject({ state: 'scheduled', next_attempt_at: monday + 21 * hour });
  });

  test('go by the time zone of each contact that has one', async () => {
    const csv = [
      'phone,timezone',
      // Noon in London is 7 in New York and 21 in Tokyo.
      '+12125550001,America/New_York',
      '+442071234567,',
      '+81312345678,',
      '+12125550002,Asia/Tokyo',
      '+12125550003,',
      '+12125550004,Nowhere/Town',
    ].join('\n');
    const campaign = await standingCampaign({ csv, configs: inOffice({ use_contact_timezone: true }) });
    expect(campaign.slots.keys()).toEqual([keyOf(campaign, 2), keyOf(campaign, 5)]);
    // The others wait, each for its own morning.
    const newYork = monday + 2 * hour;
    const tokyo = monday + 12 * hour;
    const { rows: waiting, total } = (await campaign.stub().rows({ state: 'scheduled', limit: 10, offset: 0 }))!;
    expect(waiting.map((row) => [row.row_number, row.next_attempt_at])).toEqual([
      [1, newYork],
      [3, tokyo],
      [4, tokyo],
    ]);
    expect([total, await campaign.stub().progress()]).toMatchObject([3, { next_attempt_at: newYork, rows: { pending: 2, scheduled: 3 } }]);
    expect(await rowAt(campaign, 6)).toMatchObject({
      state: 'failed',
      outcome: null,
      reason: expect.stringMatching(/^unknown_timezone: "Nowhere\/Town"/),
    });
    // London's is open, and has calls out.
    expect(await campaign.stub().progress()).toMatchObject({ next_window_at: null });
    await goTo(campaign, monday + 2 * hour);
    expect(campaign.slots.requests.at(-1)!.calls.map(({ key, notAfter }) => [key, notAfter])).toEqual([
      [keyOf(campaign, 1), monday + 10 * hour],
    ]);
    await goTo(campaign, monday + 12 * hour);
    expect(campaign.slots.requests.at(-1)!.calls.map(({ key, notAfter }) => [key, notAfter])).toEqual([
      [keyOf(campaign, 3), monday + 20 * hour],
      [keyOf(campaign, 4), monday + 20 * hour],
    ]);
    await campaign.stub().applyReports([ended(keyOf(campaign, 3), 'busy')]);
    await standAt(campaign, monday + 20 * hour - 60_000);
    await campaign.stub().applyReports([ended(keyOf(campaign, 4), 'busy')]);
    // The evening in Tokyo: the next morning there.
    expect(await rowAt(campaign, 4)).toMatchObject({ state: 'scheduled', next_attempt_at: monday + 36 * hour });
  });

  test('of contacts count from the resumption on when a paused campaign is changed to them, and back', async () => {
    const csv = 'phone,timezone\n+12125550001,America/New_York\n+12125550002,Nowhere/Town\n';
    const campaign = await standingCampaign({ csv, configs: inOffice() }, monday + 10 * hour);
    expect(campaign.slots.requests).toEqual([]);
    await campaign.stub().pause(newActionId());
    await campaign.stub().change({ configs: { ...campaign.all, ...inOffice({ use_contact_timezone: true }) } });
    await standAt(campaign, monday + 26 * hour);
    await campaign.stub().resume(newActionId());
    await settle(campaign);
    expect(campaign.slots.keys()).toEqual([keyOf(campaign, 1)]);
    expect(await rowAt(campaign, 2)).toMatchObject({ state: 'failed' });
  });

  test('of a thousand rows are checked once a window after their closing', async () => {
    const campaign = await standingCampaign({ csv: people(300), configs: { ...inOffice(), max_concurrency: 40 } });
    await standAt(campaign, monday + 5 * hour);
    await campaign.stub().applyReports(campaign.slots.keys().map((key) => returned(key, 'window_closed')));
    await settle(campaign);
    const requests = campaign.slots.requests.length;
    await goTo(campaign, monday + 6 * hour);
    await goTo(campaign, monday + 7 * hour);
    expect(campaign.slots.requests).toHaveLength(requests);
    expect((await alarmsOf(campaign)).timers).toEqual([{ kind: 'ask', due: monday + 21 * hour }]);
  });

  test('that do not exist pause the campaign with that reason', async () => {
    const campaign = await standingCampaign({ configs: inOffice() }, monday + 10 * hour);
    await campaign.stub().pause(newActionId());
    // No request can create such a row.
    await inside(
      campaign.stub(),
      (_, state) =>
        void state.storage.sql.exec('UPDATE campaign SET configs = ?', JSON.stringify({ ...campaign.all, ...inOffice({ slots: [] }) })),
    );
    expect(await campaign.stub().resume(newActionId())).toMatchObject({ state: 'paused', state_reason: 'no_calling_window' });
    const first = await draftCampaign({ configs: inOffice({ slots: [] }) });
    await standAt(first, monday);
    await first.stub().start(first.organizationId, first.id, newActionId());
    await settle(first);
    expect(await first.stub().snapshot()).toMatchObject({ state: 'paused', state_reason: 'no_calling_window' });
    // No row waits for a moment, and no timer fires any more.
    await goTo(first, monday + day);
    await goTo(first, monday + 2 * day);
    expect(await alarmsOf(first)).toEqual({ alarm: null, timers: [] });
  });
});

test('a row with more variables than a batch carries goes in a request of its own', async () => {
  const big = 'x'.repeat(60_000);
  const csv = `phone,note\n${Array.from({ length: 30 }, (_, index) => `+1212555${1000 + index},${big}`).join('\n')}\n`;
  const campaign = await standingCampaign({ csv });
  expect(campaign.slots.keys()).toHaveLength(30);
  for (const { calls } of campaign.slots.requests) expect(JSON.stringify(calls).length).toBeLessThan(1_000_000);
});

test('while the slots do not answer, the campaign repeats its requests with growing delays under the same keys', async () => {
  const campaign = await draftCampaign();
  await standAt(campaign, monday);
  campaign.slots.isDown = true;
  await campaign.stub().start(campaign.organizationId, campaign.id, newActionId());
  await settle(campaign);
  for (const later of [2000, 10_000, 100_000]) await goTo(campaign, monday + later);
  campaign.slots.isDown = false;
  await goTo(campaign, monday + 200_000);
  expect(campaign.slots.requests.flatMap(({ calls }) => calls.map(({ key }) => key))).toEqual([1, 2, 3].map((row) => keyOf(campaign, row)));
  await campaign.stub().applyReports([answered(keyOf(campaign, 1))]);
  expect(await rowAt(campaign, 1)).toMatchObject({ state: 'in_call' });
});

test('requested calls are requested again under their keys at intervals, and ringing ones with a closed window', async () => {
  const campaign = await standingCampaign({ csv: people(3) });
  await campaign.stub().applyReports([dialing(keyOf(campaign, 1)), answered(keyOf(campaign, 2))]);
  await goTo(campaign, monday + 600_000);
  expect(campaign.slots.requests).toHaveLength(2);
  expect(campaign.slots.requests[1]!.calls.map(({ key, notAfter }) => [key, notAfter])).toEqual([
    [keyOf(campaign, 1), 0],
    [keyOf(campaign, 2), 0],
    [keyOf(campaign, 3), null],
  ]);
  await campaign.stub().applyReports([1, 2, 3].map((row) => ended(keyOf(campaign, row), 'completed')));
  await goTo(campaign, monday + 1_300_000);
  expect(campaign.slots.requests).toHaveLength(2);
  expect((await alarmsOf(campaign)).timers).toEqual([]);
});
