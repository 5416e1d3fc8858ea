import type { Context } from '../../context.ts';
import { notFound } from '../../library/errors.ts';
import { findSession, type SessionRow } from './store.ts';

/** Throws 404. */
export async function existingSession({ database, organization }: Context, id: number): Promise<SessionRow> {
  const row = await findSession(database, organization.id, id);
  if (!row) throw notFound('Test session');
  return row;
}
