import type { Database, Row, Statement } from '../database/client.ts';
import { countLimit } from '../http/pagination.ts';
import { givenUpPrefix } from '../library/given-up-prefix.ts';
import type { EventPosition } from './cursor.ts';

export interface NewEventRow {
  eventType: string;
  phone: string | null;
  /** A phone resolves to its contact, if there is one, as the row is written. */
  contact: { phone: string } | { id: number } | null;
  data: string;
  /** The sender's own id, the key of the step that emits it, or, without either, the request's. */
  senderId: string;
  depth: number;
  occurredAt: number | null;
  note: string | null;
  createdAt: number;
}

/** A condition that holds when the sender's id is stored already, for statements that must then change nothing. */
export const senderKnownCondition = (organizationId: number, senderId: string) => ({
  sql: 'EXISTS (SELECT 1 FROM event WHERE organization_id = ? AND sender_id = ?)',
  parameters: [organizationId, senderId],
});

const knownEventTypes = new Set<string>();
const maxKnownEventTypes = 10_000;

export async function insertEvent(
  database: Database,
  organizationId: number,
  before: Statement[],
  event: NewEventRow,
): Promise<{ id: number; contactId: number | null; isRepeat: boolean; hasContactChanges: boolean }> {
  const { contact } = event;
  const byPhone = contact !== null && 'phone' in contact;
  const insert = database.prepare(
    `INSERT INTO event (organization_id, event_type, phone, contact_id, data, sender_id, depth, occurred_at, created_at, handled_at, note)
     VALUES (?1, ?2, ?3, ${byPhone ? '(SELECT id FROM contact WHERE organization_id = ?1 AND phone = ?4)' : '?4'}, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
     ON CONFLICT (organization_id, sender_id) WHERE sender_id IS NOT NULL DO NOTHING
     RETURNING id`,
    organizationId,
    event.eventType,
    event.phone,
    byPhone ? contact.phone : (contact?.id ?? null),
    event.data,
    event.senderId,
    event.depth,
    event.occurredAt,
    event.createdAt,
    event.note === null ? null : event.createdAt,
    event.note,
  );
  const known = database.prepare(
    'SELECT id, contact_id, data, created_at FROM event WHERE organization_id = ? AND sender_id = ?',
    organizationId,
    event.senderId,
  );
  const statements = [...before, insert, known];
  const typeKey = `${organizationId}:${event.eventType}`;
  if (!knownEventTypes.has(typeKey))
    statements.push(
      database.prepare(
        'INSERT OR IGNORE INTO event_type (organization_id, event_type, created_at) VALUES (?, ?, ?)',
        organizationId,
        event.eventType,
        event.createdAt,
      ),
    );
  if (byPhone) statements.push(database.prepare('SELECT 1 FROM contact_change WHERE organization_id = ? LIMIT 1', organizationId));
  let isLost = false;
  const results = await database.batch(statements, 'event.sender_id', () => (isLost = true));
  if (knownEventTypes.size >= maxKnownEventTypes) knownEventTypes.clear();
  knownEventTypes.add(typeKey);
  const inserted = results[before.length]![0];
  const row = results[before.length + 1]![0] as unknown as { id: number; contact_id: number | null; data: string; created_at: number };
  // It may have been this call that stored it, and the answer that said so was lost.
  const isOurs = isLost && row.created_at === event.createdAt && row.data === event.data;
  return {
    id: row.id,
    contactId: row.contact_id,
    isRepeat: !inserted && !isOurs,
    hasContactChanges: byPhone && results.at(-1)!.length > 0,
  };
}

export interface StoredEvent {
  id: number;
  event_type: string;
  phone: string | null;
  contact_id: number | null;
  first_name: string | null;
  last_name: string | null;
  data: string;
  occurred_at: number | null;
  note: string | null;
  created_at: number;
}

