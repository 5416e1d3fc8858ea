import { env } from 'cloudflare:workers';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CallFilter, CallSort } from '../../src/calls/listing/call-filter.ts';
import { findCallsPage } from '../../src/calls/listing/call-store.ts';
import { toCallMatch } from '../../src/calls/listing/call-words.ts';
import { Database } from '../../src/database/client.ts';
import type { CursorPosition } from '../../src/http/pagination.ts';
import { newAgent } from '../campaigns/campaign-service.ts';
import { newOrganization } from '../support/organization.ts';
import { explainQueryPlans, recordedClient, rowsRead } from '../support/recorded-database.ts';
import { fillCalls, insertCall, type ListedCall } from './listed-calls.ts';

type Stored = Required<Pick<ListedCall, 'agentId'>> & ListedCall & { id: number; createdAt: number };

const some = <Value>(values: readonly Value[]) => fc.constantFrom(...values);
const words = ['parcel', 'offer', 'invoice'];

const call = fc.record({
  agent: some([0, 1]),
  campaignId: some([null, 5, 6]),
  journeyRunId: some([null, null, 81, 82]),
  contactId: some([null, 900_001, 900_002]),
  phone: some(['+12125550101', '+12125550102', null]),
  direction: some(['inbound', 'outbound'] as const),
  mode: some(['twilio', 'twilio', 'telnyx', 'textchat']),
  isLive: some([false, false, false, true]),
  outcome: some(['completed', 'busy', 'voicemail']),
  disposition: some([null, 'interested', 'callback']),
  talkSeconds: some([null, 5, 5, 60]),
  later: some([0, 0, 1, 1000]),
  said: some([null, 'parcel', 'offer parcel', 'invoice']),
});

const filter = fc.record(
  {
    agent: some([0, 1]),
    campaignId: some([5, 6, 7]),
    journeyId: some([8, 9]),
    journeyRunId: some([81, 82]),
    contactId: some([900_001, 900_003]),
    phone: some(['+12125550101', '+12125550109']),
    direction: some(['inbound', 'outbound'] as const),
    status: some(['live', 'ended'] as const),
    outcome: some(['completed', 'busy'] as const),
    disposition: some(['interested', 'none']),
    from: some([0, 1, 1500]),
    to: some([0, 1000, 4000]),
    minTalkSeconds: some([1, 5, 50]),
    word: some(words),
  },
  { requiredKeys: [] },
);

const journeyOf = (run: number | null | undefined) => (run === 81 ? 8 : run === 82 ? 9 : null);

/** What a full scan of the calls finds. */
function scan(calls: Stored[], wanted: CallFilter & { word?: string | undefined }, sort: CallSort): number[] {
  const { from = -Infinity, to = Infinity } = wanted;
  const is = <Value>(value: Value, one: Value | undefined) => one === undefined || value === one;
  const matching = calls.filter(
    (one) =>
      one.mode !== 'textchat' &&
      is(one.agentId, wanted.agentId) &&
      is(one.campaignId, wanted.campaignId) &&
      is(one.journeyId, wanted.journeyId) &&
      is(one.journeyRunId, wanted.journeyRunId) &&
      is(one.contactId, wanted.contactId) &&
      is(one.phone, wanted.phone) &&
      is(one.direction, wanted.direction) &&
      is(one.isLive ? 'live' : 'ended', wanted.status) &&
      is(one.isLive ? null : one.outcome, wanted.outcome) &&
      is(one.disposition, wanted.disposition) &&
      one.createdAt >= from &&
      one.createdAt <= to &&
      talkOf(one) >= (wanted.minTalkSeconds ?? (sort === 'longest_talk' ? 1 : 0)) &&
      (wanted.word === undefined || (one.said ?? '').includes(wanted.word)),
  );
  const inOrder = matching.toSorted((a, b) => (sort === 'longest_talk' ? talkOf(b) - talkOf(a) || b.id - a.id : b.id - a.id));
  return (sort === 'oldest' ? inOrder.toReversed() : inOrder).map(({ id }) => id);
}

const talkOf = (one: Stored): number => (one.isLive ? 0 : (one.talkSeconds ?? 0));

