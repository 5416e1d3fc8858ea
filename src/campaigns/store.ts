import { selectHasWebhookEndpoint } from '../webhook-endpoints/has-endpoint.ts';
import { isNotInTransitSql } from '../database/transit.ts';
import { and, eq, lt } from 'drizzle-orm';
import { isNotFailedSql } from '../outbox/failed-messages.ts';
import type { Database, Statement } from '../database/client.ts';
import { campaign } from '../database/schema/campaigns.ts';
import type { StoredRow } from '../database/stored-row.ts';
import { countLimit, cutPage, type PageResult, type CursorPosition } from '../http/pagination.ts';
import type { Context } from '../context.ts';
import { notFound } from '../library/errors.ts';
import type { CampaignConfigs, CircuitBreakerConfig, RetryConfig, ScheduleConfig } from './configs/configs.ts';
import type { ArchivedCampaign } from './rows/archived-rows.ts';
import type { StoredSourceOptions } from './source/options.ts';
import type { LiveCampaign } from './rpc.ts';

export const campaignStates = ['draft', 'syncing', 'running', 'paused', 'completed', 'failed', 'cancelled'] as const;
export type CampaignState = (typeof campaignStates)[number];

/** A campaign's row as SQL reads it, with the name of its agent. */
type SelectedCampaign = Omit<StoredRow<typeof campaign>, 'wake_at' | 'is_kept'> & { agent_name: string };

type JsonColumn = 'source_options' | 'retry_config' | 'schedule_config' | 'circuit_breaker' | 'archive';

/** A campaign's row. `agent_id` is `workflow_id` in the API. Moments in epoch ms. */
export interface CampaignRow extends Omit<SelectedCampaign, JsonColumn>, CampaignConfigs {
  source_options: StoredSourceOptions;
  /** Set once the rows are in files of the archive: the object has gone, or is going. */
  archive: ArchivedCampaign | null;
}

const campaignColumns = `id, organization_id, name, agent_id, definition_id, (SELECT a.name FROM voice_agent a WHERE a.id = campaign.agent_id) AS agent_name, state,
  state_reason, source_type, source_id, source_options, max_concurrency, retry_config, schedule_config, circuit_breaker, total_rows,
  completed_rows, failed_rows, skipped_rows, in_flight, revision, created_at, started_at, completed_at, archive`;

const toCampaignRow = (row: SelectedCampaign): CampaignRow => ({
  ...row,
  source_options: JSON.parse(row.source_options) as StoredSourceOptions,
  retry_config: JSON.parse(row.retry_config) as RetryConfig,
  schedule_config: JSON.parse(row.schedule_config) as ScheduleConfig,
  circuit_breaker: JSON.parse(row.circuit_breaker) as CircuitBreakerConfig,
  archive: row.archive === null ? null : (JSON.parse(row.archive) as ArchivedCampaign),
});

const selectCampaign = (database: Database, organizationId: number, id: number): Statement<SelectedCampaign> =>
  database.prepare<SelectedCampaign>(`SELECT ${campaignColumns} FROM campaign WHERE id = ? AND organization_id = ?`, id, organizationId);

export async function findCampaign(database: Database, organizationId: number, id: number): Promise<CampaignRow | null> {
  const row = await database.first(selectCampaign(database, organizationId, id));
  return row && toCampaignRow(row);
}

export type NewCampaign = Pick<
  CampaignRow,
  'name' | 'agent_id' | 'definition_id' | 'source_type' | 'source_id' | 'source_options' | 'total_rows' | keyof CampaignConfigs
>;

export async function insertCampaign(database: Database, organizationId: number, draft: NewCampaign, now: number): Promise<CampaignRow> {
  const insert = database.prepare<SelectedCampaign>(
    `INSERT INTO campaign (organization_id, name, agent_id, definition_id, state, source_type, source_id, source_options, max_concurrency, retry_config,
         schedule_config, circuit_breaker, created_at, total_rows)
       VALUES (?, ?, ?, ?, 'draft', ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${campaignColumns}`,
    organizationId,
    draft.name,
    draft.agent_id,
    draft.definition_id,
    draft.source_type,
    draft.source_id,
    JSON.stringify(draft.source_options),
    ...toStoredConfigs(draft),
    now,
    draft.total_rows,
  );
  const [rows] = await database.batchOnce([insert], ({ rowId }) => database.batch([selectCampaign(database, organizationId, rowId)]));
  return toCampaignRow(rows[0]!);
}

