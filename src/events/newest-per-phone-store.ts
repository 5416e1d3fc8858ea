import type { Database, Statement } from '../database/client.ts';
import { countLimit } from '../http/pagination.ts';
import { eventColumns, eventCondition, joinContact, type EventFilter, type EventPage, type StoredEvent } from './store.ts';
import type { SqlFragment } from '../database/sql-fragment.ts';

/** Up to this many phones, the newest event is read phone by phone; with more, the newest events soon fill a page of phones. */
const maxPhonesForHops = 1000;
/** Under filters, the distinct phones of this many events are counted; with more events the total is a lower bound. */
const maxCountedEvents = 50_000;

/** One page of the newest event of each phone, newest first, and the number of phones. */
export async function listNewestPerPhone(
  database: Database,
  organizationId: number,
  filter: EventFilter,
  page: EventPage,
): Promise<{ rows: StoredEvent[]; total: number; totalCapped: boolean }> {
  const isFiltered = filter.eventType !== undefined || filter.from !== undefined || filter.to !== undefined;
  const count = isFiltered ? countFiltered(database, organizationId, filter) : countAll(database, organizationId);
  const { total, seen } = (await database.first(count))!;
  const isFew = !isFiltered && total <= maxPhonesForHops;
  const statement = isFew ? selectByPhoneHops(database, organizationId, page) : selectByTime(database, organizationId, filter, page);
  const rows = await database.all(statement);
  return { rows, total: Math.min(total, countLimit), totalCapped: total > countLimit || seen > maxCountedEvents };
}

/** `seen`: how many events were read under filters; 0: all were counted. */
interface PhoneCount {
  total: number;
  seen: number;
}

/** Hops from one phone to the next along the index instead of reading every event. */
const phoneHopsSql = `WITH RECURSIVE phones (phone) AS (
  SELECT (SELECT min(phone) FROM event WHERE organization_id = ?1 AND phone IS NOT NULL)
  UNION ALL
  SELECT (SELECT min(phone) FROM event WHERE organization_id = ?1 AND phone > phones.phone) FROM phones WHERE phones.phone IS NOT NULL
  LIMIT ${countLimit + 2}
)`;

const countAll = (database: Database, organizationId: number): Statement<PhoneCount> =>
  database.prepare<PhoneCount>(`${phoneHopsSql} SELECT count(*) AS total, 0 AS seen FROM phones WHERE phone IS NOT NULL`, organizationId);

function countFiltered(database: Database, organizationId: number, filter: EventFilter): Statement<PhoneCount> {
  const { sql, parameters } = eventCondition('e', organizationId, filter);
  return database.prepare<PhoneCount>(
    `SELECT count(DISTINCT phone) AS total, count(*) AS seen
     FROM (SELECT e.phone FROM event e WHERE ${sql} AND e.phone IS NOT NULL LIMIT ${maxCountedEvents + 1})`,
    ...parameters,
  );
}

function selectByPhoneHops(database: Database, organizationId: number, page: EventPage): Statement<StoredEvent> {
  return database.prepare<StoredEvent>(
    `${phoneHopsSql}, newest (id) AS (
       SELECT (SELECT id FROM event INDEXED BY event_phone WHERE organization_id = ?1 AND phone = phones.phone ORDER BY created_at DESC, id DESC LIMIT 1)
       FROM phones WHERE phone IS NOT NULL
     )
     SELECT ${eventColumns} FROM newest CROSS JOIN event e ${joinContact}
     WHERE e.id = newest.id${page.after ? ' AND (e.created_at, e.id) < (?4, ?5)' : ''} ORDER BY e.created_at DESC, e.id DESC LIMIT ?2 OFFSET ?3`,
    organizationId,
    page.limit + 1,
    page.offset,
    ...(page.after ? [page.after.value, page.after.id] : []),
  );
}

function selectByTime(database: Database, organizationId: number, filter: EventFilter, page: EventPage): Statement<StoredEvent> {
  const where = [eventCondition('e', organizationId, filter), newestOfPhoneCondition(organizationId, filter)];
  if (page.after) where.push({ sql: '(e.created_at, e.id) < (?, ?)', parameters: [page.after.value, page.after.id] });
  return database.prepare<StoredEvent>(
    `SELECT ${eventColumns} FROM event e ${joinContact} WHERE ${where.map((part) => part.sql).join(' AND ')}
     ORDER BY e.created_at DESC, e.id DESC LIMIT ? OFFSET ?`,
    ...where.flatMap((part) => part.parameters),
    page.limit + 1,
    page.offset,
  );
}

/** Holds for an event whose phone has no later event under the same filters. */
function newestOfPhoneCondition(organizationId: number, filter: EventFilter): SqlFragment {
  const newer = eventCondition('n', organizationId, filter);
  return {
    sql: `e.phone IS NOT NULL AND NOT EXISTS (SELECT 1 FROM event n INDEXED BY event_phone
      WHERE ${newer.sql} AND n.phone = e.phone AND (n.created_at, n.id) > (e.created_at, e.id))`,
    parameters: newer.parameters,
  };
}
