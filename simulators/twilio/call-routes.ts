import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import type { VendorBindings } from '../vendor.ts';
import { attemptKeyOf, type CallRecord } from '../telephony/call-record.ts';
import type { CallSimulator } from '../telephony/call-simulator.ts';
import { toScenario } from '../telephony/scenario.ts';
import { silentMp3, silentWav } from '../telephony/silent-audio.ts';
import { newSid } from './carrier.ts';
import { requireAccount } from './credentials.ts';
import { badRequest, notFound, TwilioError } from './errors.ts';
import { readNumbers, readCallRequest, type TwilioCallRequest } from './call-request.ts';
import { recordingResource } from './recordings.ts';
import { callResource, wireStatus } from './resource.ts';

const maxPerPage = 1_000;

/** Paths under `/2010-04-01/Accounts/{AccountSid}`: calls and their recordings. */
export function callRoutes(exchange: CallSimulator<TwilioCallRequest>): Hono<{ Bindings: VendorBindings }> {
  const refusedOnce = new Set<string>();
  const routes = new Hono<{ Bindings: VendorBindings }>();
  const callOf = (account: string, sid: string, path: string): CallRecord => {
    const call = exchange.store.find(sid);
    if (call?.account !== account) throw notFound(path);
    return call;
  };

  routes.post('/Calls.json', async (c) => {
    const account = requireAccount(c.req.header('authorization'), c.req.param('account')!);
    const form = await readForm(c.req.raw);
    const { to, from } = readNumbers(form);
    const order = readCallRequest(form, account, new URL(c.req.url).origin);
    await sleep(exchange.settings.accept_ms);
    const scenario = toScenario(to);
    if (scenario.isFirstPostRefused && !refusedOnce.has(to)) {
      refusedOnce.add(to);
      throw new TwilioError(500, 20500, 'Internal Server Error');
    }
    const parties = {
      sid: newSid('CA'),
      account: account.accountSid,
      attemptKey: attemptKeyOf(order.statusCallback),
      to,
      from,
      ringLimitMs: order.ringSeconds * 1000,
      callLimitMs: order.limitSeconds === undefined ? undefined : order.limitSeconds * 1000,
    };
    const { record } = exchange.place(parties, order);
    if (scenario.isAnswerLost) c.env.dropAnswer();
    return c.json(callResource(record), 201);
  });

  routes.get('/Calls.json', (c) => {
    const { accountSid } = requireAccount(c.req.header('authorization'), c.req.param('account')!);
    return c.json(listCalls(exchange.store.list({ account: accountSid }), new URL(c.req.url)));
  });

  routes.get('/Calls/:file{CA[0-9a-f]{32}\\.json}', (c) => {
    const { accountSid } = requireAccount(c.req.header('authorization'), c.req.param('account')!);
    return c.json(callResource(callOf(accountSid, c.req.param('file').slice(0, -5), c.req.path)));
  });

  routes.post('/Calls/:file{CA[0-9a-f]{32}\\.json}', async (c) => {
    const { accountSid } = requireAccount(c.req.header('authorization'), c.req.param('account')!);
    const sid = c.req.param('file').slice(0, -5);
    const call = callOf(accountSid, sid, c.req.path);
    const status = (await readForm(c.req.raw)).get('Status');
    if (status !== 'completed' && status !== 'canceled') throw badRequest(20001, 'Invalid parameter: Status must be completed or canceled');
    const line = exchange.line(sid);
    const isTooLate = status === 'canceled' && call.answered_at !== null;
    if (!line?.isLive || isTooLate) throw badRequest(21220, 'Call is not in-progress. Cannot redirect.');
    exchange.hangUp(line, 'service');
    return c.json(callResource(call));
  });

  routes.get('/Calls/:call/Recordings.json', (c) => {
    const { accountSid } = requireAccount(c.req.header('authorization'), c.req.param('account')!);
    const call = callOf(accountSid, c.req.param('call'), c.req.path);
    return c.json({ recordings: call.recording === null ? [] : [recordingResource(call)] });
  });

  routes.get('/Calls/:call/Notifications.json', (c) => {
    const { accountSid } = requireAccount(c.req.header('authorization'), c.req.param('account')!);
    const call = callOf(accountSid, c.req.param('call'), c.req.path);
    const notifications = call.problems.toReversed().flatMap((problem) => notificationOf(call, problem) ?? []);
    return c.json({ notifications, page: 0, page_size: 50, uri: c.req.path });
  });

  routes.get('/Recordings/:file{RE[0-9a-f]{32}(\\.(json|mp3|wav))?}', (c) => {
    const { accountSid } = requireAccount(c.req.header('authorization'), c.req.param('account')!);
    const [sid, type = 'wav'] = c.req.param('file').split('.');
    const call = exchange.store.list({ account: accountSid }).find(({ recording }) => recording === sid);
    if (call === undefined || (call.answered_at === null && type !== 'json')) throw notFound(c.req.path);
    if (type === 'json') return c.json(recordingResource(call));
    return type === 'mp3' ? audio(silentMp3(), 'audio/mpeg') : audio(silentWav(), 'audio/x-wav');
  });

  return routes;
}

