import type { Context } from '../../context.ts';
import { embeddings } from '../../providers/embeddings/embeddings.ts';
import type { VectorIndex } from '../../providers/vector-index/vector-index.ts';
import { getSearchIndex } from '../placement/placement.ts';
import type { SearchMode } from '../documents/schemas.ts';
import { fuseRanks, type Ranks } from './rank-fusion.ts';
import { toMatchExpression } from './keyword-query.ts';
import * as store from './store.ts';
import { QueryEmbeddingError } from './query-embedding-error.ts';

export interface ChunkSearch {
  /** 1 to 8,000 characters, not only blanks. */
  query: string;
  /** 1 to 50. */
  limit: number;
  /** Only in these; those that are unknown or deleted hold nothing. Absent: in all of the organization. */
  documentUuids?: string[] | undefined;
  /** Chunks with a smaller `similarity` are left out. */
  minSimilarity?: number | undefined;
  /** Absent: hybrid. */
  mode?: SearchMode | undefined;
  /** Once it is aborted, the search throws at its next step and asks for nothing more. */
  signal?: AbortSignal | undefined;
}

/** A chunk with its receipt: the cosine similarity of query and chunk, and where it stood in each list. */
export interface FoundChunk extends store.SearchableChunk, Ranks {
  similarity: number;
}

/** How far down a list is looked at: a chunk may be far down in one and be the best all the same. An index answers 100, Vectorize 20 at once. */
const toSearchDepth = (limit: number) => Math.min(100, Math.max(20, 3 * limit));
const maxDocuments = 100;

/** The chunks that answer a query best, best first, each once. Throws an QueryEmbeddingError when there is no vector of the query to be had. */
export async function searchChunks(context: Context, search: ChunkSearch): Promise<FoundChunk[]> {
  const { database, organization } = context;
  const documentIds =
    search.documentUuids && (await store.findSearchableDocuments(database, organization.id, search.documentUuids, maxDocuments));
  if (documentIds?.length === 0) return [];
  search.signal?.throwIfAborted();
  const match = search.mode === 'vector' ? null : toMatchExpression(organization.id, search.query, documentIds);
  const depth = toSearchDepth(search.limit);
  const [vector, { words, placement }] = await Promise.all([
    embedQuery(context, search),
    store.findChunksByKeywords(database, organization.id, match, depth),
  ]);
  const index = await getSearchIndex(context, placement);
  search.signal?.throwIfAborted();
  const question = { index, vector, match, hasVectors: search.mode !== 'keyword' };
  const nearest = question.hasVectors ? await index.query(vector, { topK: depth, documentIds }) : [];
  search.signal?.throwIfAborted();
  const found = await loadCandidates(context, nearest, words);
  if (found.chunks.size < found.ids && found.chunks.size < search.limit)
    return rankCandidates(search, question, await searchExhaustively(context, question, depth, documentIds));
  return rankCandidates(search, question, found);
}

interface PreparedQuery {
  index: VectorIndex;
  vector: Float32Array;
  match: string | null;
  hasVectors: boolean;
}

async function embedQuery({ settings }: Context, { query, signal }: ChunkSearch): Promise<Float32Array> {
  const answer = await embeddings(settings).embed([query], 'question', signal);
  if ('failure' in answer) throw new QueryEmbeddingError(answer);
  return answer.vectors[0]!;
}

/** Both lists, and those of their chunks that are to be shown, by id. `ids`: how many different ones there were. */
interface SearchCandidates {
  nearest: { id: number; similarity: number }[];
  words: number[];
  ids: number;
  chunks: Map<number, store.SearchableChunk>;
}

async function loadCandidates(
  { database, organization }: Context,
  nearest: SearchCandidates['nearest'],
  words: number[],
): Promise<SearchCandidates> {
  const ids = [...new Set([...nearest.map(({ id }) => id), ...words])];
  const chunks =
    ids.length === 0 ? new Map<number, store.SearchableChunk>() : await store.findSearchableChunks(database, organization.id, ids);
  return { nearest, words, ids: ids.length, chunks };
}

/** For when chunks that are not yet cleared away, or not yet published, stand before those that are asked for. */
async function searchExhaustively(
  context: Context,
  { index, vector, match, hasVectors }: PreparedQuery,
  depth: number,
  documentIds?: number[],
): Promise<SearchCandidates> {
  const { database, organization } = context;
  const active = documentIds ?? (await store.findSearchableDocuments(database, organization.id, null, maxDocuments + 1));
  const [nearest, words] = await Promise.all([
    hasVectors ? index.query(vector, { topK: 100, documentIds: active.length > maxDocuments ? undefined : active }) : [],
    match === null ? [] : store.findSearchableChunksByKeywords(database, organization.id, match, depth),
  ]);
  return loadCandidates(context, nearest, words);
}

async function rankCandidates(
  search: ChunkSearch,
  { index, vector }: PreparedQuery,
  { nearest, words, chunks }: SearchCandidates,
): Promise<FoundChunk[]> {
  const isShown = (id: number) => chunks.has(id);
  const similarities = new Map(nearest.map(({ id, similarity }) => [id, similarity]));
  const byWords = words.filter(isShown);
  const unknown = byWords.filter((id) => !similarities.has(id));
  if (unknown.length > 0) for (const [id, similarity] of await index.similarities(unknown, vector)) similarities.set(id, similarity);
  return fuseRanks(nearest.map(({ id }) => id).filter(isShown), byWords)
    .flatMap(({ id, ...ranks }): FoundChunk[] => {
      const similarity = similarities.get(id);
      return similarity === undefined ? [] : [{ ...chunks.get(id)!, ...ranks, similarity }];
    })
    .filter(({ similarity }) => similarity >= (search.minSimilarity ?? -1))
    .slice(0, search.limit);
}