export type CampaignSettings = Pick<CampaignRow, 'name' | 'definition_id' | keyof CampaignConfigs>;

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

/** Writes the settings of a draft. Null: the campaign is no longer a draft, or its settings have changed since `before` was read. */
export async function updateDraftIfUnchanged(
  database: Database,
  before: CampaignRow,
  after: CampaignSettings,
): Promise<CampaignRow | null> {
  const update = database.prepare<SelectedCampaign>(
    `UPDATE campaign SET name = ?, definition_id = ?, max_concurrency = ?, retry_config = ?, schedule_config = ?, circuit_breaker = ?
       WHERE id = ? AND organization_id = ? AND state = 'draft'
         AND name = ? AND definition_id IS ? AND max_concurrency = ? AND retry_config = ? AND schedule_config = ? AND circuit_breaker = ? RETURNING ${campaignColumns}`,
    after.name,
    after.definition_id,
    ...toStoredConfigs(after),
    before.id,
    before.organization_id,
    before.name,
    before.definition_id,
    ...toStoredConfigs(before),
  );
  const [rows] = await database.batchOnce([update], async ({ changes }) =>
    changes ? database.batch([selectCampaign(database, before.organization_id, before.id)]) : [[]],
  );
  return rows[0] ? toCampaignRow(rows[0]) : null;
}

