import { encodeText } from '../support/encode-text.ts';
import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { Client, newOrganization } from '../support/organization.ts';
import { handbook, knowledgeService, longText, put } from './knowledge-service.ts';

const unknown = '00000000-0000-4000-8000-000000000000';

describe('process-document', () => {
  test('takes a document from pending to completed, and it is found', async () => {
    const service = await knowledgeService();
    const uploaded = await service.upload({ content: handbook() });
    const begun = await service.client.post('/knowledge-base/process-document', uploaded);
    expect([begun.status, begun.body]).toEqual([
      200,
      {
        id: expect.any(Number),
        document_uuid: uploaded.document_uuid,
        filename: 'handbook.md',
        file_size_bytes: 0,
        file_hash: '',
        mime_type: 'text/markdown',
        processing_status: 'pending',
        processing_error: null,
        total_chunks: 0,
        custom_metadata: { storage_key: uploaded.storage_key },
        parser_metadata: {},
        warnings: [],
        encoding: null,
        source_url: null,
        created_at: expect.stringMatching(/Z$/),
        updated_at: expect.stringMatching(/Z$/),
        organization_id: service.id,
        created_by: service.userId,
        is_active: true,
      },
    ]);
    await service.step();
    expect(await service.documentOf(uploaded.document_uuid)).toMatchObject({ processing_status: 'processing', total_chunks: 0 });
    await service.work();
    expect(await service.documentOf(uploaded.document_uuid)).toMatchObject({
      processing_status: 'completed',
      processing_error: null,
      total_chunks: 3,
      file_size_bytes: new TextEncoder().encode(handbook()).length,
      file_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      parser_metadata: { type: 'md', title: 'Returns handbook of the shop', pages: null },
    });
    const [first] = await service.search('how long can customers send an item back?', { limit: 1 });
    expect(first.chunk_text).toContain('45 days');
  });

  test('called again answers the same document as it is now, and begins nothing', async () => {
    const service = await knowledgeService();
    const uploaded = await service.upload({ content: handbook() });
    const answers = await Promise.all([1, 2, 3].map(() => service.client.post('/knowledge-base/process-document', uploaded)));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(service.messages).toHaveLength(1);
    await service.work();
    const again = await service.client.post('/knowledge-base/process-document', uploaded);
    expect([again.status, again.body.id, again.body.processing_status]).toEqual([200, answers[0]!.body.id, 'completed']);
    expect(service.messages).toHaveLength(0);
    expect((await service.client.get('/knowledge-base/documents')).body.total).toBe(1);
  });

  test('before the PUT is 409', async () => {
    const { client } = await knowledgeService();
    const { document_uuid, storage_key } = (await client.post('/knowledge-base/upload-url', { filename: 'a.txt', mime_type: 'text/plain' }))
      .body;
    const answer = await client.post('/knowledge-base/process-document', { document_uuid, storage_key });
    expect([answer.status, answer.body.detail]).toEqual([409, expect.stringContaining('has not been uploaded')]);
    expect((await client.get('/knowledge-base/documents')).body.total).toBe(0);
  });

  test('with a made-up or foreign uuid or key is 404, before and after processing', async () => {
    const [service, stranger] = [await knowledgeService(), await knowledgeService()];
    const uploaded = await service.upload({ content: handbook() });
    const theirs = await stranger.upload({ content: handbook() });
    const { document_uuid: uuid, storage_key: key } = uploaded;
    const wrong = [
      { document_uuid: unknown, storage_key: `knowledge_base/${service.id}/${unknown}/handbook.md` },
      { document_uuid: uuid, storage_key: `${key}x` },
      { document_uuid: uuid, storage_key: `knowledge_base/${service.id}/${uuid}/../../1/x` },
      { document_uuid: uuid, storage_key: theirs.storage_key },
      theirs,
      { document_uuid: theirs.document_uuid, storage_key: key },
      { document_uuid: theirs.document_uuid, storage_key: theirs.storage_key.replace(`/${stranger.id}/`, `/${service.id}/`) },
    ];
    const refuseAll = async () => {
      for (const body of wrong)
        expect([body, (await service.client.post('/knowledge-base/process-document', body)).status]).toEqual([body, 404]);
    };
    await refuseAll();
    await service.client.post('/knowledge-base/process-document', uploaded);
    await stranger.client.post('/knowledge-base/process-document', theirs);
    await refuseAll();
    expect((await service.client.get('/knowledge-base/documents')).body.total).toBe(1);
  });

  test('names what is wrong in its body', async () => {
    const { client } = await newOrganization();
    const answer = await client.post('/knowledge-base/process-document', { document_uuid: 'x' });
    expect([answer.status, answer.body.detail.map((one: any) => one.loc[1])]).toEqual([422, ['document_uuid', 'storage_key']]);
    const { client: reader } = await newOrganization({ scopes: ['read'] });
    expect((await reader.post('/knowledge-base/process-document', { document_uuid: unknown, storage_key: 'x' })).status).toBe(403);
  });
});

