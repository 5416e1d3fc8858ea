import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Effects, StepResult } from '../../src/automation-workflows/nodes/contract.ts';
import { knowledgeSearchNode } from '../../src/automation-workflows/nodes/types/knowledge-search.ts';
import { buildScope } from '../../src/expressions/templates/scope.ts';
import { type ChunkSearch, type FoundChunk, QueryEmbeddingError } from '../../src/knowledge-base/search/search-chunks.ts';
import { ServiceError } from '../../src/library/errors.ts';

const now = Date.UTC(2026, 10, 20);
const uuid = '7a0c9f9e-64a5-4a55-9f0c-0d9b8ff5c2a1';

const chunkNumber = (id: number, text = `Fact ${id}`): FoundChunk => ({
  id,
  document_id: 3,
  document_uuid: uuid,
  filename: 'handbook.pdf',
  chunk_index: id,
  chunk_text: text,
  contextualized_text: `Handbook\n\n${text}`,
  chunk_metadata: { headings: ['Returns', 'Refund window'], page: 3, char_start: 0, char_end: text.length },
  embedding_model: 'm',
  similarity: 0.5,
  vector_rank: id,
  keyword_rank: null,
});

interface Options {
  found?: FoundChunk[] | Error;
  scope?: Record<string, unknown>;
  dryRun?: boolean;
}

/** The node's result, and the queries of its searches. */
async function run(data: object, { found = [chunkNumber(1)], scope = {}, dryRun = false }: Options = {}) {
  const asked: ChunkSearch[] = [];
  const searchKnowledge: Effects['searchKnowledge'] = async (search) => {
    asked.push(search);
    if (found instanceof Error) throw found;
    return found;
  };
  const result: StepResult = await knowledgeSearchNode.run({
    node: { id: 'look', type: 'knowledge_search', data: data as Record<string, unknown> },
    data: knowledgeSearchNode.dataSchema.parse(data),
    scope: buildScope({ contact: { first_name: 'Ada' } }, scope),
    now,
    enteredAt: now,
    key: '7:look:1:1',
    mayHaveHappened: false,
    unaskedTries: 0,
    quietHoursStart: null,
    call: { item: 'look:1:1', until: null },
    dryRun,
    effects: { searchKnowledge } as Effects,
    organization: { default_country: 'US', timezone: 'UTC' },
  });
  return { result, asked, output: result.kind === 'next' ? (result.output as any) : undefined };
}

const problems = (data: object) =>
  (knowledgeSearchNode.dataSchema.safeParse(data).error?.issues ?? [])
    .map(({ path, message }) => `${path.join('.')}: ${message}`)
    .join('\n');

test('the search uses the rendered query and the options of the data, with a limit of five by default', async () => {
  expect((await run({ query: '  returns of {{ contact.first_name }} ' })).asked).toEqual([
    { query: 'returns of Ada', limit: 5, documentUuids: undefined, minSimilarity: undefined, mode: undefined },
  ]);
  const all = { limit: 50, document_uuids: [uuid.toUpperCase()], min_similarity: 0.2, mode: 'keyword' };
  expect((await run({ query: '{{ text }}', ...all }, { scope: { text: 'K-200' } })).asked).toEqual([
    { query: 'K-200', limit: 50, documentUuids: [uuid], minSimilarity: 0.2, mode: 'keyword' },
  ]);
});

test('with passages the run goes on at found, and save_as has their text for a prompt', async () => {
  const { result } = await run({ query: 'refunds', save_as: 'facts' }, { found: [chunkNumber(1), chunkNumber(2)] });
  const { contextualized_text: _text, embedding_model: _model, ...shown } = chunkNumber(1);
  const text = expect.stringMatching(/handbook\.pdf.*Returns > Refund window.*\n?Fact 1[^]*Fact 2/);
  expect(result).toEqual({
    kind: 'next',
    handle: 'found',
    fallbackHandle: 'default',
    output: { query: 'refunds', total_results: 2, chunks: [shown, expect.objectContaining({ id: 2 })], text },
    assign: { facts: text },
  });
  expect((await run({ query: 'refunds' })).result).not.toHaveProperty('assign');
});

test('without passages the run goes on at empty, and save_as replaces the earlier text', async () => {
  const { result, output } = await run({ query: 'zeppelins', save_as: 'facts' }, { found: [] });
  expect(result).toMatchObject({ handle: 'empty', fallbackHandle: 'default', output: { total_results: 0, chunks: [] } });
  expect(result).toMatchObject({ assign: { facts: output.text } });
  expect(output.text).toMatch(/nothing .* found/i);
});

test('a dry run searches for real, since a search changes nothing', async () => {
  const real = await run({ query: 'refunds' });
  expect(await run({ query: 'refunds' }, { dryRun: true })).toEqual(real);
  expect(knowledgeSearchNode.isSideEffect).toBeUndefined();
});

