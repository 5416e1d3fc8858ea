import type { Context } from '../context.ts';
import { findNewestOfTypes, type LatestEvent } from './latest-store.ts';

export type { LatestEvent } from './latest-store.ts';

/** The contact's newest event of each of `types`, newest first, among its newest 1,000. `data` may point into R2. */
export async function findLatestEvents({ database, organization }: Context, contactId: number, types: string[]): Promise<LatestEvent[]> {
  return types.length ? findNewestOfTypes(database, organization.id, contactId, types) : [];
}
