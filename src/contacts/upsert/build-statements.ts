import type { Plan } from '../../plan.ts';
import { requireWithinLimit } from '../../accounts/organizations/plan-limits.ts';
import type { Database, Row, Statement } from '../../database/client.ts';
import type { Contact, ContactValues } from '../contacts/contact.ts';
import { jsonChunks } from '../../database/json-chunks.ts';
import {
  contactColumns,
  toContact,
  addToContactCount,
  insertCustomFieldKeys,
  toStoredValues,
  valueColumns,
  type WriteContext,
} from '../contacts/store.ts';
import { ensureList, listColumns, toContactList, type ContactList } from '../lists/store.ts';

export interface ContactKeys {
  phones: string[];
  externalIds: string[];
  /** Those of them that are deleted are not found. */
  ids?: number[];
}

/** The contacts that have any of the keys, and how many contacts there are. */
export async function findContactsByKeys(
  database: Database,
  organizationId: number,
  keys: ContactKeys,
): Promise<{ contacts: Contact[]; count: number }> {
  const [found, usage] = await database.batch([
    database.prepare(
      `SELECT ${contactColumns('c')} FROM (
         SELECT k.id FROM json_each(?1) j CROSS JOIN contact k WHERE k.organization_id = ?3 AND k.phone = j.value
         UNION SELECT k.id FROM json_each(?2) j CROSS JOIN contact k WHERE k.organization_id = ?3 AND k.external_id = j.value
         UNION SELECT k.id FROM json_each(?4) j CROSS JOIN contact k WHERE k.id = j.value AND k.organization_id = ?3 AND k.deleted_at IS NULL
       ) known CROSS JOIN contact c WHERE c.id = known.id`,
      JSON.stringify(keys.phones),
      JSON.stringify(keys.externalIds),
      organizationId,
      JSON.stringify(keys.ids ?? []),
    ),
    database.prepare('SELECT contacts_count FROM organization_usage WHERE organization_id = ?', organizationId),
  ]);
  return { contacts: found!.map(toContact), count: (usage![0]?.contacts_count as number | undefined) ?? 0 };
}

export interface UpsertWrites {
  listName: string | null;
  inserts: ContactValues[];
  updates: { before: Contact; after: ContactValues }[];
  /** Contacts that must let go of phone or external id before another of this write takes it. */
  releasedKeys: Contact[];
  /** Found contacts, changed or not: they become members too. */
  knownIds: number[];
  keyTypes: Record<string, string>;
  plan: Plan;
}

export interface UpsertWriteResult {
  insertedIds: { id: number; phone: string | null; external_id: string | null }[];
  /** Updates that are missing here met a contact that someone else had written since. */
  updatedIds: Set<number>;
  list: ContactList | null;
  isListCreated: boolean;
  hasChanges: boolean;
}

// What changes in most imports has no index, and a written column costs a row for each index on it.
const unindexedColumns = ['first_name', 'company', 'title', 'tags', 'custom_fields'] as const;
const indexedColumns = valueColumns.filter((column) => !(unindexedColumns as readonly string[]).includes(column));

/** One transaction. Throws `isContactLimitExceeded` and `isKeyTaken` errors, and then has written nothing. */
export async function writeUpsert(database: Database, writes: UpsertWrites, write: WriteContext): Promise<UpsertWriteResult> {
  const { statements, resultOf, readBack } = upsertStatements(database, writes, write);
  if (writes.inserts.length || writes.updates.length)
    return resultOf(await database.batchOnce(statements, () => database.batch(readBack())));
  // Nobody is new and nobody changes, so that once more does nothing, and a receipt would be all that is written.
  let isLost = false;
  const result = resultOf(await database.batch(statements, 'contact_list_member.contact_id', () => (isLost = true)));
  return { ...result, isListCreated: result.isListCreated || (isLost && result.list?.created_at === write.now) };
}

