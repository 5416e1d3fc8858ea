import { expect, test } from 'vitest';
import { returnReasons } from '../../src/calls/contract.ts';
import { finalizeUnanswered, type UnansweredCall } from '../../src/calls/post-call/finalize-unanswered.ts';
import { eraseCalls } from '../../src/calls/records/erase-calls.ts';
import { rebuildStep } from '../../src/statistics/rebuild.ts';
import type { RebuildPlace } from '../../src/statistics/rebuild-store.ts';
import { insertRow } from '../support/insert-row.ts';
import { Client, newOrganization } from '../support/organization.ts';
import { ownRows } from '../support/own-rows.ts';
import { newAgent, settle, withAgent } from '../voice-agents/runs.ts';
import { beginCall, completionOf, endCall } from './counted-calls.ts';

const hourMs = 3_600_000;
const dayMs = 86_400_000;
const iso = (epochMs: number) => new Date(epochMs).toISOString();

async function read(client: Client, query = ''): Promise<any> {
  const { status, body } = await client.get(`/statistics/calls?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

test('calls are counted with what came of them, when they end', async () => {
  const { client, context, agent } = await withAgent();
  await beginCall(context, agent);
  await endCall(context, agent, { disposition: 'interested', talkSeconds: 60 });
  await endCall(context, agent, { disposition: 'callback', talkSeconds: 41, costUsd: null });
  await endCall(context, agent, { outcome: 'busy', costUsd: 0 });
  await endCall(context, agent, { isChat: true });
  expect(await read(client)).toMatchObject({
    timezone: 'UTC',
    totals: {
      calls: 3,
      answered: 2,
      answer_rate: 0.6667,
      talk_seconds: 101,
      average_talk_seconds: 50.5,
      cost_usd: 0.01,
      calls_without_price: 1,
      outcomes: { completed: 2, busy: 1 },
      dispositions: { callback: 1, interested: 1 },
    },
    groups: [],
  });
});

test('transfers to humans are counted with their call: a fallback with the try before it, a second request by itself', async () => {
  const { client, context, agent } = await withAgent();
  const other = await newAgent(client);
  const refused = { request: 1, seconds: null };
  await endCall(context, agent, { transfers: [refused, { request: 1, isFallback: true, seconds: 40 }] });
  await endCall(context, agent, { transfers: [refused, { request: 2, seconds: 3 }] });
  await endCall(context, other, { transfers: [{ request: 1, isFallback: true, seconds: null }] });
  await endCall(context, other, { transfers: [{ seconds: null }, { seconds: 7 }] });
  await endCall(context, other, { transfers: [] });
  await endCall(context, other, { outcome: 'busy' });
  await endCall(context, agent, { isChat: true, transfers: [{ request: 1, seconds: null }] });
  const { totals, groups } = await read(client, 'group_by=workflow_id');
  expect(totals).toMatchObject({ calls: 6, transfers: 6, transfers_taken: 3, transfer_seconds: 50 });
  expect(groups).toMatchObject([
    { workflow_id: other.id, transfers: 3, transfers_taken: 1, transfer_seconds: 7 },
    { workflow_id: agent.id, transfers: 3, transfers_taken: 2, transfer_seconds: 43 },
  ]);
});

test('a transfer stays counted, and stays in its record, when the contact of its call is erased', async () => {
  const { client, context, agent, id } = await withAgent();
  const contactId = await insertRow('contact', { organization_id: id, tags: '[]', custom_fields: '{}', deleted_at: 1 });
  const run = await endCall(context, agent, { transfers: [{ request: 1, seconds: 40 }] });
  await ownRows.prepare('UPDATE voice_agent_run SET contact_id = ? WHERE id = ?').bind(contactId, run).run();
  const shown = async () => (await client.get(`/workflow/${agent.id}/runs/${run}`)).body.transfers;
  const before = await shown();
  expect(await eraseCalls(context, contactId)).toBe('done');
  expect((await read(client)).totals).toMatchObject({ transfers: 1, transfers_taken: 1, transfer_seconds: 40 });
  expect(await shown()).toEqual(before);
  expect(before).toMatchObject([{ request: 1, seconds: 40 }]);
});

test('an organization without calls has counts of zero', async () => {
  const { client } = await newOrganization();
  expect((await read(client, 'group_by=day,workflow_id')).groups).toEqual([]);
  expect((await read(client)).totals).toMatchObject({
    calls: 0,
    transfers: 0,
    transfer_seconds: 0,
    answer_rate: null,
    average_talk_seconds: null,
    outcomes: {},
  });
});

test('calls are grouped by any of agent, campaign, journey, number, direction, outcome and disposition, and by one unit of time', async () => {
  const { client, context, agent } = await withAgent();
  const other = await newAgent(client);
  const now = Date.now();
  await endCall(context, agent, { campaignId: 5, disposition: 'interested', createdAt: now - 2 * dayMs });
  await endCall(context, agent, { campaignId: 5, outcome: 'busy', createdAt: now - 2 * dayMs });
  await endCall(context, other, { journeyId: 8, direction: 'inbound', ownNumber: '+15005550007', createdAt: now });
  const groups = async (by: string) => (await read(client, `group_by=${by}`)).groups;
  expect(await groups('workflow_id')).toMatchObject([
    { workflow_id: agent.id, calls: 2 },
    { workflow_id: other.id, calls: 1 },
  ]);
  expect(await groups('campaign_id,outcome')).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ campaign_id: null, outcome: 'completed', calls: 1 }),
      expect.objectContaining({ campaign_id: 5, outcome: 'busy', calls: 1, answered: 0 }),
      expect.objectContaining({ campaign_id: 5, outcome: 'completed', calls: 1, answered: 1 }),
    ]),
  );
  expect(await groups('automation_workflow_id,own_number,direction')).toMatchObject([
    { automation_workflow_id: null, own_number: '+15005550006', direction: 'outbound', calls: 2 },
    { automation_workflow_id: 8, own_number: '+15005550007', direction: 'inbound', calls: 1 },
  ]);
  expect(await groups('day')).toMatchObject([
    { period: iso(now - 2 * dayMs).slice(0, 10), start: `${iso(now - 2 * dayMs).slice(0, 10)}T00:00:00.000Z`, calls: 2 },
    { period: iso(now).slice(0, 10), calls: 1 },
  ]);
  const [hour] = await groups('hour,disposition');
  expect(hour).toMatchObject({ period: `${iso(now - 2 * dayMs).slice(0, 13)}:00` });
});

test('calls are filtered by what they are grouped by, and a number may be written in any way', async () => {
  const { client, context, agent } = await withAgent();
  await endCall(context, agent, { campaignId: 5, ownNumber: '+12125550107', disposition: 'interested' });
  await endCall(context, agent, { campaignId: 6, ownNumber: '+12125550108', outcome: 'voicemail' });
  const count = async (query: string): Promise<number> => (await read(client, query)).totals.calls;
  expect(await count('campaign_id=5')).toBe(1);
  expect(await count(`own_number=${encodeURIComponent('(212) 555-0108')}`)).toBe(1);
  expect(await count('own_number=+12125550107')).toBe(1);
  expect(await count('outcome=voicemail&campaign_id=6')).toBe(1);
  expect(await count('outcome=voicemail&campaign_id=5')).toBe(0);
  expect(await count('disposition=interested&direction=outbound')).toBe(1);
  expect(await count(`workflow_id=${agent.id}`)).toBe(2);
  expect(await count('direction=inbound')).toBe(0);
});

test('a date is a day of the time zone, and a range is widened to quarters of an hour', async () => {
  const { client, context, agent } = await withAgent({ timezone: 'Asia/Kolkata' });
  const midnight = Math.floor((Date.now() - 3 * dayMs) / dayMs) * dayMs - 5.5 * hourMs;
  await endCall(context, agent, { createdAt: midnight - 60_000 });
  await endCall(context, agent, { createdAt: midnight + 60_000 });
  const date = iso(midnight + 12 * hourMs).slice(0, 10);
  const own = await read(client, `from=${date}&to=${date}&group_by=day`);
  expect(own).toMatchObject({ from: iso(midnight), to: iso(midnight + dayMs), timezone: 'Asia/Kolkata', totals: { calls: 1 } });
  expect(own.groups).toMatchObject([{ period: date, calls: 1 }]);
  expect(await read(client, `from=${iso(midnight - 100_000)}&to=${iso(midnight + 100_000)}&timezone=UTC`)).toMatchObject({
    from: iso(midnight - 900_000),
    to: iso(midnight + 900_000),
    totals: { calls: 2 },
  });
});

test('a call that was given back undialled is no call, also after its contact was erased and after a rebuild', async () => {
  const { client, context, agent, id } = await withAgent();
  const contactId = await insertRow('contact', { organization_id: id, tags: '[]', custom_fields: '{}', deleted_at: 1 });
  const end = {
    reason: null,
    returnedUntil: null,
    neverReachedCarrier: true,
    answeredAt: null,
    endedAt: 1,
    durationSeconds: 0,
    statusCallbacks: [],
  };
  const ends: UnansweredCall[] = [];
  for (const returned of [...returnReasons, null]) {
    const run = await beginCall(context, agent);
    await ownRows.prepare('UPDATE voice_agent_run SET contact_id = ? WHERE id = ?').bind(contactId, run).run();
    const key = await ownRows.prepare('SELECT attempt_key FROM voice_agent_run WHERE id = ?').bind(run).first<string>('attempt_key');
    ends.push({ ...end, key: key!, returned, outcome: returned === null ? 'busy' : 'cancelled', ownNumber: null });
  }
  await finalizeUnanswered(context, ends);
  const counted = { calls: 1, outcomes: { busy: 1 } };
  expect((await read(client)).totals).toMatchObject(counted);
  expect(await eraseCalls(context, contactId)).toBe('done');
  expect((await read(client)).totals).toMatchObject(counted);
  const settings = { ...context.settings, CALL_RETENTION_DAYS: 5 };
  for (let place: RebuildPlace | null = {}; place; place = await rebuildStep({ ...context, settings }, place, Date.now()));
  expect((await read(client)).totals).toMatchObject(counted);
});

test('a call whose agent has extracted a variable with the name of the mark of undialled calls counts, and erasing it forgets the value', async () => {
  const { client, context, agent, id } = await withAgent();
  const contactId = await insertRow('contact', { organization_id: id, tags: '[]', custom_fields: '{}', deleted_at: 1 });
  const run = await beginCall(context, agent);
  await ownRows.prepare('UPDATE voice_agent_run SET contact_id = ? WHERE id = ?').bind(contactId, run).run();
  const completion = completionOf(run);
  const gathered = { returned: 'the parcel', extracted_variables: { returned: 'the parcel' } };
  await settle(context, { ...completion, result: { ...completion.result, gathered_context: gathered } });
  expect((await read(client)).totals.calls).toBe(1);
  expect(await eraseCalls(context, contactId)).toBe('done');
  expect((await read(client)).totals.calls).toBe(1);
  const stored = await ownRows.prepare('SELECT result FROM voice_agent_run WHERE id = ?').bind(run).first<string>('result');
  expect(stored).not.toContain('parcel');
  expect(JSON.parse(stored!).gathered_context).not.toHaveProperty('returned');
});

test('a settlement that is written again, or with other values, counts once; a corrected disposition moves its call', async () => {
  const { client, context, agent } = await withAgent();
  const run = await beginCall(context, agent);
  expect(await settle(context, completionOf(run, { disposition: 'interested' }))).toBe(true);
  expect(await settle(context, completionOf(run, { disposition: 'callback' }))).toBe(false);
  expect((await read(client)).totals).toMatchObject({ calls: 1, dispositions: { interested: 1 } });
  await ownRows.prepare("UPDATE voice_agent_run SET disposition = 'wrong_number' WHERE id = ?").bind(run).run();
  expect((await read(client)).totals).toMatchObject({ calls: 1, talk_seconds: 42, dispositions: { wrong_number: 1 } });
  expect((await read(client, 'group_by=disposition')).groups).toMatchObject([{ disposition: 'wrong_number', calls: 1 }]);
});

test.each([
  ['from=yesterday', 'from'],
  ['from=2026-13-01', 'from'],
  ['timezone=Mars/Olympus', 'timezone'],
  ['group_by=weather', 'group_by'],
  ['group_by=day,month', 'group_by'],
  ['outcome=lost', 'outcome'],
  ['workflow_id=one', 'workflow_id'],
  ['from=2026-02-01&to=2026-01-01', 'from'],
  ['from=2020-01-01&to=2026-01-01', 'from'],
  ['from=2026-01-01&to=2026-01-02&group_by=hour', 'from'],
])('the request %s is refused, and the answer names %s', async (query, field) => {
  const { client } = await newOrganization();
  const { status, body } = await client.get(`/statistics/calls?${query}`);
  expect(status).toBe(422);
  expect(body.detail[0].loc.slice(0, 2)).toEqual(['query', field]);
});

test('more groups than anybody reads are refused, with what to do', async () => {
  const { client, id } = await newOrganization();
  await ownRows
    .prepare(
      `INSERT INTO call_statistic (organization_id, is_day, period, agent_id, campaign_id, journey_id, own_number, direction, outcome, disposition, calls)
       WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20001)
       SELECT ?1, 0, ?2, 1, i, 0, '', 'outbound', 'busy', '', 1 FROM n`,
    )
    .bind(id, Math.floor(Date.now() / 900_000) * 900_000)
    .run();
  expect((await read(client)).totals.calls).toBe(20_001);
  const { status, body } = await client.get('/statistics/calls?group_by=campaign_id');
  expect(status).toBe(422);
  expect(body.detail[0]).toMatchObject({ type: 'too_many_groups', msg: expect.stringContaining('shorter range') });
});

test('groups are counted as they are answered, however many outcomes and dispositions each of them has', async () => {
  const { client, id } = await newOrganization();
  const hour = Math.floor(Date.now() / hourMs) * hourMs;
  await ownRows
    .prepare(
      `INSERT INTO call_statistic (organization_id, is_day, period, agent_id, campaign_id, journey_id, own_number, direction, outcome, disposition, calls,
         prompt_tokens, questions)
       WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 24999)
       SELECT ?1, 0, ?2 - (i % 800) * 3600000, 1, 0, 0, '', 'outbound', 'completed', 'disposition ' || (i / 800), 1, 2, 3 FROM n`,
    )
    .bind(id, hour)
    .run();
  const from = iso(hour - 800 * hourMs);
  const { totals, groups } = await read(client, `group_by=hour&from=${from}`);
  expect(totals.calls).toBe(25_000);
  expect(groups).toHaveLength(800);
  expect(groups[0].dispositions).toMatchObject({ 'disposition 0': 1, 'disposition 30': 1 });
  const usage = await client.get(`/statistics/usage?interval=hour&from=${from}`);
  expect(usage.status, JSON.stringify(usage.body)).toBe(200);
  expect(usage.body.totals).toMatchObject({ calls: 25_000, prompt_tokens: 50_000 });
  const knowledge = await client.get(`/statistics/knowledge?interval=hour&from=${from}`);
  expect(knowledge.status, JSON.stringify(knowledge.body)).toBe(200);
  expect(knowledge.body).toMatchObject({ questions: 75_000 });
});

test('groups with more outcomes and dispositions than fit into memory are refused, with what to do', async () => {
  const { client, id } = await newOrganization();
  await ownRows
    .prepare(
      `INSERT INTO call_statistic (organization_id, is_day, period, agent_id, campaign_id, journey_id, own_number, direction, outcome, disposition, calls)
       WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200001)
       SELECT ?1, 0, ?2, 1, 0, 0, '', 'outbound', 'completed', 'disposition ' || i, 1 FROM n`,
    )
    .bind(id, Math.floor(Date.now() / 900_000) * 900_000)
    .run();
  const { status, body } = await client.get('/statistics/calls?group_by=day');
  expect(status).toBe(422);
  expect(body.detail[0]).toMatchObject({ type: 'too_many_groups', msg: expect.stringContaining('outcomes and dispositions') });
});

test('another organization, and a caller without a key, see nothing of it', async () => {
  const { context, agent } = await withAgent();
  await endCall(context, agent, { disposition: 'interested' });
  const { client: other } = await newOrganization({ scopes: ['read'] });
  expect((await read(other, `workflow_id=${agent.id}`)).totals.calls).toBe(0);
  expect((await new Client(undefined).get('/statistics/calls')).status).toBe(401);
});
