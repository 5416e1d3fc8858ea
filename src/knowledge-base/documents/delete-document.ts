import type { Context } from '../../context.ts';
import { notFound } from '../../library/errors.ts';
import { enqueueDocument } from '../pipeline/enqueue-step.ts';
import { deactivateDocument, type DocumentRow } from './store.ts';

/** Takes the document out of everything that lists or searches, at once; its chunks and vectors go soon after. Throws 404. */
export async function deleteDocument(context: Context, uuid: string): Promise<DocumentRow> {
  const document = await deactivateDocument(context.database, context.organization.id, uuid, context.clock());
  if (!document) throw notFound('Document');
  enqueueDocument(context, document);
  return document;
}
