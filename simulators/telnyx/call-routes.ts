import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import type { VendorBindings } from '../vendor.ts';
import { attemptKeyOf } from '../telephony/call-record.ts';
import type { CallSimulator } from '../telephony/call-simulator.ts';
import type { SimulatedCall } from '../telephony/simulated-call.ts';
import { toScenario } from '../telephony/scenario.ts';
import { newCallId } from './carrier.ts';
import { commands } from './commands.ts';
import { invalid, notFound, requireKey, TelnyxError } from './errors.ts';
import { publicKey } from './keys.ts';
import { readDial, type Dial, type TelnyxCallRequest } from './call-request.ts';
import { recordingApi } from './recordings.ts';
import { callResource, eventResource, pageOf } from './resource.ts';

const commandMemoryMs = 60_000;
const ended = () => new TelnyxError(422, '90018', 'Call has already ended', 'This call is no longer active and can not receive commands.');

type Calls = CallSimulator<TelnyxCallRequest>;

/** Paths under `/v2`: calls and the commands to them. */
export function callRoutes(exchange: Calls): Hono<{ Bindings: VendorBindings }> {
  const refusedOnce = new Set<string>();
  /** By connection and command: the same command is not executed twice within a minute. */
  const dialled = new Map<string, SimulatedCall<TelnyxCallRequest>>();
  const routes = new Hono<{ Bindings: VendorBindings }>();
  routes.use(async (c, next) => {
    requireKey(c.req.header('authorization'));
    await next();
  });

  routes.post('/calls', async (c) => {
    const dial = readDial(await readJson(c.req.raw));
    await sleep(exchange.settings.accept_ms);
    const scenario = toScenario(dial.to);
    if (scenario.isFirstPostRefused && !refusedOnce.has(dial.to)) {
      refusedOnce.add(dial.to);
      throw new TelnyxError(500, '10007', 'Unexpected error', 'An unexpected error occured.');
    }
    const key = dial.command_id === undefined ? undefined : `${dial.connection_id} ${dial.command_id}`;
    const known = key === undefined ? undefined : dialled.get(key);
    const isKnown = known !== undefined && known.record.created_at > Date.now() - commandMemoryMs;
    const line = isKnown ? known : place(exchange, dial, new URL(c.req.url).origin);
    if (key !== undefined) dialled.set(key, line);
    if (scenario.isAnswerLost) c.env.dropAnswer();
    return c.json({ data: callResource(line.record, line.order, false) });
  });

  routes.get('/calls/:id', (c) => c.json({ data: showCall(exchange, c.req.param('id')) }));

  routes.get('/connections/:id/active_calls', (c) => {
    const live = exchange.lines().filter((line) => line.isLive && line.order.connectionId === c.req.param('id'));
    return c.json(pageOf(live, new URL(c.req.url)));
  });

  routes.post('/calls/:id/actions/:action', async (c) => {
    const { id, action } = c.req.param();
    if (!Object.hasOwn(commands, action)) throw notFound();
    if (exchange.store.find(id) === undefined)
      throw new TelnyxError(404, '90015', 'Invalid Call Control ID', 'The call_control_id provided is not valid.');
    const line = exchange.line(id);
    if (!line?.isLive) throw ended();
    const body = await readJson(c.req.raw);
    if (isRepeat(line.order, body)) return c.json({ data: { result: 'ok' } });
    const result = commands[action as keyof typeof commands](exchange, line, body, newOrder);
    keepCommand(line.order, body);
    return c.json({ data: { result: 'ok', ...result } });
  });

  routes.route('/recordings', recordingApi(exchange));

  routes.get('/call_events', (c) => {
    const leg = c.req.query('filter[leg_id]');
    const line = exchange.lines().find(({ order }) => order.legId === leg);
    return c.json({ data: line === undefined ? [] : line.order.events.map((event) => eventResource(event)) });
  });

  routes.get('/call_control_applications/:id{\\d+}', (c) => {
    const id = c.req.param('id');
    const outbound = { outbound_voice_profile_id: '1293384261075731499' };
    return c.json({ data: { id, record_type: 'call_control_application', application_name: 'Simulated', active: true, outbound } });
  });

  routes.get('/public_key', (c) => c.json({ data: { public: publicKey } }));
  return routes;
}

const idOf = (body: unknown): string | undefined => {
  const { command_id: id } = body as { command_id?: unknown };
  return typeof id === 'string' ? id : undefined;
};

/** Whether a command with this id was executed on this call within the last minute. Then this command is skipped. */
function isRepeat({ commandTimes }: TelnyxCallRequest, body: unknown): boolean {
  const id = idOf(body);
  return id !== undefined && (commandTimes.get(id) ?? -Infinity) > Date.now() - commandMemoryMs;
}

function keepCommand({ commandTimes }: TelnyxCallRequest, body: unknown): void {
  const id = idOf(body);
  if (id !== undefined) commandTimes.set(id, Date.now());
}

async function readJson(request: Request): Promise<unknown> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json')
    throw new TelnyxError(415, '10014', 'Unsupported Media Type', 'The request failed because the server does not support the media type.');
  const body: unknown = await request.json().catch(() => undefined);
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw invalid('/', 'The request failed because it was not well-formed.');
}

export const newOrder = (connectionId: string, origin: string, more: Partial<TelnyxCallRequest>): TelnyxCallRequest => ({
  webhookUrl: undefined,
  clientState: undefined,
  connectionId,
  legId: randomUUID(),
  sessionId: randomUUID(),
  origin,
  machineDetection: 'disabled',
  isRecorded: false,
  commandTimes: new Map(),
  events: [],
  answered: Promise.withResolvers(),
  bridgeOnAnswer: undefined,
  caller: undefined,
  bridged: Promise.withResolvers(),
  isParkedAfterBridge: false,
  unbridged: Promise.withResolvers(),
  relay: Promise.withResolvers(),
  ...more,
});

function place(exchange: Calls, dial: Dial, origin: string): SimulatedCall<TelnyxCallRequest> {
  const caller = dial.link_to === undefined ? undefined : exchange.line(dial.link_to);
  if (dial.link_to !== undefined && !caller?.isLive) throw ended();
  const order = newOrder(dial.connection_id, origin, {
    ...(dial.command_id !== undefined && { commandTimes: new Map([[dial.command_id, Date.now()]]) }),
    webhookUrl: dial.webhook_url,
    clientState: dial.client_state,
    machineDetection: dial.answering_machine_detection,
    isRecorded: dial.record !== undefined,
    caller: dial.link_to,
    ...(caller && { sessionId: caller.order.sessionId }),
  });
  const parties = {
    sid: newCallId(),
    account: dial.connection_id,
    attemptKey: caller ? null : attemptKeyOf(dial.webhook_url),
    transferOf: dial.link_to,
    to: dial.to,
    from: dial.from,
    ringLimitMs: dial.timeout_secs * 1000,
    callLimitMs: dial.time_limit_secs === undefined ? undefined : dial.time_limit_secs * 1000,
  };
  return exchange.place(parties, order);
}

function showCall(exchange: Calls, id: string): object {
  const record = exchange.store.find(id);
  if (record === undefined) throw notFound();
  return callResource(record, exchange.line(id)?.order, record.ended_at === null);
}
