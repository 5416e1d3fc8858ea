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

/** Takes out the waiters of waits that a run has left. */
export const deleteLeftWaitersStatement = (database: Database, organizationId: number, runId: number, left: LeftWait[]): Statement =>
  deleteWaitersStatement(
    database,
    organizationId,
    left.flatMap(({ waitId, events: { types, field, value } }) =>
      types.map((type) => ({ event_type: type, field: field ?? '', value, run_id: runId, wait_id: waitId })),
    ),
  );

/** However many there are, one statement, along the key. With their types cast, all of its columns are compared by it. */
const deleteWaitersStatement = (database: Database, organizationId: number, waiters: Omit<Waiter, 'event_id'>[]): Statement =>
  database.prepare(
    `DELETE FROM run_waiter WHERE organization_id = ?1 AND (event_type, field, value, run_id, wait_id) IN (
       SELECT CAST(j.value ->> 'event_type' AS TEXT), CAST(j.value ->> 'field' AS TEXT), CAST(j.value ->> 'value' AS TEXT),
         CAST(j.value ->> 'run_id' AS INTEGER), CAST(j.value ->> 'wait_id' AS INTEGER) FROM json_each(?2) j)`,
    organizationId,
    JSON.stringify(waiters.map(({ event_type, field, value, run_id, wait_id }) => ({ event_type, field, value, run_id, wait_id }))),
  );

export interface EventRow {
  id: number;
  event_type: string;
  contact_id: number | null;
  data: string;
  created_at: number;
}

/** How many events of a contact, or events that may fit, a wait looks at; beyond it, the newest. */
const maxLookbackEvents = 500;
/** How many events of its types a wait goes through for those that may fit; beyond it, the newest. */
const maxSearchedEvents = 20_000;

/** Events of these types since a moment and after the run's own event, oldest first: of a contact, or of anyone. */
export function earlierEventsStatement(
  database: Database,
  organizationId: number,
  of: { types: string[]; since: number; afterId: number; contactId: number | null; match: PayloadMatch | null },
): Statement {
  const columns = 'id, event_type, contact_id, data, created_at';
  const types = JSON.stringify(of.types);
  if (of.contactId !== null)
    return database.prepare(
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
  return database.prepare(
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

/** The newest event there is, whoever's: every later one has a higher id. */
export const newestEventStatement = (database: Database): Statement => database.prepare('SELECT coalesce(max(id), 0) AS id FROM event');

export interface Waiter {
  event_id: number;
  event_type: string;
  field: string;
  value: string;
  run_id: number;
  wait_id: number;
}

/** A value that an event has at a field by which runs wait. */
export interface WaiterQuery {
  event_id: number;
  event_type: string;
  field: string;
  value: string;
}

/** The waiters of what is sought, by run from `afterRunId` on. */
export const waitersStatement = (
  database: Database,
  organizationId: number,
  sought: WaiterQuery[],
  afterRunId: number,
  limit: number,
): Statement =>
  database.prepare(
    `SELECT j.value ->> 'event_id' AS event_id, w.event_type, w.field, w.value, w.run_id, w.wait_id
     FROM json_each(?) j CROSS JOIN run_waiter w
     WHERE w.organization_id = ? AND w.event_type = j.value ->> 'event_type' AND w.field = j.value ->> 'field' AND w.value = j.value ->> 'value'
       AND w.run_id > ? ORDER BY w.run_id, event_id LIMIT ?`,
    JSON.stringify(sought),
    organizationId,
    afterRunId,
    limit,
  );

/** Takes out waiters whose runs wait no longer. */
export async function deleteWaiters(database: Database, organizationId: number, stale: Omit<Waiter, 'event_id'>[]): Promise<void> {
  await database.all(deleteWaitersStatement(database, organizationId, stale), 'idempotent');
}

/** A condition over the column `data` of an event that holds for at least every event whose field has the value. */
export interface PayloadMatch {
  sql: string;
  parameters: string[];
}

/**
 * What the database can compare of "the field at this path has this value", so that a look-back reads only what may fit; null where
 * it can compare nothing. A payload that is kept elsewhere always may fit.
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
