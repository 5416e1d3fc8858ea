import { env, exports } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { linesLoggedBy, serviceWith } from '../http/service.ts';
import { Client, newOrganization } from '../support/organization.ts';
import { put } from './campaign-service.ts';

const limit = 50 * 1024 * 1024;
const csv = 'phone\n+12123456001\n';

async function newTicket(filename = 'people.csv') {
  const { client, id } = await newOrganization();
  const { body } = await client.post('/campaign/upload-url', { filename });
  return { client, organizationId: id, ...(body as { upload_url: string; source_id: string }) };
}

const stored = async (organizationId: number, sourceId: string): Promise<string | undefined> =>
  (await env.FILES.get(`campaign_sources/${organizationId}/${sourceId}`))?.text();

test('a file is PUT to the URL without credentials, and is stored byte by byte', async () => {
  const { client, id } = await newOrganization();
  const ticket = await client.post('/campaign/upload-url', { filename: 'people.csv', content_type: 'text/csv', file_size: csv.length });
  expect([ticket.status, ticket.body]).toEqual([
    200,
    {
      upload_url: expect.stringMatching(/^https:\/\/service\.test\/api\/v1\/uploads\/.*expires=\d+&signature=[0-9a-f]{64}$/),
      source_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      expires_in: 900,
    },
  ]);
  const { upload_url: url, source_id } = ticket.body;
  const expires = Number(new URL(url).searchParams.get('expires')) * 1000;
  expect(Math.abs(expires - Date.now() - 900_000)).toBeLessThan(60_000);
  const answer = await put(url, csv, { 'Content-Type': 'text/csv' });
  expect([answer.status, answer.body]).toEqual([200, { status: 'uploaded', source_id, bytes: csv.length }]);
  expect(await stored(id, source_id)).toBe(csv);
});

test('the URL is under the public address of the service when it has one', async () => {
  const { key } = await newOrganization();
  const client = new Client(key, serviceWith({ PUBLIC_URL: 'https://calls.example.com' }));
  const { body } = await client.post('/campaign/upload-url', { filename: 'people.csv' });
  expect(body.upload_url).toMatch(/^https:\/\/calls\.example\.com\/api\/v1\/uploads\//);
  expect((await put(body.upload_url, csv)).status).toBe(200);
});

test('a second PUT takes the place of the first as long as the URL is valid', async () => {
  const { organizationId, upload_url, source_id } = await newTicket();
  await put(upload_url, 'phone\n1\n');
  expect((await put(upload_url, csv)).status).toBe(200);
  expect(await stored(organizationId, source_id)).toBe(csv);
});

test('a URL that was changed in any part is 403 and stores nothing', async () => {
  const { organizationId, upload_url, source_id } = await newTicket();
  const other = crypto.randomUUID();
  const changed = [
    upload_url.replace(`/${organizationId}/`, `/${organizationId + 1}/`),
    upload_url.replace(source_id, other),
    upload_url.replace(source_id, `${source_id}%2F..%2F${other}`),
    upload_url.replace(/max_bytes=\d+/, `max_bytes=${limit * 2}`),
    upload_url.replace(/filename=[^&]+/, 'filename=other.csv'),
    upload_url.replace(/expires=\d+/, (text) => `${text}0`),
    upload_url.replace(/signature=./, (text) => (text.endsWith('0') ? 'signature=1' : 'signature=0')),
    upload_url.replace(/&signature=.*/, ''),
    `${upload_url}&x=1`,
    upload_url.replace('?', '/?'),
    upload_url.split('?')[0]!,
  ];
  for (const url of changed) {
    const answer = await put(url, csv);
    expect([url, answer.status, answer.body.detail]).toEqual([url, 403, expect.stringContaining('POST /campaign/upload-url')]);
  }
  const { objects } = await env.FILES.list({ prefix: `campaign_sources/${organizationId}` });
  expect(objects).toEqual([]);
});

test('a URL is for PUT alone', async () => {
  const { upload_url } = await newTicket();
  await put(upload_url, csv);
  for (const method of ['GET', 'POST', 'DELETE']) {
    const { status } = await exports.default.fetch(new Request(upload_url, { method }));
    expect([method, status]).toEqual([method, 401]);
  }
});

test('an expired URL is 403', async () => {
  const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 901_000);
  const { organizationId, upload_url, source_id } = await newTicket();
  now.mockRestore();
  expect((await put(upload_url, csv)).status).toBe(403);
  expect(await stored(organizationId, source_id)).toBeUndefined();
});

