import type { Context } from '../../context.ts';
import { notFound } from '../../library/errors.ts';
import { findLoadTest, type LoadTestRow } from './store.ts';

/** Throws 404. */
export async function existingLoadTest({ database, organization }: Context, id: number): Promise<LoadTestRow> {
  const row = await findLoadTest(database, organization.id, id);
  if (!row) throw notFound('Load test');
  return row;
}
