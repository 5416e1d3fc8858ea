import type { Context } from '../../context.ts';
import { enforcePlanLimit } from '../../accounts/organizations/plan-limits.ts';
import { enqueueContactChanges } from '../../outbox/enqueue.ts';
import type { Contact } from '../contacts/contact.ts';
import { isWriteConflict, toUpsertWrites } from './prepare-upsert.ts';
import { planUpsert, type Person, type RowFailure, type UpsertRow } from './resolve-existing.ts';
import type { ContactList } from '../lists/store.ts';
import { findContactsByKeys, writeUpsert, type UpsertWriteResult } from './build-statements.ts';
import { maxWriteAttempts, waitBeforeRetry } from '../contacts/write-retry.ts';

export interface UpsertOutcome {
  /** Each contact once, in the order of its first row. */
  people: { contact: Contact; isCreated: boolean }[];
  failures: RowFailure[];
  /** Null when none was named, or when nobody came in: then nothing was written, no list either. */
  list: ContactList | null;
  isListCreated: boolean;
}

/**
 * Brings `rows` into the contacts and the contacts into the list, when one is named, in two calls to the database. Another writer of the same
 * people makes it look again: nobody is created twice, and no change is lost.
 */
export async function upsertRows(context: Context, listName: string | null, rows: UpsertRow[], depth = 0): Promise<UpsertOutcome> {
  const { database, organization } = context;
  const settled = new Map<number, { contact: Contact; isCreated: boolean; index: number }>();
  const outcome: UpsertOutcome = { people: [], failures: [], list: null, isListCreated: false };
  let pending = rows;
  for (let attempt = 1; pending.length && attempt <= maxWriteAttempts; attempt++) {
    if (attempt > 1) await waitBeforeRetry(attempt);
    const { contacts, count } = await findContactsByKeys(database, organization.id, collectKeys(pending));
    const plan = planUpsert(pending, contacts, organization.plan.maxContacts - count);
    const result = plan.people.length ? await writePlan(context, listName, plan.people, depth) : 'nothing';
    if (result === 'overtaken') continue;
    outcome.failures.push(...plan.failures);
    pending = [];
    if (result === 'nothing') break;
    outcome.list = result.list;
    outcome.isListCreated ||= result.isListCreated;
    const idOf = contactIdLookup(result);
    for (const person of plan.people) {
      if (person.isChanged && !result.updatedIds.has(person.known!.id)) {
        pending.push(...person.rows);
        continue;
      }
      const contact = toWrittenContact(person, idOf(person), organization.id, result.now);
      const earlier = settled.get(contact.id);
      const index = Math.min(person.rows[0]!.index, earlier?.index ?? Infinity);
      settled.set(contact.id, { contact, isCreated: earlier?.isCreated ?? person.known === null, index });
    }
    pending.sort((one, other) => one.index - other.index);
  }
  const detail = 'others kept changing this contact; send the row again';
  outcome.failures.push(...pending.map(({ index }) => ({ index, code: 'conflict', detail })));
  outcome.people = [...settled.values()].toSorted((one, other) => one.index - other.index);
  return outcome;
}

/** Whom `row` would be brought into, without writing anything; a contact that would be new has the id 0. */
export async function previewUpsert({ database, organization, clock }: Context, row: UpsertRow): Promise<UpsertPreview> {
  const { contacts, count } = await findContactsByKeys(database, organization.id, collectKeys([row]));
  const { people, failures } = planUpsert([row], contacts, organization.plan.maxContacts - count);
  const [person] = people;
  if (!person) return { failure: failures[0]! };
  return { contact: toWrittenContact(person, person.known?.id ?? 0, organization.id, clock()), isCreated: person.known === null };
}

export type UpsertPreview = { contact: Contact; isCreated: boolean } | { failure: RowFailure };

function collectKeys(rows: UpsertRow[]) {
  const phones = new Set(rows.flatMap(({ change }) => change.phone ?? []));
  const externalIds = new Set(rows.flatMap(({ change }) => change.external_id ?? []));
  return { phones: [...phones], externalIds: [...externalIds] };
}

/** `overtaken`: another writer took a key or the plan's last free contact since the plan was made, and nothing is written. */
async function writePlan(
  context: Context,
  listName: string | null,
  people: Person[],
  depth: number,
): Promise<(UpsertWriteResult & { now: number }) | 'overtaken'> {
  const { database, organization } = context;
  const now = context.clock();
  try {
    const writes = toUpsertWrites(people, listName, organization.plan);
    const result = await enforcePlanLimit(organization, () =>
      writeUpsert(database, writes, { organizationId: organization.id, now, depth }),
    );
    if (result.hasChanges) enqueueContactChanges(context);
    return { ...result, now };
  } catch (error) {
    if (isWriteConflict(error)) return 'overtaken';
    throw error;
  }
}

/** Finds the new ids by the keys that the contacts were given. */
function contactIdLookup({ insertedIds }: UpsertWriteResult): (person: Person) => number {
  const byPhone = new Map(insertedIds.map(({ phone, id }) => [phone, id]));
  const byExternalId = new Map(insertedIds.map(({ external_id, id }) => [external_id, id]));
  return ({ known, values }) => known?.id ?? (values.phone === null ? byExternalId.get(values.external_id) : byPhone.get(values.phone))!;
}

function toWrittenContact({ known, values, isChanged }: Person, id: number, organizationId: number, now: number): Contact {
  if (!known) return { ...values, id, organization_id: organizationId, created_at: now, updated_at: now, revision: 1 };
  const written = { updated_at: Math.max(now, known.updated_at), revision: known.revision + 1 };
  return { ...known, ...values, ...(isChanged ? written : {}) };
}
