// @module-tag soak
import { evictDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import {
  allRows,
  dialing,
  draftCampaign,
  ended,
  inside,
  inState,
  keyOf,
  newActionId,
  people,
  returned,
  rowOf,
  runningCampaign,
  until,
} from '../campaigns/live-campaigns.ts';
import type { Drafted } from '../campaigns/live-campaigns.ts';
import { crashAtCall, type CrashPoint } from '../support/crashing-object.ts';

type Watchable = Parameters<typeof crashAtCall>[0];

/** Calls an object again when the call broke, as its callers do. */
async function again<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      if (tries === 5) throw error;
    }
  }
}

/** Has the object do its due work, each time some minutes later. */
function nudger(campaign: Drafted) {
  let aheadMs = 0;
  return () => {
    aheadMs += 150_000;
    return inside(campaign.stub(), async (object) => {
      object.clock = () => Date.now() + aheadMs;
      await object.alarm();
    }).catch(() => undefined);
  };
}

/**
 * Runs a whole campaign: reads its source, calls, pauses, resumes, calls one person twice, completes. Answers how many calls the object
 * made.
 */
async function wholeCampaign(n: number, moment: CrashPoint) {
  const campaign = await draftCampaign({ csv: people(30), configs: { max_concurrency: 2 } });
  const stub = () => campaign.stub();
  const watch = await crashAtCall(stub() as unknown as Watchable, n, moment);
  campaign.slots.watched = (call) => watch.watched(call);
  const nudge = nudger(campaign);
  const actionId = [newActionId(), newActionId(), newActionId()] as const;
  await again(() => stub().start(campaign.organizationId, campaign.id, actionId[0]));
  await until(async () => {
    await nudge();
    expect(campaign.slots.keys()).toHaveLength(24);
  });
  const key = (row: number, attempt = 1) => keyOf(campaign, row, attempt);
  await again(() => stub().applyReports([dialing(key(1)), dialing(key(2)), ended(key(1), 'busy'), ended(key(2), 'completed')]));
  await again(() => stub().pause(actionId[1]));
  expect(campaign.slots.withdrawn).toContain(2);
  const asked = campaign.slots.keys();
  await again(() => stub().applyReports(asked.slice(2).map((one) => returned(one, 'withdrawn'))));
  expect((await again(() => stub().snapshot()))!.state).toBe('paused');
  await again(() => stub().resume(actionId[2]));
  const over = new Set([key(1), key(2)]);
  await until(async () => {
    await nudge();
    const open = [
      ...new Set(campaign.slots.requests.filter(({ epoch }) => epoch === 2).flatMap(({ calls }) => calls.map((call) => call.key))),
    ];
    await again(() => stub().applyReports(open.filter((one) => !over.has(one)).map((one) => ended(one, 'completed'))));
    for (const one of open) over.add(one);
    expect((await again(() => stub().snapshot()))!.state).toBe('completed');
  });
  await until(async () => {
    await nudge();
    expect(await rowOf(campaign.id)).toMatchObject({ state: 'completed', total_rows: 30, completed_rows: 30, in_flight: 0, wake_at: null });
  });
  // Every row ended, and only the busy one was requested under a second key.
  expect((await allRows(campaign)).map(({ state, attempts }) => [state, attempts])).toEqual(
    Array.from({ length: 30 }, (_, index) => ['completed', index === 0 ? 2 : 1]),
  );
  expect(campaign.slots.keys().toSorted()).toEqual([...Array.from({ length: 30 }, (_, index) => key(index + 1)), key(1, 2)].toSorted());
  return watch;
}

const moments = ['before', 'after'] as const;

/**
 * Dies at each of the first `deaths` calls, before and after it. The last one is beyond the calls of the work, so that no call is left out.
 */
function atEachCall(promise: string, deaths: number, work: (n: number, moment: CrashPoint) => Promise<{ died: boolean }>): void {
  for (let n = 1; n <= deaths; n += 1)
    test(`an object that dies at its call ${n} to the outside ${promise}`, async () => {
      const ends = await Promise.all(moments.map((moment) => work(n, moment)));
      if (n === deaths) expect(ends.map(({ died }) => died)).toEqual([false, false]);
    });
}

describe('a whole campaign', () => {
  atEachCall('loses no row and asks for nobody twice', 30, wholeCampaign);
});

describe('a source', () => {
  atEachCall('has every row once', 16, async (n, moment) => {
    const campaign = await draftCampaign({ csv: people(1100), configs: { max_concurrency: 1 } });
    const nudge = nudger(campaign);
    const watch = await crashAtCall(campaign.stub() as unknown as Watchable, n, moment);
    campaign.slots.watched = (call) => watch.watched(call);
    const actionId = newActionId();
    await again(() => campaign.stub().start(campaign.organizationId, campaign.id, actionId));
    await until(async () => {
      await nudge();
      expect(campaign.slots.keys()).toHaveLength(22);
    });
    expect((await allRows(campaign)).map(({ row_number, state }) => [row_number, state])).toEqual(
      Array.from({ length: 1100 }, (_, index) => [index + 1, 'pending']),
    );
    return watch;
  });
});

