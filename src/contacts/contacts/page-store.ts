import type { Database, Statement } from '../../database/client.ts';
import { countLimit, type CursorPosition } from '../../http/pagination.ts';
import type { Contact } from './contact.ts';
import { selectList, type ListRow } from '../lists/store.ts';
import {
  chooseQueryPlan,
  conditionSql,
  type Bind,
  type Condition,
  type ContactFilter,
  type ContactOrder,
  type QueryPlan,
} from './query-plans.ts';
import { contactColumns, toContact, type ContactRow } from './store.ts';

/** Conditions without a common index are tested on this many candidates, the newest. */
const maxCandidates = 50_000;

export interface PageOfContacts {
  /** One more than the limit when another page follows. */
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

/**
 * One page of contacts; null when the filter names a list that does not exist. The number of rows read does not grow with the
 * organization.
 */
export async function findContactPage(request: PageRequest): Promise<PageOfContacts | null> {
  const { database, organizationId, filter, order } = request;
  const list = filter.listId === undefined ? undefined : selectList(database, organizationId, filter.listId);
  let listSize: number | undefined;
  if (list && filter.match !== undefined) {
    const row = await database.first(list);
    if (!row) return null;
    listSize = row.contacts_count;
  }
  const plan = chooseQueryPlan(organizationId, filter, order, listSize);
  const conditions = (Object.keys(filter) as Condition[]).filter((condition) => filter[condition] !== undefined);
  const remaining = conditions.filter((condition) => !plan.coveredConditions.includes(condition));
  const query =
    plan.isOrdered && !remaining.length ? buildOrderedPage(request, plan, conditions) : buildSortedPage(request, plan, remaining);
  const listStatement: Statement<Partial<ListRow>> = list ?? database.prepare('SELECT 1');
  const [[listRow], ...rows] = await database.batch([listStatement, ...query.statements]);
  return listRow ? query.toPage(rows, listRow) : null;
}

/** A row of a page's statements: a contact, a count, or both. A contact of null columns stands for an empty page. */
type PageRow = Partial<ContactRow> & { total?: number };

interface PageQuery {
  statements: Statement<PageRow>[];
  toPage(rows: PageRow[][], list: Partial<ListRow>): PageOfContacts;
}

/** The plan covers all conditions and the order, so a part of its index is the page. */
function buildOrderedPage({ database, organizationId, page }: PageRequest, plan: QueryPlan, conditions: Condition[]): PageQuery {
  const rows = buildStatement(
    database,
    (bind) =>
      `SELECT ${contactColumns('c')} FROM (${plan.selectIds({ ...page, limit: page.limit + 1 }, bind)}) found CROSS JOIN contact c
       WHERE c.id = found.id AND +c.organization_id = ${bind(organizationId)} AND c.deleted_at IS NULL`,
  );
  const count = !conditions.length
    ? database.prepare<PageRow>('SELECT contacts_count AS total FROM organization_usage WHERE organization_id = ?', organizationId)
    : buildStatement(database, (bind) => `SELECT count(*) AS total FROM (${plan.selectIds({ limit: countLimit + 1, offset: 0 }, bind)})`);
  const isList = conditions.length === 1 && conditions[0] === 'listId';
  return {
    statements: isList ? [rows] : [rows, count],
    toPage([found, counted], list) {
      const total = (isList ? list.contacts_count : counted![0]?.total) ?? 0;
      const isTotalCapped = conditions.length > 0 && !isList && total > countLimit;
      return { contacts: found!.map((row) => toContact(row as ContactRow)), total: isTotalCapped ? countLimit : total, isTotalCapped };
    },
  };
}

/** The candidates of the plan are tested for the remaining conditions, then sorted. */
function buildSortedPage(
  { database, organizationId, filter, order, page }: PageRequest,
  plan: QueryPlan,
  remaining: Condition[],
): PageQuery {
  const { by, isDescending } = order;
  const sorted = `value IS NULL, value ${isDescending ? 'DESC' : 'ASC'}, id ${isDescending ? 'DESC' : 'ASC'}`;
  const rows = buildStatement(database, (bind) => {
    const conditions = remaining.map((condition) => conditionSql[condition]('c', bind(filter[condition]!)));
    const where = [`+c.organization_id = ${bind(organizationId)}`, 'c.deleted_at IS NULL', ...conditions].join(' AND ');
    return `WITH matching AS MATERIALIZED (
        SELECT c.id, c.${by} AS value FROM (${plan.selectIds({ limit: maxCandidates, offset: 0 }, bind)}) found CROSS JOIN contact c
        WHERE c.id = found.id AND ${where} LIMIT ${countLimit + 1}
      ), page AS MATERIALIZED (
        SELECT id, value FROM matching WHERE ${page.after ? afterPositionCondition(order, page.after, bind) : 'true'}
        ORDER BY ${sorted} LIMIT ${bind(page.limit + 1)} OFFSET ${bind(page.offset)}
      )
      SELECT counted.total, ${contactColumns('c')} FROM (SELECT count(*) AS total FROM matching) counted
      LEFT JOIN page ON true LEFT JOIN contact c ON c.id = page.id
      ORDER BY ${sorted.replaceAll(/\b(value|id)\b/g, 'page.$1')}`;
  });
  const hasMoreCandidates = buildStatement(
    database,
    (bind) => `SELECT 1 FROM (${plan.selectIds({ limit: 1, offset: maxCandidates }, bind)})`,
  );
  return {
    statements: remaining.length ? [rows, hasMoreCandidates] : [rows],
    toPage([found, moreCandidates = []]) {
      const total = found![0]!.total!;
      const contacts = found!.filter((row): row is ContactRow => row.id !== null).map(toContact);
      return { contacts, total: Math.min(total, countLimit), isTotalCapped: total > countLimit || moreCandidates.length > 0 };
    },
  };
}

/** The condition for rows after the position; missing values come last in either direction. */
function afterPositionCondition({ isDescending }: ContactOrder, after: CursorPosition, bind: Bind): string {
  const beyond = isDescending ? '<' : '>';
  const id = bind(after.id);
  if (after.value === null) return `value IS NULL AND id ${beyond} ${id}`;
  const value = bind(after.value);
  return `(value ${beyond} ${value} OR (value = ${value} AND id ${beyond} ${id}) OR value IS NULL)`;
}

function buildStatement(database: Database, write: (bind: Bind) => string): Statement<PageRow> {
  const values: (string | number)[] = [];
  const sql = write((value) => `?${values.push(value)}`);
  return database.prepare<PageRow>(sql, ...values);
}
