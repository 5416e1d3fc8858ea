import { and, eq, isNull } from 'drizzle-orm';
import type { Organization } from '../../context.ts';
import { requireWithinLimit } from '../../accounts/organizations/plan-limits.ts';
import type { Database, Statement } from '../../database/client.ts';
import { contact, contactList, type contactListMember } from '../../database/schema/contacts.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import { countLimit, type Page, type CursorPosition } from '../../http/pagination.ts';

/** A column that the dashboard shows for the list. */
export interface ListColumn {
  key: string;
  label: string;
  type: 'string' | 'number' | 'boolean' | 'date' | 'phone' | 'email';
}

export interface ListValues {
  name: string;
  description: string | null;
  metadata: Record<string, unknown>;
  column_schema: ListColumn[];
}

/** A list that is not deleted. `created_at` and `updated_at` in epoch ms. */
export interface ContactList extends ListValues {
  id: number;
  organization_id: number;
  contacts_count: number;
  created_at: number;
  updated_at: number;
}

/** A list's row with the columns of `listColumns`. */
export type ListRow = Omit<StoredRow<typeof contactList>, 'deleted_at'>;

export const listColumns = (from: string): string =>
  ['id', 'organization_id', 'name', 'description', 'metadata', 'column_schema', 'contacts_count', 'created_at', 'updated_at']
    .map((name) => `${from}.${name}`)
    .join(', ');

export const toContactList = <Columns extends ListRow>(row: Columns) => ({
  ...row,
  metadata: JSON.parse(row.metadata) as ContactList['metadata'],
  column_schema: JSON.parse(row.column_schema) as ListColumn[],
});

const toStoredColumn = (value: ListValues[keyof ListValues]): string | null =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : value;

export const selectList = (database: Database, organizationId: number, id: number): Statement<ListRow> =>
  database.prepare<ListRow>(
    `SELECT ${listColumns('l')} FROM contact_list l WHERE l.id = ? AND l.organization_id = ? AND l.deleted_at IS NULL`,
    id,
    organizationId,
  );

/** Creates the list unless one has that name; answers a row when it was created. */
export const ensureList = (database: Database, organizationId: number, name: string, now: number): Statement<Pick<ListRow, 'id'>> =>
  database.prepare<Pick<ListRow, 'id'>>(
    `INSERT OR IGNORE INTO contact_list (organization_id, name, metadata, column_schema, created_at, updated_at)
     VALUES (?1, ?2, '{}', '[]', ?3, ?3) RETURNING id`,
    organizationId,
    name,
    now,
  );

export async function findList(database: Database, organizationId: number, id: number): Promise<ContactList | null> {
  const row = await database.first(selectList(database, organizationId, id));
  return row && toContactList(row);
}

export async function findListId(database: Database, organizationId: number, name: string): Promise<number | null> {
  const query = database.orm
    .select({ id: contactList.id })
    .from(contactList)
    .where(and(eq(contactList.organizationId, organizationId), eq(contactList.name, name), isNull(contactList.deletedAt)));
  return (await database.run(() => query))[0]?.id ?? null;
}

/** Inserts a list. Throws an error with `violatedUniqueColumns` when the name is taken, compared without case. */
export async function insertList(
  database: Database,
  organization: Pick<Organization, 'id' | 'plan'>,
  values: ListValues,
  now: number,
): Promise<ContactList> {
  const statements = [
    database.prepare<ListRow>(
      `INSERT INTO contact_list (organization_id, name, description, metadata, column_schema, created_at, updated_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6) RETURNING ${listColumns('contact_list')}`,
      organization.id,
      values.name,
      values.description,
      toStoredColumn(values.metadata),
      toStoredColumn(values.column_schema),
      now,
    ),
    requireWithinLimit(database, organization, 'max_lists'),
  ] as const;
  const [rows] = await database.batchOnce(statements, ({ rowId }) => database.batch([selectList(database, organization.id, rowId)]));
  return toContactList(rows[0]!);
}

