import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { embeddings } from '../../src/providers/embeddings/embeddings.ts';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { searchChunks } from '../../src/knowledge-base/search/search-chunks.ts';
import { getSettings } from '../../src/settings.ts';
import { simulatorsUrl } from '../support/carrier.ts';
import { Client, newOrganization } from '../support/organization.ts';
import { stubFetch } from '../support/stub-fetch.ts';
import { explainQueryPlans, recordedClient, rowsRead } from '../support/recorded-database.ts';
import { handbook, knowledgeService, longText, type KnowledgeService } from './knowledge-service.ts';
import { realFetch } from '../support/real-fetch.ts';

afterEach(() => vi.restoreAllMocks());

async function cosine(bindings: Env, one: string, other: string): Promise<number> {
  const answer = await embeddings(getSettings(bindings)).embed([one, other]);
  if ('failure' in answer) throw new Error(answer.message);
  const [a, b] = answer.vectors as [Float32Array, Float32Array];
  const product = (x: Float32Array, y: Float32Array) => x.reduce((sum, value, index) => sum + value * y[index]!, 0);
  return product(a, b) / Math.sqrt(product(a, a) * product(b, b));
}

async function withHandbook(): Promise<KnowledgeService & { uuid: string }> {
  const service = await knowledgeService();
  const { document_uuid } = await service.process({ content: handbook() });
  return { ...service, uuid: document_uuid };
}

