import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, vi } from 'vitest';
import { TestConfig } from '../../src/simtest/config/config.ts';
import type { LiveSession, SessionReport } from '../../src/simtest/contract.ts';
import { sessionTranscriptKey, type SessionTranscript, type TestSessionRpc } from '../../src/simtest/sessions/rpc.ts';
import { stubOutsideServices } from '../support/calls.ts';
import { newOrganization } from '../support/organization.ts';

export type Definition = { nodes: object[]; edges: object[] };

/** An agent of one node, which the scripted model knows by its prompt. */
export const simpleAgent = (prompt: string, data: object = {}): Definition => ({
  nodes: [{ id: 'start', type: 'startCall', data: { prompt, ...data } }],
  edges: [],
});

/** The tool that a GET asks a shop about an order. */
export const orderTool = {
  name: 'find_order',
  description: 'Finds an order',
  parameters: { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] },
  http: { method: 'GET', url: 'https://shop.example.com/orders' },
};

export interface AgentOptions {
  definition?: unknown;
  status?: 'active' | 'archived';
  templateContext?: object;
  configurations?: object;
  dispositionCodes?: object;
}

export async function newAgent(organizationId: number, { definition, status, ...options }: AgentOptions): Promise<number> {
  const now = Date.now();
  const agent = await env.DB.prepare(
    `INSERT INTO voice_agent (organization_id, name, status, current_definition_id, template_context_variables, call_disposition_codes,
       workflow_configurations, created_at, updated_at) VALUES (?, 'Talker', ?, 0, ?, ?, ?, ?, ?) RETURNING id`,
  )
    .bind(
      organizationId,
      status ?? 'active',
      JSON.stringify(options.templateContext ?? {}),
      JSON.stringify(options.dispositionCodes ?? {}),
      JSON.stringify(options.configurations ?? {}),
      now,
      now,
    )
    .first<{ id: number }>();
  const stored = await env.DB.prepare(
    'INSERT INTO voice_agent_definition (organization_id, agent_id, definition, created_at) VALUES (?, ?, ?, ?) RETURNING id',
  )
    .bind(organizationId, agent!.id, JSON.stringify(definition), now)
    .first<{ id: number }>();
  await env.DB.prepare('UPDATE voice_agent SET current_definition_id = ? WHERE id = ?').bind(stored!.id, agent!.id).run();
  return agent!.id;
}

export interface SessionOptions {
  actor?: AgentOptions;
  adversary?: AgentOptions;
  config?: object;
  candidate?: object;
  /** A new one unless given. */
  organizationId?: number;
  /** The adversary is the actor once more. */
  isAlone?: boolean;
  loadTest?: { id: number; index: number };
}

export interface NewSession {
  organizationId: number;
  id: number;
  actorId: number;
  adversaryId: number;
  stub: () => TestSessionRpc;
  start: (act?: string) => Promise<LiveSession>;
}

