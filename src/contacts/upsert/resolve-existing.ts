import { eq } from 'drizzle-orm';
import type { Database } from '../../database/client.ts';
import { organizationUsage } from '../../database/schema/contacts.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import { applyChange, findChangedFields } from '../contacts/apply-change.ts';
import { hasKey, emptyContactValues, type Contact, type ContactChange, type ContactValues } from '../contacts/contact.ts';
import { findSizeError } from '../contacts/parse-fields.ts';
import { contactColumns, toContact, type ContactRow } from '../contacts/store.ts';

export interface ContactKeys {
  phones: string[];
  externalIds: string[];
  /** Ids of deleted contacts find nothing. */
  ids?: number[];
}

/** The contacts with any of the keys, and the organization's number of contacts. One call to the database. */
export async function findContactsByKeys(
  database: Database,
  organizationId: number,
  keys: ContactKeys,
): Promise<{ contacts: Contact[]; count: number }> {
  const [found, usage] = await database.batch([
    database.prepare<ContactRow>(
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
    database.from<Pick<StoredRow<typeof organizationUsage>, 'contacts_count'>>(
      database.orm
        .select({ contactsCount: organizationUsage.contactsCount })
        .from(organizationUsage)
        .where(eq(organizationUsage.organizationId, organizationId)),
    ),
  ]);
  return { contacts: found.map(toContact), count: usage[0]?.contacts_count ?? 0 };
}

export interface UpsertRow {
  index: number;
  /** Has a phone or an external id unless `contactId` is given. */
  change: ContactChange;
  /** The contact to update, regardless of the row's phone and external id. */
  contactId?: number;
}

export interface RowFailure {
  index: number;
  code: string;
  detail: string;
  /** The field of the request that causes the failure, if it is a single field. */
  field?: string;
}

/** A contact of a request, with all of its rows applied. */
export interface Person {
  /** The stored contact as it was read; null for a new one. */
  known: Contact | null;
  values: ContactValues;
  /** Whether it is a stored contact whose values change. */
  isChanged: boolean;
  /** The rows of this contact, in order. */
  rows: UpsertRow[];
}

export interface UpsertPlan {
  people: Person[];
  failures: RowFailure[];
}

/**
 * Applies rows to contacts, in order. A row belongs to the contact of its `contactId`, else to the contact with its phone, else to the
 * contact with its external id, else to a new contact; phones and external ids count as of the rows before. `known`: the stored contacts
 * with any id, phone or external id of the rows. `capacity`: how many more contacts the plan allows.
 */
export function planUpsert(rows: UpsertRow[], known: Contact[], capacity: number): UpsertPlan {
  const plan: UpsertPlan = { people: [], failures: [] };
  const owners = { phone: new Map<string, Person>(), external_id: new Map<string, Person>() };
  const byContactId = new Map<number, Person>();
  for (const contact of known) {
    const person: Person = { known: contact, values: contact, isChanged: false, rows: [] };
    byContactId.set(contact.id, person);
    claim(person);
  }

  function claim(person: Person): void {
    if (person.values.phone !== null) owners.phone.set(person.values.phone, person);
    if (person.values.external_id !== null) owners.external_id.set(person.values.external_id, person);
  }

  let remaining = capacity;
  for (const row of rows) {
    const { phone, external_id } = row.change;
    const byPhone = phone ? owners.phone.get(phone) : undefined;
    const byExternalId = external_id ? owners.external_id.get(external_id) : undefined;
    const byId = row.contactId === undefined ? undefined : byContactId.get(row.contactId);
    const conflict = findIdentityConflict(byId, byPhone, byExternalId);
    if (conflict !== undefined) {
      plan.failures.push({ index: row.index, code: 'identity_conflict', detail: conflict });
      continue;
    }
    const found = byId ?? byPhone ?? byExternalId;
    if (!found && remaining <= 0) {
      plan.failures.push({ index: row.index, code: 'contact_limit_reached', detail: '' });
      continue;
    }
    const person = found ?? { known: null, values: emptyContactValues, isChanged: false, rows: [] };
    const after = applyChange(person.values, row.change);
    const error = hasKey(after) ? findSizeError(after) : noKeyError;
    if (error) {
      plan.failures.push({ index: row.index, ...error });
      continue;
    }
    if (!found) remaining--;
    for (const key of ['phone', 'external_id'] as const) {
      const freed = person.values[key];
      if (freed !== null && freed !== after[key]) owners[key].delete(freed);
    }
    person.values = after;
    claim(person);
    if (!person.rows.length) plan.people.push(person);
    person.rows.push(row);
  }
  for (const person of plan.people) person.isChanged = person.known !== null && findChangedFields(person.known, person.values).length > 0;
  return plan;
}

const noKeyError = {
  field: 'phone',
  code: 'no_key',
  detail: 'would leave the contact without phone, email and external_id; keep at least one',
};

function findIdentityConflict(byId: Person | undefined, byPhone: Person | undefined, byExternalId: Person | undefined): string | undefined {
  if (byId) {
    const [field, other] = byPhone && byPhone !== byId ? ['phone', byPhone] : ['external_id', byExternalId ?? byId];
    return other === byId ? undefined : `${field} belongs to ${describePerson(other as Person)}, the record is ${describePerson(byId)}`;
  }
  if (!byPhone || !byExternalId || byPhone === byExternalId) return undefined;
  return `phone belongs to ${describePerson(byPhone)}, external_id to ${describePerson(byExternalId)}`;
}

const describePerson = (person: Person) => (person.known ? `contact ${person.known.id}` : `the contact of row ${person.rows[0]!.index}`);

/** The contacts of the plan whose phone or external id another contact of the plan takes over. */
export function mustRelease(people: Person[]): Person[] {
  const takers = { phone: new Map<string, Person>(), external_id: new Map<string, Person>() };
  for (const person of people)
    for (const key of ['phone', 'external_id'] as const) if (person.values[key] !== null) takers[key].set(person.values[key], person);
  return people.filter(
    (person) =>
      person.known &&
      (['phone', 'external_id'] as const).some((key) => {
        const taker = person.known![key] === null ? undefined : takers[key].get(person.known![key]);
        return taker !== undefined && taker !== person;
      }),
  );
}
