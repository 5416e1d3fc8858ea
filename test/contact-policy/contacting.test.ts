import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import type { AttemptReport, Owner } from '../../src/calls/contract.ts';
import { holdByPolicy } from '../../src/calls/placing/hold-by-policy.ts';
import { draft } from '../campaigns/campaign-service.ts';
import { logOf, messagingOrganization, simulators, takenFor } from '../messaging/accounts.ts';
import { callingOrganization, carrierLedger, relayCallbacks } from '../support/carrier.ts';
import { chain, createActiveWorkflow, waitForRunState } from '../support/journeys.ts';
import { newPhone, type Client } from '../support/organization.ts';
import { stubFetch } from '../support/stub-fetch.ts';

afterEach(() => vi.restoreAllMocks());

const path = '/organizations/contact-policy';
const hour = 3_600_000;
const until = <Result>(assertion: () => Result) => vi.waitFor(assertion, { timeout: 20_000, interval: 50 });
let block = 700;
/** A number that is busy, as the simulated carrier has it. */
const busy = () => `+1216${++block}0001`;

async function setPolicy(client: Client, policy: object): Promise<void> {
  const { status, body } = await client.put(path, policy);
  expect(status, JSON.stringify(body)).toBe(200);
}

const oneCallADay = { limits: [{ channel: 'call', max: 1, per: 'P1D' }] };

const decisionsOf = async (organizationId: number) =>
  (await env.DB.prepare('SELECT * FROM contact_decision WHERE organization_id = ? ORDER BY id').bind(organizationId).all<any>()).results;

/** Campaigns of a test, which keep the reports that they receive. */
function recordingCampaigns(organizationId: number): AttemptReport[] {
  const reports: AttemptReport[] = [];
  vi.spyOn(env.CAMPAIGN, 'getByName').mockImplementation(
    (name) =>
      ({
        applyReports: async (received: AttemptReport[]) =>
          void (name.startsWith(`${organizationId}/`) && reports.push(...structuredClone(received))),
      }) as never,
  );
  return reports;
}

describe('single calls', () => {
  test('beyond a limit are not dialled, and their run tells the rule', async () => {
    const { id, client, agentId, account } = await callingOrganization();
    await setPolicy(client, oneCallADay);
    const phone = busy();
    const first = (await client.post(`/workflow/${agentId}/runs`, { mode: 'telephony', phone })).body.id;
    await relayCallbacks(account, async () => (await client.get(`/workflow/${agentId}/runs/${first}`)).body.is_completed);
    const second = (await client.post(`/workflow/${agentId}/runs`, { mode: 'telephony', phone })).body.id;
    await until(async () =>
      expect((await client.get(`/workflow/${agentId}/runs/${second}`)).body).toMatchObject({
        is_completed: true,
        reason: expect.stringMatching(/^contact_policy: at most 1 call to a person within P1D \(calls_per_P1D\); allowed again at /),
      }),
    );
    expect((await carrierLedger(account)).calls).toHaveLength(1);
    const [reserved, held] = await decisionsOf(id);
    expect(reserved).toMatchObject({ state: 'reserved', channel: 'call', source: 'single', phone });
    expect(held).toMatchObject({ state: 'held', rule: 'calls_per_P1D' });
    expect(held.until - reserved.created_at).toBeGreaterThanOrEqual(24 * hour);
  });

  test('of an organization without a policy write no decision', async () => {
    const { id, client, agentId, account } = await callingOrganization();
    const run = (await client.post(`/workflow/${agentId}/runs`, { mode: 'telephony', phone: busy() })).body.id;
    await relayCallbacks(account, async () => (await client.get(`/workflow/${agentId}/runs/${run}`)).body.is_completed);
    expect(await decisionsOf(id)).toEqual([]);
  });
});