describe('a cancellation', () => {
  atEachCall('leaves no row without an end', 6, async (n, moment) => {
    const campaign = await runningCampaign({ csv: people(60), configs: { max_concurrency: 1 } });
    const nudge = nudger(campaign);
    const [first, ...others] = campaign.slots.keys();
    await campaign.stub().applyReports([dialing(first!)]);
    const watch = await crashAtCall(campaign.stub() as unknown as Watchable, n, moment);
    campaign.slots.watched = (call) => watch.watched(call);
    const actionId = newActionId();
    expect((await again(() => campaign.stub().cancel(actionId))).state).toBe('cancelled');
    expect(campaign.slots.withdrawn).toContain(2);
    await again(() => campaign.stub().applyReports(others.map((key) => returned(key, 'withdrawn'))));
    await until(async () => {
      await nudge();
      expect(await rowOf(campaign.id)).toMatchObject({ state: 'cancelled', skipped_rows: 59, in_flight: 1 });
    });
    await again(() => campaign.stub().applyReports([ended(first!, 'voicemail')]));
    expect((await allRows(campaign))[0]).toMatchObject({ state: 'failed', outcome: 'voicemail' });
    return watch;
  });
});

test('an object that dies between a report and its next request goes on by itself', async () => {
  const campaign = await runningCampaign({ csv: people(60), configs: { max_concurrency: 1 } });
  const first = campaign.slots.keys();
  expect(first).toHaveLength(22);
  let acknowledge = () => {};
  const acknowledged = new Promise<void>((resolve) => (acknowledge = resolve));
  await inside(campaign.stub(), (_object, state) => {
    campaign.slots.watched = async () => {
      campaign.slots.watched = (call) => call();
      // The report has been applied and acknowledged by then.
      await acknowledged;
      state.abort('the object dies here');
      throw new Error('the object died');
    };
  });
  await campaign.stub().applyReports(first.slice(0, 5).map((key) => ended(key, 'completed')));
  acknowledge();
  await until(async () => expect(campaign.slots.keys()).toHaveLength(27));
});

test('an evicted campaign goes on with the next report, and by itself at its next due moment', async () => {
  const campaign = await runningCampaign({ csv: people(60), configs: { max_concurrency: 1 } });
  const first = campaign.slots.keys();
  await evictDurableObject(env.CAMPAIGN.getByName(`${campaign.organizationId}/${campaign.id}`));
  await campaign.stub().applyReports(first.slice(0, 3).map((key) => ended(key, 'completed')));
  await until(async () => expect(campaign.slots.keys()).toHaveLength(25));
  const small = await runningCampaign();
  const [key] = small.slots.keys();
  await small.stub().applyReports([returned(key!, 'too_soon', Date.now() + 1500)]);
  await evictDurableObject(env.CAMPAIGN.getByName(`${small.organizationId}/${small.id}`));
  await until(async () => expect(small.slots.requests.filter(({ calls }) => calls.some((call) => call.key === key))).toHaveLength(2));
});

test('a running campaign writes its row at most once a second, and every state at once', async () => {
  const campaign = await runningCampaign({ csv: people(400), configs: { max_concurrency: 100 } });
  const revision = async () => (await rowOf(campaign.id))['revision'] as number;
  const [before, startedAt] = [await revision(), Date.now()];
  const keys = campaign.slots.keys();
  for (const key of keys.slice(0, 100)) {
    await campaign.stub().applyReports([ended(key, 'completed')]);
    await campaign.stub().snapshot();
  }
  const seconds = (Date.now() - startedAt) / 1000;
  expect((await revision()) - before).toBeLessThanOrEqual(seconds + 2);
  await until(async () => expect(await rowOf(campaign.id)).toMatchObject({ completed_rows: 100, state: 'running' }));
  await campaign.stub().pause(newActionId());
  expect(await rowOf(campaign.id)).toMatchObject({ state: 'paused' });
});

test('a wake-up replaces a lost alarm, and corrects the wake-up moment in the row', async () => {
  const campaign = await runningCampaign({ csv: people(60), configs: { max_concurrency: 1 } });
  await inside(campaign.stub(), async (_object, state) => {
    state.storage.sql.exec("DELETE FROM timer WHERE kind = 'project'");
    await state.storage.deleteAlarm();
  });
  await env.DB.prepare('UPDATE campaign SET wake_at = 5 WHERE id = ?').bind(campaign.id).run();
  await campaign.stub().wakeStalled(campaign.organizationId, campaign.id);
  expect((await rowOf(campaign.id))['wake_at']).toBeGreaterThan(Date.now() - 60_000);
  expect(await inside(campaign.stub(), (_object, state) => state.storage.getAlarm())).not.toBeNull();
  await inState(campaign, 'running');
});
