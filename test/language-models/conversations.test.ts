import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { loadCallSetup } from '../../src/calls/live-call/call-setup.ts';
import { pinnedModelsSql } from '../../src/language-models/pinned-models.ts';
import { callStub, waitForCompletedRun } from '../support/calls.ts';
import { chain, createActiveWorkflow, waitForEndedRuns } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { sessionIn } from '../simtest/simtest-service.ts';
import { salesAgent } from '../voice-agents/agents.ts';
import { anthropicError, claude, claudeKey, createModel, gpt, gptKey, path, stubVendors } from './own-vendors.ts';

afterEach(() => vi.restoreAllMocks());

async function newChat(client: Client, workflow_configurations: object = {}) {
  const agent = await client.post('/workflow/create/definition', {
    name: 'Sales',
    workflow_definition: salesAgent,
    workflow_configurations,
  });
  expect(agent.status, JSON.stringify(agent.body)).toBe(200);
  const run = await client.post(`/workflow/${agent.body.id}/runs`, { mode: 'textchat', initial_context: { first_name: 'Ada' } });
  expect(run.status, JSON.stringify(run.body)).toBe(200);
  const runPath = `/workflow/${agent.body.id}/runs/${run.body.id}`;
  const say = async (text: string) => {
    const { status, body } = await client.post(`${runPath}/messages`, { text });
    expect(status, JSON.stringify(body)).toBe(200);
    return body.messages.filter(({ role }: any) => role === 'assistant').map(({ text: said }: any) => said) as string[];
  };
  return { agentId: agent.body.id as number, runId: run.body.id as number, runPath, say };
}

const eventsOf = async (client: Client, runPath: string, type: string): Promise<any[]> =>
  (await client.get(runPath)).body.logs.events.filter((event: any) => event.type === type).map(({ payload }: any) => payload);

