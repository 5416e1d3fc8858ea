import type { Context } from '../accounts/context.ts';
import { embeddings } from '../providers/embeddings/embeddings.ts';
import type { VectorIndex } from '../providers/vector-index/vector-index.ts';
import { searchedIndex } from './placement/placement.ts';
import type { SearchMode } from './schemas.ts';
import { fuse, type Ranks } from './search/fuse.ts';
import { chunkMatch } from './search/search-words.ts';
import * as store from './search/store.ts';
import { UnembeddedQueryError } from './search/unembedded-query.ts';

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
export interface FoundChunk extends store.ShownChunk, Ranks {
  similarity: number;
}

/** How far down a list is looked at: a chunk may be far down in one and be the best all the same. An index answers 100, Vectorize 20 at once. */
const depthFor = (limit: number) => Math.min(100, Math.max(20, 3 * limit));
const mostDocuments = 100;

/** The chunks that answer a query best, best first, each once. Throws an UnembeddedQueryError when there is no vector of the query to be had. */
export async function searchChunks(context: Context, search: ChunkSearch): Promise<FoundChunk[]> {
  const { database, organization } = context;
  const documentIds =
    search.documentUuids && (await store.searchableDocuments(database, organization.id, search.documentUuids, mostDocuments));
  if (documentIds?.length === 0) return [];
  search.signal?.throwIfAborted();
  const match = search.mode === 'vector' ? null : chunkMatch(organization.id, search.query, documentIds);
  const depth = depthFor(search.limit);
  const [vector, { words, placement }] = await Promise.all([
    vectorOf(context, search),
    store.chunksByWords(database, organization.id, match, depth),
  ]);
  const index = await searchedIndex(context, placement);
  search.signal?.throwIfAborted();
  const question = { index, vector, match, hasVectors: search.mode !== 'keyword' };
  const nearest = question.hasVectors ? await index.query(vector, { topK: depth, documentIds }) : [];
  search.signal?.throwIfAborted();
  const found = await lookUp(context, nearest, words);
  if (found.chunks.size < found.ids && found.chunks.size < search.limit)
    return pick(search, question, await thoroughly(context, question, depth, documentIds));
  return pick(search, question, found);
}

interface Question {
  index: VectorIndex;
  vector: Float32Array;
  match: string | null;
  hasVectors: boolean;
}

async function vectorOf({ settings }: Context, { query, signal }: ChunkSearch): Promise<Float32Array> {
  const answer = await embeddings(settings).embed([query], 'question', signal);
  if ('failure' in answer) throw new UnembeddedQueryError(answer);
  return answer.vectors[0]!;
}

/** Both lists, and those of their chunks that are to be shown, by id. `ids`: how many different ones there were. */
interface Found {
  nearest: { id: number; similarity: number }[];
  words: number[];
  ids: number;
  chunks: Map<number, store.ShownChunk>;
}

async function lookUp({ database, organization }: Context, nearest: Found['nearest'], words: number[]): Promise<Found> {
  const ids = [...new Set([...nearest.map(({ id }) => id), ...words])];
  const chunks = ids.length === 0 ? new Map<number, store.ShownChunk>() : await store.shownChunks(database, organization.id, ids);
  return { nearest, words, ids: ids.length, chunks };
}

/** For when chunks that are not yet cleared away, or not yet published, stand before those that are asked for. */
async function thoroughly(
  context: Context,
  { index, vector, match, hasVectors }: Question,
  depth: number,
  documentIds?: number[],
): Promise<Found> {
  const { database, organization } = context;
  const active = documentIds ?? (await store.searchableDocuments(database, organization.id, null, mostDocuments + 1));
  const [nearest, words] = await Promise.all([
    hasVectors ? index.query(vector, { topK: 100, documentIds: active.length > mostDocuments ? undefined : active }) : [],
    match === null ? [] : store.shownChunksByWords(database, organization.id, match, depth),
  ]);
  return lookUp(context, nearest, words);
}

async function pick(search: ChunkSearch, { index, vector }: Question, { nearest, words, chunks }: Found): Promise<FoundChunk[]> {
  const isShown = (id: number) => chunks.has(id);
  const similarities = new Map(nearest.map(({ id, similarity }) => [id, similarity]));
  const byWords = words.filter(isShown);
  const unknown = byWords.filter((id) => !similarities.has(id));
  if (unknown.length > 0) for (const [id, similarity] of await index.similarities(unknown, vector)) similarities.set(id, similarity);
  return fuse(nearest.map(({ id }) => id).filter(isShown), byWords)
    .flatMap(({ id, ...ranks }): FoundChunk[] => {
      const similarity = similarities.get(id);
      return similarity === undefined ? [] : [{ ...chunks.get(id)!, ...ranks, similarity }];
    })
    .filter(({ similarity }) => similarity >= (search.minSimilarity ?? -1))
    .slice(0, search.limit);
}
