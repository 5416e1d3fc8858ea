import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { maxRecordingBytes } from '../../src/providers/telephony/recording.ts';
import { artifactKey } from '../../src/calls/records/artifacts.ts';
import { findAgentRun } from '../../src/calls/records/store.ts';
import { storeRecording } from '../../src/calls/post-call/store-recording.ts';
import { uploadStream } from '../../src/http/streams/upload-stream.ts';
import { accountSid, twilioConfig } from '../voice-agents/carrier-accounts.ts';
import { newRun, withAgent } from '../voice-agents/runs.ts';
import { stubFetch } from '../support/stub-fetch.ts';

afterEach(() => vi.restoreAllMocks());

const megabyte = 1024 * 1024;

/** Sound in pieces of a megabyte, each with its own content. The stream breaks off after `failAfter` pieces. */
function sound(pieces: number, { failAfter = Infinity, onCancel = () => {} } = {}): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      if (sent === failAfter) return controller.error(new Error('the connection broke'));
      if (sent === pieces) return controller.close();
      controller.enqueue(new Uint8Array(megabyte).fill(sent++));
    },
    cancel: onCancel,
  });
}

/** A call whose carrier gives this answer at the recording's location. */
async function setUp(answer: () => Response) {
  const organization = await withAgent();
  const { client, agent, context } = organization;
  const config = await client.post('/organizations/telephony-configs', twilioConfig());
  const run = await newRun(context, agent);
  const base = (env as unknown as { TWILIO_BASE_URL: string }).TWILIO_BASE_URL;
  const recording = `${base}/2010-04-01/Accounts/${accountSid}/Recordings/RE${String(run.id).padStart(32, '0')}`;
  const asked = stubFetch(recording, answer);
  const keep = () => storeRecording(context, run.id, config.body.id, recording);
  const stored = () => env.FILES.get(artifactKey(organization.id, run.id, 'recording'));
  const type = async () => (await findAgentRun(context, run.id))!.recording_type;
  return { keep, stored, type, asked };
}

const answered = (body: BodyInit, headers: Record<string, string> = {}) =>
  new Response(body, { headers: { 'content-type': 'audio/mpeg', ...headers } });

test.each([
  ['announced', 3, { 'content-length': String(3 * megabyte) }],
  ['not announced', 3, {}],
  ['not announced, and more than a part', 12, {}],
  ['not announced, and exactly two parts', 10, {}],
  ['not announced, and nothing', 0, {}],
])('a recording whose length is %s is kept as it is', async (_what, pieces, headers) => {
  const { keep, stored, type } = await setUp(() => answered(sound(pieces), headers));
  expect(await keep()).toEqual({ kind: 'kept' });
  const object = (await stored())!;
  const bytes = new Uint8Array(await object.arrayBuffer());
  expect([bytes.byteLength, object.httpMetadata?.contentType, await type()]).toEqual([pieces * megabyte, 'audio/mpeg', 'audio/mpeg']);
  for (let piece = 0; piece < pieces; piece++) expect([bytes[piece * megabyte], bytes[(piece + 1) * megabyte - 1]]).toEqual([piece, piece]);
});

test.each([
  ['breaks off', () => answered(sound(3, { failAfter: 2 }))],
  ['breaks off after a part', () => answered(sound(12, { failAfter: 7 }))],
  ['is shorter than announced', () => answered(sound(2), { 'content-length': String(3 * megabyte) })],
  ['is longer than announced', () => answered(sound(4), { 'content-length': String(3 * megabyte) })],
])('a recording that %s is fetched another time', async (_what, answer) => {
  const { keep, stored, type } = await setUp(answer);
  expect(await keep()).toEqual({ kind: 'later', message: expect.stringContaining('broke off') });
  expect([await stored(), await type()]).toEqual([null, null]);
});

test('a recording that is too long, or at a private address, is given up', async () => {
  const long = await setUp(() => answered('x', { 'content-length': String(maxRecordingBytes + 1) }));
  expect(await long.keep()).toEqual({ kind: 'none', message: expect.stringContaining('at most') });
  const inside = await setUp(() => new Response(null, { status: 302, headers: { location: 'http://169.254.169.254/latest' } }));
  expect(await inside.keep()).toEqual({ kind: 'none', message: expect.stringContaining('may not be called') });
  expect(inside.asked.map(({ redirect }) => redirect)).toEqual(['manual']);
});

test('a stream that does not end is cancelled at the size limit, and nothing of it stays', async () => {
  const key = `calls/test/${crypto.randomUUID()}/recording`;
  let isLeft = false;
  const endless = sound(Infinity, { onCancel: () => (isLeft = true) });
  expect(await uploadStream(env.FILES, key, endless, {}, 12 * megabyte)).toBe(false);
  expect([isLeft, await env.FILES.get(key)]).toEqual([true, null]);
});