/** The statements of an upsert, in their order, and what their answers say. A batch with them throws as `writeUpsert` does. */
export function upsertStatements(
  database: Database,
  writes: UpsertWrites,
  write: WriteContext,
): { statements: Statement[]; resultOf: (answers: Row[][]) => UpsertWriteResult; readBack: () => Statement[] } {
  const { organizationId, now } = write;
  const touchesIndex = ({ before, after }: UpsertWrites['updates'][number]) =>
    indexedColumns.some((column) => before[column] !== after[column]);
  const steps: Record<string, Statement[]> = {
    list: writes.listName === null ? [] : [ensureList(database, organizationId, writes.listName, now)],
    listRoom: writes.listName === null ? [] : [requireWithinLimit(database, { id: organizationId, plan: writes.plan }, 'max_lists')],
    letGo: writes.releasedKeys.length ? [releaseKeys(database, writes.releasedKeys)] : [],
    updated: [
      ...buildUpdates(
        database,
        writes.updates.filter((one) => !touchesIndex(one)),
        unindexedColumns,
        write,
      ),
      ...buildUpdates(database, writes.updates.filter(touchesIndex), valueColumns, write),
    ],
    count: writes.inserts.length ? [addToContactCount(database, organizationId, writes.inserts.length, writes.plan.maxContacts)] : [],
    inserted: buildInserts(database, writes.inserts, write),
    keys: Object.keys(writes.keyTypes).length ? [insertCustomFieldKeys(database, organizationId, writes.keyTypes, now)] : [],
    members: writes.listName === null ? [] : buildMemberships(database, writes, write),
    state: [
      database.prepare(
        `SELECT ${listColumns('l')}, EXISTS (SELECT 1 FROM contact_change WHERE organization_id = ?1) AS has_changes
         FROM (SELECT 1) LEFT JOIN contact_list l ON l.organization_id = ?1 AND l.name = ?2 AND l.deleted_at IS NULL`,
        organizationId,
        writes.listName,
      ),
    ],
  };
  return { statements: Object.values(steps).flat(), resultOf, readBack };

  /** What tells afterwards what the statements answered: one for each of them. */
  function readBack(): Statement[] {
    const nothing = database.prepare('SELECT 1 WHERE 0');
    const told: Record<string, Statement> = {
      list: selectCreatedList(database, organizationId, writes.listName ?? '', now),
      updated: selectUpdatedContacts(database, organizationId, writes.updates),
      inserted: selectCreatedContacts(database, organizationId, writes.inserts, now),
      state: steps.state![0]!,
    };
    // The first of a step's statements stands for all of them.
    return Object.entries(steps).flatMap(([step, statements]) => statements.map((_, index) => (index === 0 && told[step]) || nothing));
  }

  function resultOf(answers: Row[][]): UpsertWriteResult {
    const left = [...answers];
    const rows: Record<string, Row[]> = {};
    for (const [step, statements] of Object.entries(steps)) rows[step] = left.splice(0, statements.length).flat();
    const { has_changes, ...list } = rows.state![0]!;
    return {
      insertedIds: rows.inserted as unknown as UpsertWriteResult['insertedIds'],
      updatedIds: new Set(rows.updated!.map((row) => row.id as number)),
      list: list.id === null ? null : toContactList(list),
      isListCreated: rows.list!.length > 0,
      hasChanges: has_changes === 1,
    };
  }
}

/** The list, where it was made at that moment. */
const selectCreatedList = (database: Database, organizationId: number, name: string, now: number): Statement =>
  database.prepare(
    'SELECT id FROM contact_list WHERE organization_id = ? AND name = ? AND created_at = ? AND deleted_at IS NULL',
    organizationId,
    name,
    now,
  );

