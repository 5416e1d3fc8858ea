import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { storePayload } from '../../src/database/payload.ts';
import { artifactKey } from '../../src/calls/records/artifacts.ts';
import { findAgentRun, insertAgentRun, updateRecordingType, updateWakeAt } from '../../src/calls/records/store.ts';
import { explainQueryPlans, recordedClient } from '../support/recorded-database.ts';
import { newAgent, newRun, settle, settlement, withAgent } from './runs.ts';

type Line = { callStatus: string; reason: string | null } | null;
type Snapshot = { gathered_context: object; cost_info: object; logs: object } | null;
let line: Line = null;
let snapshot: Snapshot = null;

/** What the objects of calls would say. */
beforeEach(() => {
  [line, snapshot] = [null, null];
  vi.spyOn(env.CALL_SLOTS, 'getByName').mockImplementation(() => ({ getCallStatus: async () => line }) as never);
  vi.spyOn(env.CALL, 'getByName').mockImplementation(() => ({ snapshot: async () => snapshot }) as never);
});
afterEach(() => vi.restoreAllMocks());

test('a completed run is shown as its row and its logs tell', async () => {
  const { client, id: organizationId, agent, context } = await withAgent();
  const run = await newRun(context, agent, { initialContext: '{"first_name":"Ada"}', contactId: null, campaignId: 12 });
  await settle(context, settlement(run.id));
  const logs = {
    events: [{ type: 'said', at: '2026-01-01T00:00:00.000Z', node_id: 'start', payload: { text: 'Hello' } }],
    status_callbacks: [{ status: 'completed', at: '2026-01-01T00:00:42.000Z', details: { sip: 200 } }],
  };
  await env.FILES.put(artifactKey(organizationId, run.id, 'logs.json'), JSON.stringify(logs));
  const { status, body } = await client.get(`/workflow/${agent.id}/runs/${run.id}`);
  expect(status).toBe(200);
  expect(body).toEqual({
    id: run.id,
    workflow_id: agent.id,
    name: 'Sales to +12125550100',
    mode: 'twilio',
    created_at: expect.stringMatching(/Z$/),
    is_completed: true,
    transcript_url: `https://service.test/api/v1/workflow/${agent.id}/runs/${run.id}/transcript`,
    recording_url: null,
    cost_info: { llm_tokens: { prompt: 10, completion: 5 }, call_duration_seconds: 42, total_cost_usd: 0.01 },
    definition_id: agent.current_definition_id,
    initial_context: { first_name: 'Ada' },
    gathered_context: {
      call_status: 'completed',
      call_disposition: 'interested',
      call_tags: [],
      nodes_visited: ['start', 'bye'],
      extracted_variables: {},
      day: 'Monday',
    },
    call_type: 'outbound',
    logs,
    annotations: { summary: 'They want it', sentiment: 'positive', checks: [] },
    transfers: [],
    outcome: 'completed',
    reason: null,
    phone: '+12125550100',
    contact_id: null,
    campaign_id: 12,
    automation_run_id: null,
    completed_at: '2023-11-14T22:14:02.000Z',
  });
});

test('a run that nobody talked in is whole as well', async () => {
  const { client, agent, context } = await withAgent();
  const run = await newRun(context, agent);
  await settle(context, {
    ...settlement(run.id),
    outcome: 'busy',
    disposition: null,
    hasTranscript: false,
    result: { gathered_context: {}, cost_info: {}, annotations: {} },
  });
  expect((await client.get(`/workflow/${agent.id}/runs/${run.id}`)).body).toMatchObject({
    transcript_url: null,
    cost_info: { llm_tokens: { prompt: 0, completion: 0 }, call_duration_seconds: 0, total_cost_usd: 0 },
    gathered_context: { call_status: 'busy', call_disposition: null, call_tags: [], nodes_visited: [], extracted_variables: {} },
    logs: { events: [], status_callbacks: [] },
    annotations: { summary: null, sentiment: null, checks: [] },
  });
});

