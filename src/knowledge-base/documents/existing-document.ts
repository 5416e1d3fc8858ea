import type { Context } from '../../context.ts';
import { notFound } from '../../library/errors.ts';
import { findDocument, type DocumentRow } from './store.ts';

/** Throws 404. */
export async function existingDocument({ database, organization }: Context, uuid: string): Promise<DocumentRow> {
  const document = await findDocument(database, organization.id, uuid);
  if (!document?.is_active) throw notFound('Document');
  return document;
}
