import { eq } from 'drizzle-orm';
import { selectNothing, violatedUniqueColumns, type Database, type Statement } from '../../database/client.ts';
import { contactChange, customFieldKey, type contact, type contactList, type contactListMember } from '../../database/schema/contacts.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import { textFields, type Contact, type ContactValues } from './contact.ts';

/** A contact's row with the columns of `contactColumns`. */
export type ContactRow = Omit<StoredRow<typeof contact>, 'depth' | 'deleted_at'>;

/** The columns of a `Contact`, from the table or alias `from`. */
export const contactColumns = (from: string): string =>
  ['id', 'organization_id', ...textFields, 'tags', 'custom_fields', 'created_at', 'updated_at', 'revision']
    .map((name) => `${from}.${name}`)
    .join(', ');

export const toContact = (row: ContactRow): Contact => ({
  ...row,
  tags: JSON.parse(row.tags) as string[],
  custom_fields: JSON.parse(row.custom_fields) as Record<string, unknown>,
});

/** The writable columns, in the order of `toStoredValues`. */
export const valueColumns = [...textFields, 'tags', 'custom_fields'] as const;

const toStoredValue = (values: ContactValues, column: (typeof valueColumns)[number]): string | null => {
  const value = values[column];
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
};

export const toStoredValues = (values: ContactValues): (string | null)[] => valueColumns.map((column) => toStoredValue(values, column));

/** `now` in epoch ms; `depth`: how many journeys led to this write. */
export interface WriteContext {
  organizationId: number;
  now: number;
  depth: number;
}

// Statements that several writes share

/** Adds `added` to the organization's number of contacts. Above `max` it fails the batch with an `isContactLimitExceeded` error. */
export const addToContactCount = (database: Database, organizationId: number, added: number, max: number): Statement =>
  database.prepare(
    `INSERT INTO organization_usage (organization_id, contacts_count) VALUES (?1, CASE WHEN ?2 <= ?3 THEN ?2 END)
     ON CONFLICT (organization_id) DO UPDATE SET contacts_count = CASE WHEN contacts_count + ?2 <= ?3 THEN contacts_count + ?2 END`,
    organizationId,
    added,
    max,
  );

export const isContactLimitExceeded = (error: unknown): boolean =>
  String((error as Error).message).includes('NOT NULL constraint failed: organization_usage.contacts_count');

/** Whether the write failed because another contact has the phone or the external id. */
export const isKeyTaken = (error: unknown): boolean =>
  violatedUniqueColumns(error)?.some((column) => column.startsWith('contact.')) ?? false;

/** Records custom field keys, each with the type of its first value. */
export const insertCustomFieldKeys = (database: Database, organizationId: number, types: Record<string, string>, now: number): Statement =>
  database.prepare(
    `INSERT OR IGNORE INTO custom_field_key (organization_id, key, type, created_at) SELECT ?1, j.key, j.value, ?3 FROM json_each(?2) j`,
    organizationId,
    JSON.stringify(types),
    now,
  );

/** Answers a row when contact changes wait for journeys that watch contacts. */
const selectPendingChanges = (database: Database, organizationId: number): Statement =>
  database.from(
    database.orm.select({ id: contactChange.id }).from(contactChange).where(eq(contactChange.organizationId, organizationId)).limit(1),
  );

// One contact

const selectContact = (database: Database, organizationId: number, id: number): Statement<ContactRow> =>
  database.prepare<ContactRow>(
    `SELECT ${contactColumns('c')} FROM contact c WHERE c.id = ? AND c.organization_id = ? AND c.deleted_at IS NULL`,
    id,
    organizationId,
  );

export async function findContact(database: Database, organizationId: number, id: number): Promise<Contact | null> {
  const row = await database.first(selectContact(database, organizationId, id));
  return row && toContact(row);
}

export const selectContactsByIds = (database: Database, organizationId: number, ids: number[]): Statement<ContactRow> =>
  database.prepare<ContactRow>(
    `SELECT ${contactColumns('c')} FROM json_each(?) j CROSS JOIN contact c WHERE c.id = j.value AND c.organization_id = ? AND c.deleted_at IS NULL`,
    JSON.stringify(ids),
    organizationId,
  );

/** The ids of at most two contacts with this e-mail address: enough to tell one from several. */
export async function findIdsByEmail(database: Database, organizationId: number, email: string): Promise<number[]> {
  const rows = await database.all(
    database.prepare<Pick<ContactRow, 'id'>>(
      'SELECT id FROM contact WHERE organization_id = ? AND lower(email) = lower(?) AND email IS NOT NULL LIMIT 2',
      organizationId,
      email,
    ),
  );
  return rows.map((row) => row.id);
}