test('a live call shows what the line does and what the talk has gathered', async () => {
  const { client, agent, context } = await withAgent();
  const run = await newRun(context, agent);
  const read = async () => (await client.get(`/workflow/${agent.id}/runs/${run.id}`)).body;
  expect((await read()).gathered_context.call_status).toBe('queued');
  line = { callStatus: 'ringing', reason: null };
  expect((await read()).gathered_context.call_status).toBe('ringing');
  line = { callStatus: 'in_progress', reason: null };
  const logs = { events: [{ type: 'entered', at: '2026-01-01T00:00:00.000Z', node_id: 'start', payload: {} }], status_callbacks: [] };
  snapshot = { gathered_context: { nodes_visited: ['start'], call_status: 'else' }, cost_info: { call_duration_seconds: 7 }, logs };
  expect(await read()).toMatchObject({
    is_completed: false,
    outcome: null,
    completed_at: null,
    gathered_context: { call_status: 'in_progress', nodes_visited: ['start'], call_tags: [] },
    cost_info: { call_duration_seconds: 7, llm_tokens: { prompt: 0, completion: 0 } },
    logs,
  });
});

test('a run that is completed between looking at its row and at its objects is shown completed', async () => {
  const { client, agent, context } = await withAgent();
  const run = await newRun(context, agent);
  vi.mocked(env.CALL.getByName).mockImplementation(
    () => ({ snapshot: async () => (await settle(context, settlement(run.id)), null) }) as never,
  );
  expect((await client.get(`/workflow/${agent.id}/runs/${run.id}`)).body).toMatchObject({ is_completed: true, outcome: 'completed' });
});

test('a live text chat is in progress, and no call slot is asked about it', async () => {
  const { client, agent, context } = await withAgent();
  const run = await newRun(context, agent, { mode: 'textchat', phone: null });
  const { body } = await client.get(`/workflow/${agent.id}/runs/${run.id}`);
  expect(body).toMatchObject({ mode: 'textchat', phone: null, gathered_context: { call_status: 'in_progress' } });
  expect(env.CALL_SLOTS.getByName).not.toHaveBeenCalled();
});

test('a long initial context is read from where it is kept', async () => {
  const { client, agent, context, id: organizationId } = await withAgent();
  const long = { text: 'x'.repeat(80_000) };
  const initialContext = await storePayload(env.FILES, () => `${organizationId}/contexts/${crypto.randomUUID()}`, JSON.stringify(long));
  const run = await newRun(context, agent, { initialContext });
  await settle(context, settlement(run.id));
  expect((await client.get(`/workflow/${agent.id}/runs/${run.id}`)).body.initial_context).toEqual(long);
  expect((await client.get(`/workflow/${agent.id}/runs`)).body.runs[0].initial_context).toEqual(long);
});

test('the list is newest first, filtered and paged, and its total is what there is', async () => {
  const { client, agent, context } = await withAgent();
  const other = await newAgent(client);
  await newRun(context, other);
  const runs = [];
  for (const mode of ['twilio', 'twilio', 'textchat', 'twilio'] as const) runs.push(await newRun(context, agent, { mode }));
  const [first, second, third, fourth] = runs.map(({ id }) => id) as [number, number, number, number];
  await settle(context, settlement(first));
  await settle(context, settlement(second, { outcome: 'busy' }));
  const list = async (query = '') => {
    const { body } = await client.get(`/workflow/${agent.id}/runs${query}`);
    return [body.runs.map(({ id }: { id: number }) => id), body.total];
  };
  expect(await list()).toEqual([[fourth, third, second, first], 4]);
  expect(await list('?is_completed=true')).toEqual([[second, first], 2]);
  expect(await list('?is_completed=false')).toEqual([[fourth, third], 2]);
  expect(await list('?limit=1&offset=2')).toEqual([[second], 4]);
  const page = (await client.get(`/workflow/${agent.id}/runs?limit=3`)).body;
  expect(await list(`?limit=3&cursor=${page.next_cursor}`)).toEqual([[first], 4]);
  const { body } = await client.get(`/workflow/${agent.id}/runs`);
  expect(body.runs[0]).toMatchObject({
    is_completed: false,
    gathered_context: { call_status: null },
    logs: { events: [], status_callbacks: [] },
  });
  expect(body.runs[2]).toMatchObject({ gathered_context: { call_status: 'busy', day: 'Monday' }, logs: { events: [] } });
  expect((await client.get(`/workflow/${agent.id}`)).body.total_runs).toBe(4);
  for (const query of ['?is_completed=maybe', '?limit=0', '?cursor=x'])
    expect((await client.get(`/workflow/${agent.id}/runs${query}`)).status).toBe(422);
});

