import type { Context } from '../../context.ts';
import { enforcePlanLimit } from '../../accounts/organizations/plan-limits.ts';
import { enqueueContactChanges } from '../../outbox/enqueue.ts';
import { retryOnConflict } from '../../database/compare-and-set.ts';
import type { Database } from '../../database/client.ts';
import type { Contact } from '../contacts/contact.ts';
import type { WriteContext } from '../contacts/store.ts';
import { isWriteConflict, toUpsertWrites } from './prepare-upsert.ts';
import { findContactsByKeys, planUpsert, type Person, type RowFailure, type UpsertRow } from './resolve-existing.ts';
import type { ContactList } from '../lists/store.ts';
import { upsertStatements, type UpsertWriteResult, type UpsertWrites } from './build-statements.ts';

export interface UpsertOutcome {
  /** Each contact once, in the order of its first row. */
  people: { contact: Contact; isCreated: boolean }[];
  failures: RowFailure[];
  /** Null when no list was named or no row was usable; then no list is created either. */
  list: ContactList | null;
  isListCreated: boolean;
}

/**
 * Upserts `rows` and adds their contacts to the list, if one is named, in two calls to the database. Rows that met a concurrent write of
 * the same contacts are read and written again, so that no contact is created twice and no change is lost.
 */
export async function upsertRows(context: Context, listName: string | null, rows: UpsertRow[], depth = 0): Promise<UpsertOutcome> {
  const { database, organization } = context;
  const settled = new Map<number, { contact: Contact; isCreated: boolean; index: number }>();
  const outcome: UpsertOutcome = { people: [], failures: [], list: null, isListCreated: false };
  let pending = rows;

  /** Writes the pending rows; null when some of them met a concurrent write. */
  async function writePending(): Promise<true | null> {
    if (!pending.length) return true;
    const { contacts, count } = await findContactsByKeys(database, organization.id, collectKeys(pending));
    const plan = planUpsert(pending, contacts, organization.plan.maxContacts - count);
    const result = plan.people.length ? await writePlan(context, listName, plan.people, depth) : undefined;
    if (result === 'conflict') return null;
    outcome.failures.push(...plan.failures);
    pending = [];
    if (!result) return true;
    outcome.list = result.list;
    outcome.isListCreated ||= result.isListCreated;
    const contactIdOf = contactIdLookup(result);
    for (const person of plan.people) {
      if (person.isChanged && !result.updatedIds.has(person.known!.id)) {
        pending.push(...person.rows);
        continue;
      }
      const contact = toWrittenContact(person, contactIdOf(person), organization.id, result.now);
      const earlier = settled.get(contact.id);
      const index = Math.min(person.rows[0]!.index, earlier?.index ?? Infinity);
      settled.set(contact.id, { contact, isCreated: earlier?.isCreated ?? person.known === null, index });
    }
    pending.sort((one, other) => one.index - other.index);
    return pending.length ? null : true;
  }

  await retryOnConflict(writePending);
  const detail = 'others kept changing this contact; send the row again';
  outcome.failures.push(...pending.map(({ index }) => ({ index, code: 'conflict', detail })));
  outcome.people = [...settled.values()].toSorted((one, other) => one.index - other.index);
  return outcome;
}

/** The contact that `row` would create or update, without writing; a new contact has the id 0. */
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

/** Writes an upsert in one transaction. Throws `isContactLimitExceeded` and `isKeyTaken` errors; then nothing is written. */
async function writeUpsert(database: Database, writes: UpsertWrites, write: WriteContext): Promise<UpsertWriteResult> {
  const { statements, toResult, readBack } = upsertStatements(database, writes, write);
  if (writes.inserts.length || writes.updates.length)
    return toResult(await database.batchOnce(statements, () => database.batch(readBack())));
  // No contact is new or changed, so repeating the batch does nothing and needs no receipt.
  let isLost = false;
  const result = toResult(await database.batch(statements, 'contact_list_member.contact_id', () => (isLost = true)));
  return { ...result, isListCreated: result.isListCreated || (isLost && result.list?.created_at === write.now) };
}

/** `conflict`: another request took a key or the plan's last free contact since the rows were planned; nothing is written. */
async function writePlan(
  context: Context,
  listName: string | null,
  people: Person[],
  depth: number,
): Promise<(UpsertWriteResult & { now: number }) | 'conflict'> {
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
    if (isWriteConflict(error)) return 'conflict';
    throw error;
  }
}

/** Looks up the id of a person: that of the known contact, else the inserted id by phone or external id. */
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
