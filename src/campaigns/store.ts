import { isNotFailedSql } from '../outbox/failed-messages.ts';
import type { Database, Row, Statement } from '../database/client.ts';
import { countLimit, cutPage, type PageResult, type CursorPosition } from '../http/pagination.ts';
import type { Context } from '../context.ts';
import { notFound } from '../library/errors.ts';
import type { CampaignConfigs } from './configs/configs.ts';
import type { ArchivedCampaign } from './rows/archived-rows.ts';
import type { SourceKind, StoredSourceOptions } from './source/options.ts';
import type { LiveCampaign } from './rpc.ts';

export const campaignStates = ['draft', 'syncing', 'running', 'paused', 'completed', 'failed', 'cancelled'] as const;
export type CampaignState = (typeof campaignStates)[number];

/** A campaign's row. Its agent is `workflow_id` outside. Moments in epoch ms. */
export interface CampaignRow extends CampaignConfigs {
  id: number;
  organization_id: number;
  name: string;
  agent_id: number;
  agent_name: string;
  state: CampaignState;
  state_reason: string | null;
  source_type: SourceKind;
  source_id: string;
  source_options: StoredSourceOptions;
  total_rows: number;
  completed_rows: number;
  failed_rows: number;
  skipped_rows: number;
  in_flight: number;
  revision: number;
  created_at: number;
  started_at: number | null;
  completed_at: number | null;
  /** Its rows are in files of the archive: its object has gone, or goes. */
  archive: ArchivedCampaign | null;
}

const campaignColumns = `id, organization_id, name, agent_id, (SELECT a.name FROM voice_agent a WHERE a.id = campaign.agent_id) AS agent_name, state,
  state_reason, source_type, source_id, source_options, max_concurrency, retry_config, schedule_config, circuit_breaker, total_rows,
  completed_rows, failed_rows, skipped_rows, in_flight, revision, created_at, started_at, completed_at, archive`;

const jsonColumns = ['source_options', 'retry_config', 'schedule_config', 'circuit_breaker', 'archive'] as const;

const toCampaignRow = (row: Row): CampaignRow => {
  const parsed = Object.fromEntries(jsonColumns.map((column) => [column, JSON.parse(row[column] as string) as unknown]));
  return { ...row, ...parsed } as unknown as CampaignRow;
};

const selectCampaign = (database: Database, organizationId: number, id: number): Statement =>
  database.prepare(`SELECT ${campaignColumns} FROM campaign WHERE id = ? AND organization_id = ?`, id, organizationId);

export async function findCampaign(database: Database, organizationId: number, id: number): Promise<CampaignRow | null> {
  const row = await database.first(selectCampaign(database, organizationId, id));
  return row && toCampaignRow(row);
}

export type NewCampaign = Pick<
  CampaignRow,
  'name' | 'agent_id' | 'source_type' | 'source_id' | 'source_options' | 'total_rows' | keyof CampaignConfigs
>;

export async function insertCampaign(database: Database, organizationId: number, campaign: NewCampaign, now: number): Promise<CampaignRow> {
  const insert = database.prepare(
    `INSERT INTO campaign (organization_id, name, agent_id, state, source_type, source_id, source_options, max_concurrency, retry_config,
         schedule_config, circuit_breaker, created_at, total_rows)
       VALUES (?, ?, ?, 'draft', ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${campaignColumns}`,
    organizationId,
    campaign.name,
    campaign.agent_id,
    campaign.source_type,
    campaign.source_id,
    JSON.stringify(campaign.source_options),
    ...toStoredConfigs(campaign),
    now,
    campaign.total_rows,
  );
  const [rows] = await database.batchOnce([insert], ({ rowId }) => database.batch([selectCampaign(database, organizationId, rowId)]));
  return toCampaignRow(rows![0]!);
}

export type CampaignSettings = Pick<CampaignRow, 'name' | keyof CampaignConfigs>;

