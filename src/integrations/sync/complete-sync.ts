import type { Context } from '../../context.ts';
import { removeMembersStatements } from '../../contacts/lists/members.ts';
import { deleteLinksStatement, findLinksNotWritten } from './links/store.ts';
import { contactListName } from './mapped-fields.ts';
import { advanceStatement, endSync, isLeaseLost } from './leased-sync-store.ts';
import type { RunningSync } from './write-page.ts';

const linkPageSize = 5_000;
const removalBatchSize = 500;

/**
 * What follows when all pages are read: contacts whose records have gone leave the list, and are contacts still; then the sync is completed.
 * False: something was changed meanwhile, and the sync is to be looked at again.
 */
export async function completeSync(context: Context, sync: RunningSync, lease: number): Promise<boolean> {
  const { database, clock } = context;
  const { integration, reading } = sync;
  const held = { ...sync.held };
  try {
    for await (const gone of findVanishedRecords(context, sync)) {
      const leaving = gone.filter(({ isElsewhere, contactId }) => !isElsewhere && !reading.present!.has(contactId));
      await database.batch(
        [
          advanceStatement(database, held, { revision: integration.revision, reading, lease, keys: [], askedAt: 0 }),
          ...removeMembersStatements(
            context,
            contactListName(integration)!,
            leaving.map(({ contactId }) => contactId),
          ),
          deleteLinksStatement(
            database,
            integration.id,
            gone.map(({ key }) => key),
          ),
        ],
        'read-back',
      );
      Object.assign(held, { lease, pages: held.pages + 1 });
    }
    await endSync(database, held, { revision: integration.revision, reading, reason: null, now: clock() });
    return true;
  } catch (error) {
    if (isLeaseLost(error)) return false;
    throw error;
  }
}

/** Links of records that were not there, some at a time. A contact whose link was not written may have been there as it was. */
async function* findVanishedRecords({ database }: DatabaseContext, { integration, reading }: RunningSync) {
  const { present, began } = reading;
  if (present === null || contactListName(integration) === null) return;
  for (let after = ''; ;) {
    const links = await findLinksNotWritten(database, integration.id, { reading: began, after, limit: linkPageSize });
    const gone = links.filter(({ contactId }) => !present.has(contactId));
    for (let start = 0; start < gone.length; start += removalBatchSize) yield gone.slice(start, start + removalBatchSize);
    const last = links.at(-1);
    if (last === undefined || links.length < linkPageSize) return;
    after = last.key;
  }
}

type DatabaseContext = Pick<Context, 'database'>;
