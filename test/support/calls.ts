import { env } from 'cloudflare:workers';
import { expect, vi } from 'vitest';
import type { CallObject } from '../../durable-objects/call/call-object.ts';
import { openai } from '../../simulators/openai.ts';
import type { RequestRecord } from '../../simulators/request-record.ts';
import type { CallEnd } from '../../src/calls/contract.ts';
import { salesAgent } from '../voice-agents/agents.ts';
import { newOrganization, newPhone, type Client, type NewOrganization } from './organization.ts';
import { testVariables } from './variables.ts';
import type { TalkFile } from '../../src/calls/records/artifacts.ts';
import { formatTranscript } from '../../src/voice-agents/conversation/transcript.ts';
import { realFetch } from './real-fetch.ts';
import { ownRows } from './own-rows.ts';

export type CallStub = DurableObjectStub<CallObject>;

export const callStub = (organizationId: number, runId: number): CallStub => env.CALL.getByName(`${organizationId}/${runId}`);

export interface RunOptions {
  definition?: unknown;
  initialContext?: object;
  templateContext?: object;
  dispositionCodes?: object;
  configurations?: object;
  mode?: 'twilio' | 'telnyx';
  automationRunId?: number;
  contactId?: number;
  organization?: NewOrganization;
}

/** A run of an agent, as it stands when its call is answered; of a new organization's unless one is given. */
export async function answeredRun(options: RunOptions = {}, known?: { id: number; client: Client }) {
  const { id: organizationId, client } = known ?? (await newOrganization(options.organization));
  const phone = newPhone();
  const now = Date.now();
  const key = `single:0:${crypto.randomUUID()}`;
  const { definition = salesAgent, initialContext = { first_name: 'Ada' } } = options;
  const agent = await ownRows
    .prepare(
      `INSERT INTO voice_agent (organization_id, name, status, current_definition_id, template_context_variables, call_disposition_codes,
       workflow_configurations, created_at, updated_at) VALUES (?, 'Sales', 'active', 0, ?, ?, ?, ?, ?) RETURNING id`,
    )
    .bind(
      organizationId,
      JSON.stringify(options.templateContext ?? {}),
      JSON.stringify(options.dispositionCodes ?? {}),
      JSON.stringify(options.configurations ?? {}),
      now,
      now,
    )
    .first<{ id: number }>();
  const stored = await ownRows
    .prepare('INSERT INTO voice_agent_definition (organization_id, agent_id, definition, created_at) VALUES (?, ?, ?, ?) RETURNING id')
    .bind(organizationId, agent!.id, JSON.stringify(definition), now)
    .first<{ id: number }>();
  const run = await ownRows
    .prepare(
      `INSERT INTO voice_agent_run (organization_id, agent_id, definition_id, name, mode, call_type, attempt_key, phone, own_number, contact_id,
       automation_run_id, initial_context, created_at)
     VALUES (?, ?, ?, 'Sales to somebody', ?, 'outbound', ?, ?, '+15005550006', ?, ?, ?, ?) RETURNING id`,
    )
    .bind(
      organizationId,
      agent!.id,
      stored!.id,
      options.mode ?? 'twilio',
      key,
      phone,
      options.contactId ?? null,
      options.automationRunId ?? null,
      JSON.stringify(initialContext),
      now,
    )
    .first<{ id: number }>();
  return { organizationId, client, phone, key, agentId: agent!.id, runId: run!.id, stub: callStub(organizationId, run!.id) };
}

export const readCallRun = async (runId: number): Promise<Record<string, any>> => {
  const row = await ownRows.prepare('SELECT * FROM voice_agent_run WHERE id = ?').bind(runId).first<Record<string, any>>();
  return { ...row, result: row!['result'] === null ? null : JSON.parse(row!['result']) };
};

/** Waits until the row is completed. */
export const waitForCompletedRun = (runId: number): Promise<Record<string, any>> =>
  vi.waitFor(
    async () => {
      const row = await readCallRun(runId);
      expect(row['is_completed'], `run ${runId}`).toBe(1);
      return row;
    },
    { timeout: 15_000, interval: 10 },
  );

/** Waits until all work after the call is done and the object is deleted. */
export const waitUntilDestroyed = (stub: CallStub): Promise<void> =>
  vi.waitFor(async () => expect(await stub.snapshot()).toBeNull(), { timeout: 15_000, interval: 10 });

/** A part of what R2 keeps of a talk; null: there is none. */
export async function readCallFile(
  organizationId: number,
  runId: number,
  part: 'transcript.txt' | 'transcript.json' | 'logs.json',
): Promise<any> {
  const object = await env.FILES.get(`calls/${organizationId}/${runId}/talk.json`);
  if (!object) return null;
  const { utterances, logs } = await object.json<TalkFile>();
  if (part === 'logs.json') return logs;
  if (utterances.length === 0) return null;
  return part === 'transcript.txt' ? formatTranscript(utterances) : { utterances };
}

export const callEnd = (change: Partial<CallEnd> = {}): CallEnd => ({
  outcome: 'completed',
  reason: null,
  answeredAt: Date.now() - 20_000,
  endedAt: Date.now(),
  durationSeconds: 20,
  statusCallbacks: [{ status: 'completed', at: new Date().toISOString(), details: { call_id: 'CA1' } }],
  ...change,
});

