import { applyChange, findChangedFields } from '../contacts/apply-change.ts';
import { hasKey, emptyContactValues, type Contact, type ContactChange, type ContactValues } from '../contacts/contact.ts';
import { findSizeError } from '../contacts/parse-fields.ts';

export interface UpsertRow {
  index: number;
  /** With a phone or an external id, unless the contact is known. */
  change: ContactChange;
  /** The contact that the row is, whatever its phone and external id are. */
  contactId?: number;
}

export interface RowFailure {
  index: number;
  code: string;
  detail: string;
  /** Of the request, where one field is at fault. */
  field?: string;
}

/** One person of a request, with everything that its rows say of them. */
export interface Person {
  /** The contact that was found, as it was read; null for a new one. */
  known: Contact | null;
  values: ContactValues;
  /** Whether it is a found contact that differs from what is stored. */
  isChanged: boolean;
  /** The rows that are this person, in order. */
  rows: UpsertRow[];
}

export interface UpsertPlan {
  people: Person[];
  failures: RowFailure[];
}

/**
 * Folds rows into people, in order: a row is the contact that it names, else the one that has its phone at that point, else the one with
 * its external id, else a new one. `known` are the stored contacts with any id, phone or external id of the rows; `capacity` is how many
 * the plan still allows.
 */
export function planUpsert(rows: UpsertRow[], known: Contact[], capacity: number): UpsertPlan {
  const plan: UpsertPlan = { people: [], failures: [] };
  const owners = { phone: new Map<string, Person>(), external_id: new Map<string, Person>() };
  const named = new Map<number, Person>();
  for (const contact of known) {
    const person: Person = { known: contact, values: contact, isChanged: false, rows: [] };
    named.set(contact.id, person);
    claim(person);
  }

  function claim(person: Person): void {
    if (person.values.phone !== null) owners.phone.set(person.values.phone, person);
    if (person.values.external_id !== null) owners.external_id.set(person.values.external_id, person);
  }

  let left = capacity;
  for (const row of rows) {
    const { phone, external_id } = row.change;
    const byPhone = phone ? owners.phone.get(phone) : undefined;
    const byExternalId = external_id ? owners.external_id.get(external_id) : undefined;
    const byId = row.contactId === undefined ? undefined : named.get(row.contactId);
    const conflict = findIdentityConflict(byId, byPhone, byExternalId);
    if (conflict !== undefined) {
      plan.failures.push({ index: row.index, code: 'identity_conflict', detail: conflict });
      continue;
    }
    const found = byId ?? byPhone ?? byExternalId;
    if (!found && left <= 0) {
      plan.failures.push({ index: row.index, code: 'contact_limit_reached', detail: '' });
      continue;
    }
    const person = found ?? { known: null, values: emptyContactValues, isChanged: false, rows: [] };
    const after = applyChange(person.values, row.change);
    const problem = hasKey(after) ? findSizeError(after) : noKeyError;
    if (problem) {
      plan.failures.push({ index: row.index, ...problem });
      continue;
    }
    if (!found) left--;
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

/** Contacts of the plan that must let go of a phone or external id before another of the plan can take it. */
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
