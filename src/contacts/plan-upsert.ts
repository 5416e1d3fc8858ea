import { applyChange, changedFields } from './apply-change.ts';
import { nobody, type Contact, type ContactChange, type ContactValues } from './contact.ts';
import { sizeProblem } from './read-fields.ts';

export interface UpsertRow {
  index: number;
  /** With a phone or an external id. */
  change: ContactChange;
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
 * Folds rows into people, in order: a row is the contact that has its phone at that point, else the one with its external id,
 * else a new one. `known` are the stored contacts with any phone or external id of the rows; `capacity` is how many the plan
 * still allows.
 */
export function planUpsert(rows: UpsertRow[], known: Contact[], capacity: number): UpsertPlan {
  const plan: UpsertPlan = { people: [], failures: [] };
  const owners = { phone: new Map<string, Person>(), external_id: new Map<string, Person>() };
  for (const contact of known) claim({ known: contact, values: contact, isChanged: false, rows: [] });

  function claim(person: Person): void {
    if (person.values.phone !== null) owners.phone.set(person.values.phone, person);
    if (person.values.external_id !== null) owners.external_id.set(person.values.external_id, person);
  }

  let left = capacity;
  for (const row of rows) {
    const { phone, external_id } = row.change;
    const byPhone = phone ? owners.phone.get(phone) : undefined;
    const byExternalId = external_id ? owners.external_id.get(external_id) : undefined;
    if (byPhone && byExternalId && byPhone !== byExternalId) {
      const detail = `phone belongs to ${nameOf(byPhone)}, external_id to ${nameOf(byExternalId)}`;
      plan.failures.push({ index: row.index, code: 'identity_conflict', detail });
      continue;
    }
    const found = byPhone ?? byExternalId;
    if (!found && left <= 0) {
      plan.failures.push({ index: row.index, code: 'contact_limit_reached', detail: '' });
      continue;
    }
    const person = found ?? { known: null, values: nobody, isChanged: false, rows: [] };
    const after = applyChange(person.values, row.change);
    const problem = sizeProblem(after);
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
  for (const person of plan.people) person.isChanged = person.known !== null && changedFields(person.known, person.values).length > 0;
  return plan;
}

const nameOf = (person: Person) => (person.known ? `contact ${person.known.id}` : `the contact of row ${person.rows[0]!.index}`);

/** Contacts of the plan that must let go of a phone or external id before another of the plan can take it. */
export function mustLetGo(people: Person[]): Person[] {
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
