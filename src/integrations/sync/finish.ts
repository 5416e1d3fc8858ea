import type { Context } from '../../accounts/context.ts';
import { leavingStatements } from '../../contacts/members.ts';
import { deleteLinks, linksNotWritten } from './link-store.ts';
import { listOfRecords } from './mapped-fields.ts';
import { advance, endSync, isOutOfHand } from './held-sync-store.ts';
import type { RunningSync } from './write-page.ts';

const linksAtOnce = 5_000;
const leavingAtOnce = 500;

/**
 * What follows when all pages are read: contacts whose records have gone leave the list, and are contacts still; then the sync is completed.
 * False: something was changed meanwhile, and the sync is to be looked at again.
 */
export async function finish(context: Context, sync: RunningSync, lease: number): Promise<boolean> {
  const { database, clock } = context;
  const { integration, reading } = sync;
  const held = { ...sync.held };
  try {
    for await (const gone of recordsGone(context, sync)) {
      const leaving = gone.filter(({ isElsewhere, contactId }) => !isElsewhere && !reading.present!.has(contactId));
      await database.batch(
        [
          advance(database, held, { revision: integration.revision, reading, lease, keys: [], askedAt: 0 }),
          ...leavingStatements(
            context,
            listOfRecords(integration)!,
            leaving.map(({ contactId }) => contactId),
          ),
          deleteLinks(
            database,
            integration.id,
            gone.map(({ key }) => key),
          ),
        ],
        'worked out anew',
      );
      Object.assign(held, { lease, pages: held.pages + 1 });
    }
    await endSync(database, held, { revision: integration.revision, reading, reason: null, now: clock() });
    return true;
  } catch (error) {
    if (isOutOfHand(error)) return false;
    throw error;
  }
}

/** Links of records that were not there, some at a time. A contact whose link was not written may have been there as it was. */
async function* recordsGone({ database }: RunningContext, { integration, reading }: RunningSync) {
  const { present, began } = reading;
  if (present === null || listOfRecords(integration) === null) return;
  for (let after = ''; ;) {
    const links = await linksNotWritten(database, integration.id, { reading: began, after, limit: linksAtOnce });
    const gone = links.filter(({ contactId }) => !present.has(contactId));
    for (let start = 0; start < gone.length; start += leavingAtOnce) yield gone.slice(start, start + leavingAtOnce);
    const last = links.at(-1);
    if (last === undefined || links.length < linksAtOnce) return;
    after = last.key;
  }
}

type RunningContext = Pick<Context, 'database'>;