describe('the list of documents', () => {
  test('is newest first, with its filters and pages', async () => {
    const service = await knowledgeService();
    for (const [index, filename] of ['alpha.md', 'beta.md', 'Alphabet.md'].entries())
      await service.process({ content: handbook(`number ${index}`), filename });
    await service.process({ content: '', filename: 'empty.txt', mimeType: 'text/plain' });
    const names = async (query: string) => {
      const { status, body } = await service.client.get(`/knowledge-base/documents${query}`);
      return [status, body.documents.map((one: any) => one.filename), body.total];
    };
    expect(await names('')).toEqual([200, ['empty.txt', 'Alphabet.md', 'beta.md', 'alpha.md'], 4]);
    expect(await names('?search=ALPHA')).toEqual([200, ['Alphabet.md', 'alpha.md'], 2]);
    expect(await names('?status=failed')).toEqual([200, ['empty.txt'], 1]);
    expect(await names('?status=completed&limit=1&offset=1')).toEqual([200, ['beta.md'], 3]);
    const first = await service.client.get('/knowledge-base/documents?limit=3');
    const rest = await service.client.get(`/knowledge-base/documents?limit=3&cursor=${first.body.next_cursor}`);
    expect(rest.body).toMatchObject({ documents: [{ filename: 'alpha.md' }], total: 4, limit: 3, offset: 0, next_cursor: null });
  });

  test('refuses filters that are none, and shows nothing of others', async () => {
    const service = await knowledgeService();
    await service.begin({ content: handbook() });
    for (const query of ['status=done', 'limit=0', 'limit=501', 'offset=-1', 'cursor=x'])
      expect([query, (await service.client.get(`/knowledge-base/documents?${query}`)).status]).toEqual([query, 422]);
    const { client: stranger } = await newOrganization();
    expect((await stranger.get('/knowledge-base/documents')).body).toMatchObject({ documents: [], total: 0 });
    expect((await new Client(undefined).get('/knowledge-base/documents')).status).toBe(401);
  });
});

describe('one document', () => {
  test("is 404 when it is unknown or another organization's, 422 when its uuid is none; with and without a slash at the end", async () => {
    const service = await knowledgeService();
    const uuid = await service.begin({ content: handbook() });
    const { client: stranger } = await newOrganization();
    const calls = (client: Client, one: string) => [
      client.get(`/knowledge-base/documents/${one}`),
      client.get(`/knowledge-base/documents/${one}/chunks`),
      client.post(`/knowledge-base/documents/${one}/reprocess`),
      client.delete(`/knowledge-base/documents/${one}`),
    ];
    for (const [client, one] of [
      [service.client, unknown],
      [stranger, uuid],
    ] as const)
      for (const answer of await Promise.all(calls(client, one)))
        expect([answer.status, answer.body.detail]).toEqual([404, 'Document not found']);
    for (const answer of await Promise.all(calls(service.client, '42'))) expect(answer.status).toBe(422);
    for (const one of [uuid, `${uuid}/`, uuid.toUpperCase()])
      expect((await service.client.get(`/knowledge-base/documents/${one}`)).body.document_uuid).toBe(uuid);
  });

  test('is read with the scope read, and deleted and processed again with write alone', async () => {
    const service = await knowledgeService({ scopes: ['read'] });
    const path = `/knowledge-base/documents/${unknown}`;
    expect((await service.client.get(path)).status).toBe(404);
    expect((await service.client.get(`${path}/chunks`)).status).toBe(404);
    expect((await service.client.delete(path)).status).toBe(403);
    expect((await service.client.post(`${path}/reprocess`)).status).toBe(403);
  });
});