type Frame = Record<string, any>;

/** The carrier's end of a relay socket. */
export class CarrierSocket {
  readonly frames: Frame[] = [];
  readonly closed: Promise<number>;
  readonly #socket: WebSocket;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.accept();
    socket.addEventListener('message', ({ data }) => this.frames.push({ ...JSON.parse(String(data)), received: performance.now() }));
    this.closed = new Promise((resolve) => socket.addEventListener('close', ({ code }) => resolve(code)));
  }

  /** Opens a socket to a call; with a session id it begins the session, too. */
  static async open(stub: CallStub, sessionId?: string): Promise<CarrierSocket> {
    const response = await stub.fetch(`https://call.test/relay/${crypto.randomUUID()}`, { headers: { upgrade: 'websocket' } });
    expect(response.status).toBe(101);
    const socket = new CarrierSocket(response.webSocket!);
    if (sessionId !== undefined) socket.send({ type: 'setup', sessionId, callSid: 'CA1', customParameters: {} });
    return socket;
  }

  send(frame: object | string): void {
    this.#socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  say(voicePrompt: string): void {
    this.send({ type: 'prompt', voicePrompt, lang: 'en-US', last: true });
  }

  /** Breaks the connection. */
  drop(): void {
    this.#socket.close(1000);
  }

  /** The utterances of the agent; the last may be unfinished. */
  get utterances(): string[] {
    const said: string[] = [];
    let open = '';
    for (const { type, token, last } of this.frames) {
      if (type !== 'text') continue;
      open += token;
      if (!last) continue;
      said.push(open);
      open = '';
    }
    return open === '' ? said : [...said, open];
  }

  get ends(): Frame[] {
    return this.frames.filter(({ type }) => type === 'end');
  }

  /** Waits until the agent has finished that many utterances. */
  async waitForUtterances(count: number): Promise<string[]> {
    await vi.waitFor(() => expect(this.frames.filter(({ type, last }) => type === 'text' && last).length).toBeGreaterThanOrEqual(count), {
      timeout: 10_000,
      interval: 2,
    });
    return this.utterances;
  }

  async waitForEnd(): Promise<Frame> {
    await vi.waitFor(() => expect(this.ends.length).toBeGreaterThan(0), { timeout: 10_000, interval: 2 });
    return JSON.parse(this.ends[0]!['handoffData']);
  }
}

type Answer = (request: Request, body: Record<string, any>) => Response | undefined | Promise<Response | undefined>;

type OtherAnswer = (request: Request) => Response | undefined | Promise<Response | undefined>;

/**
 * Stands in for the outside: the simulated language model answers unless `model` does, and `other` answers what goes elsewhere. Keeps what
 * the model was asked.
 */
export function stubOutsideServices({ model, other }: { model?: Answer; other?: OtherAnswer } = {}) {
  const routes = openai.createRoutes({ ledgerFile: undefined, signal: new AbortController().signal, ask: async () => undefined });
  const asked: Record<string, any>[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input as RequestInfo, init as RequestInit);
    if (!request.url.startsWith(testVariables.OPENAI_BASE_URL)) return (await other?.(request)) ?? realFetch(request);
    const body = (await request.clone().json()) as Record<string, any>;
    asked.push(body);
    const own = await model?.(request, body);
    const record = { id: asked.length, received_at: new Date().toISOString() } as RequestRecord;
    return own ?? routes.fetch(request, { record, dropAnswer: () => {} });
  });
  return { asked };
}

/** An answer of the language model that comes word by word, as the test lets it. */
export class HeldAnswer {
  isAborted = false;
  readonly #chunks: string[] = [];
  #isFinished = false;

  /** To be called where the request is answered: a stream belongs to the object that asked. */
  response(): Response {
    const stream = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        while (this.#chunks.length === 0 && !this.#isFinished && !this.isAborted) await new Promise((resolve) => setTimeout(resolve, 1));
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) controller.enqueue(new TextEncoder().encode(`data: ${chunk}\n\n`));
        else if (!this.isAborted) controller.close();
      },
      cancel: () => {
        this.isAborted = true;
      },
    });
    return new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
  }

  say(content: string): void {
    this.#add([{ index: 0, delta: { content }, finish_reason: null }]);
  }

  finish(): void {
    this.#add([{ index: 0, delta: {}, finish_reason: 'stop' }]);
    this.#add([], { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 });
    this.#chunks.push('[DONE]');
    this.#isFinished = true;
  }

  #add(choices: object[], usage: object | null = null): void {
    this.#chunks.push(JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-6-luna', choices, usage }));
  }
}

/** Holds the first answer back for the test; the simulated model gives later answers. */
export function holdFirstAnswer() {
  const held = new HeldAnswer();
  let isAsked = false;
  const { asked } = stubOutsideServices({
    model: (_request, { stream }) => {
      if (!stream || isAsked) return undefined;
      isAsked = true;
      return held.response();
    },
  });
  return { held, asked };
}
