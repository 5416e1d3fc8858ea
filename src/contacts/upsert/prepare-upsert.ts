import type { Context } from '../../context.ts';
import type { Plan } from '../../plan.ts';
import type { Statement } from '../../database/client.ts';
import { enqueueContactChanges } from '../../outbox/enqueue.ts';
import type { Contact } from '../contacts/contact.ts';
import { detectFieldTypes } from '../contacts/custom-fields.ts';
import { isContactLimitExceeded, isKeyTaken } from '../contacts/store.ts';
import { requireUnchanged, upsertStatements, type UpsertRowAnswer, type UpsertWrites } from './build-statements.ts';
import {
  findContactsByKeys,
  mustRelease,
  planUpsert,
  type ContactKeys,
  type Person,
  type UpsertPlan,
  type UpsertRow,
} from './resolve-existing.ts';

/** An upsert as part of the caller's batch: the upsert and the caller's statements are written together or not at all. */
export interface UpsertPreparation {
  /** The contacts with any of the keys, as they were read. */
  contacts: Contact[];
  /** Plans the rows and builds their statements. `listName`: the list that every contact joins; null: none. */
  buildStatements(listName: string | null, rows: UpsertRow[]): PreparedUpsert;
}

export interface PreparedUpsert extends UpsertPlan {
  /** For one batch, in this order. The batch fails with `isWriteConflict` when a contact was written since it was read. */
  statements: Statement<object>[];
  /** Call it with the answers of `statements` once the batch is written. */
  onWritten(answers: object[][]): void;
}

/** Whether a batch failed because another request wrote the same contacts. Nothing is written then; prepare the upsert again. */
export const isWriteConflict = (error: unknown): boolean => isKeyTaken(error) || isContactLimitExceeded(error);

/** Reads the contacts with these keys, in one call to the database, for an upsert within the caller's batch. */
export async function prepareUpsert(context: Context, keys: ContactKeys): Promise<UpsertPreparation> {
  const { database, organization } = context;
  const { contacts, count } = await findContactsByKeys(database, organization.id, keys);
  return {
    contacts,
    buildStatements(listName, rows) {
      return toPreparedUpsert(context, listName, planUpsert(rows, contacts, organization.plan.maxContacts - count));
    },
  };
}

function toPreparedUpsert(context: Context, listName: string | null, plan: UpsertPlan): PreparedUpsert {
  const { database, organization, clock } = context;
  if (plan.people.length === 0) return { ...plan, statements: [], onWritten: () => undefined };
  const known = plan.people.flatMap((person) => person.known ?? []);
  const guards = known.length > 0 ? [requireUnchanged(database, organization.id, known)] : [];
  const write = { organizationId: organization.id, now: clock(), depth: 0 };
  const { statements, toResult } = upsertStatements(database, toUpsertWrites(plan.people, listName, organization.plan), write);
  return {
    ...plan,
    statements: [...guards, ...statements],
    onWritten(answers) {
      if (toResult(answers.slice(guards.length) as UpsertRowAnswer[][]).hasChanges) enqueueContactChanges(context);
    },
  };
}

/** The rows to write for the people of a plan. */
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
