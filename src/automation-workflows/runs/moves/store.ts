import type { Database, Statement } from '../../../database/client.ts';
import { laneOfEach, newestRows } from '../../../database/newest-rows.ts';
import type { automationRun, runMove } from '../../../database/schema/automation-workflows.ts';
import type { StoredRow } from '../../../database/stored-row.ts';
import { isNotInTransitSql } from '../../../database/transit.ts';
import { liveStates } from '../../run-states.ts';
import type { MoveObstacle } from './move-obstacle.ts';

export type MoveRow = StoredRow<typeof runMove>;

/** By obstacle, how many runs stay, with the first of them. */
export type MoveReasons = Partial<Record<MoveObstacle, { count: number; run_ids: number[] }>>;

/** A live run, as a preview and a page of a move see it. */
export type LiveRunRow = Pick<
  StoredRow<typeof automationRun>,
  'id' | 'workflow_version' | 'state' | 'hold' | 'current_node_id' | 'contact_id' | 'revision'
>;

const liveRunColumns = 'r.id, r.workflow_version, r.state, r.hold, r.current_node_id, r.contact_id, r.revision';

/** The live runs of a workflow lie in one stretch of an index for each state. */
const liveRunsOf = (organizationId: number, workflowId: number) => {
  const { lanes, condition } = laneOfEach('state', liveStates);
  return {
    table: 'automation_run',
    index: 'automation_run_workflow_state',
    lanes,
    where: {
      sql: `r.workflow_id = ? AND ${condition} AND r.state <> 'completed' AND r.organization_id = ?`,
      parameters: [workflowId, organizationId],
    },
  };
};

/** Live runs of a workflow, newest first, behind the id `before`. */
export function liveRunsStatement(
  database: Database,
  organizationId: number,
  workflowId: number,
  { limit, before }: { limit: number; before: number | undefined },
): Statement<LiveRunRow> {
  const ids = newestRows(liveRunsOf(organizationId, workflowId), { limit, offset: 0, after: before });
  return database.prepare<LiveRunRow>(
    `SELECT ${liveRunColumns} FROM (${ids.sql}) page CROSS JOIN automation_run r WHERE r.id = page.id ORDER BY page.id DESC`,
    ...ids.parameters,
  );
}

/** Live runs with an id above `after` and at most `upTo`, oldest first. */
export const nextLiveRunsStatement = (
  database: Database,
  organizationId: number,
  workflowId: number,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): Statement<LiveRunRow> =>
  database.prepare<LiveRunRow>(
    `SELECT ${liveRunColumns} FROM json_each(?1) lane CROSS JOIN json_each((SELECT json_group_array(found.id) FROM (
       SELECT x.id FROM automation_run x INDEXED BY automation_run_workflow_state
       WHERE x.workflow_id = ?2 AND x.state = lane.value AND x.state <> 'completed' AND x.organization_id = ?3 AND x.id > ?4 AND x.id <= ?5
       ORDER BY x.id LIMIT ?6) found)) page CROSS JOIN automation_run r WHERE r.id = page.value ORDER BY r.id LIMIT ?6`,
    JSON.stringify(liveStates),
    workflowId,
    organizationId,
    after,
    upTo,
    limit,
  );

/** How many runs wait at which node of which version. */
export interface RunGroup {
  workflow_version: number;
  node_id: string | null;
  state: string;
  hold: string | null;
  runs: number;
}

/** The live runs of a workflow in groups, of the first `most` runs. */
export const liveRunGroupsStatement = (database: Database, organizationId: number, workflowId: number, most: number): Statement<RunGroup> =>
  database.prepare<RunGroup>(
    `SELECT workflow_version, current_node_id AS node_id, state, hold, count(*) AS runs FROM (
       SELECT r.workflow_version, r.current_node_id, r.state, r.hold FROM json_each(?1) lane CROSS JOIN automation_run r INDEXED BY automation_run_workflow_state
       WHERE r.workflow_id = ?2 AND r.state = lane.value AND r.state <> 'completed' AND r.organization_id = ?3 LIMIT ?4
     ) GROUP BY 1, 2, 3, 4 ORDER BY 5 DESC`,
    JSON.stringify(liveStates),
    workflowId,
    organizationId,
    most,
  );

export interface NodeOfVersion {
  version: number;
  node_id: string;
  type: string;
}

/** The types of nodes in versions of a workflow. */
export const nodeTypesStatement = (
  database: Database,
  organizationId: number,
  workflowId: number,
  { versions, nodeIds }: { versions: number[]; nodeIds: string[] },
): Statement<NodeOfVersion> =>
  database.prepare<NodeOfVersion>(
    `SELECT v.version, n.value ->> 'id' AS node_id, n.value ->> 'type' AS type
     FROM json_each(?1) wanted CROSS JOIN automation_version v CROSS JOIN json_each(v.definition, '$.nodes') n
     WHERE v.workflow_id = ?2 AND v.version = wanted.value AND v.organization_id = ?3 AND n.value ->> 'id' IN (SELECT value FROM json_each(?4))`,
    JSON.stringify(versions),
    workflowId,
    organizationId,
    JSON.stringify(nodeIds),
  );

/** The definition of a version, JSON text. No row: there is no such version. */
export const versionStatement = (
  database: Database,
  organizationId: number,
  workflowId: number,
  version: number,
): Statement<{ definition: string }> =>
  database.prepare<{ definition: string }>(
    'SELECT definition FROM automation_version WHERE workflow_id = ? AND version = ? AND organization_id = ?',
    workflowId,
    version,
    organizationId,
  );

