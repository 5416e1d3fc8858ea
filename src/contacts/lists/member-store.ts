import type { Organization } from '../../context.ts';
import { requireWithinLimit } from '../../accounts/organizations/plan-limits.ts';
import { selectNothing, type Database, type Statement } from '../../database/client.ts';
import { toContactList, selectList, type ContactList } from './store.ts';

interface MemberState {
  contact_id: number;
  was_member: 0 | 1;
}

type Named = { name: string };

const selectLiveList = 'SELECT id FROM contact_list WHERE id = ?1 AND organization_id = ?2 AND deleted_at IS NULL';

/** Adds the existing contacts among `contactIds`. Answers them and whether they were members before; null when the list does not exist. */
export async function addMembers(
  database: Database,
  organizationId: number,
  listId: number,
  contactIds: number[],
  now: number,
): Promise<MemberState[] | null> {
  const ids = JSON.stringify(contactIds);
  const statements = [
    selectList(database, organizationId, listId),
    // A membership with `added_at` = now is one that this call made.
    database.prepare<MemberState>(
      `SELECT c.id AS contact_id,
         EXISTS (SELECT 1 FROM contact_list_member m WHERE m.list_id = ?1 AND m.contact_id = c.id AND m.added_at <> ?4) AS was_member
       FROM json_each(?3) j CROSS JOIN contact c WHERE c.id = j.value AND c.organization_id = ?2 AND c.deleted_at IS NULL`,
      listId,
      organizationId,
      ids,
      now,
    ),
    database.prepare(
      `INSERT OR IGNORE INTO contact_list_member (list_id, contact_id, added_at)
       SELECT l.id, c.id, ?4 FROM (${selectLiveList}) l CROSS JOIN json_each(?3) j CROSS JOIN contact c
       WHERE c.id = j.value AND c.organization_id = ?2 AND c.deleted_at IS NULL`,
      listId,
      organizationId,
      ids,
      now,
    ),
    database.prepare(
      'UPDATE contact_list SET contacts_count = contacts_count + changes() WHERE id = ?1 AND organization_id = ?2 AND changes() > 0',
      listId,
      organizationId,
    ),
  ] as const;
  const [list, found] = await database.batch(statements, 'contact_list_member.contact_id');
  return list.length ? found : null;
}

/** Removes a contact from a list. `list` is null when the list does not exist. */
export async function removeMember(
  database: Database,
  organizationId: number,
  listId: number,
  contactId: number,
): Promise<{ list: ContactList | null; wasMember: boolean }> {
  const statements = [
    selectList(database, organizationId, listId),
    database.prepare(
      `DELETE FROM contact_list_member WHERE list_id = ?1 AND contact_id = ?3 AND EXISTS (${selectLiveList}) RETURNING 1`,
      listId,
      organizationId,
      contactId,
    ),
    database.prepare(
      'UPDATE contact_list SET contacts_count = contacts_count - 1 WHERE id = ?1 AND organization_id = ?2 AND changes() > 0',
      listId,
      organizationId,
    ),
  ] as const;
  const [list, removed] = await database.batchOnce(statements, async ({ changes }) => [
    ...(await database.batch([selectList(database, organizationId, listId)])),
    changes ? [{}] : [],
  ]);
  return { list: list[0] ? toContactList(list[0]) : null, wasMember: removed.length > 0 };
}

/** Statements that remove contacts from the list of this name, for one batch, in this order. */
export const deleteMembersStatements = (database: Database, organizationId: number, name: string, contactIds: number[]): Statement[] => {
  const list = 'organization_id = ?1 AND name = ?2 AND deleted_at IS NULL';
  return [
    database.prepare(
      `DELETE FROM contact_list_member WHERE list_id = (SELECT id FROM contact_list WHERE ${list})
         AND contact_id IN (SELECT value FROM json_each(?3))`,
      organizationId,
      name,
      JSON.stringify(contactIds),
    ),
    database.prepare(
      `UPDATE contact_list SET contacts_count = contacts_count - changes() WHERE ${list} AND changes() > 0`,
      organizationId,
      name,
    ),
  ];
};

