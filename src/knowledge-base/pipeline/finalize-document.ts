import type { Context } from '../../context.ts';
import { publish } from '../../outbox/published-events.ts';
import { removeChunks } from '../placement/vectors.ts';
import type { DocumentRow } from '../documents/store.ts';
import { deleteUpload } from '../upload/upload-storage.ts';
import { deletePages } from './page-storage.ts';
import { findObsoleteChunks, markFinalized } from './store.ts';

const pageSize = 500;

/**
 * Finishes a document that was completed, failed or deleted: removes one page of the chunks that search no longer uses, publishes the outcome
 * for journeys, and deletes the file of a deleted document. Answers whether another page is left. Repeatable.
 */
export async function finalizeDocument(context: Context, id: number): Promise<boolean> {
  const { database, bindings, organization } = context;
  const { document, ids } = await findObsoleteChunks(database, organization.id, id, pageSize);
  if (document?.due_at == null) return false;
  const removal = ids.length === 0 ? 'done' : await removeChunks(context, ids);
  if (removal === 'again' || (removal === 'done' && ids.length === pageSize)) return true;
  const isInProgress = document.is_active && (document.status === 'pending' || document.status === 'processing');
  if (isInProgress) return false;
  if (document.is_active) await publishOutcome(context, document);
  else await deleteUpload(bindings.FILES, organization.id, document.uuid, document.storage_key);
  await deletePages(bindings.FILES, document);
  // A removal that has to wait is repeated by the minute tick.
  if (removal === 'done') await markFinalized(database, document);
  return false;
}

async function publishOutcome(context: Context, document: DocumentRow): Promise<void> {
  const { id, uuid, filename, mime_type, status, error, total_chunks, size_bytes, next_generation } = document;
  const about = { document_id: id, document_uuid: uuid, filename, mime_type };
  await publish(context, 'webhook_event.recorded', { type: `document.${status}` });
  const occurrence = { key: `document:${id}:${next_generation}`, contactId: null, depth: 0 };
  if (status === 'completed')
    await publish(context, 'document.processed', { ...occurrence, data: { ...about, total_chunks, file_size_bytes: size_bytes } });
  else await publish(context, 'document.failed', { ...occurrence, data: { ...about, processing_error: error } });
}
