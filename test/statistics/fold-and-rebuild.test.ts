import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { rebuildStatistics } from '../../src/statistics/rebuild.ts';
import { Logger } from '../../src/library/platform/log.ts';
import { tickAt } from '../support/background.ts';
import { ownRows } from '../support/own-rows.ts';
import { withAgent } from '../voice-agents/runs.ts';
import { endCall } from './counted-calls.ts';
import { foldCounters, foldOnce, walkFrom } from './fold-counters.ts';

const dayMs = 86_400_000;
const silent = new Logger('error', {});

const rowsOf = async (id: number) =>
  (
    await ownRows
      .prepare('SELECT is_day, period, calls FROM call_statistic WHERE organization_id = ? ORDER BY is_day, period')
      .bind(id)
      .all()
  ).results;

const readCalls = async (client: Awaited<ReturnType<typeof withAgent>>['client'], query: string): Promise<any> => {
  const { status, body } = await client.get(`/statistics/calls?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};

/** A moment long ago, at noon UTC of a day. */
const longAgo = (days: number) => Math.floor(Date.now() / dayMs) * dayMs - days * dayMs + dayMs / 2;

test('quarters of an hour that are older than 35 days become days of the time zone of the organization, and say the same', async () => {
  const { client, context, agent, id } = await withAgent({ timezone: 'Asia/Kolkata' });
  // 23:45 and 00:15 in India, on two days.
  const midnight = longAgo(60) + 6.5 * 3_600_000;
  for (const createdAt of [midnight - 900_000, midnight - 1_800_000, midnight, midnight + 3_600_000])
    await endCall(context, agent, { createdAt });
  await endCall(context, agent);
  const from = new Date(midnight - 5 * dayMs).toISOString();
  const before = await readCalls(client, `from=${from}&group_by=day`);
  await foldCounters('call_statistic', id);
  expect(await readCalls(client, `from=${from}&group_by=day`)).toEqual(before);
  expect(before.groups.map(({ calls }: { calls: number }) => calls)).toEqual([2, 2, 1]);
  const day = Date.parse(before.groups[0].period);
  expect(await rowsOf(id)).toEqual([
    { is_day: 0, period: expect.any(Number), calls: 1 },
    { is_day: 1, period: day, calls: 2 },
    { is_day: 1, period: day + dayMs, calls: 2 },
  ]);
  const one = await readCalls(client, `from=${before.groups[0].period}&to=${before.groups[0].period}`);
  expect(one.totals.calls).toBe(2);
});

test('a correction of a call whose day has been folded moves its count, before and after the next fold', async () => {
  const { client, context, agent, id } = await withAgent();
  const createdAt = longAgo(50);
  const call = await endCall(context, agent, { createdAt, disposition: 'interested' });
  await endCall(context, agent, { createdAt, disposition: 'interested' });
  await foldCounters('call_statistic', id);
  await ownRows.prepare("UPDATE voice_agent_run SET disposition = 'wrong_number' WHERE id = ?").bind(call).run();
  const query = `from=${new Date(createdAt - dayMs).toISOString()}&group_by=day`;
  const expected = { calls: 2, dispositions: { interested: 1, wrong_number: 1 } };
  expect((await readCalls(client, query)).groups).toMatchObject([expected]);
  await foldCounters('call_statistic', id);
  expect((await readCalls(client, query)).groups).toMatchObject([expected]);
});

test('a walk over more owners than a page has comes to each, past one that fails', async () => {
  const createdAt = longAgo(60);
  const failing = await withAgent();
  await endCall(failing.context, failing.agent, { createdAt });
  const others = [];
  for (let count = 0; count < 25; count++) others.push(await withAgent());
  for (const { context, agent } of others) await endCall(context, agent, { createdAt });
  await ownRows
    .prepare(
      `CREATE TRIGGER unfoldable BEFORE INSERT ON call_statistic WHEN NEW.organization_id = ${failing.id} BEGIN SELECT RAISE(ABORT, 'broken'); END`,
    )
    .run();
  await walkFrom('call_statistic', failing.id);
  let failures = 0;
  for (let ticks = 0; ticks < 4; ticks++) await foldOnce('call_statistic').catch(() => failures++);
  await ownRows.prepare('DROP TRIGGER unfoldable').run();
  expect(failures).toBe(1);
  expect(await rowsOf(failing.id)).toMatchObject([{ is_day: 0, calls: 1 }]);
  for (const { id } of others) expect(await rowsOf(id)).toMatchObject([{ is_day: 1, calls: 1 }]);
});

test('hours are refused where only days are kept, and say from when on there are hours', async () => {
  const { client } = await withAgent();
  const { status, body } = await client.get(`/statistics/calls?group_by=hour&from=${new Date(longAgo(40)).toISOString()}`);
  expect(status).toBe(422);
  expect(body.detail[0]).toMatchObject({ type: 'hours_not_kept', loc: ['query', 'from'] });
});

test('an operator has statistics counted again: lost and wrong counts are mended, and counts of deleted calls stay', async () => {
  const { client, context, agent, id } = await withAgent();
  const old = await endCall(context, agent, { createdAt: longAgo(370) });
  await ownRows.prepare('DELETE FROM voice_agent_run WHERE id = ?').bind(old).run();
  await endCall(context, agent, { createdAt: longAgo(100) });
  await endCall(context, agent, { isChat: true });
  await ownRows.prepare('UPDATE call_statistic SET calls = 7 WHERE organization_id = ? AND period > ?').bind(id, longAgo(200)).run();
  const wanted = `from=${new Date(longAgo(380)).toISOString()}`;
  expect((await client.get(`/statistics/usage?${wanted}`)).body.totals).toMatchObject({ calls: 8, chats: 7 });
  await env.DB.prepare("UPDATE organization SET statistics_rebuild = '{}' WHERE id = ?").bind(id).run();
  const asked = () => env.DB.prepare('SELECT statistics_rebuild FROM organization WHERE id = ?').bind(id).first('statistics_rebuild');
  for (let ticks = 0; ticks < 20 && (await asked()) !== null; ticks++) await rebuildStatistics(env, Date.now(), silent, () => undefined);
  expect(await asked()).toBeNull();
  expect((await client.get(`/statistics/usage?${wanted}`)).body.totals).toMatchObject({ calls: 2, chats: 1 });
  expect((await readCalls(client, 'group_by=disposition')).totals.calls).toBe(0);
});

test('the minute tick goes on with a rebuild where it was, and leaves organizations on their way to another shard alone', async () => {
  const { context, agent, id, client } = await withAgent();
  await endCall(context, agent);
  await ownRows.prepare('UPDATE call_statistic SET calls = 9 WHERE organization_id = ?').bind(id).run();
  const yesterday = Math.floor(Date.now() / dayMs) * dayMs - dayMs;
  const place = JSON.stringify({ step: 'calls', after: yesterday });
  await env.DB.prepare('UPDATE organization SET statistics_rebuild = ?, moving_to = 1 WHERE id = ?').bind(place, id).run();
  await tickAt(Date.now());
  expect((await readCalls(client, '')).totals.calls).toBe(9);
  await env.DB.prepare('UPDATE organization SET moving_to = NULL WHERE id = ?').bind(id).run();
  await tickAt(Date.now());
  expect((await readCalls(client, '')).totals.calls).toBe(1);
  expect(await env.DB.prepare('SELECT statistics_rebuild FROM organization WHERE id = ?').bind(id).first('statistics_rebuild')).toBeNull();
});

test('organizations whose rebuild fails hold up no other, and are tried again later from where they were', async () => {
  const place = JSON.stringify({ step: 'calls', after: Math.floor(Date.now() / dayMs) * dayMs - dayMs });
  const ask = async () => {
    const { id, context, agent } = await withAgent();
    await endCall(context, agent);
    await ownRows.prepare('UPDATE call_statistic SET calls = 9 WHERE organization_id = ?').bind(id).run();
    await env.DB.prepare('UPDATE organization SET statistics_rebuild = ? WHERE id = ?').bind(place, id).run();
    return id;
  };
  const failing = [await ask(), await ask(), await ask(), await ask(), await ask()];
  const other = await ask();
  await ownRows
    .prepare(
      `CREATE TRIGGER broken BEFORE DELETE ON call_statistic WHEN OLD.organization_id IN (${failing.join(', ')}) BEGIN SELECT RAISE(ABORT, 'broken'); END`,
    )
    .run();
  const asked = (id: number) =>
    env.DB.prepare('SELECT statistics_rebuild FROM organization WHERE id = ?').bind(id).first<string>('statistics_rebuild');
  const now = Date.now();
  for (let ticks = 0; ticks < 3; ticks++) await rebuildStatistics(env, now, silent, () => undefined);
  expect(await asked(other)).toBeNull();
  for (const id of failing) expect(JSON.parse((await asked(id))!)).toEqual({ ...JSON.parse(place), retry_at: now + 600_000 });
  await ownRows.prepare('DROP TRIGGER broken').run();
  await rebuildStatistics(env, now + 599_999, silent, () => undefined);
  expect(await asked(failing[0]!)).not.toBeNull();
  for (let ticks = 0; ticks < 3; ticks++) await rebuildStatistics(env, now + 600_000, silent, () => undefined);
  for (const id of failing) expect(await asked(id)).toBeNull();
  expect(await rowsOf(failing[0]!)).toMatchObject([{ calls: 1 }]);
});

test('a place of a rebuild that nobody can read begins anew later', async () => {
  const { id } = await withAgent();
  await env.DB.prepare("UPDATE organization SET statistics_rebuild = '{' WHERE id = ?").bind(id).run();
  const now = Date.now();
  for (let ticks = 0; ticks < 3; ticks++) await rebuildStatistics(env, now, silent, () => undefined);
  const stored = await env.DB.prepare('SELECT statistics_rebuild FROM organization WHERE id = ?').bind(id).first('statistics_rebuild');
  expect(stored).toBe(JSON.stringify({ retry_at: now + 600_000 }));
});
