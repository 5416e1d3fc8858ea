import type { Context } from '../../context.ts';
import { payloadKey } from '../../database/payload.ts';
import { artifactKey, artifactNames } from './artifacts.ts';
import { findErasableRuns, eraseRuns, type ErasableRun } from './erase-store.ts';

const pageSize = 50;

/**
 * Erases a page of a deleted contact's calls and chats with all that they left in R2. `more`: another page follows; `later`: one of them
 * still lives. Repeatable.
 */
export async function eraseCalls({ database, organization, bindings }: Context, contactId: number): Promise<'done' | 'more' | 'later'> {
  const { completed, hasLive } = await findErasableRuns(database, organization.id, contactId, pageSize);
  if (completed.length > 0) {
    // Before the rows, since these alone know where the files are.
    await bindings.FILES.delete(completed.flatMap((run) => listFileKeys(organization.id, run)));
    await eraseRuns(
      database,
      organization.id,
      completed.map(({ id }) => id),
    );
  }
  if (completed.length === pageSize) return 'more';
  return hasLive ? 'later' : 'done';
}

function listFileKeys(organizationId: number, { id, initial_context: stored }: ErasableRun): string[] {
  const payload = payloadKey(stored);
  const ofTalk = artifactNames.map((name) => artifactKey(organizationId, id, name));
  return payload === null ? ofTalk : [...ofTalk, payload];
}
