import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AutomationRunObject } from '../../durable-objects/automation-run/automation-run-object.ts';
import { CallSlotsObject } from '../../durable-objects/call-slots/call-slots-object.ts';
import { seal } from '../../src/library/security/encryption.ts';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import type { StatusCallback } from '../../src/calls/contract.ts';
import { toCallMatch } from '../../src/calls/listing/call-words.ts';
import { findSuppressedPhones } from '../../src/contacts/suppressions/suppressions.ts';
import { sealSecrets } from '../../src/expressions/secrets/secrets.ts';
import {
  answeredRun,
  callStub,
  CarrierSocket,
  waitForCompletedRun,
  readCallFile,
  waitUntilDestroyed,
  callEnd,
  stubOutsideServices,
  readCallRun,
  type CallStub,
  type RunOptions,
} from '../support/calls.ts';
import type { CrashWatch } from '../support/crashing-object.ts';
import { crashCallObjectAt } from '../support/crashing-call.ts';
import { createActiveWorkflow, chain } from '../support/journeys.ts';
import { testVariables } from '../support/variables.ts';
import { salesAgent } from '../voice-agents/agents.ts';

const settled = vi.fn<(keys: string[]) => void>();
const callSettled = vi.fn<(runId: number) => void>();

beforeEach(() => {
  settled.mockReset();
  callSettled.mockReset();
  vi.spyOn(CallSlotsObject.prototype, 'markFinalized').mockImplementation(async (keys) => settled(keys));
  vi.spyOn(AutomationRunObject.prototype, 'callSettled').mockImplementation(async (runId) => callSettled(runId));
});
afterEach(() => vi.restoreAllMocks());

/** A call on which the person has talked, before its line ends. */
async function talked(options: RunOptions & { says?: string } = {}) {
  const run = await answeredRun(options);
  await run.stub.begin(run.organizationId, run.runId);
  const carrier = await CarrierSocket.open(run.stub, 'VX1');
  await carrier.waitForUtterances(1);
  carrier.say(options.says ?? 'Yes, I am interested');
  await carrier.waitForUtterances(2);
  return { ...run, carrier };
}

const runsOf = async (workflowId: number): Promise<number> =>
  (await env.DB.prepare('SELECT count(*) AS total FROM automation_run WHERE workflow_id = ?').bind(workflowId).first<{ total: number }>())!
    .total;

const sql = (stub: CallStub, statement: string, ...parameters: (string | number)[]) =>
  runInDurableObject(stub, (_object, { storage }) => storage.sql.exec(statement, ...parameters).toArray());

/** Wakes an object, which may have died, until it is gone. */
const wokenUntilGone = (organizationId: number, runId: number): Promise<void> =>
  vi.waitFor(
    async () => {
      const stub = callStub(organizationId, runId);
      await stub.wakeStalled().catch(() => undefined);
      expect(await stub.snapshot()).toBeNull();
    },
    { timeout: 20_000, interval: 50 },
  );

const webhookAgent = (data: object) => ({
  ...salesAgent,
  nodes: [...salesAgent.nodes, { id: 'tell', type: 'webhook', data: { url: 'https://crm.example.com/calls', ...data } }],
});