/** Writes the changed columns; null when the list does not exist. */
export async function updateList(
  database: Database,
  organizationId: number,
  id: number,
  change: Partial<ListValues>,
  now: number,
): Promise<ContactList | null> {
  const columns = Object.keys(change) as (keyof ListValues)[];
  const row = await database.first(
    database.prepare<ListRow>(
      `UPDATE contact_list SET ${columns.map((column) => `${column} = ?`).join(', ')}, updated_at = max(?, updated_at)
       WHERE id = ? AND organization_id = ? AND deleted_at IS NULL RETURNING ${listColumns('contact_list')}`,
      ...columns.map((column) => toStoredColumn(change[column]!)),
      now,
      id,
      organizationId,
    ),
    'idempotent',
  );
  return row && toContactList(row);
}

/** Hides the list and frees its name. Answers the id of the cleanup that removes the memberships; null when the list does not exist. */
export async function tombstoneList(database: Database, organizationId: number, id: number, now: number): Promise<number | null> {
  const statements = [
    database.prepare<{ id: number }>(
      `INSERT INTO cleanup (organization_id, kind, subject_id, created_at) SELECT organization_id, 'list_deleted', id, ?3 FROM contact_list
       WHERE id = ?1 AND organization_id = ?2 AND deleted_at IS NULL RETURNING id`,
      id,
      organizationId,
      now,
    ),
    database.from(
      database.orm
        .update(contactList)
        .set({ deletedAt: now, updatedAt: now })
        .where(and(eq(contactList.id, id), eq(contactList.organizationId, organizationId), isNull(contactList.deletedAt))),
    ),
  ] as const;
  const [recorded] = await database.batchOnce(statements, async ({ changes, rowId }) => [changes ? [{ id: rowId }] : []], 1);
  return recorded[0]?.id ?? null;
}

/** One page of the lists whose name contains `search`, newest first, with one more than `limit` when another page follows. */
export async function findLists(
  database: Database,
  organizationId: number,
  search: string | undefined,
  page: Page,
  after: CursorPosition | undefined,
): Promise<{ lists: ContactList[]; total: number }> {
  const where = 'l.organization_id = ?1 AND l.deleted_at IS NULL AND (?2 IS NULL OR instr(lower(l.name), lower(?2)) > 0)';
  const [lists, counted] = await database.batch([
    database.prepare<ListRow>(
      `SELECT ${listColumns('l')} FROM contact_list l WHERE ${where} AND l.id < ?3 ORDER BY l.id DESC LIMIT ?4 OFFSET ?5`,
      organizationId,
      search ?? null,
      after?.id ?? Number.MAX_SAFE_INTEGER,
      page.limit + 1,
      page.offset,
    ),
    database.prepare<{ total: number }>(`SELECT count(*) AS total FROM contact_list l WHERE ${where}`, organizationId, search ?? null),
  ]);
  return { lists: lists.map(toContactList), total: counted[0]!.total };
}

/** One page of the lists that contain the contact, newest first; null when the contact does not exist. */
export async function findListsOfContact(
  database: Database,
  organizationId: number,
  contactId: number,
  page: Page,
  after: CursorPosition | undefined,
): Promise<{ lists: (ContactList & { added_at: number })[]; total: number } | null> {
  const from = `FROM contact_list_member m CROSS JOIN contact_list l
    WHERE m.contact_id = ?1 AND l.id = m.list_id AND l.organization_id = ?2 AND l.deleted_at IS NULL`;
  const [contacts, lists, counted] = await database.batch([
    database.from(
      database.orm
        .select({ id: contact.id })
        .from(contact)
        .where(and(eq(contact.id, contactId), eq(contact.organizationId, organizationId), isNull(contact.deletedAt))),
    ),
    database.prepare<ListRow & Pick<StoredRow<typeof contactListMember>, 'added_at'>>(
      `SELECT ${listColumns('l')}, m.added_at ${from} AND m.list_id < ?3 ORDER BY m.list_id DESC LIMIT ?4 OFFSET ?5`,
      contactId,
      organizationId,
      after?.id ?? Number.MAX_SAFE_INTEGER,
      page.limit + 1,
      page.offset,
    ),
    database.prepare<{ total: number }>(`SELECT count(*) AS total FROM (SELECT 1 ${from} LIMIT ${countLimit})`, contactId, organizationId),
  ]);
  if (!contacts.length) return null;
  return { lists: lists.map(toContactList), total: counted[0]!.total };
}
