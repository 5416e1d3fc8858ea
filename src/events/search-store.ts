import type { Database, Statement } from '../database/client.ts';
import { countLimit } from '../http/pagination.ts';
import { eventCondition, type EventFilter, type SqlFragment } from './store.ts';

export interface SearchHit {
  id: number;
  created_at: number;
  phone: string | null;
}

/** What a search text is taken for, all at once. `contactMatch` is an FTS5 expression; phones are looked up by how they begin. */
export interface SearchTerms {
  text: string;
  contactMatch: string | null;
  phonePrefixes: string[];
}

/** Of so many types the newest events each are found first; those of further types come in any order. */
const maxOrderedTypes = 20;
const maxTypes = 1000;
const maxContacts = 1000;

/**
 * Events whose type, contact or phone matches, newest first, at most `countLimit` + 1 from each way of matching: known event
 * types that contain the text, contacts found by the full-text index, and phones that begin with the digits. `isPartial`: there
 * are more types or contacts than were looked at.
 */
export async function searchEvents(
  database: Database,
  organizationId: number,
  filter: EventFilter,
  search: SearchTerms,
): Promise<{ hits: SearchHit[]; isPartial: boolean }> {
  const { types, contactIds } = await findMatches(database, organizationId, filter, search);
  const statements = buildHitStatements(
    database,
    eventCondition('e', organizationId, filter),
    types.slice(0, maxTypes),
    contactIds,
    search,
  );
  const hits = new Map<number, SearchHit>();
  if (statements.length) for (const row of (await database.batch(statements)).flat() as unknown as SearchHit[]) hits.set(row.id, row);
  return {
    hits: [...hits.values()].toSorted((a, b) => b.created_at - a.created_at || b.id - a.id),
    isPartial: types.length > maxTypes || contactIds.length > maxContacts,
  };
}

/** The types and contacts that the text names; one more of each than is looked at, when there are more. */
async function findMatches(database: Database, organizationId: number, filter: EventFilter, { text, contactMatch }: SearchTerms) {
  const ofType = filter.eventType === undefined ? '' : ' AND event_type = ?';
  const [types, contacts] = await database.batch([
    database.prepare(
      `SELECT event_type FROM event_type WHERE organization_id = ? AND instr(lower(event_type), ?) > 0${ofType} LIMIT ${maxTypes + 1}`,
      organizationId,
      text.toLowerCase(),
      ...(filter.eventType === undefined ? [] : [filter.eventType]),
    ),
    ...(contactMatch === null
      ? []
      : [
          database.prepare(
            `SELECT rowid AS id FROM contact_search WHERE contact_search MATCH ? ORDER BY rowid DESC LIMIT ${maxContacts + 1}`,
            contactMatch,
          ),
        ]),
  ]);
  return { types: types!.map((row) => row.event_type as string), contactIds: (contacts ?? []).map((row) => row.id as number) };
}

const hitColumns = 'e.id, e.created_at, e.phone';
const hitLimit = `LIMIT ${countLimit + 1}`;

function buildHitStatements(
  database: Database,
  base: SqlFragment,
  types: string[],
  contactIds: number[],
  { phonePrefixes }: SearchTerms,
): Statement[] {
  const ofAny = (ids: (string | number)[], index: string, column: string) =>
    database.prepare(
      `SELECT ${hitColumns} FROM json_each(?) j CROSS JOIN event e INDEXED BY ${index} WHERE e.${column} = j.value AND ${base.sql} ${hitLimit}`,
      JSON.stringify(ids),
      ...base.parameters,
    );
  const further = types.slice(maxOrderedTypes);
  return [
    ...types
      .slice(0, maxOrderedTypes)
      .map((type) =>
        database.prepare(
          `SELECT ${hitColumns} FROM event e WHERE ${base.sql} AND e.event_type = ? ORDER BY e.created_at DESC, e.id DESC ${hitLimit}`,
          ...base.parameters,
          type,
        ),
      ),
    ...(further.length ? [ofAny(further, 'event_organization_type', 'event_type')] : []),
    ...(contactIds.length ? [ofAny(contactIds.slice(0, maxContacts), 'event_contact', 'contact_id')] : []),
    ...phonePrefixes.map((prefix) =>
      database.prepare(
        `SELECT ${hitColumns} FROM event e INDEXED BY event_phone WHERE ${base.sql} AND e.phone >= ? AND e.phone < ? ${hitLimit}`,
        ...base.parameters,
        prefix,
        `${prefix}\u{10FFFF}`,
      ),
    ),
  ];
}
