import type { Context } from '../../context.ts';
import { fireInternalEvent } from '../../automation-workflows/triggers/events/fire-internal-event.ts';
import { removeChunks } from '../placement/remove-chunks.ts';
import type { DocumentRow } from '../documents/store.ts';
import { deleteUpload } from '../upload/upload-storage.ts';
import { deletePages } from './page-storage.ts';
import { findObsoleteChunks, markFinalized } from './finalize-store.ts';

const pageSize = 500;

/**
 * What follows a document's end: chunks that search no longer shows are cleared away, of a deleted document its file, too, and journeys
 * hear of it. Answers whether more is left.
 */
export async function finalizeDocument(context: Context, id: number): Promise<boolean> {
  const { database, bindings, organization } = context;
  const { document, ids } = await findObsoleteChunks(database, organization.id, id, pageSize);
  if (document?.due_at == null) return false;
  const cleared = ids.length === 0 ? 'done' : await removeChunks(context, ids);
  if (cleared === 'again' || (cleared === 'done' && ids.length === pageSize)) return true;
  const isUnderWay = document.is_active && (document.status === 'pending' || document.status === 'processing');
  if (isUnderWay) return false;
  if (document.is_active) await fireOutcomeEvent(context, document);
  else await deleteUpload(bindings.FILES, organization.id, document.uuid, document.storage_key);
  await deletePages(bindings.FILES, document);
  // What has to wait is sent for again by the minute tick.
  if (cleared === 'done') await markFinalized(database, document);
  return false;
}

async function fireOutcomeEvent(context: Context, document: DocumentRow): Promise<void> {
  const { id, uuid, filename, mime_type, status, error, total_chunks, size_bytes, next_generation } = document;
  const about = { document_id: id, document_uuid: uuid, filename, mime_type };
  await fireInternalEvent(context, {
    ...(status === 'completed'
      ? { name: 'document.processed', data: { ...about, total_chunks, file_size_bytes: size_bytes } }
      : { name: 'document.failed', data: { ...about, processing_error: error } }),
    key: `document:${id}:${next_generation}`,
    contactId: null,
    depth: 0,
  });
}
