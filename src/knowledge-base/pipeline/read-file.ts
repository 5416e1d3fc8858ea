import type { Context } from '../../accounts/context.ts';
import { chunksOf } from '../chunking/chunk.ts';
import type { ParsedDocument } from '../parsing/blocks.ts';
import { parse } from '../parsing/parse.ts';
import { UnparsableDocument } from '../parsing/unparsable-document.ts';
import type { DocumentRow } from '../store.ts';
import { mimeTypeOf } from '../upload/file-types.ts';
import { openFile, readUpload } from '../upload/upload-store.ts';
import { fail } from './fail.ts';
import { pagesOf } from './pages.ts';
import { deletePages, writeContents, writePage, type Contents } from './pages-store.ts';
import { Postponed } from './postponed.ts';
import { isUnderWay, makingOf, noteHash } from './store.ts';
import type { NextStep } from './take-step.ts';

const lost = 'The file is lost from storage; delete the document and upload it again';

/** Reads the uploaded file, and puts what it was cut into beside it. */
export async function readFile(context: Context, document: DocumentRow): Promise<NextStep> {
  const { database, bindings } = context;
  const upload = await readUpload(bindings.FILES, document.organization_id, document.uuid);
  if (!upload) return fail(context, document, lost);
  if (!upload.file) throw stillUploading();
  const { sha256: hash, bytes, etag } = upload.file;
  const duplicateOf = await noteHash(database, makingOf(document), { hash, bytes });
  if (duplicateOf !== null)
    return fail(context, document, `The file is a duplicate of ${duplicateOf}, which has the same content; use that one`, hash);
  const file = await openFile(bindings.FILES, document.storage_key, etag);
  if (file === null) return fail(context, document, lost);
  if (file === 'changed') throw stillUploading();
  try {
    const parsed = await parse(file, document.filename, document.mime_type);
    await cut(context, document, parsed);
  } catch (error) {
    if (error instanceof UnparsableDocument) return fail(context, document, error.message);
    throw error;
  }
  return { page: 0 };
}

const stillUploading = () => new Postponed('Another file was being uploaded in its place when processing began');

async function cut({ database, bindings }: Context, document: DocumentRow, { title, blocks, metadata }: ParsedDocument): Promise<void> {
  const contents: Contents = { mime_type: mimeTypeOf(metadata.type), parser_metadata: { title, ...metadata }, chunks: 0, starts: [] };
  for (const page of pagesOf(chunksOf({ title: title ?? document.filename.replace(/\.[^.]+$/, ''), blocks, metadata }))) {
    await writePage(bindings.FILES, document, contents.starts.length, page);
    contents.starts.push(contents.chunks);
    contents.chunks += page.length;
  }
  await writeContents(bindings.FILES, document, contents);
  // Deleted meanwhile: its pages may have been cleared away before these came.
  if (!(await isUnderWay(database, makingOf(document)))) await deletePages(bindings.FILES, document);
}
