import { env, exports } from 'cloudflare:workers';
import { describe, expect, test, vi } from 'vitest';
import { serviceWith } from '../http/service.ts';
import { Client, newOrganization } from '../support/organization.ts';
import { knowledgeService, put } from './knowledge-service.ts';

const limit = 25 * 1024 * 1024;
const text = '# Handbook\n\nWe open at nine.\n';

async function newTicket(filename = 'handbook.md', mimeType = 'text/markdown') {
  const { client, id } = await newOrganization();
  const { body } = await client.post('/knowledge-base/upload-url', { filename, mime_type: mimeType });
  return { client, organizationId: id, ...(body as { upload_url: string; document_uuid: string; storage_key: string }) };
}

const stored = async (key: string): Promise<string | undefined> => (await env.FILES.get(key))?.text();
const sha256 = async (content: string): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(content))).toString('hex');

describe('an upload URL', () => {
  test('takes a file without credentials, which is stored byte by byte with its hash', async () => {
    const { organizationId, upload_url, document_uuid, storage_key } = await newTicket('Hand book.MD');
    expect(upload_url).toMatch(/^https:\/\/service\.test\/api\/v1\/uploads\/knowledge-base\/.*expires=\d+&signature=[0-9a-f]{64}$/);
    expect(storage_key).toBe(`knowledge_base/${organizationId}/${document_uuid}/Hand_book.MD`);
    const expires = Number(new URL(upload_url).searchParams.get('expires')) * 1000;
    expect(Math.abs(expires - Date.now() - 1_800_000)).toBeLessThan(60_000);
    const answer = await put(upload_url, text, { 'Content-Type': 'text/markdown' });
    expect([answer.status, answer.body]).toEqual([
      200,
      { status: 'uploaded', document_uuid, bytes: text.length, sha256: await sha256(text) },
    ]);
    expect(await stored(storage_key)).toBe(text);
  });

  test('makes no document', async () => {
    const { client, upload_url, document_uuid } = await newTicket();
    await put(upload_url, text);
    expect((await client.get('/knowledge-base/documents')).body).toMatchObject({ documents: [], total: 0 });
    expect((await client.get(`/knowledge-base/documents/${document_uuid}`)).status).toBe(404);
  });

  test('is under the public address of the service when it has one', async () => {
    const { key } = await newOrganization();
    const client = new Client(key, serviceWith({ PUBLIC_URL: 'https://calls.example.com' }));
    const { body } = await client.post('/knowledge-base/upload-url', { filename: 'handbook.md', mime_type: 'text/markdown' });
    expect(body.upload_url).toMatch(/^https:\/\/calls\.example\.com\/api\/v1\/uploads\//);
    expect((await put(body.upload_url, text)).status).toBe(200);
  });

  test('that was changed in any part is 403 and stores nothing', async () => {
    const { organizationId, upload_url, document_uuid } = await newTicket();
    const other = crypto.randomUUID();
    const changed = [
      upload_url.replace(`/${organizationId}/`, `/${organizationId + 1}/`),
      upload_url.replace(document_uuid, other),
      upload_url.replace(document_uuid, `${document_uuid}%2F..%2F${other}`),
      upload_url.replace(/max_bytes=\d+/, `max_bytes=${limit * 2}`),
      upload_url.replace(/expires=\d+/, (found) => `${found}0`),
      upload_url.replace(/signature=./, (found) => (found.endsWith('0') ? 'signature=1' : 'signature=0')),
      upload_url.replace(/&signature=.*/, ''),
      `${upload_url}&x=1`,
      upload_url.split('?')[0]!,
    ];
    for (const url of changed) {
      const answer = await put(url, text);
      expect([url, answer.status, answer.body.detail]).toEqual([url, 403, expect.stringContaining('POST /knowledge-base/upload-url')]);
    }
    expect((await env.FILES.list({ prefix: `knowledge_base/${organizationId}/` })).objects).toEqual([]);
  });

  test('is for PUT alone, and expires', async () => {
    const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 1_801_000);
    const { upload_url, storage_key } = await newTicket();
    now.mockRestore();
    expect((await put(upload_url, text)).status).toBe(403);
    expect(await stored(storage_key)).toBeUndefined();
    const fresh = await newTicket();
    for (const method of ['GET', 'POST', 'DELETE']) {
      const { status } = await exports.default.fetch(new Request(fresh.upload_url, { method }));
      expect([method, status]).toEqual([method, 401]);
    }
  });

  test('without a length is 411, one byte over 25 MiB 413, before a byte is read; 25 MiB go through', async () => {
    const { upload_url, storage_key } = await newTicket();
    const pieces = () => new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1024)) });
    const chunked = await put(upload_url, pieces());
    expect([chunked.status, chunked.body.detail]).toEqual([411, expect.stringContaining('Content-Length')]);
    const large = await put(upload_url, pieces(), { 'Content-Length': String(limit + 1) });
    expect([large.status, large.body.detail]).toEqual([413, expect.stringContaining('25 MiB')]);
    expect(await stored(storage_key)).toBeUndefined();
    expect((await put(upload_url, new Uint8Array(limit).fill(65))).body.bytes).toBe(limit);
    expect((await env.FILES.head(storage_key))?.size).toBe(limit);
  });

  test('a file whose sender stops before its end is not stored, and the file before it does not count any more', async () => {
    const { client, upload_url, document_uuid, storage_key } = await newTicket();
    await put(upload_url, text);
    const pieces = [new TextEncoder().encode('# Half')];
    const body = new ReadableStream({
      pull(controller) {
        const piece = pieces.pop();
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
    });
    const answer = await put(upload_url, body, { 'Content-Length': '500' });
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringContaining('send it again')]);
    const begun = await client.post('/knowledge-base/process-document', { document_uuid, storage_key });
    expect([begun.status, begun.body.detail]).toEqual([409, expect.stringContaining('PUT')]);
    await put(upload_url, text);
    expect(await stored(storage_key)).toBe(text);
  });

  test('a second PUT takes the place of the first until processing begins, and is 409 afterwards', async () => {
    const service = await knowledgeService();
    const ticket = (await service.client.post('/knowledge-base/upload-url', { filename: 'a.txt', mime_type: 'text/plain' })).body;
    await put(ticket.upload_url, 'The first text, about apples.');
    expect((await put(ticket.upload_url, 'The second text, about pears.')).status).toBe(200);
    const { document_uuid, storage_key } = ticket;
    expect((await service.client.post('/knowledge-base/process-document', { document_uuid, storage_key })).status).toBe(200);
    const late = await put(ticket.upload_url, 'The third text, about plums.');
    expect([late.status, late.body.detail]).toEqual([409, expect.stringContaining('has begun')]);
    await service.work();
    const { file_hash } = await service.documentOf(document_uuid);
    expect(file_hash).toBe(await sha256('The second text, about pears.'));
    expect((await service.search('pears', { limit: 1 }))[0].chunk_text).toContain('second');
    await service.client.delete(`/knowledge-base/documents/${document_uuid}`);
    expect((await put(ticket.upload_url, 'The fourth text.')).status).toBe(409);
  });
});

