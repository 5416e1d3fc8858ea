import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readLocalSettings, projectDirectory } from '../../scripts/local/settings.ts';
import { withSimulatedVectorize } from '../../scripts/local/simulated-vectorize.ts';
import type { VectorizeItem } from '../../simulators/vectorize/binding.ts';
import { SimulatedIndex } from '../../simulators/vectorize/simulated-index.ts';

const along = (axis: number, more: Partial<VectorizeItem> = {}): VectorizeItem => ({
  id: `v${axis}`,
  values: Float32Array.from({ length: 1536 }, (_, index) => (index === axis ? 1 : 0.01)),
  ...more,
});
const newIndex = () => new SimulatedIndex({ document_id: 'number', language: 'string' });

describe('the simulated Vectorize', () => {
  test('shows what it accepted once that was processed; insert keeps what is there, upsert replaces it', () => {
    const index = newIndex();
    const first = index.accept('insert', [along(1, { namespace: 'a' })]);
    expect(index.getByIds(['v1'])).toEqual([]);
    index.process(first);
    index.process(index.accept('insert', [along(1, { namespace: 'b' })]));
    expect(index.getByIds(['v1'])[0]).toMatchObject({ namespace: 'a' });
    const replaced = index.accept('upsert', [along(1, { namespace: 'c' })]);
    index.process(replaced);
    expect(index.getByIds(['v1'])[0]).toMatchObject({ namespace: 'c' });
    expect(index.processedUpToMutation).toBe(replaced.mutationId);
    index.process(index.acceptDeletion(['v1']));
    expect([index.size, index.getByIds(['v1'])]).toEqual([0, []]);
  });

  test.each([
    ['$in', { document_id: { $in: [1, 2] } }, ['v1', 'v2']],
    ['$nin', { document_id: { $nin: [1, 2] } }, ['v3']],
    ['$ne', { document_id: { $ne: 1 } }, ['v2', 'v3']],
    ['$eq', { document_id: { $eq: 2 } }, ['v2']],
    ['a value', { document_id: 3 }, ['v3']],
    ['a range', { document_id: { $gt: 1, $lte: 3 } }, ['v2', 'v3']],
    ['$gte and $lt', { document_id: { $gte: 1, $lt: 2 } }, ['v1']],
    ['a property without a metadata index', { colour: 'red' }, []],
    ['the first 64 bytes of a string', { language: `${'x'.repeat(64)}and more` }, ['v1', 'v2', 'v3']],
  ])('filters by %s', (_name, filter, expected) => {
    const index = newIndex();
    const metadata = (id: number) => ({ document_id: id, colour: 'red', language: 'x'.repeat(80) });
    index.process(
      index.accept(
        'upsert',
        [1, 2, 3].map((id) => along(id, { metadata: metadata(id) })),
      ),
    );
    const { matches } = index.query(along(0).values, { topK: 10, filter });
    expect(matches.map(({ id }) => id).toSorted()).toEqual(expected);
  });

  test('keeps namespaces apart', () => {
    const index = newIndex();
    index.process(index.accept('upsert', [along(1, { namespace: 'a' }), along(2, { namespace: 'b' })]));
    expect(index.query(along(1).values, { namespace: 'b' }).matches.map(({ id }) => id)).toEqual(['v2']);
    expect(index.queryById('v1', {}).count).toBe(2);
  });

  const vectors = (count: number) => Array.from({ length: count }, (_, place) => ({ ...along(1), id: String(place) }));
  const ids = (count: number) => Array.from({ length: count }, (_, place) => String(place));
  test.each([
    ['1,001 vectors', 'UPSERT', 40007, () => newIndex().accept('upsert', vectors(1001))],
    ['an id of 65 bytes', 'INSERT', 40008, () => newIndex().accept('insert', [along(1, { id: 'x'.repeat(65) })])],
    ['a namespace of 65 bytes', 'UPSERT', 40009, () => newIndex().accept('upsert', [along(1, { namespace: 'x'.repeat(65) })])],
    ['768 dimensions', 'UPSERT', 40012, () => newIndex().accept('upsert', [along(1, { values: new Float32Array(768) })])],
    ['metadata over 10 KiB', 'UPSERT', 40023, () => newIndex().accept('upsert', [along(1, { metadata: { text: 'x'.repeat(10_300) } })])],
    ['a dot in a key', 'UPSERT', 40018, () => newIndex().accept('upsert', [along(1, { metadata: { 'a.b': 1 } })])],
    ['21 ids to read', 'GET', 40007, () => newIndex().getByIds(ids(21))],
    ['101 ids to delete', 'DELETE', 40007, () => newIndex().acceptDeletion(ids(101))],
    ['101 matches', 'QUERY', 40025, () => newIndex().query(along(1).values, { topK: 101 })],
    ['21 matches with values', 'QUERY', 40025, () => newIndex().query(along(1).values, { topK: 21, returnValues: true })],
    ['a query of 768 dimensions', 'QUERY', 40006, () => newIndex().query(new Float32Array(768))],
    ['a boolean for returnMetadata', 'QUERY', 40026, () => newIndex().query(along(1).values, { returnMetadata: false as never })],
    [
      'a filter of 2,048 bytes',
      'QUERY',
      40024,
      () =>
        newIndex().query(along(1).values, {
          filter: {
            document_id: {
              $in: ids(400)
                .map(Number)
                .map((id) => id + 1e6),
            },
          },
        }),
    ],
  ])('refuses %s', (_name, operation, code, call) => {
    expect(call).toThrow(`VECTOR_${operation}_ERROR (code = ${code})`);
  });
});

test('npm start binds it in the place of the index of wrangler.toml, and nothing else is changed', () => {
  const text = readFileSync(join(projectDirectory, 'wrangler.toml'), 'utf8');
  const simulated = withSimulatedVectorize(text);
  expect(simulated).toContain('binding = "VECTORS"\nservice = "simulated-vectorize"');
  expect(simulated).not.toContain('[[vectorize]]');
  const lines = (of: string) => new Set(of.split('\n'));
  expect([...lines(text)].filter((line) => !lines(simulated).has(line))).toEqual(['[[vectorize]]', 'index_name = "voice-agents-vectors"']);
  expect(() => withSimulatedVectorize('name = "other"')).toThrow('no [[vectorize]]');
  expect(readLocalSettings({ VECTOR_BACKEND: 'vectorize' }).hasVectorize).toBe(true);
  expect(() => readLocalSettings({ VECTOR_BACKEND: 'pinecone' })).toThrow('VECTOR_BACKEND is "pinecone"');
});
