import { Hono } from 'hono';
import type { VendorBindings } from '../vendor.ts';
import { durationSeconds, type CallRecord } from '../telephony/call-record.ts';
import type { CallSimulator } from '../telephony/call-simulator.ts';
import { silentMp3, silentWav } from '../telephony/silent-audio.ts';
import { invalid, notFound } from './errors.ts';
import type { TelnyxCallRequest } from './call-request.ts';

type Calls = CallSimulator<TelnyxCallRequest>;

/** Links as they are given now; they end after `lastMs`. */
export function recordingLinks({ recording }: CallRecord, origin: string, lastMs: number): { mp3: string; wav: string } {
  const link = (type: string) => `${origin}/telnyx/recordings/${recording}.${type}?expires=${Date.now() + lastMs}`;
  return { mp3: link('mp3'), wav: link('wav') };
}

/** Paths under `/v2/recordings`. */
export function recordingApi(exchange: Calls): Hono<{ Bindings: VendorBindings }> {
  const routes = new Hono<{ Bindings: VendorBindings }>();
  const resource = (record: CallRecord, url: string) => {
    const order = exchange.line(record.sid)?.order;
    return {
      id: record.recording,
      record_type: 'recording',
      call_control_id: record.sid,
      call_leg_id: order?.legId ?? '',
      call_session_id: order?.sessionId ?? '',
      connection_id: record.account,
      channels: 'dual',
      source: 'call',
      status: 'completed',
      duration_millis: durationSeconds(record) * 1000,
      download_urls: recordingLinks(record, new URL(url).origin, exchange.settings.link_ms),
    };
  };
  const recorded = () => exchange.store.list().filter(({ recording }) => recording !== null);

  routes.get('/', (c) => {
    const filters: [string, string][] = [];
    for (const [name, value] of new URL(c.req.url).searchParams) {
      const field = /^filter\[(call_leg_id|call_session_id|call_control_id)\]$/.exec(name)?.[1];
      if (field === undefined) throw invalid(`/${name}`, `${name} is not simulated`);
      filters.push([field, value]);
    }
    const all = recorded().map((record) => resource(record, c.req.url));
    const data = all.filter((one) => filters.every(([field, value]) => one[field as 'call_leg_id'] === value));
    return c.json({ data, meta: { page_number: 1, page_size: 20, total_pages: 1, total_results: data.length } });
  });

  routes.get('/:id', (c) => {
    const record = recorded().find(({ recording }) => recording === c.req.param('id'));
    if (record === undefined) throw notFound();
    return c.json({ data: resource(record, c.req.url) });
  });
  return routes;
}

/** The store of the recordings, without credentials: its links are signed, and end. */
export function recordingStore(exchange: Calls): Hono<{ Bindings: VendorBindings }> {
  return new Hono<{ Bindings: VendorBindings }>().get('/:file{[0-9a-f-]{36}\\.(mp3|wav)}', (c) => {
    const [id, type] = c.req.param('file').split('.');
    if (!exchange.store.list().some(({ recording }) => recording === id)) throw notFound();
    if (!(Number(c.req.query('expires')) > Date.now()))
      return c.text('<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>', 403);
    const bytes = type === 'mp3' ? silentMp3() : silentWav();
    const headers = { 'content-type': type === 'mp3' ? 'audio/mpeg' : 'audio/x-wav', 'content-length': String(bytes.byteLength) };
    return new Response(new Uint8Array(bytes), { headers });
  });
}