describe('the end of a call', () => {
  test('a call on which the agent did not talk is finalized, too', async () => {
    stubOutsideServices();
    const { organizationId, runId, key, stub } = await answeredRun();
    await stub.callEnded(
      organizationId,
      runId,
      callEnd({ outcome: 'failed', reason: 'The agent could not be put on the line', durationSeconds: 2 }),
    );
    expect(await waitForCompletedRun(runId)).toMatchObject({
      outcome: 'failed',
      reason: 'The agent could not be put on the line',
      disposition: null,
      has_transcript: 0,
      result: {
        gathered_context: { call_status: 'failed', call_disposition: null, call_tags: [], nodes_visited: [], extracted_variables: {} },
        cost_info: { llm_tokens: { prompt: 0, completion: 0 }, call_duration_seconds: 2, total_cost_usd: 0 },
        annotations: { summary: null, sentiment: null, checks: [] },
      },
    });
    await waitUntilDestroyed(stub);
    expect(settled.mock.calls).toEqual([[[key]]]);
    expect(await readCallFile(organizationId, runId, 'transcript.txt')).toBeNull();
    expect((await readCallFile(organizationId, runId, 'logs.json')).status_callbacks).toHaveLength(1);
  });

  test('an answered line whose agent was never connected counts as not reached', async () => {
    stubOutsideServices();
    const { organizationId, runId, stub } = await answeredRun();
    await stub.begin(organizationId, runId);
    await stub.callEnded(organizationId, runId, callEnd());
    expect(await waitForCompletedRun(runId)).toMatchObject({
      outcome: 'failed',
      reason: expect.stringMatching(/^agent_not_heard: /),
      result: { gathered_context: { call_status: 'failed' } },
    });
  });

  test('a call is found by what was said and by its summary, once, and its row has how long they talked and who answered', async () => {
    stubOutsideServices();
    const { organizationId, runId, stub, carrier } = await talked({ says: 'Yes, please send the brochure' });
    expect(carrier).toBeDefined();
    const at = new Date().toISOString();
    const statusCallbacks: StatusCallback[] = [
      { status: 'machine_detection', at, details: { call_id: 'CA1', answered_by: 'person' } },
      { status: 'completed', at, details: { call_id: 'CA1' } },
    ];
    await Promise.all([1, 2].map(() => stub.callEnded(organizationId, runId, callEnd({ statusCallbacks }))));
    expect(await waitForCompletedRun(runId)).toMatchObject({ talk_seconds: 20, result: { answered_by: 'person' } });
    await waitUntilDestroyed(stub);
    const { results } = await env.DB.prepare('SELECT rowid AS id FROM call_search WHERE call_search MATCH ?')
      .bind(toCallMatch(organizationId, 'brochures')!)
      .all();
    expect(results).toEqual([{ id: runId }]);
  });

  test('a call with a machine has no seconds of talk', async () => {
    stubOutsideServices();
    const { organizationId, runId, stub } = await talked();
    await stub.callEnded(organizationId, runId, callEnd({ outcome: 'voicemail' }));
    expect(await waitForCompletedRun(runId)).toMatchObject({ talk_seconds: null, result: { answered_by: 'machine' } });
    await waitUntilDestroyed(stub);
  });

  test('a repeated report, also after the end, changes nothing', async () => {
    stubOutsideServices();
    const { organizationId, runId, stub } = await talked();
    await Promise.all([1, 2, 3].map(() => stub.callEnded(organizationId, runId, callEnd())));
    const row = await waitForCompletedRun(runId);
    await waitUntilDestroyed(stub);
    await stub.callEnded(organizationId, runId, callEnd({ outcome: 'failed' }));
    expect(await stub.snapshot()).toBeNull();
    expect(await readCallRun(runId)).toEqual(row);
  });

  test('a run that was already completed is not changed', async () => {
    stubOutsideServices();
    const { organizationId, runId, stub } = await talked();
    await env.DB.prepare("UPDATE voice_agent_run SET is_completed = 1, outcome = 'cancelled' WHERE id = ?").bind(runId).run();
    await stub.callEnded(organizationId, runId, callEnd());
    await waitUntilDestroyed(stub);
    expect(await readCallRun(runId)).toMatchObject({ outcome: 'cancelled', result: null });
  });

  test('the cost with an unknown model is null, not zero', async () => {
    stubOutsideServices();
    const { organizationId, runId, stub } = await talked({ configurations: { model: 'my-own-model' } });
    await stub.callEnded(organizationId, runId, callEnd());
    expect((await waitForCompletedRun(runId))['result'].cost_info.total_cost_usd).toBeNull();
  });

  test('triggers on call.completed start one run with the result of the call', async () => {
    stubOutsideServices();
    const { organizationId, runId, stub, client, agentId, phone } = await talked();
    const workflow = await createActiveWorkflow(client, {
      definition: chain(),
      trigger: { type: 'event', config: { event: 'call.completed' } },
    });
    await stub.callEnded(organizationId, runId, callEnd());
    await waitUntilDestroyed(stub);
    expect(await runsOf(workflow)).toBe(1);
    const { body } = await client.get(`/automation-workflows/${workflow}/runs`);
    expect(body.runs[0].initial_context).toMatchObject({
      event_type: 'call.completed',
      call_run_id: runId,
      workflow_id: agentId,
      workflow_name: 'Sales',
      outcome: 'completed',
      disposition: expect.any(String),
      extracted_variables: expect.any(Object),
      summary: expect.any(String),
      phone,
      campaign_id: null,
      automation_run_id: null,
      duration_seconds: 20,
    });
  });

  test('the journey that requested the call is notified once the row is complete', async () => {
    stubOutsideServices();
    const { organizationId, runId, stub } = await talked({ automationRunId: 4711 });
    await stub.callEnded(organizationId, runId, callEnd());
    await waitUntilDestroyed(stub);
    expect(callSettled.mock.calls).toEqual([[runId]]);
  });

  const concludeAs = (disposition: string, quote: string | null) =>
    stubOutsideServices({
      model: (_request, { stream, response_format: format }) => {
        if (stream || !format) return undefined;
        const content = JSON.stringify({
          disposition,
          summary: 'No more calls.',
          sentiment: 'negative',
          tags: [],
          do_not_call_quote: quote,
        });
        return Response.json({
          id: 'c',
          object: 'chat.completion',
          created: 1,
          model: 'gpt-6-luna',
          choices: [{ index: 0, message: { role: 'assistant', content, refusal: null }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        });
      },
    });
  const definition = { nodes: [{ id: 'start', type: 'startCall', data: { prompt: 'You are Ada.', greeting: 'Hi.' } }], edges: [] };
  const rowsOf = async (table: string, organizationId: number) =>
    (await env.DB.prepare(`SELECT * FROM ${table} WHERE organization_id = ?`).bind(organizationId).all()).results;

  test.each([
    ['no sentence of theirs', 'do_not_call', null, /^no_words: /],
    ['a sentence that they did not say', 'do_not_call', 'Take me off your list', /^words_not_said: .*"Take me off your list"/],
    ['a sentence that they did not say, and another disposition', 'not_interested', 'Stop it', /^words_not_said: /],
  ])('a conclusion with %s is a proposal, and the number may be called', async (_kind, disposition, quote, reason) => {
    concludeAs(disposition, quote);
    const { organizationId, runId, stub, phone } = await talked({ definition, says: 'I have no time for this' });
    await stub.callEnded(organizationId, runId, callEnd());
    await waitForCompletedRun(runId);
    expect(await rowsOf('suppression', organizationId)).toEqual([]);
    expect(await rowsOf('suppression_proposal', organizationId)).toEqual([
      expect.objectContaining({ phone, call_run_id: runId, state: 'open', reason: expect.stringMatching(reason) }),
    ]);
  });

  test('a person who asks in words is not called any more, whatever else the talk led to', async () => {
    concludeAs('wrong_person', 'never call ME again');
    const { organizationId, runId, stub, phone } = await talked({ definition, says: 'Wrong number. Never call me again!' });
    await stub.callEnded(organizationId, runId, callEnd());
    await waitForCompletedRun(runId);
    expect(await rowsOf('suppression', organizationId)).toEqual([
      expect.objectContaining({
        phone,
        call_run_id: runId,
        source: 'call',
        evidence: 'Never call me again!',
        created_by: null,
        until: null,
      }),
    ]);
    expect(await rowsOf('suppression_proposal', organizationId)).toEqual([]);
  });

  test('a person who asks not to be called is not called any more', async () => {
    concludeAs('do_not_call', 'Never call me again');
    const { organizationId, runId, stub, phone } = await talked({ definition, says: 'Never call me again' });
    const context = (await backgroundContext(env, organizationId, () => {}))!;
    const suppressed = () => findSuppressedPhones(context, [phone]);
    const whenWritten: number[] = [];
    await runInDurableObject(stub, (object) => {
      const put = async (...file: Parameters<R2Bucket['put']>) => {
        whenWritten.push((await suppressed()).size);
        return env.FILES.put(...file);
      };
      const target = object as unknown as { env: Env };
      target.env = new Proxy(target.env, { get: (real, name) => (name === 'FILES' ? { put } : Reflect.get(real, name)) });
    });
    await stub.callEnded(organizationId, runId, callEnd());
    expect((await waitForCompletedRun(runId))['disposition']).toBe('do_not_call');
    expect(await suppressed()).toEqual(new Map([[phone, `do_not_call: asked in call ${runId}`]]));
    // The suppression is written before the first file, and so before everything that publishes the call.
    expect(whenWritten).toEqual([1]);
  });

  test('a conclusion is tried again while the model fails, and at last given up', { tags: 'soak' }, async () => {
    let failures = 0;
    const fail = () => Response.json({ error: { message: 'no', type: 'server_error' } }, { status: 500 });
    stubOutsideServices({ model: (_request, { stream }) => (stream ? undefined : (failures++, fail())) });
    const { organizationId, runId, stub } = await talked();
    await stub.callEnded(organizationId, runId, callEnd());
    await vi.waitFor(async () => expect(await sql(stub, "SELECT made FROM tries WHERE subject = 'conclude'")).toEqual([{ made: 1 }]), {
      timeout: 10_000,
    });
    expect((await readCallRun(runId))['is_completed']).toBe(0);
    await sql(stub, 'UPDATE tries SET made = 4');
    const row = await waitForCompletedRun(runId);
    expect(row).toMatchObject({ outcome: 'completed', disposition: null, has_transcript: 1 });
    expect(failures).toBeGreaterThan(1);
  });
});

describe('webhooks of an agent', () => {
  test('are sent with the result of the call, signed, and logged', async () => {
    const requests: { headers: Headers; body: any }[] = [];
    stubOutsideServices({
      other: async (request) => {
        if (!request.url.startsWith('https://crm.example.com')) return undefined;
        requests.push({ headers: request.headers, body: await request.json() });
        return new Response('ok');
      },
    });
    const secret = `whsec_${btoa('a-secret-of-the-webhook-node-32-b')}`;
    const headers = { authorization: 'Bearer canary' };
    const run = await answeredRun();
    const definition = await sealSecrets(testVariables.ENCRYPTION_KEY, run.organizationId, webhookAgent({ secret, headers }));
    await env.DB.prepare('UPDATE voice_agent_definition SET definition = ? WHERE agent_id = ?')
      .bind(JSON.stringify(definition), run.agentId)
      .run();
    await run.stub.begin(run.organizationId, run.runId);
    const carrier = await CarrierSocket.open(run.stub, 'VX1');
    await carrier.waitForUtterances(1);
    await run.stub.callEnded(run.organizationId, run.runId, callEnd());
    await waitUntilDestroyed(run.stub);
    expect(requests).toHaveLength(1);
    expect(requests[0]!.headers.get('authorization')).toBe('Bearer canary');
    expect(requests[0]!.headers.get('webhook-id')).toBe(`call:${run.runId}:tell`);
    expect(requests[0]!.headers.get('webhook-signature')).toMatch(/^v1,/);
    expect(requests[0]!.body).toMatchObject({ call_run_id: run.runId, outcome: 'completed', duration_seconds: 20 });
    const logs = JSON.stringify(await readCallFile(run.organizationId, run.runId, 'logs.json'));
    expect(logs).toContain('"webhook_sent"');
    expect(logs).not.toMatch(/canary|whsec_/);
  });

  test('are repeated while the receiver fails, at most five times', async () => {
    const keys: (string | null)[] = [];
    stubOutsideServices({
      other: (request) => {
        if (!request.url.startsWith('https://crm.example.com')) return undefined;
        keys.push(request.headers.get('idempotency-key'));
        return new Response('down', { status: 503 });
      },
    });
    const { organizationId, runId, stub } = await talked({
      definition: webhookAgent({ body: { day: '{{ preferred_day }}', who: '{{ first_name }}' } }),
    });
    await stub.callEnded(organizationId, runId, callEnd());
    for (let number = 1; number <= 5; number++) {
      await vi.waitFor(() => expect(keys).toHaveLength(number), { timeout: 10_000 });
      if (number === 5) break;
      await vi.waitFor(async () =>
        expect(await sql(stub, "SELECT 1 FROM timer WHERE subject = 'webhook:tell' AND due > ?", Date.now())).toHaveLength(1),
      );
      await sql(stub, "UPDATE timer SET due = 1 WHERE subject = 'webhook:tell'");
      await stub.wakeStalled();
    }
    await waitUntilDestroyed(stub);
    expect(keys).toEqual([1, 2, 3, 4, 5].map((number) => `call:${runId}:tell:${number}`));
    const { events } = await readCallFile(organizationId, runId, 'logs.json');
    const tries = events
      .filter(({ type }: { type: string }) => type === 'webhook_failed')
      .map(({ payload }: any) => payload.will_be_repeated);
    expect(tries).toEqual([true, true, true, true, false]);
    expect(settled).toHaveBeenCalledTimes(1);
  });

  test('are tried once at a receiver that refuses them, and at an address that must not be called', async () => {
    let asked = 0;
    stubOutsideServices({
      other: (request) => {
        if (!request.url.startsWith('https://crm.example.com')) return undefined;
        asked++;
        return new Response('no', { status: 422 });
      },
    });
    const definition = webhookAgent({});
    definition.nodes.push({ id: 'inside', type: 'webhook', data: { url: 'http://127.0.0.1/admin' } } as never);
    const { organizationId, runId, stub } = await talked({ definition });
    await stub.callEnded(organizationId, runId, callEnd());
    await waitUntilDestroyed(stub);
    expect(asked).toBe(1);
    const { events } = await readCallFile(organizationId, runId, 'logs.json');
    const failed = events.filter(({ type }: { type: string }) => type === 'webhook_failed').map(({ payload }: any) => payload);
    expect(failed).toEqual(
      expect.arrayContaining([
        { webhook_node_id: 'tell', try: 1, status: 422, will_be_repeated: false },
        { webhook_node_id: 'inside', try: 1, problem: expect.stringContaining('may not be called'), will_be_repeated: false },
      ]),
    );
  });
});

describe('an object that dies during finalization', () => {
  const calls = 16;

  for (const moment of ['before', 'after'] as const)
    test(
      `dying ${moment} any of its calls ends in the same row, and every receiver is notified`,
      { tags: 'soak', timeout: 90_000 },
      async () => {
        const requests: string[] = [];
        const watches = new Map<string, CrashWatch>();
        /** Counts HTTP calls, which do not go through the object's bindings, by the name of the called service. */
        const counted = (text: string) =>
          [...watches].find(([name]) => text.includes(name))?.[1].watched(async () => undefined) ?? Promise.resolve(undefined);
        stubOutsideServices({
          model: (_request, body) => (body['stream'] ? undefined : counted(JSON.stringify(body))),
          other: async (request) => {
            if (!request.url.startsWith('https://crm.example.com')) return undefined;
            await counted(request.url);
            requests.push(request.headers.get('idempotency-key')!);
            return new Response('ok');
          },
        });
        const settleOne = async (n: number): Promise<boolean> => {
          const name = `Ada${n}Lovelace`;
          const { organizationId, runId, stub, client, key } = await talked({
            definition: webhookAgent({ url: 'https://crm.example.com/calls/{{ first_name }}' }),
            initialContext: { first_name: name },
            automationRunId: 4712,
          });
          const workflow = await createActiveWorkflow(client, {
            definition: chain(),
            trigger: { type: 'event', config: { event: 'call.completed' } },
          });
          const watch = await crashCallObjectAt(stub, n, moment);
          watches.set(name, watch);
          await stub.callEnded(organizationId, runId, callEnd()).catch(() => undefined);
          if (watch.died) await callStub(organizationId, runId).callEnded(organizationId, runId, callEnd());
          await wokenUntilGone(organizationId, runId);
          const row = await readCallRun(runId);
          expect(row, `call ${n}`).toMatchObject({ is_completed: 1, outcome: 'completed', revision: 1, has_transcript: 1 });
          expect(row['disposition'], `call ${n}`).toBe('interested');
          expect(row['result'].gathered_context.call_disposition, `call ${n}`).toBe('interested');
          expect(await runsOf(workflow), `call ${n}`).toBe(1);
          expect([1, 2], `call ${n}`).toContain(requests.filter((id) => id.startsWith(`call:${runId}:tell:`)).length);
          expect(
            callSettled.mock.calls.some(([id]) => id === runId),
            `call ${n}`,
          ).toBe(true);
          expect(
            settled.mock.calls.some(([keys]) => keys[0] === key),
            `call ${n}`,
          ).toBe(true);
          expect(await readCallFile(organizationId, runId, 'transcript.json'), `call ${n}`).not.toBeNull();
          const { events } = await readCallFile(organizationId, runId, 'logs.json');
          expect(events.filter(({ type }: { type: string }) => type === 'concluded')).toHaveLength(1);
          return watch.died;
        };
        const deaths = await Promise.all(Array.from({ length: calls }, (_, index) => settleOne(index + 1)));
        expect(deaths.filter(Boolean).length).toBeGreaterThanOrEqual(11);
      },
    );
});

describe('a recording', () => {
  const url = 'https://api.carrier.example.com/2010-04-01/Accounts/AC1/Recordings/RE1';

  /** A carrier that has recordings, or gives other answers. */
  async function recorded(answer: () => Response) {
    const fetched: string[] = [];
    stubOutsideServices({
      other: (request) => {
        if (!request.url.endsWith('.mp3')) return undefined;
        fetched.push(request.url);
        return answer();
      },
    });
    const run = await answeredRun();
    const sealed = await seal(testVariables.ENCRYPTION_KEY, run.organizationId, 'a-token');
    const config = await env.DB.prepare(
      `INSERT INTO telephony_config (organization_id, name, provider, credentials, from_numbers, is_default, calls_per_second, machine_detection,
         callback_origin, created_at, updated_at) VALUES (?, 'main', 'twilio', ?, '["+15005550006"]', 1, 1, 1, 'https://x.test', 1, 1) RETURNING id`,
    )
      .bind(run.organizationId, JSON.stringify({ account_sid: 'AC1', auth_token: sealed }))
      .first<{ id: number }>();
    const base = (env as unknown as { TWILIO_BASE_URL: string }).TWILIO_BASE_URL;
    const event = {
      kind: 'recording' as const,
      callId: 'CA1',
      status: 'completed' as const,
      location: url.replace('https://api.carrier.example.com', base),
      at: Date.now(),
    };
    const hear = () => callStub(run.organizationId, run.runId).recordingReady(config!.id, event);
    return { ...run, fetched, event, hear, configId: config!.id };
  }

  const mp3 = (body: BodyInit = 'the sound', headers: Record<string, string> = { 'content-length': '9' }) =>
    new Response(body, { headers: { 'content-type': 'audio/mpeg', ...headers } });

  const keptType = (runId: number) =>
    vi.waitFor(async () => expect((await readCallRun(runId))['recording_type']).toBe('audio/mpeg'), { timeout: 10_000, interval: 10 });

  test('that comes after the end is stored, and leaves no object behind', async () => {
    const { organizationId, runId, stub, hear, fetched } = await recorded(() => mp3());
    await stub.callEnded(organizationId, runId, callEnd());
    await waitUntilDestroyed(stub);
    await hear();
    await keptType(runId);
    const object = await env.FILES.get(`calls/${organizationId}/${runId}/recording`);
    expect(await object!.text()).toBe('the sound');
    expect(object!.httpMetadata?.contentType).toBe('audio/mpeg');
    await vi.waitFor(async () => expect(await stub.wakeStalled()).toBe(false));
    await hear();
    await vi.waitFor(async () => expect(await stub.wakeStalled()).toBe(false), { timeout: 10_000 });
    expect(fetched).toHaveLength(1);
  });

  test('that comes during the conversation is stored, and the conversation goes on', async () => {
    const { organizationId, runId, stub, hear } = await recorded(() => mp3());
    await stub.begin(organizationId, runId);
    const carrier = await CarrierSocket.open(stub, 'VX1');
    await carrier.waitForUtterances(1);
    await hear();
    await keptType(runId);
    carrier.say('Yes, I am interested');
    await carrier.waitForUtterances(2);
    await stub.callEnded(organizationId, runId, callEnd());
    expect(await waitForCompletedRun(runId)).toMatchObject({ recording_type: 'audio/mpeg', outcome: 'completed' });
    await waitUntilDestroyed(stub);
  });

  test('that comes before the end of an unanswered call hinders nothing', async () => {
    const { organizationId, runId, stub, hear } = await recorded(() => new Response(null, { status: 503 }));
    await hear();
    await stub.callEnded(organizationId, runId, callEnd({ outcome: 'failed' }));
    expect(await waitForCompletedRun(runId)).toMatchObject({ outcome: 'failed', recording_type: null });
  });

  test('of an unanswered call is stored although the call is given up before', async () => {
    let answers = 0;
    const { organizationId, runId, stub, hear } = await recorded(() => (answers++ === 0 ? new Response(null, { status: 404 }) : mp3()));
    expect(await stub.begin(organizationId, runId, { callId: 'CA1' })).toBe('ready');
    await hear();
    await vi.waitFor(async () =>
      expect(await sql(stub, "SELECT 1 FROM timer WHERE kind = 'recording' AND due > ?", Date.now())).toHaveLength(1),
    );
    await stub.abandon('CA1');
    expect(await stub.snapshot()).toBeNull();
    await sql(stub, "UPDATE timer SET due = 1 WHERE kind = 'recording'");
    await stub.wakeStalled();
    await keptType(runId);
    await vi.waitFor(async () => expect(await stub.wakeStalled()).toBe(false), { timeout: 10_000 });
  });

  test('of unknown length that is not available at once is stored', async () => {
    let answers = 0;
    const { runId, hear, stub } = await recorded(() => {
      answers++;
      if (answers === 1) return new Response(null, { status: 404 });
      if (answers === 2) return new Response(null, { status: 500 });
      return mp3(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode('the sound'));
            controller.close();
          },
        }),
        {},
      );
    });
    await hear();
    for (const made of [1, 2]) {
      await vi.waitFor(() => expect(answers).toBe(made), { timeout: 10_000 });
      await vi.waitFor(async () =>
        expect(await sql(stub, "SELECT 1 FROM timer WHERE kind = 'recording' AND due > ?", Date.now())).toHaveLength(1),
      );
      await sql(stub, "UPDATE timer SET due = 1 WHERE kind = 'recording'");
      await stub.wakeStalled();
    }
    await keptType(runId);
  });

  test('that does not exist is not waited for', async () => {
    const { stub, configId, event } = await recorded(() => mp3());
    const { location: _url, ...none } = event;
    await stub.recordingReady(configId, { ...none, status: 'absent' });
    expect(await stub.wakeStalled()).toBe(false);
  });

  for (const moment of ['before', 'after'] as const)
    test(`is stored although its object dies ${moment} any of its calls`, { tags: 'soak', timeout: 60_000 }, async () => {
      const { runId, organizationId, hear, fetched } = await recorded(() => mp3());
      let deaths = 0;
      for (let n = 1; n <= 3; n++) {
        await env.DB.prepare('UPDATE voice_agent_run SET recording_type = NULL WHERE id = ?').bind(runId).run();
        const alive = callStub(organizationId, runId);
        const watch = await crashCallObjectAt(alive, n, moment);
        await hear().catch(() => undefined);
        await vi.waitFor(
          async () => {
            const isAlive = await callStub(organizationId, runId)
              .wakeStalled()
              .catch(() => true);
            expect(isAlive).toBe(false);
          },
          { timeout: 15_000, interval: 50 },
        );
        await keptType(runId);
        deaths += Number(watch.died);
      }
      expect(deaths).toBe(3);
      expect(fetched.length).toBeGreaterThanOrEqual(3);
    });
});
