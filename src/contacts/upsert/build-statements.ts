import { and, eq, isNull } from 'drizzle-orm';
import type { Plan } from '../../plan.ts';
import { requireWithinLimit } from '../../accounts/organizations/plan-limits.ts';
import { selectNothing, type Database, type Statement } from '../../database/client.ts';
import { contactList } from '../../database/schema/contacts.ts';
import { jsonChunks } from '../../database/json-chunks.ts';
import type { Contact, ContactValues } from '../contacts/contact.ts';
import {
  addToContactCount,
  insertCustomFieldKeys,
  toStoredValues,
  valueColumns,
  type ContactRow,
  type WriteContext,
} from '../contacts/store.ts';
import { ensureList, listColumns, toContactList, type ContactList, type ListRow } from '../lists/store.ts';

export interface UpsertWrites {
  listName: string | null;
  inserts: ContactValues[];
  updates: { before: Contact; after: ContactValues }[];
  /** Contacts whose phone or external id another contact of this write takes over. */
  releasedKeys: Contact[];
  /** Existing contacts, changed or not; they join the list too. */
  knownIds: number[];
  keyTypes: Record<string, string>;
  plan: Plan;
}

type InsertedContact = Pick<ContactRow, 'id' | 'phone' | 'external_id'>;

export interface UpsertWriteResult {
  insertedIds: InsertedContact[];
  /** An update whose id is missing here met a contact that another request had written. */
  updatedIds: Set<number>;
  list: ContactList | null;
  isListCreated: boolean;
  hasChanges: boolean;
}

// Most imports change only these. Writing an indexed column costs one more row for each of its indexes.
const unindexedColumns = ['first_name', 'company', 'title', 'tags', 'custom_fields'] as const;
const indexedColumns = valueColumns.filter((column) => !(unindexedColumns as readonly string[]).includes(column));

/** A row of any statement of an upsert. */
export type UpsertRowAnswer = Partial<InsertedContact & ListRow & { has_changes: number }>;

type Step = 'list' | 'listLimit' | 'releasedKeys' | 'updated' | 'count' | 'inserted' | 'keys' | 'members' | 'state';

/**
 * The statements of an upsert, in order. `toResult` turns their answers into a result; `readBack` has statements that answer the same
 * afterwards. A batch with them throws as `writeUpsert` does.
 */
export function upsertStatements(
  database: Database,
  writes: UpsertWrites,
  write: WriteContext,
): {
  statements: Statement<UpsertRowAnswer>[];
  toResult: (answers: UpsertRowAnswer[][]) => UpsertWriteResult;
  readBack: () => Statement<UpsertRowAnswer>[];
} {
  const { organizationId, now } = write;
  const changesIndexedColumn = ({ before, after }: UpsertWrites['updates'][number]) =>
    indexedColumns.some((column) => before[column] !== after[column]);
  const steps: Record<Step, Statement<UpsertRowAnswer>[]> = {
    list: writes.listName === null ? [] : [ensureList(database, organizationId, writes.listName, now)],
    listLimit: writes.listName === null ? [] : [requireWithinLimit(database, { id: organizationId, plan: writes.plan }, 'max_lists')],
    releasedKeys: writes.releasedKeys.length ? [releaseKeys(database, writes.releasedKeys)] : [],
    updated: [
      ...buildUpdates(
        database,
        writes.updates.filter((update) => !changesIndexedColumn(update)),
        unindexedColumns,
        write,
      ),
      ...buildUpdates(database, writes.updates.filter(changesIndexedColumn), valueColumns, write),
    ],
    count: writes.inserts.length ? [addToContactCount(database, organizationId, writes.inserts.length, writes.plan.maxContacts)] : [],
    inserted: buildInserts(database, writes.inserts, write),
    keys: Object.keys(writes.keyTypes).length ? [insertCustomFieldKeys(database, organizationId, writes.keyTypes, now)] : [],
    members: writes.listName === null ? [] : buildMemberships(database, writes, write),
    state: [
      database.prepare<UpsertRowAnswer>(
        `SELECT ${listColumns('l')}, EXISTS (SELECT 1 FROM contact_change WHERE organization_id = ?1) AS has_changes
         FROM (SELECT 1) LEFT JOIN contact_list l ON l.organization_id = ?1 AND l.name = ?2 AND l.deleted_at IS NULL`,
        organizationId,
        writes.listName,
      ),
    ],
  };
  return { statements: Object.values(steps).flat(), toResult, readBack };

  function readBack(): Statement<UpsertRowAnswer>[] {
    const reads: Partial<Record<Step, Statement<UpsertRowAnswer>>> = {
      list: selectCreatedList(database, organizationId, writes.listName ?? '', now),
      updated: selectUpdatedContacts(database, organizationId, writes.updates),
      inserted: selectCreatedContacts(database, organizationId, writes.inserts, now),
      state: steps.state[0]!,
    };
    // The first statement of a step answers for the whole step.
    return (Object.keys(steps) as Step[]).flatMap((step) =>
      steps[step].map((_, index) => (index === 0 && reads[step]) || selectNothing(database)),
    );
  }

  function toResult(answers: UpsertRowAnswer[][]): UpsertWriteResult {
    const remaining = [...answers];
    const rows = {} as Record<Step, UpsertRowAnswer[]>;
    for (const step of Object.keys(steps) as Step[]) rows[step] = remaining.splice(0, steps[step].length).flat();
    const { has_changes, ...list } = rows.state[0]!;
    return {
      insertedIds: rows.inserted as InsertedContact[],
      updatedIds: new Set(rows.updated.map((row) => row.id!)),
      list: list.id === null ? null : toContactList(list as ListRow),
      isListCreated: rows.list.length > 0,
      hasChanges: has_changes === 1,
    };
  }
}