test('two campaigns, a journey and a single call at the same moment call a person once, in whatever spelling', async () => {
  const { id, client, agentId, account } = await callingOrganization();
  await setPolicy(client, oneCallADay);
  recordingCampaigns(id);
  // Two spellings of one Mexican number: the call slots take them for two persons.
  const digits = `55${String(10_000_000 + Math.floor(Math.random() * 80_000_000))}`;
  const owners: [Owner, string][] = [
    [{ kind: 'campaign', id: 1 }, `+52${digits}`],
    [{ kind: 'campaign', id: 2 }, `+521${digits}`],
    [{ kind: 'journey', id: 3 }, `+521${digits}`],
    [{ kind: 'single', id: 0 }, `+52${digits}`],
  ];
  const slots = env.CALL_SLOTS.getByName(String(id));
  await Promise.all(
    owners.map(([owner, phone]) =>
      slots.request(id, {
        owner,
        epoch: 0,
        maxConcurrency: null,
        calls: [
          {
            key: `${owner.kind}:${owner.id}:1:1`,
            phone,
            agentId,
            contactId: null,
            initialContext: '{}',
            name: 'A call',
            notAfter: null,
          },
        ],
      }),
    ),
  );
  await relayCallbacks(account, async () => {
    const states = (await decisionsOf(id)).map(({ state }) => state);
    return states.length === 4 && states.filter((state) => state === 'held').length === 3;
  });
  expect((await carrierLedger(account)).calls).toHaveLength(1);
  expect(new Set((await decisionsOf(id)).map(({ phone }) => phone))).toEqual(new Set([`+52${digits}`]));
});

describe('a campaign', () => {
  const started = async (client: Client, organizationId: number, agentId: number, phones: string[], more = {}) => {
    const { id } = await draft(client, organizationId, `phone\n${phones.join('\n')}\n`, { workflow_id: agentId, ...more });
    expect((await client.post(`/campaign/${id}/start`)).status).toBe(200);
    return id as number;
  };
  const rowsOf = async (client: Client, campaign: number) => (await client.get(`/campaign/${campaign}/runs`)).body.runs as any[];

  test('waits with a row until the rules allow it, and shows the rule and the moment', async () => {
    const { id, client, agentId, account } = await callingOrganization();
    // The days around now, wherever on earth the person may be.
    const dates = [-1, 0, 1].map((days) => new Date(Date.now() + days * 24 * hour).toISOString().slice(0, 10));
    await setPolicy(client, { days_off: { public_holidays: false, dates } });
    const campaign = await started(client, id, agentId, [busy()]);
    await until(async () =>
      expect(await rowsOf(client, campaign)).toMatchObject([
        { state: 'scheduled', reason: expect.stringMatching(/^contact_policy: .*\(day_off\)/), next_attempt_at: expect.any(String) },
      ]),
    );
    const [row] = await rowsOf(client, campaign);
    expect(Date.parse(row.next_attempt_at)).toBeGreaterThan(Date.now() + hour);
    expect((await client.get(`/campaign/${campaign}/progress`)).body.waiting.waiting_for).toMatch(/^contact_policy: /);
    expect((await carrierLedger(account)).calls).toEqual([]);
  });

  test('skips a row when the policy says so, with the rule as the reason', async () => {
    const { id, client, agentId, account } = await callingOrganization();
    await setPolicy(client, { consent: { channels: ['call'] } });
    const phones = [busy(), busy()];
    const agreed = await client.post('/contacts', { phone: phones[0] });
    await client.post(`/contacts/${agreed.body.id}/consents`, { given: true, source: 'form', text: 'Yes, call me.' });
    const campaign = await started(client, id, agentId, phones, { retry_config: { enabled: false } });
    await relayCallbacks(account, async () => (await client.get(`/campaign/${campaign}`)).body.state === 'completed', 30_000);
    expect(await rowsOf(client, campaign)).toMatchObject([
      { phone: phones[0], state: 'failed', outcome: 'busy' },
      { phone: phones[1], state: 'skipped', reason: 'contact_policy: no consent to a call is recorded (no_consent)' },
    ]);
    expect((await carrierLedger(account)).calls.map(({ to }) => to)).toEqual([phones[0]]);
  });
});

