import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { americanNumber } from '../support/american-numbers.ts';
import { Colleague, failReceiver, readUntil, receivedWebhooks, scriptPerson } from './business-story.ts';
import type { CallCampaigns } from './call-campaigns.ts';
import type { KillableService } from './killable-service.ts';
import { narration } from './narration.ts';
import { tickOften } from './service-watch.ts';
import { startSoakService } from './soak-service.ts';

// A day of a business, by the API alone: an operator is invited, calls 300 people, and everybody sees what came of it.

const rows = 300;
const maxConcurrency = 50;
const desk = '+12125559990';
const askedForHuman = [11, 99, 222];
const mustNotBeCalled = 150;
const refusal = 'Please never call me again.';
const say = narration();

/** Every tenth is busy or does not answer; the others talk. */
const lastDigits = (index: number): string => (index % 10 === 3 ? '0001' : index % 10 === 7 ? '0002' : '5550');
const people = Array.from({ length: rows }, (_, index) => ({
  phone: americanNumber(index * 2, lastDigits(index)),
  name: `Person ${index}`,
}));
const csv = ['phone,first_name', ...people.map(({ phone, name }) => `${phone},${name}`)].join('\n');

const agent = {
  name: 'Spring offer',
  call_disposition_codes: { interested: 'They want the offer', not_interested: 'They decline the offer' },
  workflow_definition: {
    nodes: [
      {
        id: 'start',
        type: 'startCall',
        data: {
          prompt: 'You call {{first_name}} about the spring offer. Ask whether they are interested.',
          greeting: 'Hello {{first_name}}, this is Acme about the spring offer. Are you interested?',
          tools: [{ name: 'connect_human', description: 'The person wants to talk to a human', transfer: { to: desk, mode: 'warm' } }],
        },
      },
      {
        id: 'book',
        type: 'agentNode',
        data: {
          prompt: 'Ask which day suits them.',
          extraction_enabled: true,
          extraction_variables: [{ name: 'preferred_day', type: 'string', prompt: 'the day they want' }],
        },
      },
      { id: 'bye', type: 'endCall', data: { prompt: 'Thank them and say goodbye.' } },
    ],
    edges: [
      { id: 'yes', source: 'start', target: 'book', data: { label: 'interested', condition: 'the person says yes or is interested' } },
      { id: 'no', source: 'start', target: 'bye', data: { label: 'not interested', condition: 'the person says no or is not interested' } },
      { id: 'day', source: 'book', target: 'bye', data: { label: 'day chosen', condition: 'the person names a day' } },
    ],
  },
};

let service: KillableService;
let campaigns: CallCampaigns;
let stopTicking: () => Promise<void>;

beforeAll(async () => {
  ({ service, campaigns } = await startSoakService(maxConcurrency, { SIM_RING_MS: '50-300', SIM_TURN_MS: '20-100' }));
  stopTicking = tickOften(service);
});
afterAll(async () => {
  await stopTicking?.();
  await service?.remove();
});

