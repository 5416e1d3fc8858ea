import { LRUCache } from 'lru-cache';
import { lazily } from '../library/lazily.ts';
import type { Database, Statement } from '../database/client.ts';
import type { contact, event } from '../database/schema/index.ts';
import type { StoredRow } from '../database/stored-row.ts';
import { countLimit } from '../http/pagination.ts';
import type { EventPosition } from './cursor.ts';
import type { SqlFragment } from '../database/sql-fragment.ts';

export interface NewEventRow {
  eventType: string;
  phone: string | null;
  /** A phone resolves to its contact, if one exists, when the row is written. */
  contact: { phone: string } | { id: number } | null;
  data: string;
  /** The sender's own id, else the key of the emitting step, else the key of the request. */
  senderId: string;
  depth: number;
  occurredAt: number | null;
  note: string | null;
  createdAt: number;
}

/** Holds when an event with this sender id is stored already. */
export const senderKnownCondition = (organizationId: number, senderId: string) => ({
  sql: 'EXISTS (SELECT 1 FROM event WHERE organization_id = ? AND sender_id = ?)',
  parameters: [organizationId, senderId],
});

/** Event types that are stored, by `{organization}:{type}`: they are not inserted again. */
const storedEventTypes = lazily(() => new LRUCache<string, true>({ max: 10_000 }));

/** Inserts an event after the statements `before`, in one batch. A sender id that is stored already inserts nothing: `isRepeat`. */
export async function insertEvent(
  database: Database,
  organizationId: number,
  before: Statement[],
  newEvent: NewEventRow,
): Promise<{ id: number; contactId: number | null; isRepeat: boolean; hasContactChanges: boolean }> {
  const { contact: target } = newEvent;
  const byPhone = target !== null && 'phone' in target;
  const insert = database.prepare(
    `INSERT INTO event (organization_id, event_type, phone, contact_id, data, sender_id, depth, occurred_at, created_at, handled_at, note)
     VALUES (?1, ?2, ?3, ${byPhone ? '(SELECT id FROM contact WHERE organization_id = ?1 AND phone = ?4)' : '?4'}, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
     ON CONFLICT (organization_id, sender_id) WHERE sender_id IS NOT NULL DO NOTHING
     RETURNING id`,
    organizationId,
    newEvent.eventType,
    newEvent.phone,
    byPhone ? target.phone : (target?.id ?? null),
    newEvent.data,
    newEvent.senderId,
    newEvent.depth,
    newEvent.occurredAt,
    newEvent.createdAt,
    newEvent.note === null ? null : newEvent.createdAt,
    newEvent.note,
  );
  const known = database.prepare(
    'SELECT id, contact_id, data, created_at FROM event WHERE organization_id = ? AND sender_id = ?',
    organizationId,
    newEvent.senderId,
  );
  const statements = [...before, insert, known];
  const typeKey = `${organizationId}:${newEvent.eventType}`;
  if (!storedEventTypes().has(typeKey))
    statements.push(
      database.prepare(
        'INSERT OR IGNORE INTO event_type (organization_id, event_type, created_at) VALUES (?, ?, ?)',
        organizationId,
        newEvent.eventType,
        newEvent.createdAt,
      ),
    );
  if (byPhone) statements.push(database.prepare('SELECT 1 FROM contact_change WHERE organization_id = ? LIMIT 1', organizationId));
  let isLost = false;
  const results = await database.batch(statements, 'event.sender_id', () => (isLost = true));
  storedEventTypes().set(typeKey, true);
  const inserted = results[before.length]![0];
  const row = results[before.length + 1]![0] as KnownEvent;
  // A lost answer hides that this call stored the event.
  const isOurs = isLost && row.created_at === newEvent.createdAt && row.data === newEvent.data;
  return {
    id: row.id,
    contactId: row.contact_id,
    isRepeat: !inserted && !isOurs,
    hasContactChanges: byPhone && results.at(-1)!.length > 0,
  };
}

type EventRow = StoredRow<typeof event>;
type KnownEvent = Pick<EventRow, 'id' | 'contact_id' | 'data' | 'created_at'>;

/** An event and the name of its contact. `data`: JSON text, or a pointer into R2. */
export type StoredEvent = Pick<EventRow, 'id' | 'event_type' | 'phone' | 'contact_id' | 'data' | 'occurred_at' | 'note' | 'created_at'> &
  Pick<StoredRow<typeof contact>, 'first_name' | 'last_name'>;