const toStoredConfigs = ({
  max_concurrency,
  retry_config,
  schedule_config,
  circuit_breaker,
}: CampaignConfigs): [number, string, string, string] => [
  max_concurrency,
  JSON.stringify(retry_config),
  JSON.stringify(schedule_config),
  JSON.stringify(circuit_breaker),
];

/** Null when the campaign is no draft any more, or has other settings than it was read with. */
export async function updateDraftIfUnchanged(
  database: Database,
  before: CampaignRow,
  after: CampaignSettings,
): Promise<CampaignRow | null> {
  const update = database.prepare(
    `UPDATE campaign SET name = ?, max_concurrency = ?, retry_config = ?, schedule_config = ?, circuit_breaker = ?
       WHERE id = ? AND organization_id = ? AND state = 'draft'
         AND name = ? AND max_concurrency = ? AND retry_config = ? AND schedule_config = ? AND circuit_breaker = ? RETURNING ${campaignColumns}`,
    after.name,
    ...toStoredConfigs(after),
    before.id,
    before.organization_id,
    before.name,
    ...toStoredConfigs(before),
  );
  const [rows] = await database.batchOnce([update], async ({ changes }) =>
    changes ? database.batch([selectCampaign(database, before.organization_id, before.id)]) : [[]],
  );
  return rows![0] ? toCampaignRow(rows![0]) : null;
}

interface CampaignFilter {
  state?: CampaignState | undefined;
  search?: string | undefined;
}

interface CampaignPage {
  limit: number;
  offset: number;
  after?: CursorPosition | null | undefined;
}

const filterCondition = `organization_id = ?1 AND (?2 IS NULL OR state = ?2) AND (?3 IS NULL OR instr(lower(name), lower(?3)) > 0)`;
const filterValues = (organizationId: number, { state, search }: CampaignFilter) => [organizationId, state ?? null, search || null];

/** One row more than the page has, newest first. */
const selectPage = (database: Database, organizationId: number, filter: CampaignFilter, { limit, offset, after }: CampaignPage) =>
  database.prepare(
    `SELECT ${campaignColumns} FROM campaign WHERE ${filterCondition} AND id < ?4 ORDER BY id DESC LIMIT ?5 OFFSET ?6`,
    ...filterValues(organizationId, filter),
    after?.id ?? Number.MAX_SAFE_INTEGER,
    limit + 1,
    offset,
  );

const toPage = (rows: Row[], { limit }: CampaignPage) => cutPage(rows.map(toCampaignRow), limit, ({ id }) => ({ value: null, id }));

/** Newest first. Organizations have at most thousands of campaigns, so states and names are read. */
export async function findCampaigns(
  database: Database,
  organizationId: number,
  filter: CampaignFilter,
  page: CampaignPage,
): Promise<PageResult<CampaignRow>> {
  const [rows, counted] = await database.batch([
    selectPage(database, organizationId, filter, page),
    database.prepare(
      `SELECT count(*) AS total FROM (SELECT 1 FROM campaign WHERE ${filterCondition} LIMIT ${countLimit + 1})`,
      ...filterValues(organizationId, filter),
    ),
  ]);
  const { total } = counted![0] as { total: number };
  return { ...toPage(rows!, page), total: Math.min(total, countLimit), totalCapped: total > countLimit };
}

/** The same without counting them. */
export const findCampaignsUncounted = async (database: Database, organizationId: number, filter: CampaignFilter, page: CampaignPage) =>
  toPage(await database.all(selectPage(database, organizationId, filter, page)), page);

const liveCondition = "state IN ('syncing', 'running', 'paused')";

/** Ids of live campaigns after the id `after`, of one agent or of all. */
export async function findLiveCampaignIds(
  database: Database,
  organizationId: number,
  agentId: number | null,
  after: number,
  limit: number,
): Promise<number[]> {
  const rows = await database.all<{ id: number }>(
    database.prepare(
      `SELECT id FROM campaign INDEXED BY campaign_live WHERE organization_id = ?1 AND ${liveCondition}${agentId === null ? '' : ' AND agent_id = ?4'} AND id > ?2 ORDER BY id LIMIT ?3`,
      organizationId,
      after,
      limit,
      ...(agentId === null ? [] : [agentId]),
    ),
  );
  return rows.map(({ id }) => id);
}

