import type { Organization } from '../../context.ts';
import { requireWithinLimit } from '../../accounts/organizations/plan-limits.ts';
import type { Database, Row, Statement } from '../../database/client.ts';
import { toContactList, selectList, type ContactList } from './store.ts';

const selectLiveList = 'SELECT id FROM contact_list WHERE id = ?1 AND organization_id = ?2 AND deleted_at IS NULL';

/** Adds those of the contacts that exist. Answers which exist and which were members before; null when there is no such list. */
export async function addMembers(
  database: Database,
  organizationId: number,
  listId: number,
  contactIds: number[],
  now: number,
): Promise<{ contact_id: number; was_member: 0 | 1 }[] | null> {
  const ids = JSON.stringify(contactIds);
  // Those who joined at this moment were no members before.
  const reading = [
    selectList(database, organizationId, listId),
    database.prepare(
      `SELECT c.id AS contact_id,
         EXISTS (SELECT 1 FROM contact_list_member m WHERE m.list_id = ?1 AND m.contact_id = c.id AND m.added_at <> ?4) AS was_member
       FROM json_each(?3) j CROSS JOIN contact c WHERE c.id = j.value AND c.organization_id = ?2 AND c.deleted_at IS NULL`,
      listId,
      organizationId,
      ids,
      now,
    ),
  ];
  const statements = [
    ...reading,
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
  ];
  const [list, found] = await database.batch(statements, 'contact_list_member.contact_id');
  return list!.length ? (found as unknown as { contact_id: number; was_member: 0 | 1 }[]) : null;
}

/** Whether the list is there, and whether the contact was a member of it. */
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
  ];
  const [list, removed] = await database.batchOnce(statements, async ({ changes }) => [
    ...(await database.batch([selectList(database, organizationId, listId)])),
    changes ? [{}] : [],
  ]);
  return { list: list![0] ? toContactList(list![0]) : null, wasMember: removed!.length > 0 };
}

/** Takes contacts off the list of this name; for one batch, in this order. */
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

const toListName = (row: Row) => row.name as string;

/**
 * Puts one contact on the lists named `add`, creating those that do not exist, and takes it off those named `remove`.
 * Answers the names of the lists it was put on and taken off; null when there is no such contact.
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
    // The counters come first: once the rows are there, nothing tells the new ones from the old.
    database.prepare(
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
    database.prepare(
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
  ];
  let isLost = false;
  const answers = await database.batch(statements, 'contact_list_member.contact_id', () => (isLost = true));
  const readBack = () =>
    database.batch([
      statements[0]!,
      database.prepare('SELECT 1 WHERE 0'),
      database.prepare('SELECT 1 WHERE 0'),
      database.prepare(
        `SELECT name FROM contact_list WHERE ${named} AND EXISTS (
           SELECT 1 FROM contact_list_member m WHERE m.list_id = contact_list.id AND m.contact_id = ?1 AND m.added_at = ?4)`,
        contactId,
        organization.id,
        add,
        now,
      ),
      database.prepare('SELECT 1 WHERE 0'),
      // What it was taken off is gone: all of the lists that it was to leave.
      database.prepare(`SELECT name FROM contact_list WHERE ${named} AND ?1 > 0`, contactId, organization.id, remove),
    ]);
  const [contact, , , added, , removed] = isLost ? await readBack() : answers;
  if (!contact!.length) return null;
  return { added: added!.map(toListName), removed: removed!.map(toListName) };
}
