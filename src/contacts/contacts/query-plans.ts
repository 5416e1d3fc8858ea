import type { CursorPosition } from '../../http/pagination.ts';

/** Conditions on contacts. Moments in epoch ms, exclusive. */
export interface ContactFilter {
  phone?: string | undefined;
  externalId?: string | undefined;
  /** Compared without case. */
  email?: string | undefined;
  /** An FTS5 expression that includes the organization's scope (search.ts). */
  match?: string | undefined;
  listId?: number | undefined;
  createdAfter?: number | undefined;
  createdBefore?: number | undefined;
  updatedAfter?: number | undefined;
}
export type Condition = keyof ContactFilter;

/** The id decides between equal values, in the same direction. Contacts without a last name come last in either direction. */
export interface ContactOrder {
  by: 'created_at' | 'updated_at' | 'last_name';
  isDescending: boolean;
}

/** Adds a value to the statement's parameters and answers its placeholder: `?1`, `?2` ... */
export type Bind = (value: string | number) => string;

interface IdRange {
  after?: CursorPosition | undefined;
  limit: number;
  offset: number;
}

/** A scan of one index that yields the ids of candidates, each at most once. */
export interface QueryPlan {
  /** The conditions that every candidate fulfils. */
  coveredConditions: Condition[];
  /** Whether candidates come in the requested order; otherwise they come newest first. */
  isOrdered: boolean;
  /** A SELECT with the single column `id`. `range.after` only for an ordered plan. */
  selectIds(range: IdRange, bind: Bind): string;
}

/** Up to this size, scanning the list reads less than a text search does. */
const maxSmallListSize = 1000;

/** The plan that reads the fewest rows: by a contact's key, else by text, else by list, else by a range of a column's index. */
export function chooseQueryPlan(
  organizationId: number,
  filter: ContactFilter,
  order: ContactOrder,
  listSize: number | undefined,
): QueryPlan {
  if (filter.phone !== undefined) return planByKey(organizationId, 'phone', filter.phone, 'phone = ');
  if (filter.externalId !== undefined) return planByKey(organizationId, 'externalId', filter.externalId, 'external_id = ');
  if (filter.email !== undefined) return planByKey(organizationId, 'email', filter.email, 'email IS NOT NULL AND lower(email) = lower');
  const isListSmall = listSize !== undefined && listSize <= maxSmallListSize;
  if (filter.match !== undefined && !isListSmall) return planByText(filter.match, filter.listId, order);
  if (filter.listId !== undefined) return planByList(filter.listId, order);
  const isRanged = filter.createdAfter !== undefined || filter.createdBefore !== undefined;
  const by = filter.updatedAfter !== undefined ? 'updated_at' : isRanged ? 'created_at' : order.by;
  return planByColumn(organizationId, filter, by === order.by ? order : { by, isDescending: true }, by === order.by);
}

const toSqlDirection = (isDescending: boolean) => (isDescending ? { order: 'DESC', beyond: '<' } : { order: 'ASC', beyond: '>' });

function planByKey(organizationId: number, covered: Condition, value: string, condition: string): QueryPlan {
  return {
    coveredConditions: [covered],
    isOrdered: false,
    selectIds: ({ limit, offset }, bind) =>
      `SELECT id FROM contact WHERE organization_id = ${bind(organizationId)} AND ${condition}(${bind(value)})
       ORDER BY id DESC LIMIT ${bind(limit)} OFFSET ${bind(offset)}`,
  };
}

/** Ids grow with `created_at`, so ordering by id orders by creation. */
function planByText(match: string, listId: number | undefined, order: ContactOrder): QueryPlan {
  const isOrdered = order.by === 'created_at';
  const { order: direction, beyond } = toSqlDirection(!isOrdered || order.isDescending);
  return {
    coveredConditions: ['match'],
    isOrdered,
    selectIds({ after, limit, offset }, bind) {
      const where = [`contact_search MATCH ${bind(match)}`];
      if (after) where.push(`rowid ${beyond} ${bind(after.id)}`);
      if (listId !== undefined) {
        const idBound = (bound: 'min' | 'max') => `(SELECT ${bound}(contact_id) FROM contact_list_member WHERE list_id = ${bind(listId)})`;
        where.push(`rowid >= ${idBound('min')}`, `rowid <= ${idBound('max')}`);
      }
      return `SELECT rowid AS id FROM contact_search WHERE ${where.join(' AND ')} ORDER BY rowid ${direction} LIMIT ${bind(limit)} OFFSET ${bind(offset)}`;
    },
  };
}