describe('upload-url', () => {
  test.each([
    ['../../etc/passwd.txt', 'passwd.txt'],
    ['C:\\fakepath\\report.pdf', 'report.pdf'],
    ['..\\..\\.env.md', 'env.md'],
    ['Überblick 2026 (neu).docx', 'Überblick_2026_neu_.docx'],
    ['手册.pdf', '手册.pdf'],
    ['a/b/c/', null],
    ['price list\u0000\n.csv', 'price_list_.csv'],
    ['x..pdf', 'x.pdf'],
    [`${'n'.repeat(200)}.pdf`, `${'n'.repeat(96)}.pdf`],
  ])('gives %j a key without paths', async (filename, safe) => {
    const { client, id } = await newOrganization();
    const { status, body } = await client.post('/knowledge-base/upload-url', { filename, mime_type: 'application/pdf' });
    expect(status).toBe(200);
    const [, organizationId, uuid, name, ...more] = body.storage_key.split('/');
    expect([Number(organizationId), uuid, more]).toEqual([id, body.document_uuid, []]);
    expect(name).toBe(safe ?? 'c');
  });

  test('shows the name as it was given, without its folders', async () => {
    const service = await knowledgeService();
    const record = await service.process({ content: text, filename: '../Überblick 2026 (neu).md' });
    expect([record.filename, record.processing_status]).toEqual(['Überblick 2026 (neu).md', 'completed']);
  });

  test.each([
    ['photo.png', 'image/png'],
    ['old.doc', 'application/msword'],
    ['archive.zip', 'application/zip'],
    ['noextension', 'application/octet-stream'],
  ])('refuses %s (%s) with 415 and names what can be read', async (filename, mime_type) => {
    const { client } = await newOrganization();
    const { status, body } = await client.post('/knowledge-base/upload-url', { filename, mime_type });
    expect([status, body.detail]).toEqual([415, expect.stringContaining('pdf, docx, pptx')]);
  });

  test.each([
    ['notes.v2', 'text/markdown; charset=utf-8'],
    ['README', 'text/plain'],
    ['scan.PDF', 'application/octet-stream'],
  ])('takes %s (%s): one of both tells', async (filename, mime_type) => {
    const { client } = await newOrganization();
    expect((await client.post('/knowledge-base/upload-url', { filename, mime_type })).status).toBe(200);
  });

  test.each([
    [{ mime_type: 'text/plain' }, 'filename'],
    [{ filename: '', mime_type: 'text/plain' }, 'filename'],
    [{ filename: '../..', mime_type: 'text/plain' }, 'filename'],
    [{ filename: 'a'.repeat(300), mime_type: 'text/plain' }, 'filename'],
    [{ filename: 7, mime_type: 'text/plain' }, 'filename'],
    [{ filename: 'a.txt' }, 'mime_type'],
    [{ filename: 'a.txt', mime_type: ' ' }, 'mime_type'],
  ])('refuses %j', async (body, field) => {
    const { client } = await newOrganization();
    const answer = await client.post('/knowledge-base/upload-url', body);
    expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ['body', field]]);
  });

  test('needs the scope write', async () => {
    const { client } = await newOrganization({ scopes: ['read'] });
    expect((await client.post('/knowledge-base/upload-url', { filename: 'a.txt', mime_type: 'text/plain' })).status).toBe(403);
    expect((await new Client(undefined).post('/knowledge-base/upload-url', { filename: 'a.txt', mime_type: 'text/plain' })).status).toBe(
      401,
    );
  });
});
