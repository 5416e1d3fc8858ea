import { ServiceError } from '../../library/errors.ts';
import { embeddings } from '../../providers/embeddings/embeddings.ts';
import type { EmbeddingFailure } from '../../providers/embeddings/contract.ts';
import type { Context } from '../../context.ts';
import type { VectorIndex } from '../../providers/vector-index/vector-index.ts';
import { getSearchIndex } from '../placement/placement.ts';
import type { SearchMode } from '../documents/schemas.ts';
import { fuseRanks, type Ranks } from './rank-fusion.ts';
import { toMatchExpression } from '../keywords/keyword-query.ts';
import * as store from './store.ts';

/** The query could not be embedded. `failure` has the reason, and whether the same query may succeed later. */
export class QueryEmbeddingError extends ServiceError {
  readonly failure: EmbeddingFailure;

  constructor(failure: EmbeddingFailure) {
    const { message, retryAfterSeconds } = failure;
    super('provider_failed', `The query could not be embedded: ${message}`, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
    this.failure = failure;
  }
}

export interface ChunkSearch {
  /** 1 to 8,000 characters, not only blanks. */
  query: string;
  /** 1 to 50. */
  limit: number;
  /** Searches only these documents; unknown and deleted ones contain nothing. Absent: all documents of the organization. */
  documentUuids?: string[] | undefined;
  /** Chunks with a smaller `similarity` are left out. */
  minSimilarity?: number | undefined;
  /** Absent: hybrid. */
  mode?: SearchMode | undefined;
  /** When aborted, the search throws before its next call. */
  signal?: AbortSignal | undefined;
}

/** A found chunk, the cosine similarity of query and chunk, and its rank in each list. */
export interface FoundChunk extends store.SearchableChunk, Ranks {
  similarity: number;
}

/** The length of each ranked list. The best chunk may be far down in one of them. An index answers at most 100; Vectorize 20 in one call. */
const toSearchDepth = (limit: number) => Math.min(100, Math.max(20, 3 * limit));
const maxDocuments = 100;

/**
 * The chunks that answer a query best, best first. Throws a `QueryEmbeddingError` when the query could not be embedded.
 *
 * @example await searchChunks(context, { query: 'How long can customers send an item back?', limit: 3 })
 */
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
  const prepared = { index, vector, match, hasVectors: search.mode !== 'keyword' };
  const nearest = prepared.hasVectors ? await index.query(vector, { topK: depth, documentIds }) : [];
  search.signal?.throwIfAborted();
  const found = await loadCandidates(context, nearest, words);
  if (found.chunks.size < found.ids && found.chunks.size < search.limit)
    return rankCandidates(search, prepared, await searchExhaustively(context, prepared, depth, documentIds));
  return rankCandidates(search, prepared, found);
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

/** Both ranked lists, and their searchable chunks by id. `ids`: the number of different chunks in the lists. */
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

/** Searches again without the chunks that are obsolete or not published yet, when these fill the lists. */
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