describe('a journey', () => {
  const texting = chain({
    id: 'text',
    type: 'send_message',
    data: { template_name: 'order_update', language: 'en', template_params: { 1: 'a', 2: 'b' } },
  });
  const runFor = async (client: Client, definition: object, phone: string, settings = {}) => {
    const workflow = await createActiveWorkflow(client, { definition, settings });
    const contact = (await client.post('/contacts', { phone })).body.id as number;
    const run = (await client.post(`/automation-workflows/${workflow}/execute`, { contact_id: contact })).body.id as number;
    return { run, contact, workflow };
  };

  test('waits in its step with a message until the rules allow it, and sends it once', async () => {
    const { client } = await messagingOrganization();
    await setPolicy(client, { min_gaps: [{ channel: 'message', gap: 'PT1S' }] });
    const phone = newPhone();
    const { run: first, contact, workflow } = await runFor(client, texting, phone);
    await waitForRunState(client, first, 'completed');
    const second = (await client.post(`/automation-workflows/${workflow}/execute`, { contact_id: contact })).body.id;
    await waitForRunState(client, second, 'completed');
    const { history } = (await client.get(`/automation-workflows/runs/${second}/history`)).body;
    const held = history.find(({ status }: any) => status === 'retrying');
    expect(held.output).toMatchObject({ until: expect.any(String), why: expect.stringContaining('(gap_between_messages)') });
    expect(await takenFor('provider_b', phone)).toHaveLength(2);
    expect((await logOf(client)).map(({ status }) => status)).toEqual(['accepted', 'accepted']);
  }, 30_000);

  test('goes along failed when the policy skips the person, and tells the rule', async () => {
    const { client } = await messagingOrganization();
    await setPolicy(client, { consent: { channels: ['message'], custom_field: 'agreed' } });
    const phone = newPhone();
    const { run } = await runFor(client, texting, phone);
    const ended = await waitForRunState(client, run, 'completed');
    expect(ended.context.steps.text).toMatchObject({ failure_class: 'contact_policy', reason: expect.stringContaining('(no_consent)') });
    expect(await takenFor('provider_b', phone)).toEqual([]);
    const agreed = newPhone();
    const workflow = await createActiveWorkflow(client, { definition: texting });
    const contact = (await client.post('/contacts', { phone: agreed, custom_fields: { agreed: 'yes' } })).body.id;
    const next = (await client.post(`/automation-workflows/${workflow}/execute`, { contact_id: contact })).body.id;
    await waitForRunState(client, next, 'completed');
    expect(await takenFor('provider_b', agreed)).toHaveLength(1);
  });

  test('gives the reservation back of a message that the provider refuses', async () => {
    const { id, client, credentials } = await messagingOrganization();
    await setPolicy(client, { limits: [{ channel: 'message', max: 1, per: 'day' }] });
    const messages = `${simulators}/meta/v25.0/${credentials.provider_b.phone_number_id}/messages`;
    let tries = 0;
    stubFetch(messages, () =>
      ++tries === 1 ? new Response('busy', { status: 429 }) : Response.json({ messages: [{ id: `wamid.${newPhone()}` }] }),
    );
    const { run } = await runFor(client, texting, newPhone(), { retry: { initial_delay_seconds: 0.01 } });
    await waitForRunState(client, run, 'completed');
    expect(await decisionsOf(id)).toMatchObject([
      { state: 'released', source: 'journey', source_id: run },
      { state: 'reserved', source: 'journey', source_id: run },
    ]);
  });

  test('waits with a call that the rules do not allow yet, and tells why', async () => {
    const { client, agentId, account } = await callingOrganization();
    const everyDay = [0, 1, 2, 3, 4, 5, 6];
    const now = new Date();
    // Quiet hours that have begun and last for two hours more.
    const at = (hours: number) => `${String((now.getUTCHours() + 24 + hours) % 24).padStart(2, '0')}:00`;
    const slots = everyDay.map((day) => ({ day_of_week: day, start_time: at(-1), end_time: at(2) }));
    await setPolicy(client, { quiet_hours: { slots } });
    const workflow = await createActiveWorkflow(client, {
      definition: chain({ id: 'call', type: 'voice_call', data: { workflow_id: agentId } }),
    });
    const contact = (await client.post('/contacts', { phone: busy(), custom_fields: { timezone: 'UTC' } })).body.id;
    const run = (await client.post(`/automation-workflows/${workflow}/execute`, { contact_id: contact })).body.id;
    await until(async () => {
      const { history } = (await client.get(`/automation-workflows/runs/${run}/history`)).body;
      const held = history.find(({ status }: any) => status === 'retrying');
      expect(held?.output.why).toMatch(/^contact_policy: quiet hours in UTC \(quiet_hours\); allowed again at .*; it is asked for again$/);
    });
    expect((await carrierLedger(account)).calls).toEqual([]);
    const { timeline, next } = (await client.get(`/contacts/${contact}/timeline`)).body;
    expect(timeline).toContainEqual(expect.objectContaining({ kind: 'decision', state: 'held', rule: 'quiet_hours', journey_run_id: run }));
    expect(next.call).toMatchObject({ state: 'waits', rule: 'quiet_hours', at: expect.any(String) });
  }, 30_000);
});