/** Campaigns whose object should have done something before `before` (epoch ms), the most overdue first. */
export async function findOverdueCampaigns(
  database: Database,
  before: number,
  limit: number,
): Promise<{ id: number; organization_id: number }[]> {
  return database.all(
    database.prepare(
      `SELECT id, organization_id FROM campaign WHERE wake_at IS NOT NULL AND wake_at < ? AND ${isNotFailedSql("'poke:campaign:' || campaign.id")}
       ORDER BY wake_at LIMIT ?`,
      before,
      limit,
    ),
  );
}

/** Why a campaign stands still that its object cannot tell. Once that lives again, it says its own. */
export async function setStateReason(database: Database, organizationId: number, id: number, reason: string): Promise<void> {
  await database.all(
    database.prepare('UPDATE campaign SET state_reason = ? WHERE id = ? AND organization_id = ?', reason, id, organizationId),
    'idempotent',
  );
}

/** Ids after the id `after` of campaigns that were started and whose objects may still be there. */
export async function findStartedCampaignIds(database: Database, organizationId: number, after: number, limit: number): Promise<number[]> {
  const rows = await database.all<{ id: number }>(
    database.prepare(
      `SELECT id FROM campaign INDEXED BY campaign_kept WHERE organization_id = ? AND state <> 'draft' AND is_kept = 1 AND id > ? ORDER BY id LIMIT ?`,
      organizationId,
      after,
      limit,
    ),
  );
  return rows.map(({ id }) => id);
}

/** Throws 404. */
export async function existingCampaign({ database, organization }: Context, id: number): Promise<CampaignRow> {
  const row = await findCampaign(database, organization.id, id);
  if (!row) throw notFound('Campaign');
  return row;
}

/** A draft becomes a campaign that is syncing, before its object is made: from now on its settings are no longer changed in the row. */
export async function markCampaignSyncing(database: Database, organizationId: number, id: number, now: number): Promise<void> {
  await database.batch(
    [
      database.prepare(
        `UPDATE campaign SET state = 'syncing', started_at = ?, wake_at = ? WHERE id = ? AND organization_id = ? AND state = 'draft'`,
        now,
        now,
        id,
        organizationId,
      ),
    ],
    'idempotent',
  );
}

/** What an object writes into its campaign's row. Moments in epoch ms. */
export type CampaignProjection = LiveCampaign & { wake_at: number | null; revision: number };

/** Brings the row up to date, unless it shows a later revision. */
export async function projectCampaign(database: Database, organizationId: number, id: number, live: CampaignProjection): Promise<void> {
  const { configs } = live;
  await database.batch(
    [
      database.prepare(
        `UPDATE campaign SET name = ?, max_concurrency = ?, retry_config = ?, schedule_config = ?, circuit_breaker = ?, state = ?,
         state_reason = ?, total_rows = ?, completed_rows = ?, failed_rows = ?, skipped_rows = ?, in_flight = ?, started_at = ?,
         completed_at = ?, wake_at = ?, revision = ?
       WHERE id = ? AND organization_id = ? AND revision < ?`,
        live.name,
        configs.max_concurrency,
        JSON.stringify(configs.retry_config),
        JSON.stringify(configs.schedule_config),
        JSON.stringify(configs.circuit_breaker),
        live.state,
        live.state_reason,
        live.total_rows,
        live.completed_rows,
        live.failed_rows,
        live.skipped_rows,
        live.in_flight,
        live.started_at,
        live.completed_at,
        live.wake_at,
        live.revision,
        id,
        organizationId,
        live.revision,
      ),
    ],
    'idempotent',
  );
}
