import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { newOrganization, type Client } from '../support/organization.ts';
import { newAgent } from '../campaigns/campaign-service.ts';
import { insertCall } from './listed-calls.ts';

const organizationWithAgent = async () => {
  const organization = await newOrganization();
  return { ...organization, agentId: await newAgent(organization.id) };
};

const idsOf = async (client: Client, query: string): Promise<number[]> => {
  const { status, body } = await client.get(`/calls?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.calls.map((call: { id: number }) => call.id);
};

const day = (text: string) => Date.parse(`${text}T12:00:00Z`);

test('the calls of the organization are listed newest first, with what came of them', async () => {
  const { client, id, agentId } = await organizationWithAgent();
  const first = await insertCall(id, {
    agentId,
    campaignId: 5,
    disposition: 'interested',
    talkSeconds: 61,
    said: 'She wants an offer',
    extracted: { day: 'Monday' },
    createdAt: day('2026-11-02'),
  });
  const second = await insertCall(id, { agentId, isLive: true, createdAt: day('2026-11-03') });
  await insertCall(id, { agentId, mode: 'textchat', phone: null });
  const { status, body } = await client.get('/calls');
  expect(status).toBe(200);
  expect(body).toMatchObject({ total: 2, limit: 50, offset: 0, next_cursor: null });
  expect(body.calls).toMatchObject([
    { id: second, status: 'live', outcome: null, talk_seconds: null, ended_at: null, transcript_url: null },
    {
      id: first,
      workflow_id: agentId,
      workflow_name: 'Dialer',
      direction: 'outbound',
      status: 'ended',
      outcome: 'completed',
      disposition: 'interested',
      answered_by: 'person',
      phone: '+12125550100',
      campaign_id: 5,
      summary: 'She wants an offer',
      sentiment: 'neutral',
      extracted_variables: { day: 'Monday' },
      talk_seconds: 61,
      cost_usd: 0.01,
      created_at: '2026-11-02T12:00:00.000Z',
      started_at: '2026-11-02T12:00:05.000Z',
      ended_at: '2026-11-02T12:01:05.000Z',
      run_url: `https://service.test/api/v1/workflow/${agentId}/runs/${first}`,
      transcript_url: `https://service.test/api/v1/workflow/${agentId}/runs/${first}/transcript`,
      recording_url: null,
    },
  ]);
});

test('each filter finds its calls alone, and filters go together', async () => {
  const { client, id, agentId } = await organizationWithAgent();
  const otherAgent = await newAgent(id);
  const contactId = (await client.post('/contacts', { phone: '+14155550199' })).body.id as number;
  const talk = await insertCall(id, {
    agentId,
    campaignId: 5,
    contactId,
    phone: '+14155550199',
    ownNumber: '+15005550006',
    disposition: 'interested',
    talkSeconds: 90,
    said: 'Please send the offer by mail',
    createdAt: day('2026-11-02'),
  });
  const inbound = await insertCall(id, {
    agentId: otherAgent,
    direction: 'inbound',
    talkSeconds: 20,
    said: 'Where is my parcel',
    createdAt: day('2026-11-05'),
  });
  const journey = await insertCall(id, { agentId, journeyId: 8, journeyRunId: 81, outcome: 'busy', createdAt: day('2026-11-09') });
  const live = await insertCall(id, { agentId, isLive: true, createdAt: day('2026-11-10') });
  const expected: Record<string, number[]> = {
    '': [live, journey, inbound, talk],
    'sort=oldest': [talk, inbound, journey, live],
    'sort=longest_talk': [talk, inbound],
    [`workflow_id=${otherAgent}`]: [inbound],
    'campaign_id=5': [talk],
    'automation_workflow_id=8': [journey],
    'automation_run_id=81': [journey],
    [`contact_id=${contactId}`]: [talk],
    'phone=%2B14155550199': [talk],
    'phone=(415)%20555-0199': [talk],
    'own_number=%2B15005550006': [talk],
    'direction=inbound': [inbound],
    'status=live': [live],
    'status=ended&sort=oldest': [talk, inbound, journey],
    'outcome=busy': [journey],
    'disposition=interested': [talk],
    'start_date=2026-11-05&end_date=2026-11-09': [journey, inbound],
    'min_talk_seconds=21': [talk],
    'min_talk_seconds=0': [inbound, talk],
    'text=OFFERS%20mail': [talk],
    'text=parcel&sort=longest_talk': [inbound],
    [`text=offer&workflow_id=${otherAgent}`]: [],
    [`workflow_id=${agentId}&outcome=completed&start_date=2026-11-01`]: [talk],
    [`phone=%2B14155550199&sort=longest_talk&text=offer`]: [talk],
  };
  for (const [query, ids] of Object.entries(expected)) expect([query, await idsOf(client, query)]).toEqual([query, ids]);
});