function planByList(listId: number, order: ContactOrder): QueryPlan {
  const isOrdered = order.by === 'created_at';
  const { order: direction, beyond } = toSqlDirection(!isOrdered || order.isDescending);
  return {
    coveredConditions: ['listId'],
    isOrdered,
    selectIds: ({ after, limit, offset }, bind) =>
      `SELECT contact_id AS id FROM contact_list_member WHERE list_id = ${bind(listId)} ${after ? `AND contact_id ${beyond} ${bind(after.id)}` : ''}
       ORDER BY contact_id ${direction} LIMIT ${bind(limit)} OFFSET ${bind(offset)}`,
  };
}

/** Scans the index of a column. Equal, smaller and missing values are separate ranges, each found by the index. */
function planByColumn(organizationId: number, filter: ContactFilter, { by, isDescending }: ContactOrder, isOrdered: boolean): QueryPlan {
  const { order, beyond } = toSqlDirection(isDescending);
  const covered = { created_at: ['createdAfter', 'createdBefore'], updated_at: ['updatedAfter'], last_name: [] }[by] as Condition[];
  return {
    coveredConditions: covered,
    isOrdered,
    selectIds({ after, limit, offset }, bind) {
      const bounds = filterConditions(covered, filter, bind);
      const selectRange = (condition: string) =>
        `SELECT id FROM (SELECT id FROM contact WHERE organization_id = ${bind(organizationId)} AND deleted_at IS NULL AND ${[condition, ...bounds].join(' AND ')}
         ORDER BY ${by} ${order}, id ${order} LIMIT ${bind(limit + offset)})`;
      const ranges = indexRangeConditions(by, beyond, after, bind).map(selectRange);
      return `SELECT id FROM (${ranges.join(' UNION ALL ')}) LIMIT ${bind(limit)} OFFSET ${bind(offset)}`;
    },
  };
}

function indexRangeConditions(by: ContactOrder['by'], beyond: string, after: CursorPosition | undefined, bind: Bind): string[] {
  const missing = by === 'last_name' ? ['last_name IS NULL'] : [];
  if (!after) return [by === 'last_name' ? 'last_name IS NOT NULL' : 'true', ...missing];
  if (after.value === null) return [`last_name IS NULL AND id ${beyond} ${bind(after.id)}`];
  const value = bind(after.value);
  return [`${by} = ${value} AND id ${beyond} ${bind(after.id)}`, `${by} ${beyond} ${value}`, ...missing];
}

function filterConditions(conditions: Condition[], filter: ContactFilter, bind: Bind): string[] {
  return conditions.flatMap((condition) => {
    const value = filter[condition];
    return value === undefined ? [] : [conditionSql[condition]('contact', bind(value))];
  });
}

/** Each condition as SQL on one contact. */
export const conditionSql: Record<Condition, (contact: string, value: string) => string> = {
  phone: (contact, value) => `${contact}.phone = ${value}`,
  externalId: (contact, value) => `${contact}.external_id = ${value}`,
  email: (contact, value) => `lower(${contact}.email) = lower(${value})`,
  match: (contact, value) => `EXISTS (SELECT 1 FROM contact_search WHERE contact_search MATCH ${value} AND rowid = ${contact}.id)`,
  listId: (contact, value) => `EXISTS (SELECT 1 FROM contact_list_member m WHERE m.list_id = ${value} AND m.contact_id = ${contact}.id)`,
  createdAfter: (contact, value) => `${contact}.created_at > ${value}`,
  createdBefore: (contact, value) => `${contact}.created_at < ${value}`,
  updatedAfter: (contact, value) => `${contact}.updated_at > ${value}`,
};
