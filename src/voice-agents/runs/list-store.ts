import type { Context } from '../../accounts/context.ts';
import type { Database } from '../../database/client.ts';
import { countLimit, cut, type Found, type Position } from '../../http/pagination.ts';
import { runOf, type RunRow } from './run-store.ts';

export interface RunFilter {
  isCompleted?: boolean | undefined;
  outcome?: NonNullable<RunRow['outcome']> | undefined;
  mode?: RunRow['mode'] | undefined;
}

/** The runs of an agent, newest first. */
export async function listRuns(
  { database, organization }: Context,
  agent: { id: number; total_runs: number },
  filter: RunFilter,
  page: { limit: number; offset: number; after?: Position | undefined },
): Promise<Found<RunRow>> {
  const where = condition(organization.id, agent.id, filter);
  const rows = database.prepare(
    `SELECT * FROM voice_agent_run WHERE ${where.sql} AND id < ? ORDER BY id DESC LIMIT ? OFFSET ?`,
    ...where.parameters,
    page.after?.id ?? Number.MAX_SAFE_INTEGER,
    page.limit + 1,
    page.offset,
  );
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const [found, counted] = await database.batch([rows, ...(isFiltered ? [countStatement(database, where)] : [])]);
  const total = isFiltered ? (counted![0] as { total: number }).total : agent.total_runs;
  const isCapped = isFiltered && total > countLimit;
  const shown = cut(found!.map(runOf), page.limit, (row) => ({ value: null, id: row.id }));
  return { ...shown, total: isCapped ? countLimit : total, totalCapped: isCapped };
}

interface Fragment {
  sql: string;
  parameters: (string | number)[];
}

const countStatement = (database: Database, { sql, parameters }: Fragment) =>
  database.prepare(`SELECT count(*) AS total FROM (SELECT 1 FROM voice_agent_run WHERE ${sql} LIMIT ${countLimit + 1})`, ...parameters);

function condition(organizationId: number, agentId: number, { isCompleted, outcome, mode }: RunFilter): Fragment {
  return {
    sql: [
      'organization_id = ? AND agent_id = ?',
      // Written out, so that an index of live runs alone serves it.
      ...(isCompleted === undefined ? [] : [`is_completed = ${isCompleted ? 1 : 0}`]),
      ...(outcome === undefined ? [] : ['outcome = ?']),
      ...(mode === undefined ? [] : ['mode = ?']),
    ].join(' AND '),
    parameters: [organizationId, agentId, ...(outcome === undefined ? [] : [outcome]), ...(mode === undefined ? [] : [mode])],
  };
}
