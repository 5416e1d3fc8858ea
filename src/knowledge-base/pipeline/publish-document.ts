import type { Context } from '../../context.ts';
import { areVectorsVisible } from '../placement/are-vectors-visible.ts';
import type { DocumentRow } from '../documents/store.ts';
import { failDocument } from './fail-document.ts';
import { readManifest } from './page-storage.ts';
import { findEmbeddedChunks, toDocumentGeneration, publishGeneration } from './store.ts';
import type { NextStep } from './process-step.ts';

/** An index shows what it takes in order, so the last ones speak for all. */
const visibilitySampleSize = 20;
/** An hour: after 2, 4, 6 ... and then 60 seconds. */
const maxVisibilityChecks = 75;
const neverVisibleMessage = 'The vector index did not show the document within an hour; process the document again';

/** Shows the new chunks to search, once all of them can be found. */
export async function publishDocument(context: Context, document: DocumentRow, page: number, looks: number): Promise<NextStep> {
  const { database, bindings, clock } = context;
  const making = toDocumentGeneration(document);
  const contents = await readManifest(bindings.FILES, document);
  // Cleared away: whoever did that has ended the document, or it is read anew.
  if (!contents) return null;
  const { count, last } = await findEmbeddedChunks(database, making, visibilitySampleSize);
  if (count !== contents.chunks) throw new Error(`${count} chunks of document ${document.id} have vectors, of ${contents.chunks}`);
  if (await areVectorsVisible(context, last)) {
    await publishGeneration(database, making, contents, clock());
    return null;
  }
  if (looks >= maxVisibilityChecks) return failDocument(context, document, neverVisibleMessage);
  return { page, looks: looks + 1, delaySeconds: Math.min(60, 2 * (looks + 1)) };
}
