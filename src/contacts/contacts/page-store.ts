import type { Database, Row, Statement } from '../../database/client.ts';
import { countLimit, type CursorPosition } from '../../http/pagination.ts';
import type { Contact } from './contact.ts';
import { contactColumns, toContact } from './store.ts';
import { selectList } from '../lists/store.ts';
import {
  chooseQueryPlan,
  conditionSql,
  type Bind,
  type Condition,
  type ContactFilter,
  type ContactOrder,
  type QueryPlan,
} from './query-plans.ts';

/** Filters that have no index in common are tested on this many candidates, the newest. */
const maxCandidates = 50_000;

export interface PageOfContacts {
  /** One more than asked for when more follow. */
  contacts: Contact[];
  total: number;
  isTotalCapped: boolean;
}

interface PageRequest {
  database: Database;
  organizationId: number;
  filter: ContactFilter;
  order: ContactOrder;
  page: { limit: number; offset: number; after: CursorPosition | undefined };
}

/** Null when the filter names a list that there is not. Nothing read here grows with the organization. */
export async function findContactPage(request: PageRequest): Promise<PageOfContacts | null> {
  const { database, organizationId, filter, order } = request;
  const list = filter.listId === undefined ? undefined : selectList(database, organizationId, filter.listId);
  let listSize: number | undefined;
  if (list && filter.match !== undefined) {
    const row = await database.first(list);
    if (!row) return null;
    listSize = row.contacts_count as number;
  }
  const walk = chooseQueryPlan(organizationId, filter, order, listSize);
  const conditions = (Object.keys(filter) as Condition[]).filter((condition) => filter[condition] !== undefined);
  const left = conditions.filter((condition) => !walk.coveredConditions.includes(condition));
  const plan = walk.isOrdered && !left.length ? buildOrderedPage(request, walk, conditions) : buildSortedPage(request, walk, left);
  const [listRow, ...rows] = await database.batch([list ?? database.prepare('SELECT 1'), ...plan.statements]);
  return listRow!.length ? plan.toPage(rows, listRow![0]!) : null;
}

interface PageQuery {
  statements: Statement[];
  toPage(rows: Row[][], list: Row): PageOfContacts;
}

/** Nothing is left to test or to sort: the page is a stretch of the walk. */
function buildOrderedPage({ database, organizationId, page }: PageRequest, walk: QueryPlan, conditions: Condition[]): PageQuery {
  const rows = buildStatement(
    database,
    (bind) =>
      `SELECT ${contactColumns('c')} FROM (${walk.selectIds({ ...page, limit: page.limit + 1 }, bind)}) found CROSS JOIN contact c
       WHERE c.id = found.id AND +c.organization_id = ${bind(organizationId)} AND c.deleted_at IS NULL`,
  );
  const count = !conditions.length
    ? database.prepare('SELECT contacts_count AS total FROM organization_usage WHERE organization_id = ?', organizationId)
    : buildStatement(database, (bind) => `SELECT count(*) AS total FROM (${walk.selectIds({ limit: countLimit + 1, offset: 0 }, bind)})`);
  const isList = conditions.length === 1 && conditions[0] === 'listId';
  return {
    statements: isList ? [rows] : [rows, count],
    toPage([found, counted], list) {
      const total = isList ? (list.contacts_count as number) : ((counted![0]?.total as number | undefined) ?? 0);
      const isTotalCapped = conditions.length > 0 && !isList && total > countLimit;
      return { contacts: found!.map(toContact), total: isTotalCapped ? countLimit : total, isTotalCapped };
    },
  };
}

/** Candidates are tested for what the walk does not answer, then sorted. */
function buildSortedPage({ database, organizationId, filter, order, page }: PageRequest, walk: QueryPlan, left: Condition[]): PageQuery {
  const { by, isDescending } = order;
  const sorted = `value IS NULL, value ${isDescending ? 'DESC' : 'ASC'}, id ${isDescending ? 'DESC' : 'ASC'}`;
  const rows = buildStatement(database, (bind) => {
    const conditions = left.map((condition) => conditionSql[condition]('c', bind(filter[condition]!)));
    const own = [`+c.organization_id = ${bind(organizationId)}`, 'c.deleted_at IS NULL', ...conditions].join(' AND ');
    return `WITH matching AS MATERIALIZED (
        SELECT c.id, c.${by} AS value FROM (${walk.selectIds({ limit: maxCandidates, offset: 0 }, bind)}) found CROSS JOIN contact c
        WHERE c.id = found.id AND ${own} LIMIT ${countLimit + 1}
      ), page AS MATERIALIZED (
        SELECT id, value FROM matching WHERE ${page.after ? afterPositionCondition(order, page.after, bind) : 'true'}
        ORDER BY ${sorted} LIMIT ${bind(page.limit + 1)} OFFSET ${bind(page.offset)}
      )
      SELECT counted.total, ${contactColumns('c')} FROM (SELECT count(*) AS total FROM matching) counted
      LEFT JOIN page ON true LEFT JOIN contact c ON c.id = page.id
      ORDER BY ${sorted.replaceAll(/\b(value|id)\b/g, 'page.$1')}`;
  });
  const isCutShort = buildStatement(database, (bind) => `SELECT 1 FROM (${walk.selectIds({ limit: 1, offset: maxCandidates }, bind)})`);
  return {
    statements: left.length ? [rows, isCutShort] : [rows],
    toPage([found, rest = []]) {
      const total = found![0]!.total as number;
      const contacts = found!.filter((row) => row.id !== null).map(toContact);
      return { contacts, total: Math.min(total, countLimit), isTotalCapped: total > countLimit || rest.length > 0 };
    },
  };
}

/** Whether a row comes after the position, in the order that has missing values last. */
function afterPositionCondition({ isDescending }: ContactOrder, after: CursorPosition, bind: Bind): string {
  const beyond = isDescending ? '<' : '>';
  const id = bind(after.id);
  if (after.value === null) return `value IS NULL AND id ${beyond} ${id}`;
  const value = bind(after.value);
  return `(value ${beyond} ${value} OR (value = ${value} AND id ${beyond} ${id}) OR value IS NULL)`;
}

function buildStatement(database: Database, write: (bind: Bind) => string): Statement {
  const values: (string | number)[] = [];
  const sql = write((value) => `?${values.push(value)}`);
  return database.prepare(sql, ...values);
}
