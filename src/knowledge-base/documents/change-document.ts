import type { Context } from '../../context.ts';
import { notFound, conflict } from '../../library/errors.ts';
import { beginGeneration, deactivateDocument, findActiveUuids, findDocument, type DocumentRow } from './store.ts';
import type { ReprocessInput } from './schemas.ts';
import { enqueueDocument } from '../pipeline/enqueue-step.ts';

/** The active document with this uuid. Throws 404. */
export async function existingDocument({ database, organization }: Context, uuid: string): Promise<DocumentRow> {
  const document = await findDocument(database, organization.id, uuid);
  if (!document?.is_active) throw notFound('Document');
  return document;
}

/** Deletes a document. Lists and search leave it out at once; chunks, vectors and file are removed from the queue. Throws 404. */
export async function deleteDocument(context: Context, uuid: string): Promise<DocumentRow> {
  const document = await deactivateDocument(context.database, context.organization.id, uuid, context.clock());
  if (!document) throw notFound('Document');
  enqueueDocument(context, document);
  return document;
}

/** Processes the file of a completed or failed document again. `encoding`: undefined keeps the one that was named, null drops it. Search uses the old chunks until then. Throws 404; 409 while it is processed. */
export async function reprocessDocument(context: Context, uuid: string, { encoding }: ReprocessInput): Promise<DocumentRow> {
  const document = await beginGeneration(context.database, context.organization.id, uuid, encoding, context.clock());
  if (!document) {
    const { status } = await existingDocument(context, uuid);
    throw conflict(`The document is ${status}; it can be processed again once it is completed or failed`);
  }
  enqueueDocument(context, document);
  return document;
}

/** The `uuids` without an active document in the organization, each once, as given. The documents' status does not count. */
export async function findUnknownDocuments({ database, organization }: Context, uuids: string[]): Promise<string[]> {
  if (uuids.length === 0) return [];
  const active = await findActiveUuids(database, organization.id, uuids);
  return [...new Set(uuids)].filter((uuid) => !active.has(uuid.toLowerCase()));
}