test('every filter, in each order and by pages that look at few calls, finds what a full scan finds', async () => {
  const start = Date.UTC(2026, 10, 1);
  const { id: organizationId } = await newOrganization();
  const { id: other } = await newOrganization();
  const agents = [await newAgent(organizationId), await newAgent(organizationId)];
  const otherAgent = await newAgent(other);
  const drawn = fc.sample(call, { numRuns: 120, seed: 7 });
  const calls: Stored[] = [];
  let createdAt = start;
  for (const { agent, later, ...one } of drawn) {
    createdAt += later;
    const fields = { ...one, agentId: agents[agent]!, journeyId: journeyOf(one.journeyRunId), createdAt };
    calls.push({ ...fields, id: await insertCall(organizationId, fields) });
    await insertCall(other, { ...fields, agentId: otherAgent });
  }
  const database = new Database(env.DB, true);
  const sorts = some<CallSort>(['newest', 'oldest', 'longest_talk']);
  await fc.assert(
    fc.asyncProperty(
      filter,
      sorts,
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 40 }),
      async (drawnFilter, sort, limit, maxExamined) => {
        const { agent, word, from, to, ...rest } = drawnFilter;
        const wanted: CallFilter = {
          ...rest,
          agentId: agent === undefined ? undefined : agents[agent],
          from: from === undefined ? undefined : start + from,
          to: to === undefined ? undefined : start + to,
          match: word === undefined ? undefined : toCallMatch(organizationId, word)!,
        };
        const found: number[] = [];
        let after: CursorPosition | undefined;
        for (let pages = 0; ; pages++) {
          expect(pages).toBeLessThan(400);
          const page = await findCallsPage(database, organizationId, { filter: wanted, sort, limit, after, maxExamined });
          expect(page.rows.length).toBeLessThanOrEqual(limit);
          found.push(...page.rows.map(({ id }) => id));
          if (page.next === null) break;
          after = page.next;
        }
        expect(found).toEqual(scan(calls, { ...wanted, word }, sort));
      },
    ),
    { numRuns: 120 },
  );
}, 120_000);

/** Filters along each path, with one that no call meets, so that all that may be looked at is looked at. */
const queries = (agentId: number) => [
  '',
  'sort=oldest',
  'sort=longest_talk',
  'outcome=cancelled&disposition=none',
  'outcome=cancelled&sort=oldest',
  'sort=longest_talk&disposition=none',
  'start_date=2023-11-14&end_date=2023-11-15&outcome=cancelled',
  `workflow_id=${agentId}&outcome=cancelled`,
  `workflow_id=${agentId}&start_date=2023-11-14`,
  'campaign_id=5',
  'campaign_id=5&outcome=cancelled',
  'campaign_id=5&sort=longest_talk',
  'automation_workflow_id=8',
  'automation_run_id=81',
  'contact_id=900001',
  'phone=%2B12125551001',
  'phone=%2B12125551001&sort=longest_talk',
  'own_number=%2B12125551001',
  'direction=inbound',
  'status=live',
  'min_talk_seconds=100000',
  'text=parcel',
  'text=parcel&sort=longest_talk',
  'text=parcel&campaign_id=5',
];

/** A page looks at 5,000 calls, each in the index, in the table and once more where the next page begins; the count at 10,000, in index and table. */
const maxRows = 5000 * 3 + 10_000 * 2 + 1000;

test('no filter reads more rows than its page needs or its limits say, whether there are 12,000 calls or 24,000', async () => {
  const { id, key } = await newOrganization();
  const agentId = await newAgent(id);
  await insertCall(id, {
    agentId,
    journeyId: 8,
    journeyRunId: 81,
    contactId: 900_001,
    campaignId: 5,
    said: 'parcel',
    talkSeconds: 5,
    createdAt: 1,
  });
  const cost = async (query: string) => {
    const { client, recording } = recordedClient(key);
    const { status, body } = await client.get(`/calls?limit=10&${query}`);
    expect([query, status, body.detail]).toEqual([query, 200, undefined]);
    return { recording, rows: rowsRead(recording) };
  };
  await fillCalls(id, agentId, 12_000, { campaignId: 5 });
  const before = new Map<string, number>();
  for (const query of queries(agentId)) before.set(query, (await cost(query)).rows);
  await fillCalls(id, agentId, 12_000, { campaignId: 5, createdAt: 1_700_000_500_000 });
  for (const query of queries(agentId)) {
    const { recording, rows } = await cost(query);
    const isShort = before.get(query)! < 1500;
    expect(rows, query).toBeLessThanOrEqual(isShort ? before.get(query)! + 100 : maxRows);
    for (const { sql, plan } of await explainQueryPlans(recording)) {
      expect(plan.join('\n'), `${query}: ${sql}`).not.toMatch(/SCAN (?!json_each|j\b|path\b|\(|call_search (EXISTS )?VIRTUAL TABLE INDEX)/);
      const isSorted = plan.some((step) => step.includes('USE TEMP B-TREE'));
      const mayBeSorted = /automation_run_id|contact_id|phone|status=live/.test(query) || !sql.includes('path');
      if (!mayBeSorted) expect([query, isSorted]).toEqual([query, false]);
    }
  }
}, 120_000);

test('an export of many calls is sent while it is read, a page at a time', async () => {
  const { id, key } = await newOrganization();
  const agentId = await newAgent(id);
  const count = 12_000;
  await fillCalls(id, agentId, count);
  const { client, recording } = recordedClient(key);
  const { status, body } = await client.get('/calls/export?columns=id,outcome,summary');
  expect(status).toBe(200);
  const lines = (body as string).trim().split('\r\n');
  expect(lines).toHaveLength(count + 1);
  expect(new Set(lines).size).toBe(count + 1);
  expect(recording.statements.filter(({ sql }) => sql.includes('LIMIT') && sql.includes('path')).length).toBeLessThanOrEqual(
    count / 1000 + 3,
  );
}, 60_000);