export type Membership = Pick<StoredRow<typeof contactList>, 'id' | 'name'> & Pick<StoredRow<typeof contactListMember>, 'added_at'>;

export async function findContactWithLists(
  database: Database,
  organizationId: number,
  id: number,
): Promise<{ contact: Contact; lists: Membership[] } | null> {
  const [found, lists] = await database.batch([
    selectContact(database, organizationId, id),
    database.prepare<Membership>(
      `SELECT l.id, l.name, m.added_at FROM contact_list_member m CROSS JOIN contact_list l
       WHERE m.contact_id = ? AND l.id = m.list_id AND l.organization_id = ? AND l.deleted_at IS NULL ORDER BY l.id DESC`,
      id,
      organizationId,
    ),
  ]);
  return found[0] ? { contact: toContact(found[0]), lists } : null;
}

/** Inserts a contact. Throws `isContactLimitExceeded` and `isKeyTaken` errors; then nothing is written. */
export async function insertContact(
  database: Database,
  values: ContactValues,
  keyTypes: Record<string, string>,
  maxContacts: number,
  { organizationId, now, depth }: WriteContext,
): Promise<{ contact: Contact; hasChanges: boolean }> {
  const statements = [
    addToContactCount(database, organizationId, 1, maxContacts),
    database.prepare<ContactRow>(
      `INSERT INTO contact (organization_id, ${valueColumns.join(', ')}, created_at, updated_at, depth)
       VALUES (?, ${valueColumns.map(() => '?').join(', ')}, ?, ?, ?) RETURNING ${contactColumns('contact')}`,
      organizationId,
      ...toStoredValues(values),
      now,
      now,
      depth,
    ),
    insertCustomFieldKeys(database, organizationId, keyTypes, now),
    selectPendingChanges(database, organizationId),
  ] as const;
  const nothing = selectNothing(database);
  const [, inserted, , changes] = await database.batchOnce(
    statements,
    ({ rowId }) =>
      database.batch([nothing, selectContact(database, organizationId, rowId), nothing, selectPendingChanges(database, organizationId)]),
    2,
  );
  return { contact: toContact(inserted[0]!), hasChanges: changes.length > 0 };
}

/** Writes the changed columns; null when the contact was written or deleted since `before` was read. Throws `isKeyTaken` errors. */
export async function updateContactRow(
  database: Database,
  before: Contact,
  after: ContactValues,
  changed: (keyof ContactValues)[],
  keyTypes: Record<string, string>,
  { organizationId, now, depth }: WriteContext,
): Promise<{ contact: Contact; hasChanges: boolean } | null> {
  const statements = [
    database.prepare<ContactRow>(
      `UPDATE contact SET ${changed.map((column) => `${column} = ?`).join(', ')}, revision = revision + 1, updated_at = max(?, updated_at), depth = ?
       WHERE id = ? AND organization_id = ? AND revision = ? AND deleted_at IS NULL RETURNING ${contactColumns('contact')}`,
      ...changed.map((column) => toStoredValue(after, column)),
      now,
      depth,
      before.id,
      organizationId,
      before.revision,
    ),
    insertCustomFieldKeys(database, organizationId, keyTypes, now),
    selectPendingChanges(database, organizationId),
  ] as const;
  const nothing = selectNothing(database);
  const [updated, , changes] = await database.batchOnce(
    statements,
    (first) =>
      database.batch([
        first.changes ? selectContact(database, organizationId, before.id) : nothing,
        nothing,
        selectPendingChanges(database, organizationId),
      ]),
    1,
  );
  return updated[0] ? { contact: toContact(updated[0]), hasChanges: changes.length > 0 } : null;
}

/** The contacts with this phone or this external id. */
export async function findKeyHolders(
  database: Database,
  organizationId: number,
  { phone, external_id }: Pick<ContactValues, 'phone' | 'external_id'>,
): Promise<Pick<Contact, 'id' | 'phone' | 'external_id'>[]> {
  return database.all(
    database.prepare<Pick<Contact, 'id' | 'phone' | 'external_id'>>(
      `SELECT id, phone, external_id FROM contact WHERE organization_id = ?1 AND phone = ?2
       UNION SELECT id, phone, external_id FROM contact WHERE organization_id = ?1 AND external_id = ?3`,
      organizationId,
      phone,
      external_id,
    ),
  );
}

export async function findCustomFieldKeys(
  database: Database,
  organizationId: number,
): Promise<Pick<typeof customFieldKey.$inferSelect, 'key' | 'type'>[]> {
  const { key, type } = customFieldKey;
  const query = database.orm
    .select({ key, type })
    .from(customFieldKey)
    .where(eq(customFieldKey.organizationId, organizationId))
    .orderBy(key);
  return database.run(() => query);
}