/** A pending session of two agents. */
export async function newSession(options: SessionOptions = {}): Promise<NewSession> {
  const organizationId = options.organizationId ?? (await newOrganization()).id;
  const { actor, adversary, config = {}, candidate, isAlone, loadTest } = options;
  const actorId = await newAgent(organizationId, { definition: simpleAgent('You are the actor.'), ...actor });
  const adversaryId = isAlone
    ? actorId
    : await newAgent(organizationId, { definition: simpleAgent('You are the adversary.', { greeting: 'Hello there.' }), ...adversary });
  const row = await env.DB.prepare(
    `INSERT INTO test_session (organization_id, name, status, actor_agent_id, adversary_agent_id, load_test_id, test_index, config, candidate,
       created_at) VALUES (?, 'A talk', 'pending', ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
  )
    .bind(
      organizationId,
      actorId,
      adversaryId,
      loadTest?.id ?? null,
      loadTest?.index ?? null,
      JSON.stringify(TestConfig.parse(config)),
      candidate ? JSON.stringify(candidate) : null,
      Date.now(),
    )
    .first<{ id: number }>();
  const { id } = row!;
  const stub = () => sessionStub(organizationId, id);
  const start = (act = crypto.randomUUID()) => stub().start(organizationId, id, act);
  return { organizationId, id, actorId, adversaryId, stub, start };
}

interface FakeLoadTest {
  id: number;
  reports: SessionReport[];
  /** The number of reports, refused ones included. */
  tries: number;
  /** Told of each call. */
  watched: <T>(call: () => Promise<T>) => Promise<T>;
}

const fakes = new Map<string, object>();

/** A load test that stores the reports of its sessions, until mocks are restored. `refuses`: the number of reports that fail first. */
export function fakeLoadTest({ refuses = 0 } = {}): FakeLoadTest {
  const fake: FakeLoadTest = {
    id: 1_000_000_000 + Math.floor(Math.random() * 1_000_000_000),
    reports: [],
    tries: 0,
    watched: (call) => call(),
  };
  const sessionEnded = (report: SessionReport) =>
    fake.watched(async () => {
      if (fake.tries++ < refuses) throw Object.assign(new Error('out of order'), { code: 'out_of_order' });
      fake.reports.push(report);
    });
  fakes.set(String(fake.id), { sessionEnded });
  const { LOAD_TEST } = env;
  if (vi.isMockFunction(LOAD_TEST.getByName)) return fake;
  const real = LOAD_TEST.getByName.bind(LOAD_TEST);
  vi.spyOn(LOAD_TEST, 'getByName').mockImplementation(
    (name) => (fakes.get(name.split('/')[1]!) as ReturnType<typeof real> | undefined) ?? real(name),
  );
  return fake;
}

export const sessionStub = (organizationId: number, id: number): TestSessionRpc =>
  env.TEST_SESSION.getByName(`${organizationId}/${id}`) as unknown as TestSessionRpc;

/** What of an object tests reach into. */
export interface Inside {
  env: Env;
  clock: () => number;
  alarm(): Promise<void>;
}

export const inside = <Answer>(
  { stub }: Pick<NewSession, 'stub'>,
  look: (object: Inside, state: DurableObjectState) => Answer | Promise<Answer>,
): Promise<Answer> =>
  runInDurableObject(stub() as unknown as DurableObjectStub, (instance, state) =>
    look(instance as unknown as Inside, state),
  ) as Promise<Answer>;

export async function sessionRow(id: number): Promise<Record<string, any>> {
  const row = await env.DB.prepare('SELECT * FROM test_session WHERE id = ?').bind(id).first<Record<string, any>>();
  return { ...row, results: row!['results'] === null ? null : JSON.parse(row!['results']) };
}

/** The row once the session has ended and its object is gone. */
export async function endedRow({ id, stub }: Pick<NewSession, 'id' | 'stub'>): Promise<Record<string, any>> {
  await vi.waitFor(
    async () => {
      expect(['pending', 'running'], `session ${id}`).not.toContain((await sessionRow(id))['status']);
      expect(await stub().snapshot()).toBeNull();
    },
    { timeout: 15_000, interval: 10 },
  );
  return sessionRow(id);
}

/** What R2 keeps of the talk. */
export async function keptTalk({ organizationId, id }: Pick<NewSession, 'organizationId' | 'id'>): Promise<SessionTranscript | null> {
  const object = await env.FILES.get(sessionTranscriptKey(organizationId, id));
  return object ? object.json<SessionTranscript>() : null;
}

/** "actor: Hello" of each turn. */
export const linesOf = (talk: SessionTranscript | null): string[] => talk!.turns.map(({ speaker, text }) => `${speaker}: ${text}`);

/** Starts a session and gives its end. */
export async function played(options: SessionOptions = {}) {
  const session = await newSession(options);
  await session.start();
  const row = await endedRow(session);
  const talk = await keptTalk(session);
  return { ...session, row, results: row['results'], talk, lines: linesOf(talk) };
}

type Call = [name: string, parameters?: object | string];
/** What the scripted model says: words, then calls of tools; or how it fails. */
export type Script = string | { text?: string; calls?: Call[] } | Response;

interface Scripts {
  actor?: (body: Record<string, any>, turn: number) => Script | Promise<Script>;
  adversary?: (body: Record<string, any>, turn: number) => Script | Promise<Script>;
  /** What a question with a schema gets; undefined: the simulated model answers it. */
  complete?: (body: Record<string, any>) => unknown;
}

/**
 * The language model as the tests write it, each side by a script, which gets the number of earlier turns of its agent. Without a script a
 * side counts its turns aloud. Keeps what was asked.
 */
export function scripted({ actor, adversary, complete }: Scripts = {}) {
  return stubOutsideServices({
    model: async (_request, body) => {
      if (!body['stream']) return completion(await complete?.(body));
      const system = String(body['messages'][0].content);
      const isAdversary = system.includes('the adversary');
      const turn = body['messages'].filter(({ role }: { role: string }) => role === 'assistant').length;
      const script = (isAdversary ? adversary : actor) ?? (() => `I am ${isAdversary ? 'her' : 'him'}, number ${turn}.`);
      const said = await script(body, turn);
      return said instanceof Response ? said : streamOf(said);
    },
  });
}

const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };
const chunk = (choices: object[], more: object = {}) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-6-luna', choices, ...more })}\n\n`;

function streamOf(script: string | { text?: string; calls?: Call[] }): Response {
  const { text = '', calls = [] } = typeof script === 'string' ? { text: script } : script;
  const toolCalls = calls.map(([name, parameters = {}], index) => ({
    index,
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: typeof parameters === 'string' ? parameters : JSON.stringify(parameters) },
  }));
  const chunks = [
    ...(text === '' ? [] : [chunk([{ index: 0, delta: { content: text }, finish_reason: null }])]),
    ...(calls.length > 0 ? [chunk([{ index: 0, delta: { tool_calls: toolCalls }, finish_reason: null }])] : []),
    chunk([{ index: 0, delta: {}, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }]),
    chunk([], { usage }),
    'data: [DONE]\n\n',
  ];
  return new Response(chunks.join(''), { headers: { 'content-type': 'text/event-stream' } });
}

function completion(answer: unknown): Response | undefined {
  if (answer === undefined || answer instanceof Response) return answer;
  const message = { role: 'assistant', content: JSON.stringify(answer) };
  return Response.json({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'gpt-6-luna',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage,
  });
}

/** Whether the model is asked to judge a statement. */
export const isJudge = (body: Record<string, any>): boolean => 'verdict' in (body['response_format']?.json_schema.schema.properties ?? {});

/** As the provider refuses. */
export const refusal = (status: number): Response =>
  Response.json({ error: { message: 'No', type: 'server_error', param: null, code: null } }, { status });