describe('search', () => {
  test('answers chunks with their document, the query, and how many they are', async () => {
    const { client, uuid } = await withHandbook();
    const { status, body } = await client.post('/knowledge-base/search', {
      query: '  how long can customers send an item back?  ',
      limit: 2,
    });
    expect([status, body]).toEqual([
      200,
      {
        query: 'how long can customers send an item back?',
        total_results: 2,
        chunks: [
          {
            id: expect.any(Number),
            document_id: expect.any(Number),
            document_uuid: uuid,
            filename: 'handbook.md',
            chunk_index: 0,
            chunk_text: expect.stringContaining('within 45 days'),
            contextualized_text: expect.stringContaining('Returns handbook of the shop'),
            chunk_metadata: expect.objectContaining({ headings: expect.arrayContaining(['Refund window']), page: null }),
            similarity: expect.any(Number),
          },
          expect.objectContaining({ document_uuid: uuid }),
        ],
      },
    ]);
  });

  test('finds five when no limit is given, and an empty knowledge base has nothing', async () => {
    const service = await knowledgeService();
    expect((await service.client.post('/knowledge-base/search', { query: 'gadget' })).body).toEqual({
      chunks: [],
      query: 'gadget',
      total_results: 0,
    });
    await service.process({ content: longText(9) });
    expect(await service.search('gadget')).toHaveLength(5);
  });

  test.each(['hybrid', 'vector', 'keyword'])('by %s gives each chunk once, and its true cosine similarity', async (mode) => {
    const { search, bindings } = await withHandbook();
    const query = 'kettle warranty';
    const found = await search(query, { limit: 50, mode });
    expect(found.length).toBeGreaterThan(0);
    expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
    for (const { similarity, contextualized_text } of found)
      expect(Math.abs(similarity - (await cosine(bindings, query, contextualized_text)))).toBeLessThan(0.01);
  });

  test.each(['K-200', 'k-200', 'Model K-200?', 'what does the K-200 cost'])('finds the exact code in %j first', async (query) => {
    const { search, process } = await withHandbook();
    await process({ content: longText(40, 'kettle'), filename: 'kettles.md' });
    for (const mode of ['hybrid', 'keyword']) expect((await search(query, { limit: 1, mode }))[0].chunk_text).toContain('K-200');
  });

  test('finds codes in texts without blanks, and words of them', async () => {
    const service = await knowledgeService();
    await service.process({
      content: '# 手册\n\n## 保修\n\n型号K-200的保修期为三年。\n\n## 营业时间\n\n里斯本店早上十点开门。',
      filename: '手册.md',
    });
    for (const query of ['K-200', '保修期多长'])
      expect((await service.search(query, { mode: 'keyword', limit: 1 }))[0].chunk_text).toContain('三年');
    expect((await service.search('几点开门', { mode: 'keyword', limit: 1 }))[0].chunk_text).toContain('十点');
  });

  test('by words finds only what has one of them, by their stems', async () => {
    const { search } = await withHandbook();
    expect((await search('refunding', { mode: 'keyword', limit: 1 }))[0].chunk_text).toContain('Refunds');
    expect(await search('zeppelin', { mode: 'keyword' })).toEqual([]);
    expect(await search('?!', { mode: 'keyword' })).toEqual([]);
    expect((await search('?!')).length).toBeGreaterThan(0);
  });

  test('leaves out what is less similar than min_similarity, by the similarity that it shows', async () => {
    const { search } = await withHandbook();
    for (const mode of ['hybrid', 'vector', 'keyword']) {
      const all = await search('kettle warranty', { mode, limit: 50 });
      const threshold = Math.max(...all.map(({ similarity }) => similarity));
      const some = await search('kettle warranty', { mode, limit: 50, min_similarity: threshold });
      expect(some.map(({ id }) => id)).toEqual(all.filter(({ similarity }) => similarity >= threshold).map(({ id }) => id));
      expect(some.length).toBeGreaterThan(0);
      expect(await search('kettle warranty', { mode, min_similarity: 1 })).toEqual([]);
    }
  });

  test('only in the documents that are named', async () => {
    const { search, process, uuid } = await withHandbook();
    const { document_uuid: other } = await process({ content: handbook('of the other shop'), filename: 'other.md' });
    for (const mode of ['hybrid', 'vector', 'keyword']) {
      const found = await search('kettle warranty', { mode, limit: 50, document_uuids: [other] });
      expect(new Set(found.map(({ document_uuid }) => document_uuid))).toEqual(new Set([other]));
      expect((await search('kettle warranty', { mode, limit: 50, document_uuids: [uuid, other] })).length).toBeGreaterThan(found.length);
    }
    expect(await search('kettle', { document_uuids: [crypto.randomUUID()] })).toEqual([]);
  });

  test('keeps passages of different documents that say the same', async () => {
    const service = await knowledgeService();
    const paragraph = '\n\n## Opening hours\n\nThe shop opens at ten and closes at seven.\n';
    for (const town of ['Lisbon', 'Porto']) await service.process({ content: `# ${town}${paragraph}`, filename: `${town}.md` });
    const found = await service.search('when does the shop open?', { limit: 2 });
    expect(new Set(found.map(({ filename }) => filename))).toEqual(new Set(['Lisbon.md', 'Porto.md']));
  });

  test('shows nothing of a document that is being processed for the first time', async () => {
    const service = await knowledgeService();
    await service.begin({ content: handbook() });
    for (let more = true; more; more = (await service.step()) !== undefined && service.messages.length > 0)
      if (service.messages.length > 0) expect(await service.search('kettle')).toEqual([]);
    expect((await service.search('kettle')).length).toBeGreaterThan(0);
  });

  test('finds what stands behind a hundred chunks of deleted documents that nobody has cleared away', async () => {
    const service = await knowledgeService();
    const { document_uuid: gone } = await service.process({ content: longText(130) });
    await service.process({ content: '# Shop\n\nWe mend every gadget, even those whose manual is lost.\n', filename: 'shop.md' });
    await service.client.delete(`/knowledge-base/documents/${gone}`);
    expect(service.messages).toHaveLength(1);
    for (const mode of ['hybrid', 'vector', 'keyword']) {
      const found = await service.search('The gadget number 5 has code GADGET-1005 and lasts 7 years', { mode });
      expect([mode, found.map(({ filename }) => filename)]).toEqual([mode, ['shop.md']]);
    }
  });

  test.each([
    [{}, 'query'],
    [{ query: '' }, 'query'],
    [{ query: ' \n\t ' }, 'query'],
    [{ query: 7 }, 'query'],
    [{ query: 'x'.repeat(8001) }, 'query'],
    [{ query: 'x', limit: 0 }, 'limit'],
    [{ query: 'x', limit: -1 }, 'limit'],
    [{ query: 'x', limit: 101 }, 'limit'],
    [{ query: 'x', limit: 1.5 }, 'limit'],
    [{ query: 'x', limit: '5' }, 'limit'],
    [{ query: 'x', limit: null }, 'limit'],
    [{ query: 'x', min_similarity: 2 }, 'min_similarity'],
    [{ query: 'x', mode: 'magic' }, 'mode'],
    [{ query: 'x', document_uuids: [] }, 'document_uuids'],
    [{ query: 'x', document_uuids: ['5'] }, 'document_uuids'],
    [{ query: 'x', document_uuids: 'all' }, 'document_uuids'],
  ])('refuses %j', async (body, field) => {
    const { client } = await newOrganization();
    const answer = await client.post('/knowledge-base/search', body);
    expect([answer.status, answer.body.detail[0].loc.slice(0, 2), answer.body.detail[0].msg]).toEqual([
      422,
      ['body', field],
      expect.any(String),
    ]);
  });

  test('takes a query of 8,000 characters', async () => {
    const { search } = await withHandbook();
    expect((await search('kettle '.repeat(1142).trim(), { limit: 1 })).length).toBe(1);
  });

  test('needs the scope read alone, and credentials; others find nothing', async () => {
    await withHandbook();
    const reader = await knowledgeService({ scopes: ['read'] });
    for (const path of ['/knowledge-base/search', '/knowledge-base/search/']) {
      const { status, body } = await reader.client.post(path, { query: 'kettle' });
      expect([path, status, body.chunks]).toEqual([path, 200, []]);
    }
    expect((await new Client(undefined).post('/knowledge-base/search', { query: 'kettle' })).status).toBe(401);
  });

  test('without the embedding provider is 502 and says why, never with the key', async () => {
    const unreachable = await knowledgeService({ bindings: { OPENAI_API_KEY: '' } });
    const { status, body } = await unreachable.client.post('/knowledge-base/search', { query: 'kettle' });
    expect([status, body.detail]).toEqual([502, expect.stringContaining('OPENAI_API_KEY is empty')]);
    const service = await withHandbook();
    await fetch(`${simulatorsUrl}/__sim/faults`, {
      method: 'POST',
      body: JSON.stringify({ provider: 'openai', match: { path: '/v1/embeddings' }, status: 503, headers: { 'retry-after': '30' } }),
    });
    const down = await service.client.post('/knowledge-base/search', { query: 'kettle' });
    expect([down.status, down.body.detail, down.headers.get('retry-after')]).toEqual([502, expect.stringContaining('503'), '30']);
    expect((await service.client.post('/knowledge-base/search', { query: 'kettle' })).status).toBe(200);
  });
});

