import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { artifactKey } from '../../src/calls/records/artifacts.ts';
import { updateRecordingType } from '../../src/calls/records/store.ts';
import { signPath } from '../../src/library/security/signed-paths.ts';
import { serviceWith } from '../http/service.ts';
import { Client } from '../support/organization.ts';
import { newAgent, newRun, settle, settlement, withAgent } from './runs.ts';

afterEach(() => vi.restoreAllMocks());

const text = 'Agent: Hello Zoë\nPerson: Yes';
const sound = Uint8Array.from({ length: 1000 }, (_, index) => index % 251);

/** A completed call with a transcript and a recording. */
async function withArtifacts() {
  const organization = await withAgent();
  const { agent, context, id } = organization;
  const run = await newRun(context, agent);
  await settle(context, settlement(run.id));
  await env.FILES.put(artifactKey(id, run.id, 'transcript.txt'), text);
  await env.FILES.put(artifactKey(id, run.id, 'transcript.json'), JSON.stringify({ utterances: [{ speaker: 'agent' }] }));
  await env.FILES.put(artifactKey(id, run.id, 'recording'), sound, { httpMetadata: { contentType: 'audio/mpeg' } });
  await context.database.batch([updateRecordingType(context, run.id, 'audio/mpeg')]);
  return { ...organization, run, path: `/workflow/${agent.id}/runs/${run.id}` };
}

const service = serviceWith({});
const fetched = (url: string, init?: RequestInit) => service(new Request(url, init));
const bytesOf = async (response: Response) => new Uint8Array(await response.arrayBuffer());
const asCaller = (key: string, path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetched(`https://service.test/api/v1${path}`, { method, headers: { 'X-API-Key': key, ...headers } });

test('the URLs of a run record give its artifacts to who has credentials, and to nobody else', async () => {
  const { client, key, path } = await withArtifacts();
  const { transcript_url: transcriptUrl, recording_url: recordingUrl } = (await client.get(path)).body;
  const transcript = await fetched(transcriptUrl, { headers: { 'X-API-Key': key } });
  expect([transcript.status, transcript.headers.get('content-type'), await transcript.text()]).toEqual([
    200,
    'text/plain; charset=utf-8',
    text,
  ]);
  const json = await fetched(`${transcriptUrl}?format=json`, { headers: { 'X-API-Key': key } });
  expect([json.headers.get('content-type'), await json.json()]).toEqual(['application/json', { utterances: [{ speaker: 'agent' }] }]);
  const recording = await fetched(recordingUrl, { headers: { 'X-API-Key': key } });
  expect([recording.status, recording.headers.get('content-type'), recording.headers.get('content-length')]).toEqual([
    200,
    'audio/mpeg',
    '1000',
  ]);
  expect(await bytesOf(recording)).toEqual(sound);
  expect((await client.get(`${path}/transcript?format=pdf`)).status).toBe(422);
  for (const url of [transcriptUrl, recordingUrl]) expect((await fetched(url)).status).toBe(401);
  const stranger = await withAgent();
  for (const url of [transcriptUrl, recordingUrl])
    expect((await fetched(url, { headers: { 'X-API-Key': stranger.key } })).status).toBe(404);
});

test('a transcript is made of the file of the talk: as text, as JSON, in ranges, and its head alone', async () => {
  const { id, key, run, path } = await withArtifacts();
  const said = { at: '2026-11-20T10:00:00.000Z', node_id: 'start', is_cut: false };
  const utterances = [
    { ...said, speaker: 'agent', text: 'Hello Zoë' },
    { ...said, speaker: 'person', text: 'Yes, tomorrow' },
  ];
  await env.FILES.put(artifactKey(id, run.id, 'talk.json'), JSON.stringify({ utterances, logs: { events: [], status_callbacks: [] } }));
  const at = `${path}/transcript`;
  const whole = await asCaller(key, at);
  const expected = 'Agent: Hello Zoë\nPerson: Yes, tomorrow';
  expect([whole.status, whole.headers.get('content-type'), await whole.text()]).toEqual([200, 'text/plain; charset=utf-8', expected]);
  const json = await asCaller(key, `${at}?format=json`);
  expect([json.headers.get('content-type'), await json.json()]).toEqual(['application/json', { utterances }]);
  const bytes = new TextEncoder().encode(expected);
  const part = await asCaller(key, at, { range: 'bytes=7-16' });
  expect([part.status, part.headers.get('content-range'), await bytesOf(part)]).toEqual([
    206,
    `bytes 7-16/${bytes.length}`,
    bytes.slice(7, 17),
  ]);
  expect((await asCaller(key, at, { range: 'bytes=900-' })).status).toBe(416);
  const head = await asCaller(key, at, {}, 'HEAD');
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, String(bytes.length), '']);
});

