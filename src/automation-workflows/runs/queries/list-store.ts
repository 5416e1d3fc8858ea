import type { Database, Parameter, Statement } from '../../../database/client.ts';
import { firstIdAtSql, maxClockSkewMs } from '../../../database/first-id-at.ts';
import { countRows, newestRows, type IndexedRows } from '../../../database/newest-rows.ts';
import type { SqlFragment } from '../../../database/sql-fragment.ts';
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

/** A page of runs, newest first, and their total, which is counted up to `countLimit`. */
export async function listRuns(
  database: Database,
  organizationId: number,
  filter: RunFilter,
  page: { limit: number; offset: number; after?: CursorPosition | undefined },
): Promise<PageResult<RunRow>> {
  const wanted = toIndexedRows(organizationId, filter);
  const ids = newestRows(wanted, { limit: page.limit + 1, offset: page.offset, after: page.after?.id });
  const count = countRows(wanted, countLimit + 1);
  const [rows, counted] = await database.batch([
    database.prepare<RunRow>(
      `SELECT ${runColumns}, ${sourcePayloadColumn} FROM (${ids.sql}) page CROSS JOIN automation_run r WHERE r.id = page.id ORDER BY page.id DESC`,
      ...ids.parameters,
    ),
    counterTotalStatement(database, organizationId, filter) ??
      database.prepare<TotalRow>(`SELECT total, 1 AS is_bounded FROM (${count.sql})`, ...count.parameters),
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

function toIndexedRows(organizationId: number, filter: RunFilter): IndexedRows {
  const { index, lanes, condition } = chooseIndex(organizationId, filter);
  const parts = ['r.organization_id = ?', 'r.is_test = ?', ...(condition ? [condition] : [])];
  const parameters: Parameter[] = [organizationId, filter.isTest ? 1 : 0];
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
  if (isRareState(filter)) parts.push("r.state <> 'completed'");
  add('r.created_at >= ?', filter.createdAfter);
  add('r.created_at <= ?', filter.createdBefore);
  if (filter.createdAfter !== undefined) add(`r.id >= ${firstRunIdAtSql}`, filter.createdAfter - maxClockSkewMs);
  if (filter.createdBefore !== undefined) add(`r.id < ${firstRunIdAtSql}`, filter.createdBefore + maxClockSkewMs);
  return { table: 'automation_run', index, lanes, where: { sql: parts.join(' AND '), parameters } };
}

/** Nearly all runs are completed. People filter for the others. */
const isRareState = ({ state }: RunFilter): boolean => state !== undefined && state !== 'completed';

const firstRunIdAtSql = firstIdAtSql('automation_run');

/** The narrowest index whose entries come in id order, for all runs of the filter or for those of each lane. */
function chooseIndex(organizationId: number, filter: RunFilter): Pick<IndexedRows, 'index' | 'lanes'> & { condition?: string } {
  if (filter.contactId !== undefined) return { index: 'automation_run_contact', lanes: null };
  const ofWorkflow = 'r.workflow_id = lane.workflow_id';
  if (filter.triggerId !== undefined) {
    const sql = 'SELECT workflow_id FROM automation_trigger WHERE id = ? AND organization_id = ?';
    return { index: 'automation_run_workflow', lanes: { sql, parameters: [filter.triggerId, organizationId] }, condition: ofWorkflow };
  }
  if (!isRareState(filter))
    return {
      index: 'automation_run_workflow',
      lanes: lanesOfTriggers(organizationId, filter),
      condition: `${ofWorkflow} AND r.trigger_id IS lane.trigger_id`,
    };
  if (filter.workflowId !== undefined) return { index: 'automation_run_workflow_state', lanes: null };
  const sql = 'SELECT id AS workflow_id FROM automation_workflow WHERE organization_id = ?';
  return { index: 'automation_run_workflow_state', lanes: { sql, parameters: [organizationId] }, condition: ofWorkflow };
}

/** Of each workflow a lane for each trigger, and one for the runs that no trigger started. */
function lanesOfTriggers(organizationId: number, { workflowId }: RunFilter): SqlFragment {
  const isWanted = `w.organization_id = ?${workflowId === undefined ? '' : ' AND w.id = ?'}`;
  const parameters = [organizationId, ...(workflowId === undefined ? [] : [workflowId])];
  return {
    sql: `SELECT w.id AS workflow_id, NULL AS trigger_id FROM automation_workflow w WHERE ${isWanted} UNION ALL
         SELECT w.id, t.id FROM automation_workflow w CROSS JOIN automation_trigger t WHERE ${isWanted} AND t.workflow_id = w.id`,
    parameters: [...parameters, ...parameters],
  };
}