test('runs of others are not found: of another organization, of another agent, and those that never were', async () => {
  const { client, agent, context } = await withAgent();
  const run = await newRun(context, agent);
  const other = await newAgent(client);
  const stranger = await withAgent();
  const theirs = await newRun(stranger.context, stranger.agent);
  const missing = [
    await client.get(`/workflow/${other.id}/runs/${run.id}`),
    await client.get(`/workflow/${agent.id}/runs/${theirs.id}`),
    await client.get(`/workflow/${agent.id}/runs/999999999`),
    await stranger.client.get(`/workflow/${agent.id}/runs/${run.id}`),
    await stranger.client.get(`/workflow/${stranger.agent.id}/runs/${run.id}`),
  ];
  expect(missing.map(({ status, body }) => [status, body.detail])).toEqual(missing.map(() => [404, 'Run not found']));
  expect((await stranger.client.get(`/workflow/${agent.id}/runs`)).status).toBe(404);
  expect((await client.get(`/workflow/${agent.id}/runs/x`)).status).toBe(422);
});

test('a run is inserted once for its attempt, and only for an active agent of the organization', async () => {
  const { client, agent, context } = await withAgent();
  const key = 'single:0:the-same';
  const first = await newRun(context, agent, { attemptKey: key, name: 'First' });
  const again = await newRun(context, agent, { attemptKey: key, name: 'Second' });
  expect(again).toEqual(first);
  const stranger = await withAgent();
  const theirs = {
    agentId: agent.id,
    definitionId: 1,
    name: 'x',
    mode: 'textchat',
    callType: 'inbound',
    attemptKey: 'k',
    initialContext: '{}',
  } as const;
  expect(await insertAgentRun(stranger.context, theirs)).toBeNull();
  expect(await findAgentRun(stranger.context, first.id)).toBeNull();
  await client.put(`/workflow/${agent.id}/status`, { status: 'archived' });
  expect(await insertAgentRun(context, { ...theirs, attemptKey: 'new' })).toBeNull();
  expect((await client.get(`/workflow/${agent.id}`)).body.total_runs).toBe(1);
});

test('a completed run is neither completed again, reopened nor woken; a recording may still come', async () => {
  const { agent, context } = await withAgent();
  const run = await newRun(context, agent, { mode: 'textchat', wakeAt: 5 });
  const stranger = await withAgent();
  expect(await settle(stranger.context, settlement(run.id))).toBe(false);
  expect(await settle(context, settlement(run.id))).toBe(true);
  const completed = await findAgentRun(context, run.id);
  expect(completed).toMatchObject({ is_completed: true, wake_at: null, disposition: 'interested', revision: run.revision + 1 });
  expect(await settle(context, settlement(run.id, { outcome: 'failed', hasTranscript: false }))).toBe(false);
  await context.database.batch([updateWakeAt(context, run.id, 9)]);
  expect(await findAgentRun(context, run.id)).toEqual(completed);
  await context.database.batch([
    updateRecordingType(context, run.id, 'audio/mpeg'),
    updateRecordingType(stranger.context, run.id, 'audio/wav'),
  ]);
  expect(await findAgentRun(context, run.id)).toEqual({ ...completed, recording_type: 'audio/mpeg' });
});

test('lists and reads of runs scan no table', async () => {
  const { key, agent, context } = await withAgent();
  const run = await newRun(context, agent);
  const { client, recording } = recordedClient(key);
  for (const query of ['', '?is_completed=false', '?is_completed=true']) await client.get(`/workflow/${agent.id}/runs${query}`);
  await client.get(`/workflow/${agent.id}/runs/${run.id}`);
  const plans = await explainQueryPlans(recording);
  for (const { sql, plan } of plans) expect([sql, plan.filter((step) => step.startsWith('SCAN voice_agent'))]).toEqual([sql, []]);
  expect(plans.length).toBeGreaterThan(4);
});
