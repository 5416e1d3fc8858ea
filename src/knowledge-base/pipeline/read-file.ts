import type { Context } from '../../context.ts';
import { generateChunks } from '../chunks/chunk-document.ts';
import type { ParsedDocument } from '../parsing/blocks.ts';
import { parseDocument } from '../parsing/parse-document.ts';
import { UnparsableDocument } from '../../library/text/unparsable-document.ts';
import type { DocumentRow } from '../documents/store.ts';
import { mimeTypeOf } from '../upload/file-names-and-types.ts';
import { openFile, readUpload } from '../upload/upload-storage.ts';
import { failDocument, RetryableStepError } from './retries.ts';
import { splitIntoPages } from './split-into-pages.ts';
import { deletePages, writeManifest, writePage, type PageManifest } from './page-storage.ts';
import { toDocumentGeneration } from '../documents/generation.ts';
import { isInProgress, recordHash } from './store.ts';
import type { NextStep } from './enqueue-step.ts';

const fileLostMessage = 'The file is lost from storage; delete the document and upload it again';

/** Parses the uploaded file, splits it into pages of chunks and stores the pages. */
export async function readFile(context: Context, document: DocumentRow): Promise<NextStep> {
  const { database, bindings } = context;
  const upload = await readUpload(bindings.FILES, document.organization_id, document.uuid);
  if (!upload) return failDocument(context, document, fileLostMessage);
  if (!upload.file) throw uploadInProgressError();
  const { sha256: hash, bytes, etag } = upload.file;
  const duplicateOf = await recordHash(database, toDocumentGeneration(document), { hash, bytes });
  if (duplicateOf !== null)
    return failDocument(context, document, `The file is a duplicate of ${duplicateOf}, which has the same content; use that one`, hash);
  try {
    const parsed = await parseFile(context, document, etag);
    if (parsed === null) return failDocument(context, document, fileLostMessage);
    await writePages(context, document, parsed);
  } catch (error) {
    if (error instanceof UnparsableDocument) return failDocument(context, document, error.message);
    throw error;
  }
  return { page: 0 };
}

/** Reads the file and lets it go: its bytes are not in memory any more while the pages are made. Null: there is no file. */
async function parseFile({ bindings }: Context, document: DocumentRow, etag: string): Promise<ParsedDocument | null> {
  const file = await openFile(bindings.FILES, document.storage_key, etag);
  if (file === null) return null;
  if (file === 'changed') throw uploadInProgressError();
  return parseDocument(file, document.filename, document.mime_type, document.encoding ?? undefined);
}

const uploadInProgressError = () => new RetryableStepError('Another file was being uploaded in its place when processing began');

async function writePages(
  { database, bindings }: Context,
  document: DocumentRow,
  { title, blocks, metadata, warnings }: ParsedDocument,
): Promise<void> {
  const manifest: PageManifest = {
    mime_type: mimeTypeOf(metadata.type),
    parser_metadata: { title, ...metadata },
    warnings,
    chunks: 0,
    starts: [],
  };
  for (const page of splitIntoPages(generateChunks({ title: title ?? document.filename.replace(/\.[^.]+$/, ''), blocks }))) {
    await writePage(bindings.FILES, document, manifest.starts.length, page);
    manifest.starts.push(manifest.chunks);
    manifest.chunks += page.length;
  }
  await writeManifest(bindings.FILES, document, manifest);
  // The document was deleted meanwhile; its pages may have been removed before these were written.
  if (!(await isInProgress(database, toDocumentGeneration(document)))) await deletePages(bindings.FILES, document);
}