test('a worker that dies between the reservation and the call gives the reservation back once the carrier has denied the call', async () => {
  const { id, client, agentId, account } = await callingOrganization();
  await setPolicy(client, oneCallADay);
  const reports = recordingCampaigns(id);
  const sends = vi.spyOn(env.CALLS_QUEUE, 'sendBatch').mockResolvedValue(undefined as never);
  const slots = env.CALL_SLOTS.getByName(String(id));
  const phone = busy();
  const request = (key: string) =>
    slots.request(id, {
      owner: { kind: 'campaign', id: 1 },
      epoch: 0,
      maxConcurrency: null,
      calls: [{ key, phone, agentId, contactId: null, initialContext: '{}', name: 'A call', notAfter: null }],
    });
  await request('campaign:1:1:1');
  const [call] = await until(async () => {
    const begun = await slots.beginCalls(['campaign:1:1:1']);
    expect(begun).toHaveLength(1);
    return begun;
  });
  const context = (await backgroundContext(env, id, () => {}))!;
  await env.DB.prepare(
    `INSERT INTO voice_agent_run (organization_id, agent_id, definition_id, name, mode, call_type, attempt_key, phone, campaign_id, initial_context, created_at)
     SELECT organization_id, id, current_definition_id, 'x', 'twilio', 'outbound', ?1, ?2, 1, '{}', ?3 FROM voice_agent WHERE id = ?4`,
  )
    .bind(call!.key, phone, Date.now(), agentId)
    .run();
  const ready = {
    runId: 1,
    maxSeconds: 60,
    isRecorded: false,
    carrier: null as never,
    detectsMachines: false,
    leavesMessage: false,
    allowedUntil: null,
  };
  const policy = (await env.DB.prepare('SELECT policy FROM contact_policy WHERE organization_id = ?')
    .bind(id)
    .first<{ policy: string }>())!;
  const held = await holdByPolicy(context, policy.policy, [{ call: call!, ready, refusal: null, isRunCompleted: false }]);
  expect(held).toMatchObject([{ refusal: null }]);
  expect(await decisionsOf(id)).toMatchObject([{ state: 'reserved' }]);
  // The worker is gone. The call slots look the call up, and the carrier has none.
  await until(async () => expect(await decisionsOf(id)).toMatchObject([{ state: 'released' }]));
  expect(reports).toContainEqual(expect.objectContaining({ kind: 'ended', outcome: 'carrier_trouble' }));
  sends.mockRestore();
  await request('campaign:1:1:2');
  await relayCallbacks(account, async () => (await carrierLedger(account)).calls.length === 1);
  expect((await decisionsOf(id)).map(({ state }) => state)).toEqual(['released', 'reserved']);
}, 60_000);