test('a recording is sent in ranges, and its head alone', async () => {
  const { key, path } = await withArtifacts();
  const range = async (value: string) => {
    const answer = await asCaller(key, `${path}/recording`, { Range: value });
    return [
      answer.status,
      answer.headers.get('content-range'),
      answer.headers.get('content-length'),
      [...(await bytesOf(answer))],
    ] as const;
  };
  expect(await range('bytes=0-1')).toEqual([206, 'bytes 0-1/1000', '2', [0, 1]]);
  expect(await range('bytes=998-')).toEqual([206, 'bytes 998-999/1000', '2', Array.from(sound.slice(998))]);
  expect(await range('bytes=-3')).toEqual([206, 'bytes 997-999/1000', '3', Array.from(sound.slice(997))]);
  expect(await range('bytes=1000-')).toEqual([416, 'bytes */1000', null, []]);
  expect((await range('bytes=0-1,5-6'))[0]).toBe(200);
  const head = await asCaller(key, `${path}/recording`, {}, 'HEAD');
  expect([head.status, head.headers.get('content-length'), head.headers.get('accept-ranges'), await head.text()]).toEqual([
    200,
    '1000',
    'bytes',
    '',
  ]);
});

test('what a carrier calls something other than sound is sent as bytes that no browser runs', async () => {
  const { key, path, id, run } = await withArtifacts();
  await env.FILES.put(artifactKey(id, run.id, 'recording'), '<script>', { httpMetadata: { contentType: 'text/html' } });
  const answer = await asCaller(key, `${path}/recording`);
  expect([answer.headers.get('content-type'), answer.headers.get('x-content-type-options')]).toEqual([
    'application/octet-stream',
    'nosniff',
  ]);
});

test('a run without an artifact answers 404 and says why', async () => {
  const { client, agent, context } = await withAgent();
  const live = await newRun(context, agent);
  const silent = await newRun(context, agent);
  await settle(context, settlement(silent.id, { outcome: 'busy', hasTranscript: false }));
  const detail = async (run: number, what: string) => {
    const { status, body } = await client.get(`/workflow/${agent.id}/runs/${run}/${what}`);
    return [status, body.detail];
  };
  expect(await detail(live.id, 'transcript')).toEqual([404, `Transcript of run ${live.id} (the run is not completed yet) not found`]);
  expect(await detail(silent.id, 'recording')).toEqual([404, `Recording of run ${silent.id} (the run has none) not found`]);
  expect((await detail(silent.id, 'download?artifact=recording'))[0]).toBe(404);
  expect((await detail(live.id, 'download?artifact=transcript'))[0]).toBe(404);
  expect((await detail(999_999_999, 'download?artifact=transcript'))[0]).toBe(404);
});

test('a signed link gives an artifact without credentials until it expires', async () => {
  const { client, path } = await withArtifacts();
  const before = Date.now();
  const link = (await client.get(`${path}/download?artifact=transcript&expires_in=60`)).body;
  const until = Date.parse(link.expires_at);
  expect(until).toBeGreaterThan(before + 58_000);
  expect(until).toBeLessThanOrEqual(Date.now() + 60_000);
  expect(link.url).toMatch(new RegExp(`^https://service\\.test/api/v1/artifacts/.*expires=${until / 1000}&signature=[0-9a-f]{64}$`));
  const answer = await fetched(link.url);
  expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([200, 'text/plain; charset=utf-8', text]);
  const head = await fetched(link.url, { method: 'HEAD' });
  expect([head.status, Number(head.headers.get('content-length'))]).toEqual([200, new TextEncoder().encode(text).byteLength]);
  const recording = (await client.get(`${path}/download?artifact=recording`)).body;
  expect(Date.parse(recording.expires_at)).toBeGreaterThan(before + 3_598_000);
  const part = await fetched(recording.url, { headers: { Range: 'bytes=0-3' } });
  expect([part.status, part.headers.get('content-type'), [...(await bytesOf(part))]]).toEqual([206, 'audio/mpeg', [0, 1, 2, 3]]);
  vi.spyOn(Date, 'now').mockReturnValue(until - 1);
  expect((await fetched(link.url)).status).toBe(200);
  vi.mocked(Date.now).mockReturnValue(until);
  const expired = await fetched(link.url);
  expect([expired.status, ((await expired.json()) as { detail: string }).detail]).toEqual([403, expect.stringContaining('expired')]);
});