test('a file without its length is 411, one over the limit 413, before a byte of it is read', async () => {
  const { organizationId, upload_url, source_id } = await newTicket();
  const pieces = () => new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1024)) });
  const chunked = await put(upload_url, pieces());
  expect([chunked.status, chunked.body.detail]).toEqual([411, expect.stringContaining('Content-Length')]);
  const large = await put(upload_url, pieces(), { 'Content-Length': String(limit + 1) });
  expect([large.status, large.body.detail]).toEqual([413, expect.stringContaining('50 MiB')]);
  expect(await stored(organizationId, source_id)).toBeUndefined();
});

test('a large file goes through', async () => {
  const { organizationId, upload_url, source_id } = await newTicket();
  const answer = await put(upload_url, new Uint8Array(8 * 1024 * 1024).fill(65));
  expect(answer.body.bytes).toBe(8 * 1024 * 1024);
  expect((await env.FILES.head(`campaign_sources/${organizationId}/${source_id}`))?.size).toBe(8 * 1024 * 1024);
});

test.each([
  ['closes', (controller: ReadableStreamDefaultController) => controller.close()],
  ['goes away', (controller: ReadableStreamDefaultController) => controller.error(new Error('Network connection lost.'))],
])('of a file whose sender %s before the announced end nothing is stored', async (_how, stop) => {
  const { organizationId, upload_url, source_id } = await newTicket();
  const pieces = [new TextEncoder().encode(csv)];
  const body = new ReadableStream({
    pull(controller) {
      const piece = pieces.pop();
      if (piece) controller.enqueue(piece);
      else stop(controller);
    },
  });
  const headers = { 'Content-Length': String(csv.length + 10) };
  const response = await serviceWith({})(new Request(upload_url, { method: 'PUT', body, headers }));
  expect([response.status, await response.json()]).toEqual([400, { detail: expect.stringContaining('before its end') }]);
  expect(await stored(organizationId, source_id)).toBeUndefined();
});

test('a failure of the storage is one of the service, and not of who sent the file', async () => {
  const { upload_url } = await newTicket();
  const broken = { put: async () => Promise.reject(new Error('put: We encountered an internal error. Please try again. (10001)')) };
  const lines = await linesLoggedBy(async () => {
    const response = await serviceWith({ FILES: broken })(
      new Request(upload_url, { method: 'PUT', body: csv, headers: { 'Content-Length': `${csv.length}` } }),
    );
    expect(response.status).toBe(503);
  });
  expect(lines.join('')).not.toContain('signature');
});

test.each([
  ['../../../etc/passwd', 'etc_passwd'],
  ['Käufer & Söhne (März).csv', 'Kaufer_Sohne_Marz_.csv'],
  ['名簿.csv', 'csv'],
  ['###', 'contacts.csv'],
  ['a\r\nX-Evil: 1', 'a_X-Evil_1'],
])('the name of a file never comes into a path: %j', async (filename, kept) => {
  const { organizationId, upload_url, source_id } = await newTicket(filename);
  expect((await put(upload_url, csv)).status).toBe(200);
  const object = await env.FILES.head(`campaign_sources/${organizationId}/${source_id}`);
  expect(object?.customMetadata).toEqual({ filename: kept });
});

test.each([
  [{}, ['body', 'filename']],
  [{ filename: ' ' }, ['body', 'filename']],
  [{ filename: 7 }, ['body', 'filename']],
  [{ filename: 'a.csv', file_size: limit + 1 }, ['body', 'file_size']],
  [{ filename: 'a.csv', file_size: -1 }, ['body', 'file_size']],
  [{ filename: 'a.csv', file_size: '5' }, ['body', 'file_size']],
])('a URL for what cannot be uploaded is 422 and names the field: %j', async (body, loc) => {
  const { client } = await newOrganization();
  const answer = await client.post('/campaign/upload-url', body);
  expect([answer.status, answer.body.detail[0].loc]).toEqual([422, loc]);
});

test('a URL is not given without credentials, nor to a key that may only read', async () => {
  expect((await new Client(undefined).post('/campaign/upload-url', { filename: 'a.csv' })).status).toBe(401);
  const { client } = await newOrganization({ scopes: ['read'] });
  expect((await client.post('/campaign/upload-url', { filename: 'a.csv' })).status).toBe(403);
});
