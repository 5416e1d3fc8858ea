import type { Context } from '../../context.ts';
import { areVectorsVisible } from '../placement/vectors.ts';
import type { DocumentRow } from '../documents/store.ts';
import { failDocument } from './retries.ts';
import { readManifest } from './page-storage.ts';
import { findEmbeddedChunks } from '../chunks/store.ts';
import { toDocumentGeneration } from '../documents/generation.ts';
import { publishGeneration } from './store.ts';
import { toVisibilityDelaySeconds, maxVisibilityChecks, visibilitySampleSize } from '../placement/visibility.ts';
import type { NextStep } from './enqueue-step.ts';

const neverVisibleMessage = 'The vector index did not show the document within an hour; process the document again';

/** Publishes the new chunks once queries find all of their vectors; until then answers a later check. `looks`: checks so far. */
export async function publishDocument(context: Context, document: DocumentRow, page: number, looks: number): Promise<NextStep> {
  const { database, bindings, clock } = context;
  const generation = toDocumentGeneration(document);
  const manifest = await readManifest(bindings.FILES, document);
  // Another step removed the pages: the document has ended or is processed again.
  if (!manifest) return null;
  const { count, last } = await findEmbeddedChunks(database, generation, visibilitySampleSize);
  if (count !== manifest.chunks) throw new Error(`${count} chunks of document ${document.id} have vectors, of ${manifest.chunks}`);
  if (await areVectorsVisible(context, last)) {
    await publishGeneration(database, generation, manifest, clock());
    return null;
  }
  if (looks >= maxVisibilityChecks) return failDocument(context, document, neverVisibleMessage);
  return { page, looks: looks + 1, delaySeconds: toVisibilityDelaySeconds(looks) };
}