describe('a conversation', () => {
  test('talks by the model for talks and extracts by the one for extraction, each under its own key and at its own price', async () => {
    const { asked, service } = stubVendors();
    const { client } = await newOrganization();
    await createModel(client, claude({ purposes: { talk: 1 }, prompt_usd_per_million: 1_000, completion_usd_per_million: 0 }));
    await createModel(client, gpt({ purposes: { extraction: 1 }, prompt_usd_per_million: 0, completion_usd_per_million: 2_000 }));
    asked.length = 0;
    const { say, runId, runPath } = await newChat(client);
    expect(await say('Yes, I am interested')).toEqual(['Which day suits you?']);
    await say('Tuesday would be fine');
    await waitForCompletedRun(runId);
    const body = await vi.waitFor(async () => {
      const read = (await client.get(runPath)).body;
      expect(read.is_completed).toBe(true);
      return read;
    });
    expect(body.gathered_context).toMatchObject({ preferred_day: 'Tuesday', call_disposition: 'interested' });
    expect(service()).toEqual([]);
    const keys = asked.map(({ vendor, headers }) => [vendor, headers.get(vendor === 'claude' ? 'x-api-key' : 'authorization')]);
    expect(new Set(keys.map(String))).toEqual(new Set([`claude,${claudeKey}`, `gpt,Bearer ${gptKey}`]));
    expect(asked.every(({ vendor, body: sent }) => (vendor === 'claude') === (sent['stream'] === true))).toBe(true);
    const { cost_info: cost, logs } = body;
    const answered = logs.events.filter(({ type }: any) => type === 'model_answered').map(({ payload }: any) => payload);
    expect(new Set(answered.map(({ model }: any) => model))).toEqual(new Set(['claude-haiku-4-5']));
    const talked = answered.reduce((sum: number, { prompt_tokens }: any) => sum + prompt_tokens, 0);
    const completions = cost.llm_tokens.completion - answered.reduce((sum: number, one: any) => sum + one.completion_tokens, 0);
    expect(cost.total_cost_usd).toBeCloseTo((talked * 1_000 + completions * 2_000) / 1_000_000, 5);
  });

  test('is at list price where no other is given, and of unknown cost where a model has none', async () => {
    stubVendors();
    for (const [model, isKnown] of [
      ['claude-haiku-4-5', true],
      ['claude-3-unknown', false],
    ] as const) {
      const { client } = await newOrganization();
      await createModel(client, claude({ model }));
      const { say, runPath } = await newChat(client);
      await say('Who are you?');
      const { cost_info: cost } = (await client.get(runPath)).body;
      const { prompt, completion } = cost.llm_tokens;
      expect(prompt).toBeGreaterThan(0);
      expect(cost.total_cost_usd).toBe(isKnown ? (prompt * 1 + completion * 5) / 1_000_000 : null);
    }
  });

  test('without models of its organization talks by that of the service', async () => {
    const { asked, service } = stubVendors();
    const { client } = await newOrganization();
    const { client: other } = await newOrganization();
    await createModel(other, gpt());
    asked.length = 0;
    expect(await (await newChat(client)).say('Yes, I am interested')).toEqual(['Which day suits you?']);
    expect([asked, service().length > 0]).toEqual([[], true]);
  });

  test('keeps the models that it began with, also when they are changed and deleted; the next one has the new', async () => {
    const { asked } = stubVendors();
    const { client } = await newOrganization();
    const first = await createModel(client, claude());
    const { say, ...chat } = await newChat(client);
    await createModel(client, gpt());
    expect((await client.delete(`${path}/${first.id}`)).status).toBe(200);
    asked.length = 0;
    expect(await say('Yes, I am interested')).toEqual(['Which day suits you?']);
    expect(new Set(asked.map(({ vendor }) => vendor))).toEqual(new Set(['claude']));
    const file = JSON.stringify([await client.get(chat.runPath), await client.get(`/workflow/${chat.agentId}/runs`)]);
    for (const secret of [claudeKey, 'sealed:']) expect(file).not.toContain(secret);
    asked.length = 0;
    await (await newChat(client)).say('Yes, I am interested');
    expect(new Set(asked.map(({ vendor }) => vendor))).toEqual(new Set(['gpt']));
  });

  test('reads them together with all else that it begins with: one call to the database', async () => {
    stubVendors();
    const { client, id } = await newOrganization();
    await createModel(client, claude());
    const { runId } = await newChat(client);
    const context = (await backgroundContext(env, id, () => {}))!;
    const prepared = vi.spyOn(context.database, 'prepare');
    const loaded = await loadCallSetup(context, runId);
    expect(prepared).toHaveBeenCalledTimes(1);
    expect(loaded!.facts.languageModels).toMatchObject([
      { name: 'Claude', purposes: { talk: 1, extraction: 1 }, api_key: expect.stringMatching(/^sealed:/) },
    ]);
  });
});

/** Answers never, until the request is let go. */
const unanswered = ({ signal }: Request): Promise<Response> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new DOMException('let go', 'AbortError'))));

