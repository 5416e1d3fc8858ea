import type { Database, Statement } from '../database/client.ts';
import { callsByAgent, insertRowsOfDay, messagesByProvider, runsByTrigger } from './rows-of-day.ts';

/** How far a rebuild is: the step, and what it has done last. */
export interface RebuildPlace {
  step?: 'usage' | 'journeys' | 'runs' | 'calls';
  /** Of `journeys` the id of a journey, of `runs` and `calls` a day. */
  after?: number;
  /** The last day that is done of the usage, or of the journey after `after`; absent: it was not begun day by day. */
  day?: number;
  /** The rebuild has failed, and goes on at this moment; epoch ms. */
  retry_at?: number;
}

export interface AskedRebuild {
  id: number;
  /** `RebuildPlace` as JSON. */
  statistics_rebuild: string;
}

/** Organizations whose statistics are to be counted again, in the catalog. Those that have failed wait for their moment. `now` in epoch ms. */
export const findAskedRebuilds = (catalog: Database, now: number, limit: number): Promise<AskedRebuild[]> =>
  catalog.all(
    catalog.prepare<AskedRebuild>(
      `SELECT id, statistics_rebuild FROM organization WHERE statistics_rebuild IS NOT NULL AND deleting_at IS NULL AND moving_to IS NULL
         AND coalesce(iif(json_valid(statistics_rebuild), statistics_rebuild ->> '$.retry_at', 0), 0) <= ?
       ORDER BY id LIMIT ?`,
      now,
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

/** Counts messages, documents and text chats again, each from the moment on since which all of them are kept. For few of them: see `hasManyRecords`. */
export async function rebuildUsage(
  database: Database,
  organizationId: number,
  kept: { calls: KeptSince; others: KeptSince },
): Promise<void> {
  await database.batch(
    [
      ...documentStatements(database, organizationId, kept.others),
      ...deleteSince(database, 'usage_statistic', organizationId, kept.others, "AND kind = 'message'"),
      database.prepare(
        `${insertMessagesSql} FROM message m WHERE m.organization_id = ?1 AND m.created_at >= ?2 AND ${isAcceptedSql}`,
        organizationId,
        kept.others.moment,
      ),
      ...deleteSince(database, 'call_statistic', organizationId, kept.calls, "AND direction = 'chat'"),
      // The keys of chats begin with the word.
      database.prepare(
        `${insertCallsSql} FROM voice_agent_run m INDEXED BY voice_agent_run_attempt
         WHERE m.organization_id = ?1 AND m.attempt_key >= 'chat:' AND m.attempt_key < 'chat;' AND ${isEndedChatSql} AND m.created_at >= ?2`,
        organizationId,
        kept.calls.moment,
      ),
    ],
    'idempotent',
  );
}

/** Counts documents again, from the moment on since which all of them are kept. */
export const rebuildDocuments = (database: Database, organizationId: number, kept: KeptSince): Promise<unknown> =>
  database.batch(documentStatements(database, organizationId, kept), 'idempotent');

const documentStatements = (database: Database, organizationId: number, kept: KeptSince): Statement[] => [
  ...deleteSince(database, 'usage_statistic', organizationId, kept, "AND kind = 'document'"),
  database.prepare(
    `INSERT INTO usage_count (organization_id, created_at, kind, name, items, bytes)
     SELECT organization_id, created_at, 'document', '', 1, size_bytes FROM knowledge_document
     WHERE organization_id = ?1 AND created_at >= ?2 AND generation > 0`,
    organizationId,
    kept.moment,
  ),
];

/** Whether the organization has more than `limit` messages, text chats or counters of calls, so that one transaction is too small for all. */
export const hasManyRecords = async (database: Database, organizationId: number, limit: number): Promise<boolean> =>
  isMore(
    database,
    [
      'FROM message WHERE organization_id = ?1',
      `FROM voice_agent_run INDEXED BY voice_agent_run_attempt WHERE organization_id = ?1 AND attempt_key >= 'chat:' AND attempt_key < 'chat;'`,
      'FROM call_statistic WHERE organization_id = ?1',
    ],
    [organizationId],
    limit,
  );

/** Whether a journey has more than `limit` runs or counters. */
export const hasManyRuns = async (database: Database, workflowId: number, limit: number): Promise<boolean> =>
  isMore(
    database,
    ['FROM automation_run INDEXED BY automation_run_workflow WHERE workflow_id = ?1', 'FROM journey_statistic WHERE workflow_id = ?1'],
    [workflowId],
    limit,
  );

async function isMore(database: Database, sources: readonly string[], parameters: readonly number[], limit: number): Promise<boolean> {
  const counts = sources.map((source) => `(SELECT count(*) FROM (SELECT 1 ${source} LIMIT ${limit + 1})) > ${limit}`);
  const row = await database.first(database.prepare<{ more: number }>(`SELECT ${counts.join(' OR ')} AS more`, ...parameters));
  return row!.more === 1;
}

/** A day with its first moment and the one after its last, epoch ms. */
export interface RebuiltDay {
  day: number;
  start: number;
  end: number;
}

const deleteDay = (database: Database, table: string, own: { sql: string; id: number }, { day, start, end }: RebuiltDay): Statement[] => [
  database.prepare(`DELETE FROM ${table} WHERE ${own.sql} AND is_day = 0 AND period >= ?2 AND period < ?3`, own.id, start, end),
  database.prepare(`DELETE FROM ${table} WHERE ${own.sql} AND is_day = 1 AND period = ?2`, own.id, day),
];

/** Counts the messages of a day again. */
export async function rebuildMessagesOfDay(database: Database, organizationId: number, day: RebuiltDay): Promise<void> {
  await database.batch(
    [
      ...deleteDay(database, 'usage_statistic', { sql: "organization_id = ?1 AND kind = 'message'", id: organizationId }, day),
      database.prepare(
        `${insertRowsOfDay(messagesByProvider, insertMessagesSql)} AND ${isAcceptedSql}`,
        organizationId,
        day.start,
        day.end,
      ),
    ],
    'idempotent',
  );
}

/** Counts the text chats of a day again. */
export async function rebuildChatsOfDay(database: Database, organizationId: number, day: RebuiltDay): Promise<void> {
  await database.batch(
    [
      ...deleteDay(database, 'call_statistic', { sql: "organization_id = ?1 AND direction = 'chat'", id: organizationId }, day),
      database.prepare(`${insertRowsOfDay(callsByAgent, insertCallsSql)} AND ${isEndedChatSql}`, organizationId, day.start, day.end),
    ],
    'idempotent',
  );
}

const insertMessagesSql = `INSERT INTO usage_count (organization_id, created_at, kind, name, items, bytes)
  SELECT m.organization_id, m.created_at, 'message', m.provider, 1, 0`;
const isAcceptedSql = "m.status_rank >= 2 AND m.status <> 'failed'";
const isEndedChatSql = "m.mode = 'textchat' AND m.is_completed = 1";

const insertCallsSql = `INSERT INTO call_count (organization_id, created_at, agent_id, campaign_id, journey_id, own_number, mode, call_type, outcome,
    disposition, talk_seconds, result, sign)
  SELECT m.organization_id, m.created_at, m.agent_id, m.campaign_id, m.automation_workflow_id, m.own_number, m.mode, m.call_type, m.outcome,
    m.disposition, m.talk_seconds, m.result, 1`;

/** Counts the telephone calls of a day again. */
export async function rebuildCallsOfDay(database: Database, organizationId: number, day: RebuiltDay): Promise<void> {
  const own = { sql: "organization_id = ?1 AND direction IN ('inbound', 'outbound')", id: organizationId };
  await database.batch(
    [
      ...deleteDay(database, 'call_statistic', own, day),
      database.prepare(
        `${insertCallsSql} FROM voice_agent_run m INDEXED BY voice_agent_run_created
         WHERE m.organization_id = ?1 AND m.mode <> 'textchat' AND m.created_at >= ?2 AND m.created_at < ?3 AND m.is_completed = 1`,
        organizationId,
        day.start,
        day.end,
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

/** Counts the ended runs of a journey again, from the moment on since which all of them are kept. For few of them: see `hasManyRuns`. */
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
        `${insertRunsSql} FROM automation_run m INDEXED BY automation_run_workflow
         WHERE m.workflow_id = ?2 AND m.organization_id = ?1 AND m.created_at >= ?3 AND ${isEndedRunSql}`,
        organizationId,
        workflowId,
        kept.moment,
      ),
    ],
    'idempotent',
  );
}

/** Counts the runs of a journey that began on a day again. */
export async function rebuildJourneyOfDay(database: Database, organizationId: number, workflowId: number, day: RebuiltDay): Promise<void> {
  await database.batch(
    [
      ...deleteDay(database, 'journey_statistic', { sql: 'workflow_id = ?1', id: workflowId }, day),
      database.prepare(
        `${insertRowsOfDay(runsByTrigger, insertRunsSql)} AND ${isEndedRunSql} AND m.organization_id = ?4`,
        workflowId,
        day.start,
        day.end,
        organizationId,
      ),
    ],
    'idempotent',
  );
}

const insertRunsSql = `INSERT INTO journey_run_count (organization_id, workflow_id, created_at, version, state, outcome, end_node, trail, sign, is_rebuilt)
  SELECT m.organization_id, m.workflow_id, m.created_at, m.workflow_version, m.state, m.outcome, m.current_node_id, m.trail, 1, 1`;
const isEndedRunSql = 'm.is_test = 0 AND m.completed_at IS NOT NULL';

/** Adds the runs of all journeys up again, of the days from `first` on to before `end`. `moments` are where these days begin and end, epoch ms. */
export async function rebuildRunTotals(
  database: Database,
  organizationId: number,
  days: { first: number; end: number },
  moments: { start: number; end: number },
): Promise<void> {
  const ranges = [
    [0, moments.start, moments.end],
    [1, days.first, days.end],
  ] as const;
  await database.batch(
    ranges.flatMap((range) => [
      database.prepare(
        `DELETE FROM call_statistic WHERE organization_id = ?1 AND is_day = ?2 AND period >= ?3 AND period < ?4 AND direction = 'run'`,
        organizationId,
        ...range,
      ),
      database.prepare(
        `INSERT INTO call_statistic (organization_id, is_day, period, agent_id, campaign_id, journey_id, own_number, direction, outcome,
           disposition, calls, prompt_tokens, completion_tokens)
         SELECT ?1, ?2, s.period, 0, 0, 0, '', 'run', '', '', sum(s.runs), sum(s.prompt_tokens), sum(s.completion_tokens)
         FROM automation_workflow w INDEXED BY automation_workflow_organization CROSS JOIN journey_statistic s
         WHERE w.organization_id = ?1 AND s.workflow_id = w.id AND s.is_day = ?2 AND s.period >= ?3 AND s.period < ?4 GROUP BY s.period`,
        organizationId,
        ...range,
      ),
    ]),
    'idempotent',
  );
}