describe('the chunks of a document', () => {
  test('are listed in its order, page by page, with where they stand', async () => {
    const service = await knowledgeService();
    const { document_uuid: uuid } = await service.process({ content: longText(12), filename: 'manual.md' });
    const first = await service.client.get(`/knowledge-base/documents/${uuid}/chunks?limit=5`);
    expect([first.status, first.body.total, first.body.chunks.map((one: any) => one.chunk_index)]).toEqual([200, 12, [0, 1, 2, 3, 4]]);
    expect(first.body.chunks[3]).toEqual({
      id: expect.any(Number),
      document_id: expect.any(Number),
      document_uuid: uuid,
      filename: 'manual.md',
      chunk_index: 3,
      chunk_text: expect.stringContaining('GADGET-1003'),
      contextualized_text: expect.stringContaining('Part 3 of the gadget manual'),
      chunk_metadata: {
        headings: expect.arrayContaining(['Part 3 of the gadget manual']),
        page: null,
        char_start: expect.any(Number),
        char_end: expect.any(Number),
      },
      embedding_model: 'text-embedding-3-small',
    });
    const next = await service.client.get(`/knowledge-base/documents/${uuid}/chunks?limit=5&cursor=${first.body.next_cursor}`);
    const last = await service.client.get(`/knowledge-base/documents/${uuid}/chunks?limit=5&cursor=${next.body.next_cursor}`);
    expect([...next.body.chunks, ...last.body.chunks].map((one: any) => one.chunk_index)).toEqual([5, 6, 7, 8, 9, 10, 11]);
    expect(last.body.next_cursor).toBeNull();
    const skipped = await service.client.get(`/knowledge-base/documents/${uuid}/chunks?limit=2&offset=10`);
    expect(skipped.body.chunks.map((one: any) => one.chunk_index)).toEqual([10, 11]);
  });

  test('are none while it is processed for the first time', async () => {
    const service = await knowledgeService();
    const uuid = await service.begin({ content: handbook() });
    await service.step();
    await service.step();
    expect((await service.client.get(`/knowledge-base/documents/${uuid}/chunks`)).body).toMatchObject({ chunks: [], total: 0 });
  });
});

describe('DELETE', () => {
  test('answers the record, hides the document at once, and takes it out of search before anything is cleared away', async () => {
    const service = await knowledgeService();
    const record = await service.process({ content: handbook() });
    const other = await service.process({ content: handbook('of the other shop'), filename: 'other.md' });
    const path = `/knowledge-base/documents/${record.document_uuid}`;
    const gone = await service.client.delete(path);
    expect([gone.status, gone.body]).toEqual([200, { ...record, is_active: false, updated_at: expect.any(String) }]);
    const found = await service.search('K-200 kettle warranty', { limit: 50 });
    expect(new Set(found.map((one) => one.document_uuid))).toEqual(new Set([other.document_uuid]));
    for (const answer of [
      await service.client.get(path),
      await service.client.delete(path),
      await service.client.post(`${path}/reprocess`),
    ])
      expect(answer.status).toBe(404);
    expect((await service.client.get('/knowledge-base/documents')).body.total).toBe(1);
    const { storage_key } = record.custom_metadata;
    expect(
      (await service.client.post('/knowledge-base/process-document', { document_uuid: record.document_uuid, storage_key })).status,
    ).toBe(404);
  });

  test('with the same Idempotency-Key is answered as the first time', async () => {
    const service = await knowledgeService();
    const { document_uuid: uuid } = await service.process({ content: handbook() });
    const again = () => service.client.delete(`/knowledge-base/documents/${uuid}`, { 'Idempotency-Key': 'once' });
    const [first, second] = [await again(), await again()];
    expect([first.status, second.status, second.body]).toEqual([200, 200, first.body]);
  });
});

