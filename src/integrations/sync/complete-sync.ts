import type { Context } from '../../context.ts';
import { removeMembersStatements } from '../../contacts/lists/members.ts';
import { deleteLinksStatement, findLinksNotWritten } from './links/store.ts';
import { contactListName } from './mapped-fields.ts';
import { advanceStatement, endSync, isLeaseLost } from './leased-sync-store.ts';
import type { RunningSync } from './write-page.ts';

const linkPageSize = 5_000;
const removalBatchSize = 500;

/**
 * Completes a sync whose pages are all read: removes contacts whose records are gone from the list; the contacts stay. False: the sync or
 * the integration was changed meanwhile, and the step must be repeated.
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

/** Pages of links whose records were not found. The contact of a link that was not written may be among `present`. */
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