describe('when the first model of the order', () => {
  const order = async (client: Client) => {
    await createModel(client, claude({ purposes: { talk: 1 }, first_token_seconds: 0.5 }));
    await createModel(client, gpt({ purposes: { talk: 2, extraction: 1 } }));
  };

  test.each([
    ['fails', () => anthropicError(529, 'overloaded_error'), 'provider_failed'],
    ['has lost its key', () => anthropicError(401, 'authentication_error'), 'invalid_credentials'],
    ['is slow with its first token', unanswered, 'provider_failed'],
  ])('%s, the second answers, once, and the log says so', async (_case, answer, failure) => {
    let isFailing = false;
    const { asked } = stubVendors(({ vendor }, request) => (isFailing && vendor === 'claude' ? answer(request) : undefined));
    const { client } = await newOrganization();
    await order(client);
    const { say, runPath } = await newChat(client);
    isFailing = true;
    asked.length = 0;
    expect(await say('Yes, I am interested')).toEqual(['Which day suits you?']);
    expect(asked.map(({ vendor }) => vendor)).toEqual(['claude', 'gpt', 'gpt']);
    expect(await eventsOf(client, runPath, 'model_fallback')).toEqual([{ model: 'Claude', failure, message: expect.any(String) }]);
    const log = JSON.stringify((await client.get(runPath)).body);
    for (const secret of [claudeKey, gptKey, 'sealed:']) expect(log).not.toContain(secret);
  });

  test('breaks off in the middle of a sentence, what was said is not said again', async () => {
    let isFailing = false;
    const half = [
      'message_start',
      { message: { model: 'm' } },
      'content_block_delta',
      { index: 0, delta: { type: 'text_delta', text: 'We are open ' } },
    ];
    const broken = () =>
      new Response(
        [
          `data: ${JSON.stringify({ type: half[0], ...(half[1] as object) })}\n\n`,
          `data: ${JSON.stringify({ type: half[2], ...(half[3] as object) })}\n\n`,
        ].join(''),
      );
    const { asked } = stubVendors(({ vendor }) => (isFailing && vendor === 'claude' ? broken() : undefined));
    const { client } = await newOrganization();
    await order(client);
    const { say } = await newChat(client);
    isFailing = true;
    asked.length = 0;
    const said = await say('Who are you?');
    expect(said.join('|').match(/We are open/g)).toHaveLength(1);
    expect(asked.map(({ vendor }) => vendor)).toEqual(['claude', 'gpt']);
    expect(JSON.stringify(asked[1]!.body)).toContain('Go on from exactly that point');
  });

  test('fails while its object dies, the message is answered once when it comes again', async () => {
    let isFailing = false;
    let isHeld = false;
    const { asked } = stubVendors(({ vendor }) => {
      if (isFailing && vendor === 'claude') return anthropicError(529, 'overloaded_error');
      return isHeld && vendor === 'gpt' ? new Promise<Response>(() => {}) : undefined;
    });
    const { client, id } = await newOrganization();
    await order(client);
    const { runId } = await newChat(client);
    [isFailing, isHeld] = [true, true];
    asked.length = 0;
    const stub = callStub(id, runId);
    const message = { key: crypto.randomUUID(), text: 'Yes, I am interested', expectedRevision: null };
    const lost = stub.sendMessage(id, runId, message).catch((error: Error) => error.message);
    await vi.waitFor(() => expect(asked.map(({ vendor }) => vendor)).toEqual(['claude', 'gpt']));
    await runInDurableObject(stub, (_object, state) => state.abort('it dies here')).catch(() => undefined);
    expect(await lost).toEqual(expect.any(String));
    isHeld = false;
    const { state } = await callStub(id, runId).sendMessage(id, runId, message);
    expect(state!.messages.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      'user: Yes, I am interested',
      'assistant: Which day suits you?',
    ]);
  });
});

test('an organization without models pays no row for having none, however many others have', async () => {
  stubVendors();
  const { client: other } = await newOrganization();
  for (const name of ['One', 'Two', 'Three']) await createModel(other, gpt({ name, purposes: {} }));
  const { id } = await newOrganization();
  const { results, meta } = await env.DB.prepare(`SELECT ${pinnedModelsSql('?1')} AS models`)
    .bind(id)
    .all();
  expect([results, meta.rows_read]).toEqual([[{ models: '[]' }], 0]);
});

describe('an agent that names a model', () => {
  test('has it asked first; a name that no model has is told in the log', async () => {
    const { asked } = stubVendors();
    const { client } = await newOrganization();
    await createModel(client, claude({ purposes: { talk: 1 } }));
    await createModel(client, gpt({ purposes: { talk: 2 } }));
    for (const [model, vendor] of [
      ['GPT', 'gpt'],
      ['gpt-6-luna', 'gpt'],
      ['claude-haiku-4-5', 'claude'],
      ['gpt-9', 'claude'],
    ] as const) {
      const { say, runPath } = await newChat(client, { model });
      asked.length = 0;
      await say('Who are you?');
      expect([model, asked[0]!.vendor]).toEqual([model, vendor]);
      expect(await eventsOf(client, runPath, 'model_fallback')).toEqual(
        model === 'gpt-9' ? [expect.objectContaining({ model: 'gpt-9', failure: 'model_not_found' })] : [],
      );
    }
  });
});