test('a link opens what it was signed for and nothing else', async () => {
  const { client, path, id, run, agent, context } = await withArtifacts();
  const other = await newRun(context, agent);
  const stranger = await withArtifacts();
  const { url } = (await client.get(`${path}/download?artifact=transcript`)).body as { url: string };
  const changed = [
    url.replace('/transcript?', '/recording?'),
    url.replace(`/${id}/${run.id}/`, `/${id}/${other.id}/`),
    url.replace(`/${id}/${run.id}/`, `/${stranger.id}/${stranger.run.id}/`),
    url.replace(/expires=\d+/, (expires) => `expires=${Number(expires.slice(8)) + 1}`),
    url.replace(/expires=/, 'expires=0'),
    url.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')),
    url.replace(/&signature=.*/, ''),
    `${url}&more=1`,
    url.replace('?', '?more=1&'),
    url.replace('/transcript?', '/transcript/?'),
    url.split('?')[0]!,
  ];
  for (const one of changed) expect([one, (await fetched(one)).status]).toEqual([one, 403]);
  expect((await fetched(url, { method: 'PUT' })).status).toBe(401);
  expect((await fetched(url)).status).toBe(200);
});

test('a good link to what is no longer there is 404', async () => {
  const { client, path, id, run } = await withArtifacts();
  const { url } = (await client.get(`${path}/download?artifact=transcript`)).body;
  await env.FILES.delete(artifactKey(id, run.id, 'transcript.txt'));
  expect((await fetched(url)).status).toBe(404);
  expect((await fetched(url, { method: 'HEAD' })).status).toBe(404);
  const odd = await signPath(env.SIGNING_KEY, 'GET', `/artifacts/${id}/${run.id}/logs.json`, Math.floor(Date.now() / 1000) + 60);
  expect((await fetched(`https://service.test/api/v1${odd}`)).status).toBe(404);
});

test('a link says for how long it may work: 1 second to 7 days', async () => {
  const { client, path } = await withArtifacts();
  const status = async (query: string) => (await client.get(`${path}/download?${query}`)).status;
  for (const bad of ['0', '604801', '-1', '1.5', 'soon', ''])
    expect([bad, await status(`artifact=transcript&expires_in=${bad}`)]).toEqual([bad, 422]);
  for (const good of ['1', '604800']) expect(await status(`artifact=transcript&expires_in=${good}`)).toBe(200);
  expect(await status('artifact=video')).toBe(422);
  expect(await status('')).toBe(422);
});

test('links to the runs of others are not given, and the link knows where callers reach the service', async () => {
  const { client, path, key, id } = await withArtifacts();
  const stranger = await withAgent();
  expect((await stranger.client.get(`${path}/download?artifact=transcript`)).status).toBe(404);
  const otherAgent = await newAgent(client);
  const wrong = path.replace(/workflow\/\d+/, `workflow/${otherAgent.id}`);
  expect((await client.get(`${wrong}/download?artifact=transcript`)).status).toBe(404);
  const behindProxy = new Client(key, serviceWith({ PUBLIC_URL: 'https://voice.example.com/' }));
  const { url } = (await behindProxy.get(`${path}/download?artifact=transcript`)).body;
  expect(url).toMatch(new RegExp(`^https://voice\\.example\\.com/api/v1/artifacts/${id}/`));
  expect((await fetched(url.replace('https://voice.example.com', 'https://service.test'))).status).toBe(200);
});