test(
  'an operator is invited and calls 300 people, three of whom a human takes over, and everybody sees what came of it',
  { timeout: 300_000 },
  async () => {
    const agentId = (await campaigns.post('/workflow/create/definition', agent)).id;
    const endpoints = await Promise.all(
      ['steady', 'failing'].map((name) =>
        campaigns.post('/webhook-endpoints', {
          url: `${service.simulators}/receiver/${name}`,
          events: ['call.completed', 'campaign.completed', 'suppression.added'],
        }),
      ),
    );
    await failReceiver(service, '/failing', 12);
    for (const index of askedForHuman) await scriptPerson(service, people[index]!.phone, ['I want to talk to a human, please.']);
    await scriptPerson(service, people[mustNotBeCalled]!.phone, [refusal]);

    const operator = await Colleague.invite(service, 'operator', 'olga@example.com');
    const viewer = await Colleague.invite(service, 'viewer', 'victor@example.com');
    say('the operator and the viewer have joined');

    const { upload_url: uploadUrl, source_id: sourceId } = await operator.must('POST', '/campaign/upload-url', { filename: 'people.csv' });
    await operator.must('PUT', uploadUrl, csv, { 'Content-Type': 'text/csv' });
    const campaign = await operator.must('POST', '/campaign/create', {
      name: 'Spring offer',
      workflow_id: agentId,
      source_type: 'csv',
      source_id: sourceId,
      max_concurrency: maxConcurrency,
      retry_config: { enabled: false },
      circuit_breaker: { enabled: false },
    });
    await operator.must('POST', `/campaign/${campaign.id}/start`);
    await readUntil(
      'the campaign has completed',
      150,
      () => operator.must('GET', `/campaign/${campaign.id}`),
      ({ state }) => state === 'completed',
    );
    await readUntil(
      'every talk is settled',
      60,
      () => operator.must('GET', `/workflow/${agentId}/runs?is_completed=false&limit=1`),
      ({ total }) => total === 0,
    );
    say('the campaign has completed');

    // The report has each person, with the disposition and what the agent extracted.
    const columns = 'row_number,phone,state,outcome,disposition,preferred_day,answered_by,talk_seconds';
    const report = await readUntil(
      'the report has what came of each talk',
      60,
      async () =>
        parse((await operator.must('GET', `/campaign/${campaign.id}/report?format=csv&columns=${columns}`)) as string, {
          columns: true,
          bom: true,
        }) as Record<string, string>[],
      (lines) => lines.length === rows && lines.every(({ outcome, disposition }) => outcome !== 'completed' || disposition !== ''),
    );
    expect(report.filter(({ outcome }) => outcome === 'busy')).toHaveLength(rows / 10);
    expect(report.filter(({ outcome }) => outcome === 'no_answer')).toHaveLength(rows / 10);
    // Whoever was handed to a human told the agent no day.
    const toldAgent = report.filter(({ row_number: row }) => !askedForHuman.includes(Number(row) - 1));
    const interested = toldAgent.filter(({ disposition }) => disposition === 'interested');
    expect(interested.length).toBeGreaterThan(50);
    for (const line of interested) expect(line['preferred_day'], JSON.stringify(line)).toMatch(/tuesday/i);
    const sheet = await operator.send('GET', `/campaign/${campaign.id}/report?format=xlsx`);
    expect(sheet.status).toBe(200);

    // A human took three callers.
    for (const index of askedForHuman) {
      const { calls } = await operator.must('GET', `/calls?phone=${encodeURIComponent(people[index]!.phone)}`);
      expect(calls, people[index]!.name).toMatchObject([{ transferred_to: desk, transfer_state: 'completed', transfer_reason: null }]);
      expect(calls[0].transfer_seconds).toBeGreaterThanOrEqual(0);
      expect(Date.parse(calls[0].transfer_answered_at)).toBeGreaterThan(0);
    }

    const { totals } = await operator.must('GET', `/statistics/calls?campaign_id=${campaign.id}`);
    expect(totals).toMatchObject({ transfers: askedForHuman.length, transfers_taken: askedForHuman.length });

    // The one who must not be called again, with the sentence that says so.
    const { suppressions } = await operator.must('GET', '/contacts/suppressions');
    expect(suppressions).toMatchObject([{ phone: people[mustNotBeCalled]!.phone, source: 'call', evidence: refusal }]);

    // Both endpoints got each end, signed, under one id, although one of them failed for a while.
    const placed = (await operator.must('GET', `/calls?campaign_id=${campaign.id}&limit=1`)).total;
    expect(placed).toBe(rows);
    for (const [index, name] of ['steady', 'failing'].entries()) {
      const received = await readUntil(
        `the ${name} endpoint has heard of every end`,
        90,
        () => receivedWebhooks(service, `/${name}`, endpoints[index].secret),
        (all) => new Set(all.filter(({ isAnswered }) => isAnswered).map(({ id }) => id)).size >= placed + 2,
      );
      const byType = Map.groupBy([...new Map(received.map((message) => [message.id, message])).values()], ({ event }) => event.type);
      const endedRuns = byType.get('call.completed')!.map(({ event }) => event.data['run_id']);
      expect(new Set(endedRuns).size).toBe(rows);
      expect(endedRuns).toHaveLength(placed);
      const transfers = byType.get('call.completed')!.flatMap(({ event }) => event.data['transfers'] as Record<string, unknown>[]);
      expect(transfers).toHaveLength(askedForHuman.length);
      for (const transfer of transfers)
        expect(transfer).toMatchObject({ to: desk, mode: 'warm', is_fallback: false, state: 'completed', reason: null });
      expect(byType.get('campaign.completed')).toMatchObject([{ event: { data: { campaign_id: campaign.id } } }]);
      expect(byType.get('suppression.added')).toMatchObject([
        { event: { data: { phone: people[mustNotBeCalled]!.phone, source: 'call' } } },
      ]);
      if (name === 'failing') expect(received.some(({ isAnswered }) => !isAnswered)).toBe(true);
    }
    say('both endpoints have heard of every end');

    // The viewer sees everything and changes nothing.
    expect((await viewer.must('GET', `/campaign/${campaign.id}/runs?limit=5`)).runs).toHaveLength(5);
    const refused: [string, string, object?][] = [
      ['POST', '/campaign/create', { name: 'Mine', workflow_id: agentId, source_type: 'csv', source_id: sourceId }],
      ['POST', `/campaign/${campaign.id}/redial`],
      ['POST', '/contacts', { phone: '+12125550123' }],
      ['POST', '/contacts/suppressions', { phone: '+12125550123' }],
      ['POST', `/contacts/suppressions/${suppressions[0].id}/restore`, {}],
      ['POST', '/webhook-endpoints', { url: 'https://example.com/hooks', events: null }],
      ['POST', '/organizations/invitations', { role: 'viewer' }],
      ['GET', '/audit-log'],
    ];
    for (const [method, path, body] of refused) {
      const answer = await viewer.send(method, path, body);
      expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBe(403);
    }
    expect((await operator.send('POST', '/webhook-endpoints', { url: 'https://example.com/hooks', events: null })).status).toBe(403);

    // The audit log has each step, by whom and how.
    const { entries } = await campaigns.read('/audit-log?limit=100');
    const steps = entries.map(({ action, user_id: userId, credential }: any) => {
      const who = userId === operator.userId ? 'operator' : userId === viewer.userId ? 'viewer' : 'owner';
      return `${who} ${credential.split(':')[0]} ${action}`;
    });
    for (const step of [
      'owner key invitations.create',
      'operator link invitations.accept',
      'viewer link invitations.accept',
      'owner key webhookEndpoints.create',
      'operator session campaigns.create',
      'operator session campaigns.start',
    ])
      expect(steps).toContain(step);
    expect(steps.some((step: string) => step.startsWith('viewer session'))).toBe(false);
  },
);
