import type { Database, Statement } from '../../database/client.ts';
import type { SqlFragment } from '../../database/sql-fragment.ts';
import { countLimit, type CursorPosition, type PageResult } from '../../http/pagination.ts';
import { toCondition, type CallFilter, type CallSort } from './call-filter.ts';
import { goesAlongWords, isWholePath, selectAlongPath } from './call-path.ts';
import { callColumnsSql, type CallRow } from './call-record.ts';

export interface CallsPage {
  rows: CallRow[];
  /** Where the next page goes on; null: there is none. The page may have fewer rows than the limit, even none, and a next page. */
  next: CursorPosition | null;
}

export interface CallsQuery {
  filter: CallFilter;
  sort: CallSort;
  limit: number;
  offset?: number;
  after?: CursorPosition | undefined;
  /** How many calls are looked at for a page. */
  maxExamined: number;
}

type FoundRow = CallRow & { place: number | null };

/** A page of the organization's calls. It looks at calls along one index, until the page is full or `maxExamined` calls were looked at. */
export async function findCallsPage(database: Database, organizationId: number, query: CallsQuery): Promise<CallsPage> {
  return toPage(database, organizationId, query, await database.all(selectPage(database, organizationId, query)));
}

/** As `findCallsPage`, with the number of all calls of the filter among the first 10,000 along the index; fewer where words are looked up. */
export async function findCountedCallsPage(database: Database, organizationId: number, query: CallsQuery): Promise<PageResult<CallRow>> {
  const maxCounted = query.filter.match === undefined ? countLimit : query.maxExamined;
  const [found, counted] = await database.batch([
    selectPage(database, organizationId, query),
    selectCount(database, organizationId, query, maxCounted + 1),
  ]);
  const { matching, examined } = counted[0]!;
  const page = await toPage(database, organizationId, query, found);
  return { ...page, total: Math.min(matching, maxCounted), totalCapped: examined > maxCounted };
}

function selectPage(database: Database, organizationId: number, query: CallsQuery): Statement<FoundRow> {
  const path = toPath(organizationId, query);
  const condition = toRestOfFilter(organizationId, query);
  // Rows come in the order of the path. A sort here would look at all of its rows first.
  return database.prepare<FoundRow>(
    `SELECT ${callColumnsSql}, path.value AS place FROM (${path.sql}) path CROSS JOIN voice_agent_run r
     WHERE r.id = path.id AND ${condition.sql} LIMIT ? OFFSET ?`,
    ...path.parameters,
    ...condition.parameters,
    query.limit + 1,
    query.offset ?? 0,
  );
}

const toPath = (organizationId: number, { filter, sort, after, maxExamined, offset = 0 }: CallsQuery): SqlFragment =>
  selectAlongPath(organizationId, filter, sort, { after, maxRows: maxExamined + offset });

/** The calls of a path of words have the words. */
const toRestOfFilter = (organizationId: number, { filter, sort }: CallsQuery): SqlFragment =>
  toCondition(organizationId, goesAlongWords(organizationId, filter, sort) ? { ...filter, match: undefined } : filter);

async function toPage(database: Database, organizationId: number, query: CallsQuery, found: FoundRow[]): Promise<CallsPage> {
  const { limit } = query;
  if (found.length > limit) return { rows: found.slice(0, limit), next: toPosition(found[limit - 1]!) };
  return { rows: found, next: await findLastExamined(database, organizationId, query) };
}

const toPosition = ({ id, place }: Pick<FoundRow, 'id' | 'place'>): CursorPosition => ({ value: place, id });

/** The position of the last call that was looked at; null: all were. */
async function findLastExamined(database: Database, organizationId: number, query: CallsQuery): Promise<CursorPosition | null> {
  const path = toPath(organizationId, query);
  const last = await database.first(
    database.prepare<{ id: number; place: number | null }>(
      `SELECT id, value AS place FROM (${path.sql}) path LIMIT 1 OFFSET ?`,
      ...path.parameters,
      query.maxExamined + (query.offset ?? 0) - 1,
    ),
  );
  return last && toPosition(last);
}

/** How many of the first `maxRows` calls along the path, from its beginning, meet the filter. */
function selectCount(
  database: Database,
  organizationId: number,
  query: CallsQuery,
  maxRows: number,
): Statement<{ matching: number; examined: number }> {
  const path = selectAlongPath(organizationId, query.filter, query.sort, { maxRows });
  if (isWholePath(query.filter, query.sort))
    return database.prepare<{ matching: number; examined: number }>(
      `SELECT count(*) AS matching, count(*) AS examined FROM (${path.sql}) path`,
      ...path.parameters,
    );
  const condition = toRestOfFilter(organizationId, query);
  return database.prepare<{ matching: number; examined: number }>(
    `SELECT count(r.id) AS matching, count(*) AS examined FROM (${path.sql}) path
     LEFT JOIN voice_agent_run r ON r.id = path.id AND ${condition.sql}`,
    ...path.parameters,
    ...condition.parameters,
  );
}

/** The calls with these ids. `ids`: JSON of a list. */
export const findCallRows = (database: Database, organizationId: number, ids: string): Promise<CallRow[]> =>
  database.all(
    database.prepare<CallRow>(
      `SELECT ${callColumnsSql} FROM json_each(?) j CROSS JOIN voice_agent_run r WHERE r.id = j.value AND r.organization_id = ?`,
      ids,
      organizationId,
    ),
  );