/** Of the contacts that were to be changed, those that are now what they were to become. */
const selectUpdatedContacts = (database: Database, organizationId: number, people: UpsertWrites['updates']): Statement =>
  database.prepare(
    `SELECT c.id FROM json_each(?1) j CROSS JOIN contact c WHERE c.id = j.value ->> 0 AND c.revision > j.value ->> 1 AND c.organization_id = ?2
       AND ${valueColumns.map((column, index) => `c.${column} IS j.value ->> ${index + 2}`).join(' AND ')}`,
    JSON.stringify(people.map(({ before, after }) => [before.id, before.revision, ...toStoredValues(after)])),
    organizationId,
  );

/** The contacts that were made at that moment under these keys. */
const selectCreatedContacts = (database: Database, organizationId: number, people: ContactValues[], now: number): Statement =>
  database.prepare(
    `SELECT c.id, c.phone, c.external_id FROM json_each(?1) j CROSS JOIN contact c
       WHERE c.organization_id = ?2 AND c.phone = j.value ->> 'phone' AND c.created_at = ?3
     UNION SELECT c.id, c.phone, c.external_id FROM json_each(?1) j CROSS JOIN contact c
       WHERE c.organization_id = ?2 AND c.external_id = j.value ->> 'external_id' AND c.created_at = ?3`,
    JSON.stringify(people.map(({ phone, external_id }) => ({ phone, external_id }))),
    organizationId,
    now,
  );

/** Breaks its batch, as the plan's limit does, when one of the contacts was written since it was read. */
export const requireUnchanged = (database: Database, organizationId: number, people: Contact[]): Statement =>
  database.prepare(
    `UPDATE organization_usage SET contacts_count = CASE WHEN NOT EXISTS (
       SELECT 1 FROM json_each(?2) j CROSS JOIN contact c WHERE c.id = j.value ->> 0 AND c.revision <> j.value ->> 1
     ) THEN contacts_count END WHERE organization_id = ?1`,
    organizationId,
    JSON.stringify(people.map((contact) => [contact.id, contact.revision])),
  );

function buildInserts(database: Database, people: ContactValues[], { organizationId, now, depth }: WriteContext): Statement[] {
  const values = valueColumns.map((_, index) => `j.value ->> ${index}`).join(', ');
  return jsonChunks(people.map(toStoredValues)).map((chunk) =>
    database.prepare(
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
  people: UpsertWrites['updates'],
  columns: readonly (typeof valueColumns)[number][],
  { organizationId, now, depth }: WriteContext,
): Statement[] {
  const rows = people.map(({ before, after }) => [before.id, before.revision, ...toStoredValues(after)]);
  const assignments = columns.map((column) => `${column} = person.value ->> ${valueColumns.indexOf(column) + 2}`).join(', ');
  return jsonChunks(rows).map((chunk) =>
    database.prepare(
      `UPDATE contact SET ${assignments}, revision = contact.revision + 1, updated_at = max(?3, contact.updated_at), depth = ?4
       FROM (SELECT value, value ->> 0 AS id, value ->> 1 AS revision FROM json_each(?1)) person
       WHERE contact.id = person.id AND contact.revision = person.revision AND +contact.organization_id = ?2 RETURNING contact.id`,
      chunk,
      organizationId,
      now,
      depth,
    ),
  );
}

const releaseKeys = (database: Database, people: Contact[]): Statement =>
  database.prepare(
    `UPDATE contact SET phone = NULL, external_id = NULL FROM (SELECT value ->> 0 AS id, value ->> 1 AS revision FROM json_each(?1)) person
     WHERE contact.id = person.id AND contact.revision = person.revision`,
    JSON.stringify(people.map((contact) => [contact.id, contact.revision])),
  );

/** Known contacts join by id, new ones by the key that they were just given. */
function buildMemberships(
  database: Database,
  { inserts: people, knownIds, listName }: UpsertWrites,
  { organizationId, now }: WriteContext,
): Statement[] {
  const phones = people.flatMap((person) => person.phone ?? []);
  const externalIds = people.flatMap((person) => (person.phone === null ? (person.external_id ?? []) : []));
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
