import type { Context } from '../../context.ts';
import { isServiceError } from '../../library/errors.ts';
import { embeddings } from '../../providers/embeddings/embeddings.ts';
import { putVectors } from '../placement/put-vectors.ts';
import type { DocumentRow } from '../documents/store.ts';
import { failDocument } from './fail-document.ts';
import type { NewChunk } from './split-into-pages.ts';
import { RetryableStepError } from './retryable-step-error.ts';
import { insertChunks, toDocumentGeneration } from './store.ts';
import type { NextStep } from './process-step.ts';

/** Stores the chunks of a page, and puts the vectors that are missing into the index. */
export async function embedPage(context: Context, document: DocumentRow, page: number, chunks: NewChunk[]): Promise<NextStep> {
  const { database, settings } = context;
  const making = toDocumentGeneration(document);
  const stored = await insertChunks(database, making, chunks);
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
    return (await putVectors(context, making, items, answer.model)) ? { page: page + 1 } : null;
  } catch (error) {
    // Ours say what to do, and come again until it is done.
    if (isServiceError(error)) return failDocument(context, document, error.message);
    throw error;
  }
}
