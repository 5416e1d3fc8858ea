import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { retrievePassages } from '../../src/knowledge-base/search/retrieve-passages.ts';
import { simulatorsUrl } from '../support/carrier.ts';
import { stubFetch } from '../support/stub-fetch.ts';
import { handbook, knowledgeService, longText, type KnowledgeService } from './knowledge-service.ts';
import { realFetch } from '../support/real-fetch.ts';

afterEach(() => vi.restoreAllMocks());

const contextOf = async ({ bindings, id }: KnowledgeService, more: object = {}) =>
  (await backgroundContext({ ...bindings, ...more } as Env, id, () => {}))!;

async function withHandbook() {
  const service = await knowledgeService();
  const { document_uuid: uuid } = await service.process({ content: handbook() });
  return { service, uuid, context: await contextOf(service) };
}

const nothing = { text: expect.stringMatching(/^Nothing about this was found/), receipts: [] };
const question = 'How long is the warranty on the K-200 kettle?';

describe('what is retrieved', () => {
  test('is the passages that a search finds, and a receipt of each in the same order', async () => {
    const { service, context, uuid } = await withHandbook();
    await service.process({ content: longText(12, 'kettle'), filename: 'kettles.md' });
    const { text, receipts } = await retrievePassages(context, question, null);
    const found = await service.search(question);
    expect(receipts.map(({ chunk_id }) => chunk_id)).toEqual(found.map(({ id }) => id));
    expect(receipts[0]).toEqual({
      chunk_id: found[0].id,
      document_uuid: uuid,
      filename: 'handbook.md',
      similarity: found[0].similarity,
      vector_rank: 1,
      keyword_rank: 1,
    });
    expect(text.match(/<passage document="(?:handbook|kettles).md" section="[^"]+">/g)).toHaveLength(receipts.length);
    expect(text.split('<passage')[1]).toContain('three year warranty');
  });

  test('leaves out what has nothing to do with the query, though a search shows it', async () => {
    const service = await knowledgeService();
    await service.process({ content: '# Copper\n\nKettles boil quickly.\n\n# Zebras\n\nZebras graze on savannas.\n' });
    const query = 'Which kettles boil?';
    const { receipts, text } = await retrievePassages(await contextOf(service), query, null);
    expect([receipts.length, (await service.search(query)).length]).toEqual([1, 2]);
    expect(text).not.toContain('Zebras');
  });

  test('has room for what a model reads in one go', async () => {
    const service = await knowledgeService();
    const paragraph = (section: number) => `## Part ${section}\n\n${`The gadget ${section} is mended by the shop in town. `.repeat(38)}\n`;
    await service.process({ content: Array.from({ length: 8 }, (_, section) => paragraph(section)).join('\n') });
    const { text, receipts } = await retrievePassages(await contextOf(service), 'Who mends the gadget?', null);
    expect([receipts.length, text.length < 11_000]).toEqual([5, true]);
  });

  test('holds only the documents that are named, however their uuids are written', async () => {
    const { service, context, uuid } = await withHandbook();
    const { document_uuid: other } = await service.process({ content: longText(3, 'kettle'), filename: 'kettles.md' });
    const documents = async (uuids: string[]) =>
      new Set((await retrievePassages(context, question, uuids)).receipts.map(({ document_uuid }) => document_uuid));
    expect(await documents([uuid.toUpperCase()])).toEqual(new Set([uuid]));
    expect(await documents([other, crypto.randomUUID()])).toEqual(new Set([other]));
  });

  test('is nothing where there is nothing to look in, or nothing like it', async () => {
    const { context } = await withHandbook();
    expect(await retrievePassages(context, question, [])).toEqual(nothing);
    expect(await retrievePassages(context, question, [crypto.randomUUID()])).toEqual(nothing);
    expect(await retrievePassages(context, 'zeppelin', null)).toEqual(nothing);
    expect(await retrievePassages(context, ' \n', null)).toEqual(nothing);
    expect(await retrievePassages(await contextOf(await knowledgeService()), question, null)).toEqual(nothing);
  });

  test('is gone with its document at once, before anybody has cleared it away', async () => {
    const { service, context, uuid } = await withHandbook();
    await service.client.delete(`/knowledge-base/documents/${uuid}`);
    for (const uuids of [null, [uuid]]) expect(await retrievePassages(context, question, uuids)).toEqual(nothing);
  });

  test('is never another organization’s, also when its document is named', async () => {
    const { uuid } = await withHandbook();
    const stranger = await contextOf(await knowledgeService());
    for (const uuids of [null, [uuid]]) expect(await retrievePassages(stranger, question, uuids)).toEqual(nothing);
  });

  test('a query without end is cut, not refused', async () => {
    const { context } = await withHandbook();
    expect((await retrievePassages(context, 'kettle '.repeat(3_000), null)).receipts.length).toBeGreaterThan(0);
  });
});

describe('what cannot be retrieved', () => {
  test('says why: no key, no index', async () => {
    const { service } = await withHandbook();
    const keyless = await contextOf(service, { OPENAI_API_KEY: '' });
    await expect(retrievePassages(keyless, question, null)).rejects.toMatchObject({
      code: 'provider_failed',
      message: /OPENAI_API_KEY is empty/,
    });
    await env.DB.prepare("UPDATE vector_placement SET kept_in = 'vectorize' WHERE organization_id = ?").bind(service.id).run();
    const unbound = await contextOf(service, { VECTORS: undefined });
    await expect(retrievePassages(unbound, question, null)).rejects.toMatchObject({ code: 'provider_failed', message: /bound as VECTORS/ });
  });

  test('because nobody waits any more, is given up: what comes back late is not looked for in the index', async () => {
    const { service } = await withHandbook();
    const base = `http://slow-model-of-${service.id}.test/v1`;
    const controller = new AbortController();
    const asked = stubFetch(base, (request) => {
      controller.abort();
      return realFetch(new Request(request.url.replace(base, `${simulatorsUrl}/openai/v1`), request));
    });
    const query = vi.fn();
    const context = await contextOf(service, { OPENAI_BASE_URL: base, VECTOR_INDEX: { getByName: () => ({ query }) }, VECTORS: { query } });
    await expect(retrievePassages(context, question, null, controller.signal)).rejects.toThrow();
    expect([asked.length, query.mock.calls.length]).toEqual([1, 0]);
  });

  test('because nobody waits any more, asks for nothing at all', async () => {
    const { service, uuid } = await withHandbook();
    const base = `http://unasked-model-of-${service.id}.test/v1`;
    const asked = stubFetch(base, (request) => fetch(new Request(request.url.replace(base, `${simulatorsUrl}/openai/v1`), request)));
    const context = await contextOf(service, { OPENAI_BASE_URL: base });
    await expect(retrievePassages(context, question, [uuid], AbortSignal.abort())).rejects.toThrow();
    expect(asked).toEqual([]);
  });
});
