import type { Context } from '../../context.ts';
import { conflict, notFound } from '../../library/errors.ts';
import { enqueueDocument } from '../pipeline/enqueue-step.ts';
import type { ProcessDocumentInput } from './schemas.ts';
import { findDocument, insertDocument, type DocumentRow } from './store.ts';
import { readUpload, toStorageKey } from '../upload/upload-storage.ts';

/**
 * Creates a document from an uploaded file and enqueues its processing. Called again, it answers the document as it is. Throws 404 for an
 * unknown upload, 409 when the file has not been uploaded yet.
 */
export async function processDocument(context: Context, input: ProcessDocumentInput, userId: number): Promise<DocumentRow> {
  const { database, organization, bindings, clock } = context;
  const { document_uuid: uuid, storage_key: storageKey, encoding = null } = input;
  const known = await findDocument(database, organization.id, uuid);
  if (known) {
    if (!known.is_active || known.storage_key !== storageKey) throw notFound('Document');
    return known;
  }
  const upload = await readUpload(bindings.FILES, organization.id, uuid);
  if (!upload || toStorageKey(organization.id, uuid, upload.filename) !== storageKey) throw notFound('Document');
  if (!upload.file) throw conflict('The file has not been uploaded yet; PUT it to the upload_url, then call process-document again');
  const { document, isNew } = await insertDocument(
    database,
    organization.id,
    {
      uuid,
      filename: upload.filename,
      storage_key: storageKey,
      mime_type: upload.mime_type,
      size_bytes: upload.file.bytes,
      encoding,
      created_by: userId,
    },
    clock(),
  );
  if (isNew) enqueueDocument(context, document);
  return document;
}
