import type { Context } from '../../context.ts';
import { findActiveUuids } from './store.ts';

/** Those of `uuids` that name no active document of the organization, each once, as they were given; whatever state the active ones are in. */
export async function findUnknownDocuments({ database, organization }: Context, uuids: string[]): Promise<string[]> {
  if (uuids.length === 0) return [];
  const active = await findActiveUuids(database, organization.id, uuids);
  return [...new Set(uuids)].filter((uuid) => !active.has(uuid.toLowerCase()));
}