/** The problems of the other side that have a code. */
function notificationOf({ account, sid }: CallRecord, problem: string): object | undefined {
  const [, code, words] = /^(\d{5}): (.*)$/s.exec(problem) ?? [];
  if (code === undefined) return undefined;
  const text = new URLSearchParams({ EmailNotification: 'false', LogLevel: 'ERROR', Msg: words!, ErrorCode: code });
  return {
    sid: newSid('NO'),
    account_sid: account,
    call_sid: sid,
    log: '0',
    error_code: code,
    message_text: text.toString(),
    more_info: `https://www.twilio.com/docs/errors/${code}`,
  };
}

const audio = (bytes: Buffer, type: string) =>
  new Response(new Uint8Array(bytes), { headers: { 'content-type': type, 'content-length': String(bytes.byteLength) } });

/** A body of another content type has no parameters, as at Twilio. */
export async function readForm(request: Request): Promise<URLSearchParams> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  return new URLSearchParams(type === 'application/x-www-form-urlencoded' ? await request.text() : '');
}

/** A page of calls, newest first. */
function listCalls(all: CallRecord[], { searchParams, pathname, search }: URL): object {
  const [to, from, status] = ['To', 'From', 'Status'].map((name) => searchParams.get(name) ?? undefined);
  const [startsAfter, startsBefore] = ['StartTime>', 'StartTime<'].map((name) => Date.parse(searchParams.get(name) ?? ''));
  const calls = all
    .filter(
      (call) =>
        (to === undefined || call.to === to) &&
        (from === undefined || call.from === from) &&
        (status === undefined || wireStatus[call.status] === status) &&
        // A call that waits to be dialled has no start time yet.
        (Number.isNaN(startsAfter) || (call.dialled_at ?? -Infinity) >= startsAfter!) &&
        (Number.isNaN(startsBefore) || (call.dialled_at ?? Infinity) <= startsBefore!),
    )
    .toReversed();
  const size = Math.min(Math.max(Number(searchParams.get('PageSize') ?? 50) || 50, 1), maxPerPage);
  const page = Math.max(Number(searchParams.get('Page') ?? 0) || 0, 0);
  const pageUri = (number: number) => {
    const query = new URLSearchParams(search);
    query.set('Page', String(number));
    query.set('PageSize', String(size));
    return `${pathname}?${query}`;
  };
  return {
    calls: calls.slice(page * size, (page + 1) * size).map(callResource),
    page,
    page_size: size,
    start: page * size,
    end: Math.min((page + 1) * size, calls.length) - 1,
    uri: pathname + search,
    first_page_uri: pageUri(0),
    next_page_uri: calls.length > (page + 1) * size ? pageUri(page + 1) : null,
    previous_page_uri: page > 0 ? pageUri(page - 1) : null,
  };
}
