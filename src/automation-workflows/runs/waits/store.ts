import type { event } from '../../../database/schema/events.ts';
import type { StoredRow } from '../../../database/stored-row.ts';
import type { Database, Statement } from '../../../database/client.ts';
import type { EventSubscription } from '../../nodes/contract.ts';
import type { LeftWait } from '../engine/progress.ts';
import { parsePath } from '../../../library/json/paths.ts';

type WaiterKey = Pick<EventSubscription, 'types' | 'field' | 'value'>;

const toWaiterRows = ({ types, field, value }: WaiterKey, runId: number, waitId: number): string =>
  JSON.stringify(types.map((type) => ({ type, field: field ?? '', value, run_id: runId, wait_id: waitId })));

export const insertWaiterStatement = (
  database: Database,
  organizationId: number,
  runId: number,
  waitId: number,
  key: WaiterKey,
): Statement =>
  database.prepare(
    `INSERT OR IGNORE INTO run_waiter (organization_id, event_type, field, value, run_id, wait_id)
     SELECT ?2, j.value ->> 'type', j.value ->> 'field', j.value ->> 'value', j.value ->> 'run_id', j.value ->> 'wait_id' FROM json_each(?1) j`,
    toWaiterRows(key, runId, waitId),
    organizationId,
  );

/** Deletes the rows of runs' waits that have ended. */
export const deleteLeftWaitersStatement = (database: Database, organizationId: number, left: (LeftWait & { runId: number })[]): Statement =>
  deleteWaitersStatement(
    database,
    organizationId,
    left.flatMap(({ runId, waitId, events: { types, field, value } }) =>
      types.map((type) => ({ event_type: type, field: field ?? '', value, run_id: runId, wait_id: waitId })),
    ),
  );

/** Deletes rows along the primary key in one statement. The casts let SQLite compare all columns of the key. */
const deleteWaitersStatement = (database: Database, organizationId: number, waiters: Omit<Waiter, 'event_id'>[]): Statement =>
  database.prepare(
    `DELETE FROM run_waiter WHERE organization_id = ?1 AND (event_type, field, value, run_id, wait_id) IN (
       SELECT CAST(j.value ->> 'event_type' AS TEXT), CAST(j.value ->> 'field' AS TEXT), CAST(j.value ->> 'value' AS TEXT),
         CAST(j.value ->> 'run_id' AS INTEGER), CAST(j.value ->> 'wait_id' AS INTEGER) FROM json_each(?2) j)`,
    organizationId,
    JSON.stringify(waiters.map(({ event_type, field, value, run_id, wait_id }) => ({ event_type, field, value, run_id, wait_id }))),
  );

export type EventRow = Pick<StoredRow<typeof event>, 'id' | 'event_type' | 'contact_id' | 'data' | 'created_at'>;

/** How many earlier events a wait checks at most: the newest. */
const maxLookbackEvents = 500;
/** How many earlier events of its types a wait searches at most: the newest. */
const maxSearchedEvents = 20_000;

/** Events of these types since a moment and after the run's start event, oldest first: of a contact, or of all contacts. */
export function earlierEventsStatement(
  database: Database,
  organizationId: number,
  of: { types: string[]; since: number; afterId: number; contactId: number | null; match: PayloadMatch | null },
): Statement<EventRow> {
  const columns = 'id, event_type, contact_id, data, created_at';
  const types = JSON.stringify(of.types);
  if (of.contactId !== null)
    return database.prepare<EventRow>(
      `SELECT * FROM (
         SELECT ${columns} FROM event INDEXED BY event_contact WHERE contact_id = ? AND created_at >= ? AND organization_id = ? AND id > ?
           AND event_type IN (SELECT value FROM json_each(?)) ORDER BY created_at DESC LIMIT ${maxLookbackEvents}
       ) newest ORDER BY id`,
      of.contactId,
      of.since,
      organizationId,
      of.afterId,
      types,
    );
  return database.prepare<EventRow>(
    `SELECT * FROM (
       SELECT * FROM (
         SELECT e.id, e.event_type, e.contact_id, e.data, e.created_at FROM json_each(?) j CROSS JOIN event e INDEXED BY event_organization_type
         WHERE e.organization_id = ? AND e.event_type = j.value AND e.created_at >= ? AND e.id > ? ORDER BY e.created_at DESC LIMIT ${maxSearchedEvents}
       ) newest WHERE ${of.match?.sql ?? '1'} ORDER BY created_at DESC LIMIT ${maxLookbackEvents}
     ) newest ORDER BY id`,
    types,
    organizationId,
    of.since,
    of.afterId,
    ...(of.match?.parameters ?? []),
  );
}

/** The shard's newest event. Every later event has a higher id. */
export const newestEventStatement = (database: Database): Statement<{ id: number }> =>
  database.prepare<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM event');

export interface Waiter {
  event_id: number;
  event_type: string;
  field: string;
  value: string;
  run_id: number;
  wait_id: number;
}

/** The value of an event at a field by which runs wait. */
export interface WaiterQuery {
  event_id: number;
  event_type: string;
  field: string;
  value: string;
}

/** A page of the waiters that match the queries, ordered by run after `afterRunId`. */
export const waitersStatement = (
  database: Database,
  organizationId: number,
  queries: WaiterQuery[],
  afterRunId: number,
  limit: number,
): Statement<Waiter> =>
  database.prepare<Waiter>(
    `SELECT j.value ->> 'event_id' AS event_id, w.event_type, w.field, w.value, w.run_id, w.wait_id
     FROM json_each(?) j CROSS JOIN run_waiter w
     WHERE w.organization_id = ? AND w.event_type = j.value ->> 'event_type' AND w.field = j.value ->> 'field' AND w.value = j.value ->> 'value'
       AND w.run_id > ? ORDER BY w.run_id, event_id LIMIT ?`,
    JSON.stringify(queries),
    organizationId,
    afterRunId,
    limit,
  );

/** Deletes the rows of runs that no longer wait. */
export async function deleteWaiters(database: Database, organizationId: number, stale: Omit<Waiter, 'event_id'>[]): Promise<void> {
  await database.all(deleteWaitersStatement(database, organizationId, stale), 'idempotent');
}

/** A SQL condition over the column `data` that is true at least for every event whose field has the value. */
export interface PayloadMatch {
  sql: string;
  parameters: string[];
}

/**
 * The condition "the field at this path has this value", as far as SQL can compare it, so that fewer earlier events are read. Null when SQL
 * cannot compare the field. A payload in R2 always matches.
 */
export function buildPayloadMatch(field: string, value: string): PayloadMatch | null {
  const segments = parsePath(field);
  if (!segments.every((segment) => typeof segment === 'string' && /^[^"\\\d][^"\\]*$/.test(segment))) return null;
  const names = segments as string[];
  if (['id', 'type', 'contact_id'].includes(names[0]!)) return null;
  // As in the event, `data.cart` is the payload's cart; a payload may also have a key "data" of its own.
  const paths = (names[0] === 'data' ? [names.slice(1), names] : [names]).filter((path) => path.length > 0);
  if (!paths.length) return null;
  // A number or boolean and a text that looks the same are the same.
  const holds = paths.map(() => `(data -> ?) IN (?, ?)`).join(' OR ');
  return {
    sql: `CASE WHEN substr(data, 1, 4) = '@r2:' THEN 1 ELSE (${holds}) END`,
    parameters: paths.flatMap((path) => [`$${path.map((name) => `."${name}"`).join('')}`, value, JSON.stringify(value)]),
  };
}
