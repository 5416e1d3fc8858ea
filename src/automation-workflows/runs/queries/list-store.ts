import type { Database, Statement } from '../../../database/client.ts';
import { countLimit, cutPage, type PageResult, type CursorPosition } from '../../../http/pagination.ts';
import type { RunState } from '../../run-states.ts';
import { runColumns, sourcePayloadColumn, type RunRow } from '../store.ts';

export interface RunFilter {
  workflowId?: number | undefined;
  triggerId?: number | undefined;
  contactId?: number | undefined;
  state?: RunState | undefined;
  /** Epoch ms, both ends inclusive. */
  createdAfter?: number | undefined;
  createdBefore?: number | undefined;
  isTest: boolean;
}

/** `is_bounded` 1: the rows were counted, up to `countLimit`. */
interface TotalRow {
  total: number;
  is_bounded: number;
}

interface SqlCondition {
  sql: string;
  parameters: (string | number)[];
}

/** A page of runs, newest first, and their total, which is counted up to `countLimit`. */
export async function listRuns(
  database: Database,
  organizationId: number,
  filter: RunFilter,
  page: { limit: number; offset: number; after?: CursorPosition | undefined },
): Promise<PageResult<RunRow>> {
  const where = buildCondition(organizationId, filter);
  const from = `automation_run r INDEXED BY ${chooseIndex(filter)}`;
  const [rows, counted] = await database.batch([
    database.prepare<RunRow>(
      `SELECT ${runColumns}, ${sourcePayloadColumn} FROM ${from} WHERE ${where.sql} AND r.id < ? ORDER BY r.id DESC LIMIT ? OFFSET ?`,
      ...where.parameters,
      page.after?.id ?? Number.MAX_SAFE_INTEGER,
      page.limit + 1,
      page.offset,
    ),
    counterTotalStatement(database, organizationId, filter) ??
      database.prepare<TotalRow>(
        `SELECT count(*) AS total, 1 AS is_bounded FROM (SELECT 1 FROM ${from} WHERE ${where.sql} LIMIT ${countLimit + 1})`,
        ...where.parameters,
      ),
  ]);
  const { total, is_bounded } = counted[0]!;
  const totalCapped = is_bounded === 1 && total > countLimit;
  const found = cutPage(rows, page.limit, (row) => ({ value: null, id: row.id }));
  return { ...found, total: totalCapped ? countLimit : total, totalCapped };
}

/** The total from the counters of workflows, for all runs or all runs of one workflow. Null for other filters. */
function counterTotalStatement(
  database: Database,
  organizationId: number,
  { workflowId, isTest, ...rest }: RunFilter,
): Statement<TotalRow> | null {
  if (isTest || Object.values(rest).some((value) => value !== undefined)) return null;
  return database.prepare<TotalRow>(
    `SELECT coalesce(sum(runs_count), 0) AS total, 0 AS is_bounded FROM automation_workflow WHERE organization_id = ?${workflowId === undefined ? '' : ' AND id = ?'}`,
    organizationId,
    ...(workflowId === undefined ? [] : [workflowId]),
  );
}

function buildCondition(organizationId: number, filter: RunFilter): SqlCondition {
  const parts = ['r.organization_id = ?', 'r.is_test = ?'];
  const parameters: (string | number)[] = [organizationId, filter.isTest ? 1 : 0];
  const add = (sql: string, value: string | number | undefined) => {
    if (value === undefined) return;
    parts.push(sql);
    parameters.push(value);
  };
  add('r.workflow_id = ?', filter.workflowId);
  add('r.trigger_id = ?', filter.triggerId);
  add('r.contact_id = ?', filter.contactId);
  add('r.state = ?', filter.state);
  // A partial index serves only a query that repeats its condition.
  if (filter.state !== undefined && filter.state !== 'completed') parts.push("r.state <> 'completed'");
  add('r.created_at >= ?', filter.createdAfter);
  add('r.created_at <= ?', filter.createdBefore);
  if (filter.createdAfter !== undefined) add(`r.id >= ${firstIdAtSql}`, filter.createdAfter - maxClockSkewMs);
  if (filter.createdBefore !== undefined) add(`r.id < ${firstIdAtSql}`, filter.createdBefore + maxClockSkewMs);
  return { sql: parts.join(' AND '), parameters };
}

/** How far the clocks of the machines that start runs may differ. */
const maxClockSkewMs = 3_600_000;

/**
 * The first id of the shard's runs at a moment, by binary search: ids grow with created_at, so a range of moments becomes a range of ids. Reads
 * about forty rows.
 */
const firstIdAtSql = `(WITH RECURSIVE half (low, high, moment) AS (
  SELECT 0, coalesce((SELECT max(id) FROM automation_run), 0) + 1, ?
  UNION ALL
  SELECT iif(x.created_at < moment, x.id + 1, low), iif(x.created_at < moment, high, (low + high) / 2), moment
  FROM half CROSS JOIN automation_run x
  WHERE low < high AND x.id = (SELECT id FROM automation_run WHERE id >= (low + high) / 2 ORDER BY id LIMIT 1)
) SELECT max(low) FROM half)`;

/** The narrowest index whose entries come in id order. */
function chooseIndex(filter: RunFilter): string {
  if (filter.contactId !== undefined) return 'automation_run_contact';
  if (filter.triggerId !== undefined) return 'automation_run_trigger';
  const isRareState = filter.state !== undefined && filter.state !== 'completed';
  if (filter.workflowId !== undefined) return isRareState ? 'automation_run_workflow_state' : 'automation_run_workflow';
  return isRareState ? 'automation_run_state' : 'automation_run_organization';
}
