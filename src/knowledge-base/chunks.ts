import type { Context } from '../accounts/context.ts';
import { cut, decodeCursor, type Found } from '../http/pagination.ts';
import { chunksOfDocument, type ChunkRow } from './chunk-store.ts';
import { existingDocument } from './existing-document.ts';
import type { ChunkQuery } from './schemas.ts';
import type { DocumentRow } from './store.ts';

/** One page of what search finds of a document, in its order. Throws 404. */
export async function listChunks(
  context: Context,
  uuid: string,
  { limit, offset, cursor }: ChunkQuery,
): Promise<Found<ChunkRow> & { document: DocumentRow }> {
  const document = await existingDocument(context, uuid);
  const last = decodeCursor(cursor)?.id ?? -1;
  const rows = await chunksOfDocument(context.database, document, last + 1 + offset, limit + 1);
  const page = cut(rows, limit, (row) => ({ value: null, id: row.chunk_index }));
  return { ...page, total: document.total_chunks, document };
}
