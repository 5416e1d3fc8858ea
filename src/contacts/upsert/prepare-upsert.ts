import type { Context } from '../../context.ts';
import type { Plan } from '../../plan.ts';
import type { Row, Statement } from '../../database/client.ts';
import { enqueueContactChanges } from '../../outbox/enqueue.ts';
import type { Contact } from '../contacts/contact.ts';
import { detectFieldTypes } from '../contacts/field-types.ts';
import { mustRelease, planUpsert, type Person, type UpsertPlan, type UpsertRow } from './resolve-existing.ts';
import { isKeyTaken, isContactLimitExceeded } from '../contacts/store.ts';
import { requireUnchanged, findContactsByKeys, upsertStatements, type ContactKeys, type UpsertWrites } from './build-statements.ts';

/** An upsert that goes into a batch of the caller's, so that it comes in with what belongs to it or not at all. */
export interface UpsertPreparation {
  /** Those that have one of the keys, as they were read. */
  contacts: Contact[];
  /** Plans the rows; `listName`: the list that everybody joins. */
  prepare(listName: string | null, rows: UpsertRow[]): PreparedUpsert;
}

export interface PreparedUpsert extends UpsertPlan {
  /** For one batch, in this order. They break it (`isWriteConflict`) when the contacts are no longer what they were when they were read. */
  statements: Statement[];
  /** To be told the answers of `statements` once the batch is written. */
  written(answers: Row[][]): void;
}

/** Whether a batch was broken because somebody else wrote the same contacts: nothing is written, and the draft is to be made anew. */
export const isWriteConflict = (error: unknown): boolean => isKeyTaken(error) || isContactLimitExceeded(error);

/** One call to the database. */
export async function prepareUpsert(context: Context, keys: ContactKeys): Promise<UpsertPreparation> {
  const { database, organization } = context;
  const { contacts, count } = await findContactsByKeys(database, organization.id, keys);
  return {
    contacts,
    prepare(listName, rows) {
      return toPreparedUpsert(context, listName, planUpsert(rows, contacts, organization.plan.maxContacts - count));
    },
  };
}

function toPreparedUpsert(context: Context, listName: string | null, plan: UpsertPlan): PreparedUpsert {
  const { database, organization, clock } = context;
  if (plan.people.length === 0) return { ...plan, statements: [], written: () => undefined };
  const known = plan.people.flatMap((person) => person.known ?? []);
  const guards = known.length > 0 ? [requireUnchanged(database, organization.id, known)] : [];
  const write = { organizationId: organization.id, now: clock(), depth: 0 };
  const { statements, resultOf } = upsertStatements(database, toUpsertWrites(plan.people, listName, organization.plan), write);
  return {
    ...plan,
    statements: [...guards, ...statements],
    written(answers) {
      if (resultOf(answers.slice(guards.length)).hasChanges) enqueueContactChanges(context);
    },
  };
}

export function toUpsertWrites(people: Person[], listName: string | null, plan: Plan): UpsertWrites {
  const created = people.filter((person) => !person.known);
  const changed = people.filter((person) => person.isChanged);
  const types = [...created, ...changed].flatMap((person) => person.rows.map((row) => detectFieldTypes(row.change.custom_fields)));
  return {
    listName,
    inserts: created.map((person) => person.values),
    updates: changed.map((person) => ({ before: person.known!, after: person.values })),
    releasedKeys: mustRelease(people).map((person) => person.known!),
    knownIds: people.flatMap((person) => person.known?.id ?? []),
    keyTypes: Object.assign({}, ...types.toReversed()) as Record<string, string>,
    plan,
  };
}