test('what the organization has no model for is left to the service, whatever model its agent names', async () => {
  const { asked, service } = stubVendors();
  const { client } = await newOrganization();
  await createModel(client, claude({ purposes: { talk: 1 } }));
  asked.length = 0;
  const { say, runId } = await newChat(client, { model: 'Claude' });
  await say('Yes, I am interested');
  await say('Tuesday would be fine');
  expect(await waitForCompletedRun(runId)).toMatchObject({ disposition: 'interested' });
  expect(new Set(asked.map(({ vendor }) => vendor))).toEqual(new Set(['claude']));
  expect(new Set(service().map(({ model }) => model))).toEqual(new Set(['gpt-6-luna']));
});

test('the judge of a conversation test and its two sides have the models for these purposes', async () => {
  const { asked, service } = stubVendors();
  const { client } = await newOrganization();
  await createModel(client, claude({ purposes: { talk: 1, extraction: 1 } }));
  await createModel(client, gpt({ name: 'Judge', purposes: { judge: 1 } }));
  const agents = await Promise.all(
    ['Actor', 'Adversary'].map((name) => client.post('/workflow/create/definition', { name, workflow_definition: salesAgent })),
  );
  asked.length = 0;
  const session = await client.post('/simtest/test-sessions', {
    name: 'Talk',
    actor_workflow_id: agents[0]!.body.id,
    adversary_workflow_id: agents[1]!.body.id,
    config: { max_turns: 4, checks: [{ type: 'judge', name: 'polite', criteria: 'They were polite, yes' }] },
  });
  expect(session.status, JSON.stringify(session.body)).toBe(200);
  expect((await client.post(`/simtest/test-sessions/${session.body.id}/start`)).status).toBe(200);
  const ended = await sessionIn(client, session.body.id, 'completed');
  expect(ended.results.checks[0]).toMatchObject({ name: 'polite', passed: expect.toBeOneOf([true, false, null]) });
  expect(service()).toEqual([]);
  const judged = asked.filter(({ vendor }) => vendor === 'gpt');
  expect(judged.map(({ body }) => String(body['messages'][0].content).includes('They were polite'))).toEqual([true]);
  expect(asked.length).toBeGreaterThan(judged.length);
});

test('an llm node asks the models for journeys, the next one when the first fails', async () => {
  let isFailing = false;
  const { asked, service } = stubVendors(({ vendor }) =>
    isFailing && vendor === 'claude' ? anthropicError(529, 'overloaded_error') : undefined,
  );
  const { client } = await newOrganization();
  await createModel(client, claude({ purposes: { journey: 1 } }));
  await createModel(client, gpt({ purposes: { journey: 2 } }));
  isFailing = true;
  asked.length = 0;
  const contact = await client.post('/contacts', { phone: newPhone(), first_name: 'Ada' });
  const node = { id: 'ask', type: 'llm', data: { prompt: 'Is Tuesday free?', save_as: 'answer' } };
  const workflow = await createActiveWorkflow(client, { definition: chain(node) });
  await client.post(`/automation-workflows/${workflow}/execute`, { contact_id: contact.body.id });
  const [run] = await waitForEndedRuns(client, workflow);
  expect(run).toMatchObject({ state: 'completed', context: { answer: expect.any(String) } });
  const { history } = (await client.get(`/automation-workflows/runs/${run.id}/history`)).body;
  expect(history.find(({ node_id }: any) => node_id === 'ask').output).toMatchObject({
    model: 'gpt-6-luna',
    fallbacks: [{ model: 'Claude', failure: 'provider_failed', message: expect.stringContaining('overloaded') }],
  });
  expect([service(), asked.map(({ vendor }) => vendor)]).toEqual([[], ['claude', 'gpt']]);
});
