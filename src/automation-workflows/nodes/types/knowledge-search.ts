import { z } from 'zod';
import { findUnknownDocuments } from '../../../knowledge-base/documents/change-document.ts';
import { configObject } from '../../../library/json/config-object.ts';
import { SearchBody } from '../../../knowledge-base/documents/schemas.ts';
import { type ChunkSearch, type FoundChunk, QueryEmbeddingError } from '../../../knowledge-base/search/search-chunks.ts';
import { formatPassages } from '../../../knowledge-base/search/format-passages.ts';
import { isServiceError, type ServiceError } from '../../../library/errors.ts';
import { isTemplate, renderText } from '../../../expressions/templates/render.ts';
import { defaultHandle, defineNode, errorHandle, failure, type StepResult } from '../contract.ts';
import { toStepFailure } from '../shared/perform-effect.ts';
import { variableNameSchema } from '../shared/fields.ts';

const foundHandle = 'found';
const emptyHandle = 'empty';

const { query: searchableText, limit, document_uuids, min_similarity, mode } = SearchBody.shape;

/** Why `text` is no valid query; null when it is one. */
const queryProblem = (text: string): string | null => searchableText.safeParse(text).error?.issues[0]?.message ?? null;

const KnowledgeSearchData = configObject({
  query: z.string().superRefine((text, context) => {
    const message = isTemplate(text) ? null : queryProblem(text);
    if (message) context.addIssue({ code: 'custom', message });
  }),
  limit,
  document_uuids,
  min_similarity,
  mode,
  save_as: variableNameSchema.nullish(),
});
type KnowledgeSearchData = z.infer<typeof KnowledgeSearchData>;

export const knowledgeSearchNode = defineNode<KnowledgeSearchData>({
  type: 'knowledge_search',
  label: 'Knowledge search',
  description:
    'Finds the passages of the knowledge base that answer `query` best, as POST /knowledge-base/search does; that changes nothing, so a dry run does it for real. It goes on at `found` or, when there is none, at `empty`; what leads nowhere goes on at `default`. The output is { query, total_results, chunks, text }; text is the passages with their sources, for the prompt of a language model, and save_as also writes it to a variable. Passages beyond 96 KiB are left out, and `note` says so. Rate limits, network trouble and 5xx are tried again.',
  dataSchema: KnowledgeSearchData,
  handles: () => [foundHandle, emptyHandle, defaultHandle, errorHandle],
  references: {
    noun: 'document',
    listPath: '/knowledge-base/documents',
    find: (data) => ((data['document_uuids'] ?? []) as string[]).map((id, index) => ({ path: ['document_uuids', String(index)], id })),
    findExisting: async (context, uuids: string[]) => {
      const unknown = new Set(await findUnknownDocuments(context, uuids));
      return new Set(uuids.filter((uuid) => !unknown.has(uuid)));
    },
  },
  example: { query: '{{ data.question }}', limit: 5, min_similarity: 0.3, save_as: 'facts' },
  run: async ({ data, scope, effects }) => {
    const query = renderText(data.query, scope).trim();
    if (query === '')
      return failure('invalid_query', 'query renders to nothing, so there is nothing to look for; give its templates a default');
    const problem = queryProblem(query);
    if (problem) return failure('invalid_query', `query renders to ${query.length} characters: ${problem}`);
    try {
      return toStepResult(query, await effects.searchKnowledge(toChunkSearch(data, query)), data.save_as ?? null);
    } catch (error) {
      if (!isServiceError(error)) throw error;
      return toSearchFailure(error);
    }
  },
});

const toChunkSearch = (data: KnowledgeSearchData, query: string): ChunkSearch => ({
  query,
  limit: data.limit,
  documentUuids: data.document_uuids ?? undefined,
  minSimilarity: data.min_similarity ?? undefined,
  mode: data.mode ?? undefined,
});

function toStepResult(query: string, found: FoundChunk[], saveAs: string | null): StepResult {
  const passages = selectPassages(found, saveAs === null ? 1 : 2);
  return {
    kind: 'next',
    handle: found.length > 0 ? foundHandle : emptyHandle,
    fallbackHandle: defaultHandle,
    output: { query, total_results: found.length, ...passages },
    ...(saveAs !== null && { assign: { [saveAs]: passages.text } }),
  };
}

function toSearchFailure(error: ServiceError): StepResult {
  if (!(error instanceof QueryEmbeddingError)) return toStepFailure(error);
  const { failure: type, retryable } = error.failure;
  return { ...toStepFailure(error), type, retryable };
}

/** The limit of passages in the output, as JSON: less than half of the limit on the context of a run. */
const maxPassageBytes = 96 * 1024;

/** A chunk as in the answer of POST /knowledge-base/search, with its rank in each list. Its headings are in `chunk_metadata`. */
type Passage = Omit<FoundChunk, 'contextualized_text' | 'embedding_model'>;

interface Passages {
  chunks: Passage[];
  /** The passages with their sources, for the prompt of a language model; without passages, a sentence that there are none. */
  text: string;
  /** How many passages were left out; absent when none was. */
  note?: string;
}

/** The best passages within the limit. `copies`: how often their text stands in the context. */
function selectPassages(found: FoundChunk[], copies: number): Passages {
  const chunks: Passage[] = [];
  let room = maxPassageBytes;
  for (const { contextualized_text: _text, embedding_model: _model, ...passage } of found) {
    const bytes = jsonByteLength(passage) + copies * jsonByteLength(toPassagesText([passage]));
    if (bytes > room) continue;
    room -= bytes;
    chunks.push(passage);
  }
  const text = toPassagesText(chunks);
  if (chunks.length === found.length) return { chunks, text };
  const note = `${found.length - chunks.length} of ${found.length} passages are left out, since a step keeps ${maxPassageBytes} bytes of them; a smaller limit finds the best alone`;
  return { chunks, text: `${text}\n\n(${note})`, note };
}

const toPassagesText = (passages: Passage[]): string =>
  formatPassages(
    passages.map(({ filename, chunk_metadata, chunk_text }) => ({
      filename,
      headings: chunk_metadata['headings'] as string[],
      text: chunk_text,
    })),
  );

const jsonByteLength = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).byteLength;
