import type { Context } from '../../context.ts';
import { cutPage, decodeCursor, type PageResult } from '../../http/pagination.ts';
import { findChunksOfDocument, type ChunkRow } from './store.ts';
import { existingDocument } from '../documents/change-document.ts';
import type { ChunkQuery } from '../documents/schemas.ts';
import type { DocumentRow } from '../documents/store.ts';

/** One page of a document's published chunks, in its order. Throws 404. */
export async function listChunks(
  context: Context,
  uuid: string,
  { limit, offset, cursor }: ChunkQuery,
): Promise<PageResult<ChunkRow> & { document: DocumentRow }> {
  const document = await existingDocument(context, uuid);
  const last = decodeCursor(cursor)?.id ?? -1;
  const rows = await findChunksOfDocument(context.database, document, last + 1 + offset, limit + 1);
  const page = cutPage(rows, limit, (row) => ({ value: null, id: row.chunk_index }));
  return { ...page, total: document.total_chunks, document };
}
