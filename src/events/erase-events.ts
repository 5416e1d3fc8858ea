import type { Context } from '../context.ts';
import { deleteFiles } from '../database/delete-files.ts';
import { payloadKey } from '../database/payload.ts';
import { findErasableEvents, eraseEventRows } from './erase-store.ts';

const pageSize = 200;

/** Takes phone and data out of a page of a deleted contact's events, and their large payloads out of R2. True: that was all. */
export async function eraseEvents({ database, organization, bindings, clock }: Context, contactId: number): Promise<boolean> {
  const events = await findErasableEvents(database, organization.id, contactId, pageSize);
  if (events.length === 0) return true;
  // Before the rows, since these alone know where the files are.
  await deleteFiles(
    bindings.FILES,
    events.flatMap(({ data }) => payloadKey(data) ?? []),
  );
  await eraseEventRows(
    database,
    organization.id,
    events.map(({ id }) => id),
    clock(),
  );
  return events.length < pageSize;
}