/**
 * Adds a contact to the lists named `add`, creating missing ones, and removes it from the lists named `remove`. Answers the names of the
 * lists that changed; null when the contact does not exist.
 */
export async function updateMemberships(
  database: Database,
  organization: Pick<Organization, 'id' | 'plan'>,
  contactId: number,
  names: { add: string[]; remove: string[] },
  now: number,
): Promise<{ added: string[]; removed: string[] } | null> {
  const isLive = 'EXISTS (SELECT 1 FROM contact WHERE id = ?1 AND organization_id = ?2 AND deleted_at IS NULL)';
  const named = 'organization_id = ?2 AND name IN (SELECT value FROM json_each(?3)) AND deleted_at IS NULL';
  const isMember = 'EXISTS (SELECT 1 FROM contact_list_member m WHERE m.list_id = contact_list.id AND m.contact_id = ?1)';
  const add = JSON.stringify(names.add);
  const remove = JSON.stringify(names.remove);
  const statements = [
    database.prepare(`SELECT 1 WHERE ${isLive}`, contactId, organization.id),
    database.prepare(
      `INSERT OR IGNORE INTO contact_list (organization_id, name, metadata, column_schema, created_at, updated_at)
       SELECT ?2, j.value, '{}', '[]', ?4, ?4 FROM json_each(?3) j WHERE ${isLive}`,
      contactId,
      organization.id,
      add,
      now,
    ),
    requireWithinLimit(database, organization, 'max_lists'),
    // The counters come before the memberships, which no longer tell new from old once they are written.
    database.prepare<Named>(
      `UPDATE contact_list SET contacts_count = contacts_count + 1 WHERE ${named} AND NOT ${isMember} AND ${isLive} RETURNING name`,
      contactId,
      organization.id,
      add,
    ),
    database.prepare(
      `INSERT OR IGNORE INTO contact_list_member (list_id, contact_id, added_at) SELECT id, ?1, ?4 FROM contact_list WHERE ${named} AND ${isLive}`,
      contactId,
      organization.id,
      add,
      now,
    ),
    database.prepare<Named>(
      `UPDATE contact_list SET contacts_count = contacts_count - 1 WHERE ${named} AND ${isMember} RETURNING name`,
      contactId,
      organization.id,
      remove,
    ),
    database.prepare(
      `DELETE FROM contact_list_member WHERE contact_id = ?1 AND list_id IN (SELECT id FROM contact_list WHERE ${named})`,
      contactId,
      organization.id,
      remove,
    ),
  ] as const;
  let isLost = false;
  const answers = await database.batch(statements, 'contact_list_member.contact_id', () => (isLost = true));
  const readBack = () =>
    database.batch([
      statements[0],
      selectNothing(database),
      selectNothing(database),
      database.prepare<Named>(
        `SELECT name FROM contact_list WHERE ${named} AND EXISTS (
           SELECT 1 FROM contact_list_member m WHERE m.list_id = contact_list.id AND m.contact_id = ?1 AND m.added_at = ?4)`,
        contactId,
        organization.id,
        add,
        now,
      ),
      selectNothing(database),
      // The removed memberships are gone, so every list named `remove` counts as left.
      database.prepare<Named>(`SELECT name FROM contact_list WHERE ${named} AND ?1 > 0`, contactId, organization.id, remove),
    ]);
  const [contact, , , added, , removed] = isLost ? await readBack() : answers;
  if (!contact.length) return null;
  return { added: added.map(({ name }) => name), removed: removed.map(({ name }) => name) };
}

/** Deletes at most `limit` memberships of a list that is deleted; answers how many. */
export async function deleteMembersOfDeletedList(
  database: Database,
  organizationId: number,
  listId: number,
  limit: number,
): Promise<number> {
  const removed = await database.all(
    database.prepare(
      `DELETE FROM contact_list_member WHERE list_id = ?1
         AND contact_id IN (SELECT contact_id FROM contact_list_member WHERE list_id = ?1 LIMIT ${limit})
         AND EXISTS (SELECT 1 FROM contact_list WHERE id = ?1 AND organization_id = ?2 AND deleted_at IS NOT NULL) RETURNING 1`,
      listId,
      organizationId,
    ),
    'idempotent',
  );
  return removed.length;
}
