import { env, exports } from 'cloudflare:workers';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { sign } from '../../simulators/twilio/signature.ts';
import { placeCalls } from '../../src/calls/placing/place-calls.ts';
import { callingOrganization, carrierLedger, simulatorsUrl } from '../support/carrier.ts';
import { createActiveWorkflow, chain, waitForRunState } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { validDefinition, invalidDefinition } from '../support/agent-definitions.ts';
import { contextOf } from './runs.ts';

afterEach(() => vi.restoreAllMocks());

const token = 'a-token-of-the-test';
const places = (issues: { loc: string[] }[]) => issues.map(({ loc }) => loc.join('.'));
const faults = ['nodes.start.data.prompt', 'edges.lost.target'];

const create = async (client: Client, definition: unknown): Promise<any> => {
  const created = await client.post('/workflow/create/definition', { name: 'Odd', workflow_definition: definition });
  expect(created.status, JSON.stringify(created.body)).toBe(200);
  return created.body;
};

/** A calling organization whose agent has come to be unsound. */
async function spoilt(options: Parameters<typeof callingOrganization>[0] = {}) {
  const organization = await callingOrganization({ authToken: token, ...options });
  const spoil = () => organization.client.put(`/workflow/${organization.agentId}`, { workflow_definition: invalidDefinition });
  return { ...organization, spoil };
}

describe('a definition', () => {
  test.each([
    {},
    { nodes: null, edges: 'none' },
    { nodes: [null, 3, 'x', [], {}], edges: [null, {}] },
    { nodes: { start: {} }, edges: [] },
    { nodes: [{ id: 'a', type: 'startCall', data: { prompt: 5, tools: 'x', extraction_variables: [null], constructor: 1 } }], edges: [] },
    { nodes: [{ id: 'a', type: 'constructor', data: {} }], edges: [{ id: 'e', source: 'a', target: 'a', data: null }] },
    { ...validDefinition, viewport: { x: 0 }, toString: 1 },
  ])('is stored and echoed whatever it is: %j', async (definition) => {
    const { client } = await newOrganization();
    const agent = await create(client, definition);
    expect(agent.workflow_definition).toEqual(definition);
    const { body } = await client.get(`/workflow/${agent.id}`);
    expect(body).toEqual(agent);
    const validated = await client.post(`/workflow/${agent.id}/validate`, {});
    expect(validated.body).toEqual({ valid: agent.issues.length === 0, errors: agent.issues, warnings: agent.warnings });
    expect((await client.put(`/workflow/${agent.id}`, body)).body).toMatchObject({ current_definition_id: agent.current_definition_id });
  });

  test('that is any JSON object is never a 500, and comes back as it was sent', async () => {
    const { client } = await newOrganization();
    const agent = await create(client, {});
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (given) => {
        // Integers beyond 2^53 arrive as texts.
        const definition = JSON.parse(
          JSON.stringify(given)
            .replaceAll('__proto__', 'proto')
            .replace(/\d{16,}/g, '1'),
        ) as object;
        const put = await client.put(`/workflow/${agent.id}`, { workflow_definition: definition });
        expect([put.status, put.body.workflow_definition]).toEqual([200, definition]);
        const chat = await client.post(`/workflow/${agent.id}/runs`, { mode: 'textchat' });
        expect(chat.status).toBe(422);
      }),
      { numRuns: 40 },
    );
  });
});