// A deleted contact is not shown, although its events are unlinked page by page after the deletion.
export const eventColumns = `e.id, e.event_type, e.phone, c.id AS contact_id, c.first_name, c.last_name, e.data, e.occurred_at, e.note, e.created_at`;
export const joinContact = `LEFT JOIN contact c ON c.id = e.contact_id AND c.deleted_at IS NULL`;

/** The filters of a list of events. `from` and `to` in epoch ms, inclusive. */
export interface EventFilter {
  eventType?: string | undefined;
  from?: number | undefined;
  to?: number | undefined;
}

/** The filter as a condition on the table alias `alias`. */
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

/** One page, newest first, with one row more than `limit` when another page follows, and the total under the filters. */
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
    database.prepare<StoredEvent>(
      `SELECT ${eventColumns} FROM event e ${joinContact} WHERE ${where.map((part) => part.sql).join(' AND ')}
       ORDER BY e.created_at DESC, e.id DESC LIMIT ? OFFSET ?`,
      ...where.flatMap((part) => part.parameters),
      page.limit + 1,
      page.offset,
    ),
    countStatement(database, organizationId, base),
  ]);
  const { total } = counted[0]!;
  const isFiltered = base.parameters.length > 1;
  const totalCapped = isFiltered && total > countLimit;
  return { rows, total: totalCapped ? countLimit : total, totalCapped };
}

function countStatement(database: Database, organizationId: number, base: SqlFragment): Statement<{ total: number }> {
  if (base.parameters.length > 1)
    return database.prepare<{ total: number }>(
      `SELECT count(*) AS total FROM (SELECT 1 FROM event e WHERE ${base.sql} LIMIT ${countLimit + 1})`,
      ...base.parameters,
    );
  // The counter covers events up to a cursor that the minute tick moves; only newer events are counted here. The hour
  // allows for clocks that differ between the machines that accept events.
  return database.prepare<{ total: number }>(
    `SELECT coalesce((SELECT events_count FROM organization_usage WHERE organization_id = ?1), 0) + (
       SELECT count(*) FROM event WHERE organization_id = ?1
         AND created_at >= coalesce((SELECT value FROM progress WHERE name = 'events_counted_at'), 0) - 3600000
         AND id > coalesce((SELECT value FROM progress WHERE name = 'events_counted'), 0)
     ) AS total`,
    organizationId,
  );
}

/** The events of the organization among `ids`, in any order. */
export async function findStoredEvents(database: Database, organizationId: number, ids: number[]): Promise<StoredEvent[]> {
  return database.all(
    database.prepare<StoredEvent>(
      `SELECT ${eventColumns} FROM json_each(?) j CROSS JOIN event e ${joinContact} WHERE e.id = j.value AND e.organization_id = ?`,
      JSON.stringify(ids),
      organizationId,
    ),
  );
}

/** An event with how it was handled. */
export type HandledEvent = StoredEvent & Pick<EventRow, 'handled_at' | 'handling' | 'depth'>;

export const storedEventStatement = (database: Database, organizationId: number, id: number): Statement<HandledEvent> =>
  database.prepare<HandledEvent>(
    `SELECT ${eventColumns}, e.handled_at, e.handling, e.depth FROM event e ${joinContact} WHERE e.id = ? AND e.organization_id = ?`,
    id,
    organizationId,
  );

/** One page of a contact's events, newest first. `total` is counted up to 10,001. */
export async function findEventsOfContact(
  database: Database,
  contactId: number,
  page: EventPage,
): Promise<{ rows: StoredEvent[]; total: number }> {
  const after = page.after ? ' AND (e.created_at, e.id) < (?, ?)' : '';
  const [rows, counted] = await database.batch([
    database.prepare<StoredEvent>(
      `SELECT ${eventColumns} FROM event e ${joinContact} WHERE e.contact_id = ?${after} ORDER BY e.created_at DESC, e.id DESC LIMIT ? OFFSET ?`,
      contactId,
      ...(page.after ? [page.after.value, page.after.id] : []),
      page.limit + 1,
      page.offset,
    ),
    database.prepare<{ total: number }>('SELECT count(*) AS total FROM (SELECT 1 FROM event WHERE contact_id = ? LIMIT 10001)', contactId),
  ]);
  return { rows, total: counted[0]!.total };
}