// A deleted contact is no longer linked, even while its events are still being unlinked one page after the other.
export const eventColumns = `e.id, e.event_type, e.phone, c.id AS contact_id, c.first_name, c.last_name, e.data, e.occurred_at, e.note, e.created_at`;
export const joinContact = `LEFT JOIN contact c ON c.id = e.contact_id AND c.deleted_at IS NULL`;

/** Which events, apart from a search. Moments in epoch milliseconds, both ends inclusive. */
export interface EventFilter {
  eventType?: string | undefined;
  from?: number | undefined;
  to?: number | undefined;
}

export interface SqlFragment {
  sql: string;
  parameters: (string | number)[];
}

/** `alias` is given so that the same condition can be put to a newer event of the same phone. */
export function eventCondition(alias: string, organizationId: number, filter: EventFilter): SqlFragment {
  const parts = [`${alias}.organization_id = ?`];
  const parameters: (string | number)[] = [organizationId];
  if (filter.eventType !== undefined) {
    parts.push(`${alias}.event_type = ?`);
    parameters.push(filter.eventType);
  }
  if (filter.from !== undefined) {
    parts.push(`${alias}.created_at >= ?`);
    parameters.push(filter.from);
  }
  if (filter.to !== undefined) {
    parts.push(`${alias}.created_at <= ?`);
    parameters.push(filter.to);
  }
  return { sql: parts.join(' AND '), parameters };
}

export interface EventPage {
  limit: number;
  offset: number;
  after?: EventPosition | undefined;
}

/** One page, newest first, and the total under the filters. One row more than `limit` is read to see whether more follow. */
export async function listEvents(
  database: Database,
  organizationId: number,
  filter: EventFilter,
  page: EventPage,
): Promise<{ rows: StoredEvent[]; total: number; totalCapped: boolean }> {
  const base = eventCondition('e', organizationId, filter);
  const where = [base];
  if (page.after) where.push({ sql: '(e.created_at, e.id) < (?, ?)', parameters: [page.after.value, page.after.id] });
  const [rows, counted] = await database.batch([
    database.prepare(
      `SELECT ${eventColumns} FROM event e ${joinContact} WHERE ${where.map((part) => part.sql).join(' AND ')}
       ORDER BY e.created_at DESC, e.id DESC LIMIT ? OFFSET ?`,
      ...where.flatMap((part) => part.parameters),
      page.limit + 1,
      page.offset,
    ),
    countStatement(database, organizationId, base),
  ]);
  const total = (counted![0] as { total: number }).total;
  const isFiltered = base.parameters.length > 1;
  const totalCapped = isFiltered && total > countLimit;
  return { rows: rows as unknown as StoredEvent[], total: totalCapped ? countLimit : total, totalCapped };
}

function countStatement(database: Database, organizationId: number, base: SqlFragment): Statement {
  if (base.parameters.length > 1)
    return database.prepare(
      `SELECT count(*) AS total FROM (SELECT 1 FROM event e WHERE ${base.sql} LIMIT ${countLimit + 1})`,
      ...base.parameters,
    );
  // The counter covers events up to a cursor that the minute tick moves; only the newer ones are counted here. The hour
  // allows for clocks that differ between the places that accept events.
  return database.prepare(
    `SELECT coalesce((SELECT events_count FROM organization_usage WHERE organization_id = ?1), 0) + (
       SELECT count(*) FROM event WHERE organization_id = ?1
         AND created_at >= coalesce((SELECT value FROM progress WHERE name = 'events_counted_at'), 0) - 3600000
         AND id > coalesce((SELECT value FROM progress WHERE name = 'events_counted'), 0)
     ) AS total`,
    organizationId,
  );
}

export async function findStoredEvents(database: Database, organizationId: number, ids: number[]): Promise<StoredEvent[]> {
  return database.all<StoredEvent>(
    database.prepare(
      `SELECT ${eventColumns} FROM json_each(?) j CROSS JOIN event e ${joinContact} WHERE e.id = j.value AND e.organization_id = ?`,
      JSON.stringify(ids),
      organizationId,
    ),
  );
}

