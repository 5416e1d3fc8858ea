import type { Database, Statement } from '../database/client.ts';
import type { journeyStatistic } from '../database/schema/statistics.ts';
import type { StoredRow } from '../database/stored-row.ts';
import { maxGroupRows, maxTextCharacters, periodRowsSql } from './period-rows.ts';

type JourneyCounters = StoredRow<typeof journeyStatistic>;

/** Runs that ended in the same way, after the same nodes. */
export type EndedRunsRow = Pick<JourneyCounters, 'version' | 'state' | 'outcome' | 'end_node' | 'trail' | 'runs'>;

/** Runs of a period that ended in the same state. */
export type EndedInPeriodRow = Pick<JourneyCounters, 'version' | 'state' | 'runs'> & { bucket: number };

/** Live runs at the same node, after the same nodes. */
export interface LiveRunsRow {
  version: number;
  node: string;
  trail: string;
  runs: number;
}

const own = 's.workflow_id = ?1 AND s.organization_id = ?3';

/** Which runs are counted: `periods` from `toPeriodsJson`; `version` null: all. */
export interface JourneyScope {
  organizationId: number;
  workflowId: number;
  periods: string;
  version: number | null;
}

const isVersion = '(?4 IS NULL OR version = ?4)';

/** A row with the number of characters that the texts of all rows have together. */
export type Measured<Row> = Row & { characters: number };

/** The rows of a SELECT, with the characters of their texts together. Of more characters than `maxTextCharacters` only one row. */
const measuredSql = (select: string, ...texts: string[]) => {
  const characters = `total(${texts.map((text) => `length(${text})`).join(' + ')})`;
  return `WITH found AS MATERIALIZED (${select})
     SELECT *, (SELECT ${characters} FROM found) AS characters FROM found
     LIMIT (SELECT iif(${characters} > ${maxTextCharacters}, 1, ${maxGroupRows + 1}) FROM found)`;
};

/** The ended runs of a journey in all periods together. */
export const sumEndedRuns = (
  database: Database,
  { organizationId, workflowId, periods, version }: JourneyScope,
): Statement<Measured<EndedRunsRow>> =>
  database.prepare<Measured<EndedRunsRow>>(
    measuredSql(
      `SELECT version, state, outcome, end_node, trail, sum(runs) AS runs FROM ${periodRowsSql('journey_statistic', own)} WHERE ${isVersion}
       GROUP BY version, state, outcome, end_node, trail HAVING sum(runs) <> 0 LIMIT ${maxGroupRows + 1}`,
      'outcome',
      'end_node',
      'trail',
    ),
    workflowId,
    periods,
    organizationId,
    version,
  );

/** The ended runs of a journey by the period in which they began. */
export const sumEndedRunsByPeriod = (
  database: Database,
  { organizationId, workflowId, periods, version }: JourneyScope,
): Statement<EndedInPeriodRow> =>
  database.prepare<EndedInPeriodRow>(
    `SELECT bucket, version, state, sum(runs) AS runs FROM ${periodRowsSql('journey_statistic', own)} WHERE ${isVersion}
     GROUP BY bucket, version, state HAVING sum(runs) <> 0 ORDER BY bucket LIMIT ${maxGroupRows + 1}`,
    workflowId,
    periods,
    organizationId,
    version,
  );

/** How many live runs are looked at. */
const maxLiveRuns = 10_000;

/** The live runs of a journey that began in a range, among the `maxLiveRuns` that the index has first. Epoch ms, `to` exclusive. */
export const countLiveRuns = (
  database: Database,
  { organizationId, workflowId, version }: JourneyScope,
  { from, to }: { from: number; to: number },
): Statement<Measured<LiveRunsRow>> =>
  database.prepare<Measured<LiveRunsRow>>(
    measuredSql(
      `SELECT workflow_version AS version, coalesce(current_node_id, '') AS node, coalesce(json_remove(trail, '$.tokens'), '') AS trail, count(*) AS runs
       FROM (SELECT * FROM automation_run INDEXED BY automation_run_workflow_state WHERE workflow_id = ?1 AND ${isLiveSql} LIMIT ${maxLiveRuns})
       WHERE organization_id = ?2 AND is_test = 0 AND created_at >= ?3 AND created_at < ?4 AND (?5 IS NULL OR workflow_version = ?5)
       GROUP BY 1, 2, 3`,
      'node',
      'trail',
    ),
    workflowId,
    organizationId,
    from,
    to,
    version,
  );

/** Whether the journey has more live runs than are looked at. */
export const hasMoreLiveRuns = (database: Database, workflowId: number, organizationId: number): Statement<{ more: number }> =>
  database.prepare<{ more: number }>(
    `SELECT active_runs_count > ${maxLiveRuns} AS more FROM automation_workflow WHERE id = ? AND organization_id = ?`,
    workflowId,
    organizationId,
  );

const isLiveSql = `state <> 'completed' AND state IN ('queued', 'pending', 'running', 'waiting')`;
