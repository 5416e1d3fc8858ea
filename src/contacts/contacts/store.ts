import { violatedUniqueColumns, type Database, type Row, type Statement } from '../../database/client.ts';
import { textFields, type Contact, type ContactValues } from './contact.ts';

/** The columns of a `Contact`, from table or alias `from`. */
export const contactColumns = (from: string): string =>
  ['id', 'organization_id', ...textFields, 'tags', 'custom_fields', 'created_at', 'updated_at', 'revision']
    .map((name) => `${from}.${name}`)
    .join(', ');

export const toContact = (row: Row): Contact =>
  ({ ...row, tags: JSON.parse(row.tags as string), custom_fields: JSON.parse(row.custom_fields as string) }) as Contact;

/** Writable columns in the order in which JSON rows carry them. */
export const valueColumns = [...textFields, 'tags', 'custom_fields'] as const;

export const toStoredValue = (values: ContactValues, column: (typeof valueColumns)[number]): string | null => {
  const value = values[column];
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
};

export const toStoredValues = (values: ContactValues): (string | null)[] => valueColumns.map((column) => toStoredValue(values, column));

/** Who writes and when: `depth` is how many journeys deep. */
export interface WriteContext {
  organizationId: number;
  now: number;
  depth: number;
}

// Statements that several writes share

/** Counts `added` contacts towards the plan, or breaks the batch when they are more than it allows (`isContactLimitExceeded`). */
export const addToContactCount = (database: Database, organizationId: number, added: number, maximum: number): Statement =>
  database.prepare(
    `INSERT INTO organization_usage (organization_id, contacts_count) VALUES (?1, CASE WHEN ?2 <= ?3 THEN ?2 END)
     ON CONFLICT (organization_id) DO UPDATE SET contacts_count = CASE WHEN contacts_count + ?2 <= ?3 THEN contacts_count + ?2 END`,
    organizationId,
    added,
    maximum,
  );

export const isContactLimitExceeded = (error: unknown): boolean =>
  String((error as Error).message).includes('NOT NULL constraint failed: organization_usage.contacts_count');

/** Whether another contact has the phone or external id that was to be written. */
export const isKeyTaken = (error: unknown): boolean =>
  violatedUniqueColumns(error)?.some((column) => column.startsWith('contact.')) ?? false;

/** Remembers custom field keys, each with the type of the first value seen. */
export const insertCustomFieldKeys = (database: Database, organizationId: number, types: Record<string, string>, now: number): Statement =>
  database.prepare(
    `INSERT OR IGNORE INTO custom_field_key (organization_id, key, type, created_at) SELECT ?1, j.key, j.value, ?3 FROM json_each(?2) j`,
    organizationId,
    JSON.stringify(types),
    now,
  );

/** One row when contact changes wait for the journeys that watch contacts. */
export const selectPendingChanges = (database: Database, organizationId: number): Statement =>
  database.prepare('SELECT 1 FROM contact_change WHERE organization_id = ? LIMIT 1', organizationId);

// One contact

const selectContact = (database: Database, organizationId: number, id: number): Statement =>
  database.prepare(
    `SELECT ${contactColumns('c')} FROM contact c WHERE c.id = ? AND c.organization_id = ? AND c.deleted_at IS NULL`,
    id,
    organizationId,
  );

export async function findContact(database: Database, organizationId: number, id: number): Promise<Contact | null> {
  const row = await database.first(selectContact(database, organizationId, id));
  return row && toContact(row);
}

export const selectContactsByIds = (database: Database, organizationId: number, ids: number[]): Statement =>
  database.prepare(
    `SELECT ${contactColumns('c')} FROM json_each(?) j CROSS JOIN contact c WHERE c.id = j.value AND c.organization_id = ? AND c.deleted_at IS NULL`,
    JSON.stringify(ids),
    organizationId,
  );

/** At most two: whether there is one or several is what counts. */
export async function findIdsByEmail(database: Database, organizationId: number, email: string): Promise<number[]> {
  const rows = await database.all<{ id: number }>(
    database.prepare(
      'SELECT id FROM contact WHERE organization_id = ? AND lower(email) = lower(?) AND email IS NOT NULL LIMIT 2',
      organizationId,
      email,
    ),
  );
  return rows.map((row) => row.id);
}

export interface Membership {
  id: number;
  name: string;
  added_at: number;
}

export async function findContactWithLists(
  database: Database,
  organizationId: number,
  id: number,
): Promise<{ contact: Contact; lists: Membership[] } | null> {
  const [found, lists] = await database.batch([
    selectContact(database, organizationId, id),
    database.prepare(
      `SELECT l.id, l.name, m.added_at FROM contact_list_member m CROSS JOIN contact_list l
       WHERE m.contact_id = ? AND l.id = m.list_id AND l.organization_id = ? AND l.deleted_at IS NULL ORDER BY l.id DESC`,
      id,
      organizationId,
    ),
  ]);
  return found![0] ? { contact: toContact(found![0]), lists: lists as unknown as Membership[] } : null;
}

/** Throws `isContactLimitExceeded` and `isKeyTaken` errors, and then has written nothing. */
export async function insertContact(
  database: Database,
  values: ContactValues,
  keyTypes: Record<string, string>,
  maximum: number,
  { organizationId, now, depth }: WriteContext,
): Promise<{ contact: Contact; hasChanges: boolean }> {
  const statements = [
    addToContactCount(database, organizationId, 1, maximum),
    database.prepare(
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
  ];
  const nothing = database.prepare('SELECT 1 WHERE 0');
  const [, inserted, , changes] = await database.batchOnce(
    statements,
    ({ rowId }) =>
      database.batch([nothing, selectContact(database, organizationId, rowId), nothing, selectPendingChanges(database, organizationId)]),
    2,
  );
  return { contact: toContact(inserted![0]!), hasChanges: changes!.length > 0 };
}

/** Null when the contact was written or deleted since `before` was read. Throws `isKeyTaken` errors. */
export async function updateContact(
  database: Database,
  before: Contact,
  after: ContactValues,
  changed: (keyof ContactValues)[],
  keyTypes: Record<string, string>,
  { organizationId, now, depth }: WriteContext,
): Promise<{ contact: Contact; hasChanges: boolean } | null> {
  const statements = [
    database.prepare(
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
  ];
  const nothing = database.prepare('SELECT 1 WHERE 0');
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
  return updated![0] ? { contact: toContact(updated![0]), hasChanges: changes!.length > 0 } : null;
}

/** The contacts that have the phone or the external id. */
export async function findKeyHolders(
  database: Database,
  organizationId: number,
  { phone, external_id }: Pick<ContactValues, 'phone' | 'external_id'>,
): Promise<Pick<Contact, 'id' | 'phone' | 'external_id'>[]> {
  return database.all(
    database.prepare(
      `SELECT id, phone, external_id FROM contact WHERE organization_id = ?1 AND phone = ?2
       UNION SELECT id, phone, external_id FROM contact WHERE organization_id = ?1 AND external_id = ?3`,
      organizationId,
      phone,
      external_id,
    ),
  );
}

export async function findCustomFieldKeys(database: Database, organizationId: number): Promise<{ key: string; type: string }[]> {
  return database.all(database.prepare('SELECT key, type FROM custom_field_key WHERE organization_id = ? ORDER BY key', organizationId));
}