test('an agent gets the rank of each chunk in each list', async () => {
  const { bindings, id } = await withHandbook();
  const context = (await backgroundContext(bindings, id, () => {}))!;
  const found = await searchChunks(context, { query: 'K-200', limit: 3 });
  expect(found[0]).toMatchObject({ keyword_rank: 1, vector_rank: expect.any(Number), similarity: expect.any(Number) });
  expect(found.slice(1).every(({ keyword_rank }) => keyword_rank === null)).toBe(true);
  expect(await searchChunks(context, { query: 'K-200', limit: 3, documentUuids: [] })).toEqual([]);
});

describe('what a search costs', () => {
  test('is two calls to the database, and rows by index, whoever else has chunks', async () => {
    const crowd = await knowledgeService();
    await crowd.process({ content: longText(150, 'kettle') });
    const { key, bindings } = await withHandbook();
    const { client, recording } = recordedClient(key, { bindings });
    await client.post('/knowledge-base/search', { query: 'kettle warranty', limit: 3 });
    recording.statements.length = 0;
    recording.calls = 0;
    const { body } = await client.post('/knowledge-base/search', { query: 'kettle warranty', limit: 3 });
    expect(body.chunks).toHaveLength(3);
    expect(recording.calls).toBe(2);
    expect(rowsRead(recording)).toBeLessThan(30);
    for (const { sql, plan } of await explainQueryPlans(recording))
      for (const line of plan) if (line.startsWith('SCAN') && !/VIRTUAL TABLE/.test(line)) expect.fail(`${sql}: ${line}`);
  });

  test('of one model call, however many chunks there are', async () => {
    const { bindings, id } = await withHandbook();
    const base = `http://model-of-${id}.test/v1`;
    const asked = stubFetch(base, (request) => realFetch(new Request(request.url.replace(base, `${simulatorsUrl}/openai/v1`), request)));
    const context = (await backgroundContext({ ...bindings, OPENAI_BASE_URL: base } as Env, id, () => {}))!;
    await searchChunks(context, { query: 'kettle', limit: 3 });
    expect(asked).toHaveLength(1);
  });
});

test('chunks of another organization with the same words are not found, even where the index would show them', async () => {
  const [mine, theirs] = [await withHandbook(), await withHandbook()];
  const rows = await env.DB.prepare('SELECT id FROM knowledge_chunk WHERE organization_id = ?').bind(theirs.id).all<{ id: number }>();
  const ids = new Set(rows.results.map(({ id }) => id));
  for (const mode of ['hybrid', 'vector', 'keyword'])
    expect((await mine.search('kettle warranty', { mode, limit: 50 })).some(({ id }) => ids.has(id))).toBe(false);
});