describe('an agent with problems', () => {
  test('talks to nobody: a call, a chat and a verification are 422 with one item for each place', async () => {
    const { client, agentId, spoil } = await spoilt();
    const spoiled = await spoil();
    expect(places(spoiled.body.issues)).toEqual(faults.map((place) => `body.workflow_definition.${place}`));
    for (const order of [{ mode: 'textchat' }, { mode: 'telephony', phone: newPhone() }]) {
      const refused = await client.post(`/workflow/${agentId}/runs`, order);
      expect([refused.status, places(refused.body.detail)]).toEqual([422, faults.map((place) => `path.workflow_id.${place}`)]);
      expect(refused.body.detail[0].msg).toMatch(new RegExp(`^Voice agent ${agentId} is not sound: `));
    }
    expect((await client.get(`/workflow/${agentId}/runs`)).body.total).toBe(0);
    expect((await client.post(`/workflow/${agentId}/verify`, {})).status).toBe(422);
    const gate = { workflow_configurations: { required_tests: [{ adversary_workflow_id: agentId }] }, require_verified: true };
    const verified = await client.put(`/workflow/${agentId}`, gate);
    expect([verified.status, places(verified.body.detail)]).toEqual([422, faults.map((place) => `body.workflow_definition.${place}`)]);
  });

  test('of another organization is still not there', async () => {
    const { client } = await newOrganization();
    const stranger = await newOrganization();
    const agent = await create(client, {});
    expect((await stranger.client.post(`/workflow/${agent.id}/runs`, { mode: 'textchat' })).status).toBe(404);
    expect((await stranger.client.get(`/workflow/${agent.id}`)).status).toBe(404);
  });

  test('starts and resumes no campaign', async () => {
    const { client, agentId, spoil } = await spoilt();
    const list = (await client.post('/contacts/lists', { name: 'All' })).body.id as number;
    const draft = async () => {
      const body = { name: 'C', workflow_id: agentId, source_type: 'contact_list', source_id: String(list) };
      return (await client.post('/campaign/create', body)).body.id as number;
    };
    await spoil();
    const id = await draft();
    const refused = await client.post(`/campaign/${id}/start`, {});
    expect([refused.status, places(refused.body.detail)]).toEqual([422, faults.map((place) => `path.campaign_id.${place}`)]);
    expect((await client.get(`/campaign/${id}`)).body.state).toBe('draft');
  });

  test('makes and starts no test', async () => {
    const { client, agentId, spoil } = await spoilt();
    const pairing = { name: 'T', actor_workflow_id: agentId, adversary_workflow_id: agentId };
    const session = await client.post('/simtest/test-sessions', pairing);
    expect(session.body).toMatchObject({ status: 'pending', config: { max_turns: 20 }, warnings: [] });
    await spoil();
    for (const path of ['/simtest/test-sessions', '/simtest/load-tests']) {
      const refused = await client.post(path, { ...pairing, test_count: 1 });
      expect([refused.status, places(refused.body.detail)]).toEqual([422, faults.map((place) => `body.actor_workflow_id.${place}`)]);
    }
    const started = await client.post(`/simtest/test-sessions/${session.body.id}/start`, {});
    expect([started.status, places(started.body.detail)[0]]).toEqual([422, `path.test_session_id.${faults[0]}`]);
    expect((await client.get(`/simtest/test-sessions/${session.body.id}`)).body.status).toBe('pending');
  });

  test('fails the step of a journey that calls with it, by name', async () => {
    const { client, agentId, spoil } = await spoilt();
    const workflow = await createActiveWorkflow(client, {
      definition: chain({ id: 'call', type: 'voice_call', data: { workflow_id: agentId, phone: newPhone() } }),
    });
    await spoil();
    const run = (await client.post(`/automation-workflows/${workflow}/execute`, {})).body.id;
    expect((await waitForRunState(client, run, 'failed')).error).toMatchObject({ node_id: 'call', type: 'agent_unsound' });
  });

  test('takes no inbound call, and the run says why', async () => {
    const { id, configId, client, account, agentId, spoil } = await spoilt({ inbound: true });
    await spoil();
    const url = `https://service.test/api/v1/telephony/${id}/${configId}/inbound`;
    const form = {
      CallSid: `CA${'7'.repeat(32)}`,
      AccountSid: account,
      From: newPhone(),
      To: '+15005550006',
      CallStatus: 'ringing',
      Direction: 'inbound',
    };
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': sign(token, url, Object.entries(form)),
    };
    const answer = await exports.default.fetch(new Request(url, { method: 'POST', headers, body: new URLSearchParams(form).toString() }));
    expect(await answer.text()).toContain('<Hangup');
    const [run] = (await client.get(`/workflow/${agentId}/runs`)).body.runs;
    expect(run).toMatchObject({
      is_completed: true,
      outcome: 'failed',
      reason: expect.stringMatching(/^agent_unsound: .*nodes\.start\.data\.prompt/),
    });
  });

  test('is not dialled for, though the call was asked for while it was sound', async () => {
    const { id, agentId, account, spoil } = await spoilt();
    const sends = vi.spyOn(env.CALLS_QUEUE, 'sendBatch').mockResolvedValue(undefined as never);
    await spoil();
    const phone = newPhone();
    const key = `campaign:9:1:1`;
    const slots = env.CALL_SLOTS.getByName(String(id));
    const call = { key, phone, agentId, contactId: null, initialContext: '{}', name: 'A call', notAfter: null };
    const reported: { kind: string; reason?: string }[] = [];
    vi.spyOn(env.CAMPAIGN, 'getByName').mockImplementation(
      () => ({ applyReports: async (reports: { kind: string }[]) => void reported.push(...structuredClone(reports)) }) as never,
    );
    await slots.request(id, { owner: { kind: 'campaign', id: 9 }, epoch: 1, maxConcurrency: null, calls: [call] });
    await vi.waitFor(() => expect(sends).toHaveBeenCalled());
    await placeCalls(await contextOf(id), [key]);
    await vi.waitFor(() =>
      expect(reported.find(({ kind }) => kind === 'returned')).toMatchObject({
        reason: 'agent_unsound',
        detail: expect.stringContaining('nodes.start.data.prompt'),
      }),
    );
    expect((await carrierLedger(account)).calls).toEqual([]);
  });
});

test('an agent says by detect_voicemail of its start whether machines are looked for, whatever its carrier does', async () => {
  for (const [machineDetection, detects, expected] of [
    [true, false, false],
    [false, true, true],
    [true, null, true],
    [false, undefined, false],
  ] as const) {
    const { client, agentId, account } = await callingOrganization({ authToken: token, machineDetection });
    const definition = { nodes: [{ id: 's', type: 'startCall', data: { prompt: 'Talk.', detect_voicemail: detects } }], edges: [] };
    await client.put(`/workflow/${agentId}`, { workflow_definition: definition });
    const started = await client.post(`/workflow/${agentId}/runs`, { mode: 'telephony', phone: newPhone() });
    expect(started.status).toBe(200);
    const path = `/2010-04-01/Accounts/${account}/Calls.json`;
    const [request] = await vi.waitFor(async () => {
      const { requests } = (await (await fetch(`${simulatorsUrl}/__sim/requests?provider=twilio&path=${path}`)).json()) as {
        requests: object[];
      };
      expect(requests).toHaveLength(1);
      return requests;
    });
    expect(JSON.stringify(request).includes('MachineDetection'), `${machineDetection} ${detects}`).toBe(expected);
  }
});