/** Events of one contact, newest first. */
export async function findEventsOfContact(
  database: Database,
  contactId: number,
  page: EventPage,
): Promise<{ rows: StoredEvent[]; total: number }> {
  const after = page.after ? ' AND (e.created_at, e.id) < (?, ?)' : '';
  const [rows, counted] = await database.batch([
    database.prepare(
      `SELECT ${eventColumns} FROM event e ${joinContact} WHERE e.contact_id = ?${after} ORDER BY e.created_at DESC, e.id DESC LIMIT ? OFFSET ?`,
      contactId,
      ...(page.after ? [page.after.value, page.after.id] : []),
      page.limit + 1,
      page.offset,
    ),
    database.prepare('SELECT count(*) AS total FROM (SELECT 1 FROM event WHERE contact_id = ? LIMIT 10001)', contactId),
  ]);
  return { rows: rows as unknown as StoredEvent[], total: (counted![0] as { total: number }).total };
}

// What the consumer and the minute tick need

export interface EventToHandle extends Row {
  id: number;
  event_type: string;
  phone: string | null;
  contact_id: number | null;
  data: string;
  depth: number;
  created_at: number;
}

/** Those of `ids` that are still unhandled, oldest first. */
export const findUnhandledEvents = (database: Database, organizationId: number, ids: number[]): Promise<EventToHandle[]> =>
  findEventsToHandle(database, organizationId, ids, 'AND e.handled_at IS NULL');

export const findEventsToHandle = (database: Database, organizationId: number, ids: number[], more = ''): Promise<EventToHandle[]> =>
  database.all<EventToHandle>(
    database.prepare(
      `SELECT e.id, e.event_type, e.phone, e.contact_id, e.data, e.depth, e.created_at
       FROM json_each(?) j CROSS JOIN event e WHERE e.id = j.value AND e.organization_id = ? ${more} ORDER BY e.id`,
      JSON.stringify(ids),
      organizationId,
    ),
  );

/** The newest stands first, since how a note begins lets the event be sent again. */
export async function addEventNote(database: Database, organizationId: number, id: number, note: string): Promise<void> {
  await database.all(
    database.prepare(
      `UPDATE event SET note = ?1 || coalesce('; ' || note, '') WHERE id = ?2 AND organization_id = ?3 AND instr(coalesce(note, ''), ?1) = 0`,
      note,
      id,
      organizationId,
    ),
    'idempotent',
  );
}

/** Opens an event that was given up. One that was handled, or is open already, stays as it is. */
export const reopenStatement = (database: Database, organizationId: number, id: number): Statement =>
  database.prepare(
    `UPDATE event SET handled_at = NULL, note = NULL WHERE id = ?1 AND organization_id = ?2 AND handled_at IS NOT NULL AND substr(note, 1, length(?3)) = ?3`,
    id,
    organizationId,
    givenUpPrefix,
  );

export const handlingStateStatement = (database: Database, organizationId: number, id: number): Statement =>
  database.prepare('SELECT handled_at, note FROM event WHERE id = ? AND organization_id = ?', id, organizationId);

/** Marks events; `note` says why one triggered nothing, when there is a reason to tell. */
export async function markHandled(
  database: Database,
  organizationId: number,
  events: { id: number; note: string | null }[],
  now: number,
): Promise<void> {
  await database.all(
    database.prepare(
      // The plus keeps the planner from the organization's index: along it, it would read every event of the organization.
      `UPDATE event SET handled_at = ?1, note = coalesce((SELECT j.value ->> 'note' FROM json_each(?2) j WHERE j.value ->> 'id' = event.id), note)
       WHERE id IN (SELECT value ->> 'id' FROM json_each(?2)) AND +organization_id = ?3 AND handled_at IS NULL`,
      now,
      JSON.stringify(events),
      organizationId,
    ),
    'idempotent',
  );
}
