import type { Database, Row, Statement } from '../database/client.ts';
import { countLimit, type Position } from '../http/pagination.ts';
import type { Contact } from './contact.ts';
import { contactColumns, contactOf } from './store.ts';
import { oneList } from './store-lists.ts';
import { chooseWalk, tests, type Bind, type Condition, type ContactFilter, type ContactOrder, type Walk } from './store-walks.ts';

/** Filters that have no index in common are tested on this many candidates, the newest. */
const walkLimit = 50_000;

export interface PageOfContacts {
  /** One more than asked for when more follow. */
  contacts: Contact[];
  total: number;
  isTotalCapped: boolean;
}

interface Request {
  database: Database;
  organizationId: number;
  filter: ContactFilter;
  order: ContactOrder;
  page: { limit: number; offset: number; after: Position | undefined };
}

/** Null when the filter names a list that there is not. Nothing read here grows with the organization. */
export async function findPage(request: Request): Promise<PageOfContacts | null> {
  const { database, organizationId, filter, order } = request;
  const list = filter.listId === undefined ? undefined : oneList(database, organizationId, filter.listId);
  let listSize: number | undefined;
  if (list && filter.match !== undefined) {
    const row = await database.first(list);
    if (!row) return null;
    listSize = row.contacts_count as number;
  }
  const walk = chooseWalk(organizationId, filter, order, listSize);
  const conditions = (Object.keys(filter) as Condition[]).filter((condition) => filter[condition] !== undefined);
  const left = conditions.filter((condition) => !walk.answers.includes(condition));
  const plan = walk.isInOrder && !left.length ? followed(request, walk, conditions) : gathered(request, walk, left);
  const [listRow, ...rows] = await database.batch([list ?? database.prepare('SELECT 1'), ...plan.statements]);
  return listRow!.length ? plan.pageOf(rows, listRow![0]!) : null;
}

interface Plan {
  statements: Statement[];
  pageOf(rows: Row[][], list: Row): PageOfContacts;
}

/** Nothing is left to test or to sort: the page is a stretch of the walk. */
function followed({ database, organizationId, page }: Request, walk: Walk, conditions: Condition[]): Plan {
  const rows = statement(
    database,
    (bind) =>
      `SELECT ${contactColumns('c')} FROM (${walk.ids({ ...page, limit: page.limit + 1 }, bind)}) found CROSS JOIN contact c
       WHERE c.id = found.id AND +c.organization_id = ${bind(organizationId)} AND c.deleted_at IS NULL`,
  );
  const count = !conditions.length
    ? database.prepare('SELECT contacts_count AS total FROM organization_usage WHERE organization_id = ?', organizationId)
    : statement(database, (bind) => `SELECT count(*) AS total FROM (${walk.ids({ limit: countLimit + 1, offset: 0 }, bind)})`);
  const isList = conditions.length === 1 && conditions[0] === 'listId';
  return {
    statements: isList ? [rows] : [rows, count],
    pageOf([found, counted], list) {
      const total = isList ? (list.contacts_count as number) : ((counted![0]?.total as number | undefined) ?? 0);
      const isTotalCapped = conditions.length > 0 && !isList && total > countLimit;
      return { contacts: found!.map(contactOf), total: isTotalCapped ? countLimit : total, isTotalCapped };
    },
  };
}

/** Candidates are tested for what the walk does not answer, then sorted. */
function gathered({ database, organizationId, filter, order, page }: Request, walk: Walk, left: Condition[]): Plan {
  const { by, isDescending } = order;
  const sorted = `value IS NULL, value ${isDescending ? 'DESC' : 'ASC'}, id ${isDescending ? 'DESC' : 'ASC'}`;
  const rows = statement(database, (bind) => {
    const conditions = left.map((condition) => tests[condition]('c', bind(filter[condition]!)));
    const own = [`+c.organization_id = ${bind(organizationId)}`, 'c.deleted_at IS NULL', ...conditions].join(' AND ');
    return `WITH matching AS MATERIALIZED (
        SELECT c.id, c.${by} AS value FROM (${walk.ids({ limit: walkLimit, offset: 0 }, bind)}) found CROSS JOIN contact c
        WHERE c.id = found.id AND ${own} LIMIT ${countLimit + 1}
      ), page AS MATERIALIZED (
        SELECT id, value FROM matching WHERE ${page.after ? follows(order, page.after, bind) : 'true'}
        ORDER BY ${sorted} LIMIT ${bind(page.limit + 1)} OFFSET ${bind(page.offset)}
      )
      SELECT counted.total, ${contactColumns('c')} FROM (SELECT count(*) AS total FROM matching) counted
      LEFT JOIN page ON true LEFT JOIN contact c ON c.id = page.id
      ORDER BY ${sorted.replaceAll(/\b(value|id)\b/g, 'page.$1')}`;
  });
  const isCutShort = statement(database, (bind) => `SELECT 1 FROM (${walk.ids({ limit: 1, offset: walkLimit }, bind)})`);
  return {
    statements: left.length ? [rows, isCutShort] : [rows],
    pageOf([found, rest = []]) {
      const total = found![0]!.total as number;
      const contacts = found!.filter((row) => row.id !== null).map(contactOf);
      return { contacts, total: Math.min(total, countLimit), isTotalCapped: total > countLimit || rest.length > 0 };
    },
  };
}

/** Whether a row comes after the position, in the order that has missing values last. */
function follows({ isDescending }: ContactOrder, after: Position, bind: Bind): string {
  const beyond = isDescending ? '<' : '>';
  const id = bind(after.id);
  if (after.value === null) return `value IS NULL AND id ${beyond} ${id}`;
  const value = bind(after.value);
  return `(value ${beyond} ${value} OR (value = ${value} AND id ${beyond} ${id}) OR value IS NULL)`;
}

function statement(database: Database, write: (bind: Bind) => string): Statement {
  const values: (string | number)[] = [];
  const sql = write((value) => `?${values.push(value)}`);
  return database.prepare(sql, ...values);
}
