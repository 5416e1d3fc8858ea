import type { Database, Row, Statement } from '../database/client.ts';
import { countLimit } from '../http/pagination.ts';

export interface EventRow {
  eventType: string;
  phone: string | null;
  /** A phone resolves to its contact, if there is one, as the row is written. */
  contact: { phone: string } | { id: number } | null;
  data: string;
  senderId: string | null;
  depth: number;
  occurredAt: number | null;
  note: string | null;
  createdAt: number;
}

/** A condition that holds when the sender's id is stored already, for statements that must then change nothing. */
export const senderKnown = (organizationId: number, senderId: string) => ({
  sql: 'EXISTS (SELECT 1 FROM event WHERE organization_id = ? AND sender_id = ?)',
  parameters: [organizationId, senderId],
});

const knownTypes = new Set<string>();
const knownTypesLimit = 10_000;

export async function insertEvent(
  database: Database,
  organizationId: number,
  before: Statement[],
  event: EventRow,
): Promise<{ id: number; contactId: number | null; isRepeat: boolean; hasContactChanges: boolean }> {
  const { contact } = event;
  const byPhone = contact !== null && 'phone' in contact;
  const insert = database.prepare(
    `INSERT INTO event (organization_id, event_type, phone, contact_id, data, sender_id, depth, occurred_at, created_at, handled_at, note)
     VALUES (?1, ?2, ?3, ${byPhone ? '(SELECT id FROM contact WHERE organization_id = ?1 AND phone = ?4)' : '?4'}, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
     ON CONFLICT (organization_id, sender_id) WHERE sender_id IS NOT NULL DO NOTHING
     RETURNING id, contact_id`,
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
  const statements = [...before, insert];
  if (event.senderId !== null)
    statements.push(
      database.prepare('SELECT id, contact_id FROM event WHERE organization_id = ? AND sender_id = ?', organizationId, event.senderId),
    );
  const typeKey = `${organizationId}:${event.eventType}`;
  if (!knownTypes.has(typeKey))
    statements.push(
      database.prepare(
        'INSERT OR IGNORE INTO event_type (organization_id, event_type, created_at) VALUES (?, ?, ?)',
        organizationId,
        event.eventType,
        event.createdAt,
      ),
    );
  if (byPhone) statements.push(database.prepare('SELECT 1 FROM contact_change WHERE organization_id = ? LIMIT 1', organizationId));
  const results = await database.batch(statements);
  if (knownTypes.size >= knownTypesLimit) knownTypes.clear();
  knownTypes.add(typeKey);
  const inserted = results[before.length]![0];
  const row = (inserted ?? results[before.length + 1]![0]) as unknown as { id: number; contact_id: number | null };
  return { id: row.id, contactId: row.contact_id, isRepeat: !inserted, hasContactChanges: byPhone && results.at(-1)!.length > 0 };
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
const columns = `e.id, e.event_type, e.phone, c.id AS contact_id, c.first_name, c.last_name, e.data, e.occurred_at, e.note, e.created_at`;
const withContact = `LEFT JOIN contact c ON c.id = e.contact_id AND c.deleted_at IS NULL`;

/** Which events, apart from a search. Moments in epoch milliseconds, both ends inclusive. */
export interface EventFilter {
  eventType?: string | undefined;
  from?: number | undefined;
  to?: number | undefined;
  isUniqueByPhone: boolean;
}

interface Position {
  value: string | number | null;
  id: number;
}

interface Fragment {
  sql: string;
  parameters: (string | number)[];
}

/** `alias` is given so that the same condition can be put to a newer event of the same phone. */
function condition(alias: string, organizationId: number, filter: EventFilter): Fragment {
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

/** Newest of its phone: no later event under the same filters has it. */
function newestOfPhone(organizationId: number, filter: EventFilter): Fragment {
  const newer = condition('n', organizationId, filter);
  return {
    sql: `e.phone IS NOT NULL AND NOT EXISTS (SELECT 1 FROM event n INDEXED BY event_phone
      WHERE ${newer.sql} AND n.phone = e.phone AND (n.created_at, n.id) > (e.created_at, e.id))`,
    parameters: newer.parameters,
  };
}

/** One page, newest first, and the total under the filters. One row more than `limit` is read to see whether more follow. */
export async function listEvents(
  database: Database,
  organizationId: number,
  filter: EventFilter,
  page: { limit: number; offset: number; after?: Position | undefined },
): Promise<{ rows: StoredEvent[]; total: number; totalCapped: boolean }> {
  const base = condition('e', organizationId, filter);
  const where = [base];
  if (filter.isUniqueByPhone) where.push(newestOfPhone(organizationId, filter));
  if (page.after) where.push({ sql: '(e.created_at, e.id) < (?, ?)', parameters: [page.after.value as number, page.after.id] });
  const [rows, counted] = await database.batch([
    database.prepare(
      `SELECT ${columns} FROM event e ${withContact} WHERE ${where.map((part) => part.sql).join(' AND ')}
       ORDER BY e.created_at DESC, e.id DESC LIMIT ? OFFSET ?`,
      ...where.flatMap((part) => part.parameters),
      page.limit + 1,
      page.offset,
    ),
    countStatement(database, organizationId, filter, base),
  ]);
  const total = (counted![0] as { total: number }).total;
  const isExact = filter.eventType === undefined && filter.from === undefined && filter.to === undefined && !filter.isUniqueByPhone;
  const totalCapped = !isExact && total > countLimit;
  return { rows: rows as unknown as StoredEvent[], total: totalCapped ? countLimit : total, totalCapped };
}

function countStatement(database: Database, organizationId: number, filter: EventFilter, base: Fragment): Statement {
  if (filter.isUniqueByPhone) return countPhones(database, organizationId, filter);
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

/** Hops from one distinct phone to the next along the index instead of reading every event. */
function countPhones(database: Database, organizationId: number, filter: EventFilter): Statement {
  const { sql, parameters } = condition('e', organizationId, filter);
  const isFiltered = parameters.length > 1;
  return database.prepare(
    `WITH RECURSIVE phones (phone) AS (
       SELECT (SELECT min(phone) FROM event WHERE organization_id = ? AND phone IS NOT NULL)
       UNION ALL
       SELECT (SELECT min(phone) FROM event WHERE organization_id = ? AND phone > phones.phone) FROM phones WHERE phones.phone IS NOT NULL
       LIMIT ${countLimit + 2}
     )
     SELECT count(*) AS total FROM phones WHERE phone IS NOT NULL
     ${isFiltered ? `AND EXISTS (SELECT 1 FROM event e INDEXED BY event_phone WHERE ${sql} AND e.phone = phones.phone)` : ''}`,
    organizationId,
    organizationId,
    ...(isFiltered ? parameters : []),
  );
}

export interface SearchHit {
  id: number;
  created_at: number;
  phone: string | null;
}

/**
 * Events whose type, contact or phone matches, newest first, at most `countLimit` + 1 from each way of matching: known event
 * types that contain the text, contacts found by the full-text index, and phones that begin with the digits.
 */
export async function searchEvents(
  database: Database,
  organizationId: number,
  filter: EventFilter,
  search: { text: string; contactMatch: string | null; phonePrefixes: string[] },
): Promise<SearchHit[]> {
  const base = condition('e', organizationId, filter);
  const hit = 'e.id, e.created_at, e.phone';
  const types = await database.all<{ event_type: string }>(
    database.prepare(
      `SELECT event_type FROM event_type WHERE organization_id = ? AND instr(lower(event_type), ?) > 0 LIMIT 20`,
      organizationId,
      search.text.toLowerCase(),
    ),
  );
  const statements = types
    .filter((row) => filter.eventType === undefined || row.event_type === filter.eventType)
    .map((row) =>
      database.prepare(
        `SELECT ${hit} FROM event e WHERE ${base.sql} AND e.event_type = ? ORDER BY e.created_at DESC, e.id DESC LIMIT ${countLimit + 1}`,
        ...base.parameters,
        row.event_type,
      ),
    );
  if (search.contactMatch !== null)
    statements.push(
      database.prepare(
        `SELECT ${hit} FROM (SELECT rowid FROM contact_search WHERE contact_search MATCH ? ORDER BY rowid DESC LIMIT 500) f
         CROSS JOIN event e INDEXED BY event_contact WHERE e.contact_id = f.rowid AND ${base.sql} LIMIT ${countLimit + 1}`,
        search.contactMatch,
        ...base.parameters,
      ),
    );
  for (const prefix of search.phonePrefixes)
    statements.push(
      database.prepare(
        `SELECT ${hit} FROM event e INDEXED BY event_phone WHERE ${base.sql} AND e.phone >= ? AND e.phone < ? LIMIT ${countLimit + 1}`,
        ...base.parameters,
        prefix,
        `${prefix}\u{10FFFF}`,
      ),
    );
  if (!statements.length) return [];
  const hits = new Map<number, SearchHit>();
  for (const row of (await database.batch(statements)).flat() as unknown as SearchHit[]) hits.set(row.id, row);
  return [...hits.values()].toSorted((a, b) => b.created_at - a.created_at || b.id - a.id);
}

export async function eventsByIds(database: Database, organizationId: number, ids: number[]): Promise<StoredEvent[]> {
  return database.all<StoredEvent>(
    database.prepare(
      `SELECT ${columns} FROM json_each(?) j CROSS JOIN event e ${withContact} WHERE e.id = j.value AND e.organization_id = ?`,
      JSON.stringify(ids),
      organizationId,
    ),
  );
}

/** Events of one contact, newest first. */
export async function eventsOfContact(
  database: Database,
  contactId: number,
  page: { limit: number; offset: number; after?: Position | undefined },
): Promise<{ rows: StoredEvent[]; total: number }> {
  const after = page.after ? ' AND (e.created_at, e.id) < (?, ?)' : '';
  const [rows, counted] = await database.batch([
    database.prepare(
      `SELECT ${columns} FROM event e ${withContact} WHERE e.contact_id = ?${after} ORDER BY e.created_at DESC, e.id DESC LIMIT ? OFFSET ?`,
      contactId,
      ...(page.after ? [page.after.value as number, page.after.id] : []),
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
export async function unhandledEvents(database: Database, organizationId: number, ids: number[]): Promise<EventToHandle[]> {
  return database.all<EventToHandle>(
    database.prepare(
      `SELECT e.id, e.event_type, e.phone, e.contact_id, e.data, e.depth, e.created_at
       FROM json_each(?) j CROSS JOIN event e WHERE e.id = j.value AND e.organization_id = ? AND e.handled_at IS NULL ORDER BY e.id`,
      JSON.stringify(ids),
      organizationId,
    ),
  );
}

/** `note` says why they triggered nothing, when the work was given up on. */
export async function markHandled(
  database: Database,
  organizationId: number,
  ids: number[],
  now: number,
  note: string | null = null,
): Promise<void> {
  await database.all(
    database.prepare(
      `UPDATE event SET handled_at = ?, note = coalesce(?, note)
       WHERE id IN (SELECT value FROM json_each(?)) AND organization_id = ? AND handled_at IS NULL`,
      now,
      note,
      JSON.stringify(ids),
      organizationId,
    ),
  );
}

/** Unhandled events after the cursor that were stored before `before`, oldest first. Reads along the primary key. */
export async function staleEvents(
  database: Database,
  cursor: number,
  before: number,
  limit: number,
): Promise<{ id: number; organization_id: number }[]> {
  return database.all(
    database.prepare(
      'SELECT id, organization_id FROM event WHERE id > ? AND handled_at IS NULL AND created_at < ? ORDER BY id LIMIT ?',
      cursor,
      before,
      limit,
    ),
  );
}