/** Pins a version of the agent for the calls of a campaign from now on; null: none. The object of a campaign does not write this column. */
export async function setPinnedVersion(database: Database, organizationId: number, id: number, definitionId: number | null): Promise<void> {
  const update = database.orm
    .update(campaign)
    .set({ definitionId })
    .where(and(eq(campaign.id, id), eq(campaign.organizationId, organizationId)));
  await database.all(database.from(update), 'idempotent');
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

/** The rows of a page and one more, newest first. */
const selectPage = (database: Database, organizationId: number, filter: CampaignFilter, { limit, offset, after }: CampaignPage) =>
  database.prepare<SelectedCampaign>(
    `SELECT ${campaignColumns} FROM campaign WHERE ${filterCondition} AND id < ?4 ORDER BY id DESC LIMIT ?5 OFFSET ?6`,
    ...filterValues(organizationId, filter),
    after?.id ?? Number.MAX_SAFE_INTEGER,
    limit + 1,
    offset,
  );

const toPage = (rows: SelectedCampaign[], { limit }: CampaignPage) =>
  cutPage(rows.map(toCampaignRow), limit, ({ id }) => ({ value: null, id }));

/** A page of campaigns, newest first. Organizations have at most thousands, so the filter reads every state and name. */
export async function findCampaigns(
  database: Database,
  organizationId: number,
  filter: CampaignFilter,
  page: CampaignPage,
): Promise<PageResult<CampaignRow>> {
  const [rows, counted] = await database.batch([
    selectPage(database, organizationId, filter, page),
    database.prepare<{ total: number }>(
      `SELECT count(*) AS total FROM (SELECT 1 FROM campaign WHERE ${filterCondition} LIMIT ${countLimit + 1})`,
      ...filterValues(organizationId, filter),
    ),
  ]);
  const { total } = counted[0]!;
  return { ...toPage(rows, page), total: Math.min(total, countLimit), totalCapped: total > countLimit };
}

/** A page of campaigns without their count. */
export const findCampaignsUncounted = async (database: Database, organizationId: number, filter: CampaignFilter, page: CampaignPage) =>
  toPage(await database.all(selectPage(database, organizationId, filter, page)), page);

const liveCondition = "state IN ('syncing', 'running', 'paused')";

/** The ids of live campaigns after the id `after`, of one agent or of all. */
export async function findLiveCampaignIds(
  database: Database,
  organizationId: number,
  agentId: number | null,
  after: number,
  limit: number,
): Promise<number[]> {
  const rows = await database.all(
    database.prepare<{ id: number }>(
      `SELECT id FROM campaign INDEXED BY campaign_live WHERE organization_id = ?1 AND ${liveCondition}${agentId === null ? '' : ' AND agent_id = ?4'} AND id > ?2 ORDER BY id LIMIT ?3`,
      organizationId,
      after,
      limit,
      ...(agentId === null ? [] : [agentId]),
    ),
  );
  return rows.map(({ id }) => id);
}

/** Campaigns whose object had work due before `before` (epoch ms), the most overdue first. */
export async function findOverdueCampaigns(
  database: Database,
  before: number,
  limit: number,
): Promise<{ id: number; organization_id: number }[]> {
  return database.all(
    database.prepare<Pick<SelectedCampaign, 'id' | 'organization_id'>>(
      `SELECT id, organization_id FROM campaign WHERE wake_at IS NOT NULL AND wake_at < ? AND ${isNotFailedSql("'poke:campaign:' || campaign.id")}
        AND ${isNotInTransitSql('organization_id')}
       ORDER BY wake_at LIMIT ?`,
      before,
      limit,
    ),
  );
}

/** Writes why a campaign makes no progress while its object cannot be reached. The object later overwrites the reason. */
export async function setStateReason(database: Database, organizationId: number, id: number, reason: string): Promise<void> {
  const update = database.orm
    .update(campaign)
    .set({ stateReason: reason })
    .where(and(eq(campaign.id, id), eq(campaign.organizationId, organizationId)));
  await database.all(database.from(update), 'idempotent');
}

/** The ids after the id `after` of started campaigns whose objects may exist. */
export async function findStartedCampaignIds(database: Database, organizationId: number, after: number, limit: number): Promise<number[]> {
  const rows = await database.all(
    database.prepare<{ id: number }>(
      `SELECT id FROM campaign INDEXED BY campaign_kept WHERE organization_id = ? AND state <> 'draft' AND is_kept = 1 AND id > ? ORDER BY id LIMIT ?`,
      organizationId,
      after,
      limit,
    ),
  );
  return rows.map(({ id }) => id);
}

/** A campaign's row. Throws 404. */
export async function existingCampaign({ database, organization }: Context, id: number): Promise<CampaignRow> {
  const row = await findCampaign(database, organization.id, id);
  if (!row) throw notFound('Campaign');
  return row;
}

/** Turns a draft into a syncing campaign, before its object is made: from then on the object owns the settings. */
export async function markCampaignSyncing(database: Database, organizationId: number, id: number, now: number): Promise<void> {
  const update = database.orm
    .update(campaign)
    .set({ state: 'syncing', startedAt: now, wakeAt: now })
    .where(and(eq(campaign.id, id), eq(campaign.organizationId, organizationId), eq(campaign.state, 'draft')));
  await database.batch([database.from(update)], 'idempotent');
}

/** The values that an object writes into its campaign's row. Moments in epoch ms. */
export type CampaignProjection = LiveCampaign & { wake_at: number | null; revision: number };

/** Projects a campaign's state into its row, unless the row has a later revision. Answers whether the organization has webhook endpoints. */
export async function projectCampaign(database: Database, organizationId: number, id: number, live: CampaignProjection): Promise<boolean> {
  const { configs } = live;
  const update = database.orm
    .update(campaign)
    .set({
      name: live.name,
      maxConcurrency: configs.max_concurrency,
      retryConfig: configs.retry_config,
      scheduleConfig: configs.schedule_config,
      circuitBreaker: configs.circuit_breaker,
      state: live.state,
      stateReason: live.state_reason,
      totalRows: live.total_rows,
      completedRows: live.completed_rows,
      failedRows: live.failed_rows,
      skippedRows: live.skipped_rows,
      inFlight: live.in_flight,
      startedAt: live.started_at,
      completedAt: live.completed_at,
      wakeAt: live.wake_at,
      revision: live.revision,
    })
    .where(and(eq(campaign.id, id), eq(campaign.organizationId, organizationId), lt(campaign.revision, live.revision)));
  const [, listening] = await database.batch([database.from(update), selectHasWebhookEndpoint(database, organizationId)], 'idempotent');
  return listening.length > 0;
}
