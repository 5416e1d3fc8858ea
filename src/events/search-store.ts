import type { Database, Statement } from '../database/client.ts';
import type { event } from '../database/schema/index.ts';
import type { StoredRow } from '../database/stored-row.ts';
import { countLimit } from '../http/pagination.ts';
import { eventCondition, type EventFilter } from './store.ts';
import type { SqlFragment } from '../database/sql-fragment.ts';

export type SearchHit = Pick<StoredRow<typeof event>, 'id' | 'created_at' | 'phone'>;

/** The readings of a search text. `contactMatch`: an FTS5 expression for contacts; `phonePrefixes`: beginnings of phone numbers. */
export interface SearchTerms {
  text: string;
  contactMatch: string | null;
  phonePrefixes: string[];
}

/** The newest events are found for this many types; events of further types come in any order. */
const maxOrderedTypes = 20;
const maxTypes = 1000;
const maxContacts = 1000;

/**
 * Events whose type, contact or phone matches, newest first, at most `countLimit` + 1 for each: known event types that contain the text,
 * contacts of the full-text index, and phones that begin with the digits. `isPartial`: more types or contacts match than were read.
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
  if (statements.length) for (const row of (await database.batch(statements)).flat()) hits.set(row.id, row);
  return {
    hits: [...hits.values()].toSorted((a, b) => b.created_at - a.created_at || b.id - a.id),
    isPartial: types.length > maxTypes || contactIds.length > maxContacts,
  };
}

/** The event types and contacts that match the text, with one more than the limit when there are more. */
async function findMatches(database: Database, organizationId: number, filter: EventFilter, { text, contactMatch }: SearchTerms) {
  const typeCondition = filter.eventType === undefined ? '' : ' AND event_type = ?';
  const [types, contacts] = await database.batch([
    database.prepare<{ event_type: string; id?: number }>(
      `SELECT event_type FROM event_type WHERE organization_id = ? AND instr(lower(event_type), ?) > 0${typeCondition} LIMIT ${maxTypes + 1}`,
      organizationId,
      text.toLowerCase(),
      ...(filter.eventType === undefined ? [] : [filter.eventType]),
    ),
    ...(contactMatch === null
      ? []
      : [
          database.prepare<{ id: number; event_type?: string }>(
            `SELECT rowid AS id FROM contact_search WHERE contact_search MATCH ? ORDER BY rowid DESC LIMIT ${maxContacts + 1}`,
            contactMatch,
          ),
        ]),
  ]);
  return { types: types.map((row) => row.event_type!), contactIds: (contacts ?? []).map((row) => row.id!) };
}

const hitColumns = 'e.id, e.created_at, e.phone';
const hitLimit = `LIMIT ${countLimit + 1}`;

function buildHitStatements(
  database: Database,
  base: SqlFragment,
  types: string[],
  contactIds: number[],
  { phonePrefixes }: SearchTerms,
): Statement<SearchHit>[] {
  const selectByValues = (values: (string | number)[], index: string, column: string) =>
    database.prepare<SearchHit>(
      `SELECT ${hitColumns} FROM json_each(?) j CROSS JOIN event e INDEXED BY ${index} WHERE e.${column} = j.value AND ${base.sql} ${hitLimit}`,
      JSON.stringify(values),
      ...base.parameters,
    );
  const further = types.slice(maxOrderedTypes);
  return [
    ...types
      .slice(0, maxOrderedTypes)
      .map((type) =>
        database.prepare<SearchHit>(
          `SELECT ${hitColumns} FROM event e WHERE ${base.sql} AND e.event_type = ? ORDER BY e.created_at DESC, e.id DESC ${hitLimit}`,
          ...base.parameters,
          type,
        ),
      ),
    ...(further.length ? [selectByValues(further, 'event_organization_type', 'event_type')] : []),
    ...(contactIds.length ? [selectByValues(contactIds.slice(0, maxContacts), 'event_contact', 'contact_id')] : []),
    ...phonePrefixes.map((prefix) =>
      database.prepare<SearchHit>(
        `SELECT ${hitColumns} FROM event e INDEXED BY event_phone WHERE ${base.sql} AND e.phone >= ? AND e.phone < ? ${hitLimit}`,
        ...base.parameters,
        prefix,
        `${prefix}\u{10FFFF}`,
      ),
    ),
  ];
}
