import type { Database, Statement } from '../database/client.ts';

/** How far a rebuild is: the step, and what it has done last. */
export interface RebuildPlace {
  step?: 'usage' | 'journeys' | 'calls';
  /** The id of a journey, or a day. */
  after?: number;
}

export interface AskedRebuild {
  id: number;
  /** `RebuildPlace` as JSON. */
  statistics_rebuild: string;
}

/** Organizations whose statistics are to be counted again, in the catalog. */
export const findAskedRebuilds = (catalog: Database, limit: number): Promise<AskedRebuild[]> =>
  catalog.all(
    catalog.prepare<AskedRebuild>(
      `SELECT id, statistics_rebuild FROM organization WHERE statistics_rebuild IS NOT NULL AND deleting_at IS NULL AND moving_to IS NULL
       ORDER BY id LIMIT ?`,
      limit,
    ),
  );

/** Saves how far a rebuild is; null: it is done. Changes nothing when somebody has asked for it anew. */
export const saveRebuild = (catalog: Database, asked: AskedRebuild, place: RebuildPlace | null): Promise<unknown> =>
  catalog.all(
    catalog.prepare(
      'UPDATE organization SET statistics_rebuild = ?3 WHERE id = ?1 AND statistics_rebuild = ?2',
      asked.id,
      asked.statistics_rebuild,
      place === null ? null : JSON.stringify(place),
    ),
    'idempotent',
  );

/** From where records are certainly all kept: epoch ms, and the same day as `toDay` gives it. */
export interface KeptSince {
  moment: number;
  day: number;
}

const deleteSince = (database: Database, table: string, organizationId: number, { moment, day }: KeptSince, and = ''): Statement[] =>
  [
    [0, moment],
    [1, day],
  ].map(([isDay, period]) =>
    database.prepare(
      `DELETE FROM ${table} WHERE organization_id = ?1 AND is_day = ?2 AND period >= ?3 ${and}`,
      organizationId,
      isDay!,
      period!,
    ),
  );

/** Counts messages, documents and text chats again, each from the moment on since which all of them are kept. */
export async function rebuildUsage(
  database: Database,
  organizationId: number,
  kept: { calls: KeptSince; others: KeptSince },
): Promise<void> {
  await database.batch(
    [
      ...deleteSince(database, 'usage_statistic', organizationId, kept.others),
      database.prepare(
        `INSERT INTO usage_count (organization_id, created_at, kind, name, items, bytes)
         SELECT organization_id, created_at, 'message', provider, 1, 0 FROM message
         WHERE organization_id = ?1 AND created_at >= ?2 AND status_rank >= 2 AND status <> 'failed'`,
        organizationId,
        kept.others.moment,
      ),
      database.prepare(
        `INSERT INTO usage_count (organization_id, created_at, kind, name, items, bytes)
         SELECT organization_id, created_at, 'document', '', 1, size_bytes FROM knowledge_document
         WHERE organization_id = ?1 AND created_at >= ?2 AND generation > 0`,
        organizationId,
        kept.others.moment,
      ),
      ...deleteSince(database, 'call_statistic', organizationId, kept.calls, "AND direction = 'chat'"),
      // The keys of chats begin with the word.
      database.prepare(
        `${insertCallsSql} FROM voice_agent_run INDEXED BY voice_agent_run_attempt
         WHERE organization_id = ?1 AND attempt_key >= 'chat:' AND attempt_key < 'chat;' AND mode = 'textchat' AND is_completed = 1
           AND created_at >= ?2`,
        organizationId,
        kept.calls.moment,
      ),
    ],
    'idempotent',
  );
}

const insertCallsSql = `INSERT INTO call_count (organization_id, created_at, agent_id, campaign_id, journey_id, own_number, mode, call_type, outcome,
    disposition, talk_seconds, result, sign)
  SELECT organization_id, created_at, agent_id, campaign_id, automation_workflow_id, own_number, mode, call_type, outcome, disposition,
    talk_seconds, result, 1`;

/** Counts the telephone calls of a day again. `start` and `end` in epoch ms. */
export async function rebuildCallsOfDay(
  database: Database,
  organizationId: number,
  { day, start, end }: { day: number; start: number; end: number },
): Promise<void> {
  const own = `organization_id = ?1 AND direction <> 'chat'`;
  await database.batch(
    [
      database.prepare(
        `DELETE FROM call_statistic WHERE ${own} AND is_day = 0 AND period >= ?2 AND period < ?3`,
        organizationId,
        start,
        end,
      ),
      database.prepare(`DELETE FROM call_statistic WHERE ${own} AND is_day = 1 AND period = ?2`, organizationId, day),
      database.prepare(
        `${insertCallsSql} FROM voice_agent_run INDEXED BY voice_agent_run_created
         WHERE organization_id = ?1 AND mode <> 'textchat' AND created_at >= ?2 AND created_at < ?3 AND is_completed = 1`,
        organizationId,
        start,
        end,
      ),
    ],
    'idempotent',
  );
}

/** The journey after `after`, by id; null: there is none. */
export async function findNextJourney(database: Database, organizationId: number, after: number): Promise<number | null> {
  const row = await database.first(
    database.prepare<{ id: number }>(
      `SELECT id FROM automation_workflow INDEXED BY automation_workflow_organization WHERE organization_id = ? AND id > ? ORDER BY id LIMIT 1`,
      organizationId,
      after,
    ),
  );
  return row?.id ?? null;
}

/** Counts the ended runs of a journey again, from the moment on since which all of them are kept. */
export async function rebuildJourney(database: Database, organizationId: number, workflowId: number, kept: KeptSince): Promise<void> {
  const own = `workflow_id = ?2 AND organization_id = ?1`;
  await database.batch(
    [
      database.prepare(
        `DELETE FROM journey_statistic WHERE ${own} AND is_day = 0 AND period >= ?3`,
        organizationId,
        workflowId,
        kept.moment,
      ),
      database.prepare(`DELETE FROM journey_statistic WHERE ${own} AND is_day = 1 AND period >= ?3`, organizationId, workflowId, kept.day),
      database.prepare(
        `INSERT INTO journey_run_count (organization_id, workflow_id, created_at, version, state, outcome, end_node, trail, sign)
         SELECT organization_id, workflow_id, created_at, workflow_version, state, outcome, current_node_id, trail, 1
         FROM automation_run INDEXED BY automation_run_workflow
         WHERE ${own} AND is_test = 0 AND completed_at IS NOT NULL AND created_at >= ?3`,
        organizationId,
        workflowId,
        kept.moment,
      ),
    ],
    'idempotent',
  );
}