/** The list of this name, if it was created at `now`. */
const selectCreatedList = (database: Database, organizationId: number, name: string, now: number): Statement<Pick<ListRow, 'id'>> =>
  database.from<Pick<ListRow, 'id'>>(
    database.orm
      .select({ id: contactList.id })
      .from(contactList)
      .where(
        and(
          eq(contactList.organizationId, organizationId),
          eq(contactList.name, name),
          eq(contactList.createdAt, now),
          isNull(contactList.deletedAt),
        ),
      ),
  );

/** The contacts of `updates` whose stored values are now the intended ones. */
const selectUpdatedContacts = (
  database: Database,
  organizationId: number,
  updates: UpsertWrites['updates'],
): Statement<Pick<ContactRow, 'id'>> =>
  database.prepare<Pick<ContactRow, 'id'>>(
    `SELECT c.id FROM json_each(?1) j CROSS JOIN contact c WHERE c.id = j.value ->> 0 AND c.revision > j.value ->> 1 AND c.organization_id = ?2
       AND ${valueColumns.map((column, index) => `c.${column} IS j.value ->> ${index + 2}`).join(' AND ')}`,
    JSON.stringify(updates.map(({ before, after }) => [before.id, before.revision, ...toStoredValues(after)])),
    organizationId,
  );

/** The contacts with these keys that were created at `now`. */
const selectCreatedContacts = (
  database: Database,
  organizationId: number,
  inserts: ContactValues[],
  now: number,
): Statement<InsertedContact> =>
  database.prepare<InsertedContact>(
    `SELECT c.id, c.phone, c.external_id FROM json_each(?1) j CROSS JOIN contact c
       WHERE c.organization_id = ?2 AND c.phone = j.value ->> 'phone' AND c.created_at = ?3
     UNION SELECT c.id, c.phone, c.external_id FROM json_each(?1) j CROSS JOIN contact c
       WHERE c.organization_id = ?2 AND c.external_id = j.value ->> 'external_id' AND c.created_at = ?3`,
    JSON.stringify(inserts.map(({ phone, external_id }) => ({ phone, external_id }))),
    organizationId,
    now,
  );

/** Fails its batch with an `isContactLimitExceeded` error when one of the contacts was written since it was read. */
export const requireUnchanged = (database: Database, organizationId: number, contacts: Contact[]): Statement =>
  database.prepare(
    `UPDATE organization_usage SET contacts_count = CASE WHEN NOT EXISTS (
       SELECT 1 FROM json_each(?2) j CROSS JOIN contact c WHERE c.id = j.value ->> 0 AND c.revision <> j.value ->> 1
     ) THEN contacts_count END WHERE organization_id = ?1`,
    organizationId,
    JSON.stringify(contacts.map((contact) => [contact.id, contact.revision])),
  );