test('pages follow each other by cursor, in each order, without gaps and repeats', async () => {
  const { client, id, agentId } = await organizationWithAgent();
  // Some were asked for at the same moment and lasted equally long.
  for (let n = 0; n < 9; n++)
    await insertCall(id, { agentId, createdAt: day('2026-11-02') + Math.floor(n / 3), talkSeconds: 10 + (n % 3), said: 'parcel' });
  for (const query of ['sort=newest', 'sort=oldest', 'sort=longest_talk', 'text=parcel', `workflow_id=${agentId}`]) {
    const all = await idsOf(client, query);
    expect(all).toHaveLength(9);
    const seen: number[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body }: { body: any } = await client.get(`/calls?${query}&limit=2${cursor && `&cursor=${cursor}`}`);
      expect(body.calls.length).toBeLessThanOrEqual(2);
      expect(body.total).toBe(9);
      seen.push(...body.calls.map((call: { id: number }) => call.id));
      cursor = body.next_cursor;
    }
    expect([query, seen]).toEqual([query, all]);
    expect(await idsOf(client, `${query}&limit=2&offset=5`)).toEqual(all.slice(5, 7));
  }
});

test('a wrong value is refused by name', async () => {
  const { client } = await organizationWithAgent();
  const refused = {
    'limit=0': 'limit',
    'cursor=x': 'cursor',
    'sort=loudest': 'sort',
    'outcome=great': 'outcome',
    'direction=up': 'direction',
    'status=done': 'status',
    'workflow_id=none': 'workflow_id',
    'phone=nobody': 'phone',
    'own_number=123': 'own_number',
    'start_date=yesterday': 'start_date',
    'min_talk_seconds=-1': 'min_talk_seconds',
    'text=!!': 'text',
  };
  for (const [query, name] of Object.entries(refused))
    expect([query, await client.get(`/calls?${query}`)]).toMatchObject([
      query,
      { status: 422, body: { detail: [{ loc: ['query', name] }] } },
    ]);
  for (const [query, name] of Object.entries({ 'format=pdf': 'format', 'columns=colour': 'columns', 'columns=,': 'columns' }))
    expect([query, await client.get(`/calls/export?${query}`)]).toMatchObject([
      query,
      { status: 422, body: { detail: [{ loc: ['query', name] }] } },
    ]);
});

test("another organization's calls are neither listed nor exported, by whatever filter; a key without the scope gets nothing", async () => {
  const [mine, theirs] = [await organizationWithAgent(), await organizationWithAgent()];
  await insertCall(theirs.id, {
    agentId: theirs.agentId,
    campaignId: 123_456,
    contactId: 654_321,
    journeyId: 98_765,
    journeyRunId: 87_654,
    phone: '+14155550177',
    said: 'parcel',
    talkSeconds: 5,
  });
  const filters = [
    '',
    `workflow_id=${theirs.agentId}`,
    'campaign_id=123456',
    'contact_id=654321',
    'automation_workflow_id=98765',
    'automation_run_id=87654',
    'phone=%2B14155550177',
    'text=parcel',
    'sort=longest_talk',
    'status=live',
  ];
  for (const filter of filters) {
    expect([filter, await idsOf(mine.client, filter)]).toEqual([filter, []]);
    expect((await mine.client.get(`/calls/export?format=jsonl&${filter}`)).body).toBe('');
  }
  const { client: writer } = await newOrganization({ scopes: ['write'] });
  expect((await writer.get('/calls')).status).toBe((await writer.get('/workflow')).status);
  expect((await (await newOrganization({ scopes: ['read'] })).client.get('/calls/export')).status).toBe(200);
});

test('an export has all calls of a filter, in any format, with the columns that are asked for', async () => {
  const { client, id, agentId } = await organizationWithAgent();
  const first = await insertCall(id, { agentId, disposition: 'interested', extracted: { day: 'Monday' }, createdAt: day('2026-11-02') });
  const second = await insertCall(id, { agentId, phone: '+14155550199', createdAt: day('2026-11-03') });
  await insertCall(id, { agentId, outcome: 'busy', createdAt: day('2026-11-04') });
  const columns = 'columns=id,phone,disposition,extracted_variables.day';
  const answer = await client.get(`/calls/export?outcome=completed&${columns}`);
  expect(answer.headers.get('Content-Type')).toBe('text/csv; charset=utf-8');
  expect(answer.headers.get('Content-Disposition')).toBe('attachment; filename="calls.csv"');
  expect(answer.body).toBe(
    `id,phone,disposition,extracted_variables.day\r\n${second},"'+14155550199",,\r\n${first},"'+12125550100",interested,Monday\r\n`,
  );
  const lines = ((await client.get('/calls/export?outcome=completed&format=jsonl&sort=oldest')).body as string).trim().split('\n');
  const listed = (await client.get('/calls?outcome=completed&sort=oldest')).body.calls;
  expect(lines.map((line) => JSON.parse(line))).toEqual(listed);
});

test('the words of a call are gone when its contact is erased, and when the call is removed after its time', async () => {
  const { client, id, agentId } = await organizationWithAgent();
  const kept = await insertCall(id, { agentId, said: 'parcel' });
  const removed = await insertCall(id, { agentId, said: 'parcel' });
  await env.DB.prepare('DELETE FROM voice_agent_run WHERE id = ?').bind(removed).run();
  const words = await env.DB.prepare('SELECT rowid AS id FROM call_search WHERE call_search MATCH ?')
    .bind(`scope : "organization${id}" AND text : "parcel"`)
    .all<{ id: number }>();
  expect(words.results).toEqual([{ id: kept }]);
  expect(await idsOf(client, 'text=parcel')).toEqual([kept]);
});
