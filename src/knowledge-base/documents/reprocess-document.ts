import type { Context } from '../../context.ts';
import { conflict } from '../../library/errors.ts';
import { existingDocument } from './existing-document.ts';
import { enqueueDocument } from '../pipeline/enqueue-step.ts';
import { beginGeneration, type DocumentRow } from './store.ts';

/** Reads a completed or failed document's file anew. Until that is done, search finds what it found before. Throws 404 and 409. */
export async function reprocessDocument(context: Context, uuid: string): Promise<DocumentRow> {
  const document = await beginGeneration(context.database, context.organization.id, uuid, context.clock());
  if (!document) {
    const { status } = await existingDocument(context, uuid);
    throw conflict(`The document is ${status}; it can be processed again once it is completed or failed`);
  }
  enqueueDocument(context, document);
  return document;
}