test('a query that renders to nothing or to too much fails without a search, and the message names the query', async () => {
  const blank = await run({ query: ' {{ question }}\n' });
  expect(blank.result).toEqual({
    kind: 'fail',
    type: 'invalid_query',
    message: 'query renders to nothing, so there is nothing to look for; give its templates a default',
    retryable: false,
  });
  const long = await run({ query: '{{ question }}' }, { scope: { question: 'x'.repeat(8001) } });
  expect(long.result).toMatchObject({
    type: 'invalid_query',
    message: expect.stringMatching(/^query renders to 8001 characters: .*at most 8000/),
    retryable: false,
  });
  expect([...blank.asked, ...long.asked]).toEqual([]);
  expect((await run({ query: '{{ question }}' }, { scope: { question: 'x'.repeat(8000) } })).asked).toHaveLength(1);
});

test('a query without a vector fails with the provider’s failure, and is retried only when that failure may pass', async () => {
  const limited = new QueryEmbeddingError({ failure: 'rate_limited', message: 'Slow down', retryable: true, retryAfterSeconds: 90 });
  expect((await run({ query: 'x' }, { found: limited })).result).toEqual({
    kind: 'fail',
    type: 'rate_limited',
    message: 'The query could not be embedded: Slow down',
    retryable: true,
    retryAfterSeconds: 90,
  });
  const wrong = new QueryEmbeddingError({ failure: 'not_configured', message: 'No key', retryable: false });
  expect((await run({ query: 'x' }, { found: wrong })).result).toMatchObject({ type: 'not_configured', retryable: false });
  const index = new ServiceError('provider_failed', 'The index is away');
  expect((await run({ query: 'x' }, { found: index })).result).toMatchObject({ type: 'provider_failed', retryable: true });
});

test('two steps fit into the context of a run whatever they find, and a note counts the passages left out', async () => {
  const size = fc.oneof(fc.nat(3000), fc.nat(120_000));
  const letter = fc.constantFrom('a', '"', '手', '\u0001', '<passage');
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(size, letter), { maxLength: 50 }), fc.boolean(), async (sizes, isSaved) => {
      const found = sizes.map(([length, sign], index) => chunkNumber(index, sign.repeat(length / sign.length)));
      const { result, output } = await run({ query: 'x', limit: 50, ...(isSaved && { save_as: 'facts' }) }, { found });
      const added = JSON.stringify([output, (result as any).assign ?? {}]);
      expect(new TextEncoder().encode(added).byteLength).toBeLessThan(100 * 1024);
      expect(output.total_results).toBe(found.length);
      expect(output.text.includes(output.note ?? '')).toBe(true);
      const leftOut = found.length - output.chunks.length;
      expect(output.note ?? null).toEqual(leftOut === 0 ? null : expect.stringContaining(`${leftOut} of ${found.length} passages`));
      expect(output.chunks.map(({ id }: FoundChunk) => id)).toEqual(
        output.chunks.map(({ id }: FoundChunk) => id).toSorted((one: number, other: number) => one - other),
      );
    }),
    { numRuns: 40 },
  );
});

test('the best passages are kept', async () => {
  const found = Array.from({ length: 50 }, (_, index) => chunkNumber(index, 'x'.repeat(2000)));
  const { output } = await run({ query: 'x', limit: 50 }, { found });
  expect(output.chunks.length).toBeGreaterThan(15);
  expect(output.chunks.length).toBeLessThan(50);
  expect(output.chunks.map(({ id }: FoundChunk) => id)).toEqual(found.slice(0, output.chunks.length).map(({ id }) => id));
});

test.each<[object, RegExp]>([
  [{}, /^query: /],
  [{ query: '' }, /^query: Must have at least one character/],
  [{ query: ' \n' }, /^query: Must have at least one character/],
  [{ query: 'x'.repeat(8001) }, /^query: Must have at most 8000 characters/],
  [{ query: 'x', limit: 0 }, /^limit: /],
  [{ query: 'x', limit: 101 }, /^limit: Must be 100 or less/],
  [{ query: 'x', limit: '5' }, /^limit: /],
  [{ query: 'x', document_uuids: [] }, /^document_uuids: /],
  [{ query: 'x', document_uuids: [uuid, 'handbook.md'] }, /^document_uuids\.1: Must be a UUID/],
  [{ query: 'x', document_uuids: Array.from({ length: 101 }, () => uuid) }, /^document_uuids: Name at most 100/],
  [{ query: 'x', min_similarity: 1.1 }, /^min_similarity: /],
  [{ query: 'x', mode: 'fuzzy' }, /^mode: /],
  [{ query: 'x', save_as: 'contact' }, /^save_as: "contact" is a name of the run/],
])('invalid data is refused with its path: %j', (data, problem) => {
  expect(problems(data)).toMatch(problem);
});

test('optional fields may be null', () => {
  expect(problems({ query: 'x', document_uuids: null, min_similarity: null, mode: null, save_as: null })).toBe('');
  expect(problems({ query: `{{ question }}${' '.repeat(9000)}` })).toBe('');
});
