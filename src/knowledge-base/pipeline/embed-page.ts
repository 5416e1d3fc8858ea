import type { Context } from '../../context.ts';
import { isServiceError } from '../../library/errors.ts';
import { embeddings } from '../../providers/embeddings/embeddings.ts';
import { putVectors } from '../placement/vectors.ts';
import type { DocumentRow } from '../documents/store.ts';
import { failDocument, RetryableStepError } from './retries.ts';
import { insertChunks, type NewChunk } from '../chunks/store.ts';
import { toDocumentGeneration } from '../documents/generation.ts';
import type { NextStep } from './enqueue-step.ts';

/** Stores the chunks of a page and the missing vectors of these chunks. */
export async function embedPage(context: Context, document: DocumentRow, page: number, chunks: NewChunk[]): Promise<NextStep> {
  const { database, settings } = context;
  const generation = toDocumentGeneration(document);
  const stored = await insertChunks(database, generation, chunks);
  if (stored.length === 0) return null;
  const missing = stored.filter((chunk) => chunk.embedding_model !== settings.EMBEDDING_MODEL);
  if (missing.length === 0) return { page: page + 1 };

  const texts = new Map(chunks.map((chunk) => [chunk.chunk_index, chunk.contextualized_text]));
  const answer = await embeddings(settings).embed(missing.map((chunk) => texts.get(chunk.chunk_index) ?? ''));
  if ('failure' in answer) {
    if (answer.retryable) throw new RetryableStepError(answer.message, answer.retryAfterSeconds);
    return failDocument(context, document, `${answer.message}; then process the document again`);
  }
  const items = missing.map(({ id }, place) => ({ id, documentId: document.id, vector: answer.vectors[place]! }));
  try {
    return (await putVectors(context, generation, items, answer.model)) ? { page: page + 1 } : null;
  } catch (error) {
    // A service error tells the operator what to do and lasts until then.
    if (isServiceError(error)) return failDocument(context, document, error.message);
    throw error;
  }
}
