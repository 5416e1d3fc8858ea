import type { Context } from '../../context.ts';
import type { Database } from '../../database/client.ts';
import { countLimit, cutPage, type PageResult, type CursorPosition } from '../../http/pagination.ts';
import { toAgentRunRow, type AgentRunRow, type StoredAgentRun } from './store.ts';
import type { SqlFragment } from '../../database/sql-fragment.ts';

export interface AgentRunFilter {
  isCompleted?: boolean | undefined;
}

/** The runs of an agent, newest first. */
export async function listAgentRuns(
  { database, organization }: Context,
  agent: { id: number; total_runs: number },
  filter: AgentRunFilter,
  page: { limit: number; offset: number; after?: CursorPosition | undefined },
): Promise<PageResult<AgentRunRow>> {
  const where = toCondition(organization.id, agent.id, filter);
  const rows = database.prepare<StoredAgentRun>(
    `SELECT * FROM voice_agent_run WHERE ${where.sql} AND id < ? ORDER BY id DESC LIMIT ? OFFSET ?`,
    ...where.parameters,
    page.after?.id ?? Number.MAX_SAFE_INTEGER,
    page.limit + 1,
    page.offset,
  );
  const isFiltered = filter.isCompleted !== undefined;
  const [found, counted] = await database.batch([rows, ...(isFiltered ? [selectCount(database, where)] : [])]);
  const total = isFiltered ? counted![0]!.total : agent.total_runs;
  const isCapped = isFiltered && total > countLimit;
  const shown = cutPage(found.map(toAgentRunRow), page.limit, (row) => ({ value: null, id: row.id }));
  return { ...shown, total: isCapped ? countLimit : total, totalCapped: isCapped };
}

const selectCount = (database: Database, { sql, parameters }: SqlFragment) =>
  database.prepare<{ total: number }>(
    `SELECT count(*) AS total FROM (SELECT 1 FROM voice_agent_run WHERE ${sql} LIMIT ${countLimit + 1})`,
    ...parameters,
  );

/**
 * The value of `is_completed` is part of the SQL text, so that the partial index of open runs is used. Nearly all other runs are completed.
 */
const toCondition = (organizationId: number, agentId: number, { isCompleted }: AgentRunFilter): SqlFragment => ({
  sql: `organization_id = ? AND agent_id = ?${isCompleted === undefined ? '' : ` AND is_completed = ${isCompleted ? 1 : 0}`}`,
  parameters: [organizationId, agentId],
});