function buildInserts(
  database: Database,
  inserts: ContactValues[],
  { organizationId, now, depth }: WriteContext,
): Statement<InsertedContact>[] {
  const values = valueColumns.map((_, index) => `j.value ->> ${index}`).join(', ');
  return jsonChunks(inserts.map(toStoredValues)).map((chunk) =>
    database.prepare<InsertedContact>(
      `INSERT INTO contact (organization_id, ${valueColumns.join(', ')}, created_at, updated_at, depth)
       SELECT ?2, ${values}, ?3, ?3, ?4 FROM json_each(?1) j WHERE true RETURNING id, phone, external_id`,
      chunk,
      organizationId,
      now,
      depth,
    ),
  );
}

function buildUpdates(
  database: Database,
  updates: UpsertWrites['updates'],
  columns: readonly (typeof valueColumns)[number][],
  { organizationId, now, depth }: WriteContext,
): Statement<Pick<ContactRow, 'id'>>[] {
  const rows = updates.map(({ before, after }) => [before.id, before.revision, ...toStoredValues(after)]);
  const assignments = columns.map((column) => `${column} = changed.value ->> ${valueColumns.indexOf(column) + 2}`).join(', ');
  return jsonChunks(rows).map((chunk) =>
    database.prepare<Pick<ContactRow, 'id'>>(
      `UPDATE contact SET ${assignments}, revision = contact.revision + 1, updated_at = max(?3, contact.updated_at), depth = ?4
       FROM (SELECT value, value ->> 0 AS id, value ->> 1 AS revision FROM json_each(?1)) changed
       WHERE contact.id = changed.id AND contact.revision = changed.revision AND +contact.organization_id = ?2 RETURNING contact.id`,
      chunk,
      organizationId,
      now,
      depth,
    ),
  );
}

const releaseKeys = (database: Database, contacts: Contact[]): Statement =>
  database.prepare(
    `UPDATE contact SET phone = NULL, external_id = NULL FROM (SELECT value ->> 0 AS id, value ->> 1 AS revision FROM json_each(?1)) released
     WHERE contact.id = released.id AND contact.revision = released.revision`,
    JSON.stringify(contacts.map((contact) => [contact.id, contact.revision])),
  );

/** Existing contacts join by id, new ones by phone or external id. */
function buildMemberships(
  database: Database,
  { inserts, knownIds, listName }: UpsertWrites,
  { organizationId, now }: WriteContext,
): Statement[] {
  const phones = inserts.flatMap((contact) => contact.phone ?? []);
  const externalIds = inserts.flatMap((contact) => (contact.phone === null ? (contact.external_id ?? []) : []));
  const list = 'contact_list l WHERE l.organization_id = ?4 AND l.name = ?5 AND l.deleted_at IS NULL';
  return [
    database.prepare(
      `INSERT OR IGNORE INTO contact_list_member (list_id, contact_id, added_at)
       SELECT (SELECT l.id FROM ${list}), joining.id, ?6 FROM (
         SELECT c.id FROM json_each(?1) j CROSS JOIN contact c WHERE c.id = j.value AND c.deleted_at IS NULL
         UNION ALL SELECT c.id FROM json_each(?2) j CROSS JOIN contact c WHERE c.organization_id = ?4 AND c.phone = j.value
         UNION ALL SELECT c.id FROM json_each(?3) j CROSS JOIN contact c WHERE c.organization_id = ?4 AND c.external_id = j.value
       ) joining`,
      JSON.stringify(knownIds),
      JSON.stringify(phones),
      JSON.stringify(externalIds),
      organizationId,
      listName,
      now,
    ),
    database.prepare(
      'UPDATE contact_list SET contacts_count = contacts_count + changes() WHERE organization_id = ? AND name = ? AND deleted_at IS NULL AND changes() > 0',
      organizationId,
      listName,
    ),
  ];
}