test('two organizations with the same file each have their own', async () => {
  const [one, other] = [await knowledgeService(), await knowledgeService()];
  const records = [await one.process({ content: handbook() }), await other.process({ content: handbook() })];
  expect(records.map(({ processing_status }) => processing_status)).toEqual(['completed', 'completed']);
  expect((await one.search('kettle', { limit: 50 })).every((found) => found.document_uuid === records[0].document_uuid)).toBe(true);
  expect(await one.search('kettle', { document_uuids: [records[1].document_uuid] })).toEqual([]);
});

test('an upload whose ticket is lost is not taken', async () => {
  const service = await knowledgeService();
  const { body } = await service.client.post('/knowledge-base/upload-url', { filename: 'a.txt', mime_type: 'text/plain' });
  await env.FILES.delete(`knowledge_base_uploads/${service.id}/${body.document_uuid}.json`);
  expect((await put(body.upload_url, 'text')).status).toBe(403);
});

describe('what was not read as it is meant', () => {
  const turkish = encodeText('Ayşe ve Şükrü', 'windows-1254');

  test('is in the record and in the list, and another reading with the named encoding takes it away', async () => {
    const service = await knowledgeService();
    const broken = await service.process({
      content: 'name,note\nAnn,"says "hi", twice"\nBob,fine\n',
      filename: 'notes.csv',
      mimeType: 'text/csv',
    });
    expect(broken.warnings).toEqual([
      {
        code: 'rows_broken',
        count: 1,
        message: '1 row has broken quotes (row 2) and may be cut into wrong cells; double the quotes within cells',
      },
    ]);
    const guessed = await service.process({ content: turkish, filename: 'names.txt', mimeType: 'text/plain' });
    expect(guessed).toMatchObject({ processing_status: 'completed', encoding: null, warnings: [{ code: 'encoding_uncertain', count: 1 }] });
    expect((await service.client.get('/knowledge-base/documents')).body.documents.map(({ warnings }: any) => warnings)).toEqual([
      guessed.warnings,
      broken.warnings,
    ]);
    const path = `/knowledge-base/documents/${guessed.document_uuid}`;
    expect((await service.client.post(`${path}/reprocess`, { encoding: 'latin5' })).body).toMatchObject({ encoding: 'latin5' });
    await service.work();
    expect((await service.client.get(path)).body).toMatchObject({ processing_status: 'completed', encoding: 'latin5', warnings: [] });
    expect((await service.client.get(`${path}/chunks`)).body.chunks[0].chunk_text).toBe('Ayşe ve Şükrü');
    // Without a body it stays; null drops it.
    expect((await service.client.post(`${path}/reprocess`)).body.encoding).toBe('latin5');
    await service.work();
    expect((await service.client.post(`${path}/reprocess`, { encoding: null })).body.encoding).toBeNull();
  });

  test('an encoding that nobody knows is refused, one that the file is not in fails the document', async () => {
    const service = await knowledgeService();
    const { document_uuid, custom_metadata } = await service.process({ content: turkish, filename: 'names.txt', mimeType: 'text/plain' });
    const again = (encoding: string) => service.client.post(`/knowledge-base/documents/${document_uuid}/reprocess`, { encoding });
    expect(await again('klingon')).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'encoding'] }] } });
    const other = await knowledgeService();
    const foreign = await other.client.post(`/knowledge-base/documents/${document_uuid}/reprocess`, { encoding: 'latin5' });
    expect(foreign.status).toBe(404);
    const named = { document_uuid, storage_key: custom_metadata.storage_key, encoding: 'klingon' };
    expect((await service.client.post('/knowledge-base/process-document', named)).status).toBe(422);
    expect((await again('utf-8')).status).toBe(200);
    await service.work();
    expect(await service.documentOf(document_uuid)).toMatchObject({
      processing_status: 'failed',
      processing_error: expect.stringContaining('the file is not in utf-8'),
    });
  });
});