/** The version of a run, and the definitions of that version and of the one that it is to move to. */
export interface RunVersions {
  workflow_version: number;
  is_live: number;
  own: string | null;
  target: string | null;
}

export const runVersionsStatement = (database: Database, organizationId: number, runId: number, version: number): Statement<RunVersions> =>
  database.prepare<RunVersions>(
    `SELECT r.workflow_version, r.completed_at IS NULL AS is_live,
       (SELECT v.definition FROM automation_version v WHERE v.workflow_id = r.workflow_id AND v.version = r.workflow_version) AS own,
       (SELECT v.definition FROM automation_version v WHERE v.workflow_id = r.workflow_id AND v.version = ?3) AS target
     FROM automation_run r WHERE r.id = ?1 AND r.organization_id = ?2`,
    runId,
    organizationId,
    version,
  );

/** Gives a live run's row another version. False: the row has ended. */
export async function setRunVersion(database: Database, organizationId: number, runId: number, version: number): Promise<boolean> {
  const rows = await database.all(
    database.prepare(
      'UPDATE automation_run SET workflow_version = ?3 WHERE id = ?1 AND organization_id = ?2 AND completed_at IS NULL RETURNING id',
      runId,
      organizationId,
      version,
    ),
    'idempotent',
  );
  return rows.length > 0;
}

/** Begins a move, unless one of the workflow is under way. The second statement reads the one that is open then. */
export const beginMoveStatements = (
  database: Database,
  organizationId: number,
  { workflowId, version, now }: { workflowId: number; version: number; now: number },
): [Statement<MoveRow>, Statement<MoveRow>] => [
  database.prepare<MoveRow>(
    `INSERT INTO run_move (organization_id, workflow_id, version, up_to_id, due_at, created_at)
     VALUES (?1, ?2, ?3, (SELECT coalesce(max(id), 0) FROM automation_run), ?4, ?4) ON CONFLICT (workflow_id) WHERE finished_at IS NULL DO NOTHING RETURNING *`,
    organizationId,
    workflowId,
    version,
    now,
  ),
  database.prepare<MoveRow>(
    'SELECT * FROM run_move INDEXED BY run_move_open WHERE workflow_id = ? AND finished_at IS NULL AND organization_id = ?',
    workflowId,
    organizationId,
  ),
];

export const moveStatement = (database: Database, organizationId: number, id: number): Statement<MoveRow> =>
  database.prepare<MoveRow>('SELECT * FROM run_move WHERE id = ? AND organization_id = ?', id, organizationId);

/** The moves of a workflow, newest first. */
export const movesStatement = (database: Database, organizationId: number, workflowId: number, limit: number): Statement<MoveRow> =>
  database.prepare<MoveRow>(
    'SELECT * FROM run_move INDEXED BY run_move_workflow WHERE workflow_id = ? AND organization_id = ? ORDER BY id DESC LIMIT ?',
    workflowId,
    organizationId,
    limit,
  );

/** A page of a move. `held`: runs that wait for their turn and have no object; they begin with the version that their rows have then. */
export interface MovedPage {
  cursor: number;
  moved: number;
  kept: number;
  reasons: MoveReasons;
  held: number[];
  isLast: boolean;
  now: number;
}

/**
 * Records a page of a move with the held runs that it moves, in one transaction, unless another worker has recorded the page. A held run that has begun
 * meanwhile stays on its version (`not_begun`).
 */
export async function recordMovedPage(database: Database, move: MoveRow, page: MovedPage): Promise<void> {
  const isMine = 'cursor = ? AND finished_at IS NULL';
  await database.batch(
    [
      database.prepare(
        `UPDATE automation_run SET workflow_version = ? WHERE id IN (SELECT value FROM json_each(?)) AND +organization_id = ? AND completed_at IS NULL
           AND state = 'queued' AND hold = 'max_active' AND revision = 0 AND EXISTS (SELECT 1 FROM run_move WHERE id = ? AND ${isMine})`,
        move.version,
        JSON.stringify(page.held),
        move.organization_id,
        move.id,
        move.cursor,
      ),
      // changes() are the held runs that the statement before has moved.
      database.prepare(
        `UPDATE run_move SET cursor = ?3, moved = moved + ?4 + changes(), kept = kept + ?5 + ?10 - changes(), due_at = iif(?7, NULL, ?8),
           finished_at = iif(?7, ?8, NULL), reasons = iif(?10 > changes(), json_set(?6, '$.not_begun', json_object(
             'count', coalesce(?6 ->> '$.not_begun.count', 0) + ?10 - changes(), 'run_ids', json(coalesce(?6 -> '$.not_begun.run_ids', '[]')))), ?6)
         WHERE id = ?1 AND organization_id = ?2 AND cursor = ?9 AND finished_at IS NULL`,
        move.id,
        move.organization_id,
        page.cursor,
        page.moved,
        page.kept,
        JSON.stringify(page.reasons),
        page.isLast ? 1 : 0,
        page.now,
        move.cursor,
        page.held.length,
      ),
    ],
    'idempotent',
  );
}

/** Open moves whose next page is due since before `before` (epoch ms): their message may be lost. */
export const findOverdueRunMoves = (
  database: Database,
  before: number,
  limit: number,
): Promise<{ id: number; organization_id: number }[]> =>
  database.all(
    database.prepare<{ id: number; organization_id: number }>(
      `SELECT id, organization_id FROM run_move WHERE due_at IS NOT NULL AND due_at < ? AND ${isNotInTransitSql('organization_id')} ORDER BY due_at LIMIT ?`,
      before,
      limit,
    ),
  );
