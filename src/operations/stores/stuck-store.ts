import type { Database, Statement } from '../../database/client.ts';
import { newestRows } from '../../database/newest-rows.ts';
import type { Place, StoredKind, StuckRow } from '../kinds.ts';
import { blockedCampaigns } from './campaigns-store.ts';
import { givenUpCleanups } from './cleanups-store.ts';
import { givenUpDeliveries } from './deliveries-store.ts';
import { failedDocuments } from './documents-store.ts';
import { givenUpEvents } from './events-store.ts';
import { failingIntegrations } from './integrations-store.ts';
import { heldJourneys } from './journeys-store.ts';
import { retriedRecords } from './retrying-store.ts';
import { failedRunColumns, failedRuns } from './runs-store.ts';
import { givenUpFires } from './schedule-fires-store.ts';
import type { Source } from './source.ts';
import { failingTriggers } from './triggers-store.ts';
import { failingEndpoints } from './webhook-endpoints-store.ts';

const sources: Record<Exclude<StoredKind, 'run'>, Source> = {
  event: givenUpEvents,
  delivery: givenUpDeliveries,
  schedule_fire: givenUpFires,
  cleanup: givenUpCleanups,
  retrying: retriedRecords,
  journey: heldJourneys,
  trigger: failingTriggers,
  campaign: blockedCampaigns,
  document: failedDocuments,
  integration: failingIntegrations,
  webhook_endpoint: failingEndpoints,
};

export const storedKinds = ['run', ...Object.keys(sources)] as StoredKind[];

const columnNames = ['key', 'id', 'at', 'state', 'name', 'why', 'tries', 'next_try_at', 'workflow_id'] as const;
const defaults: Partial<Record<keyof StuckRow, string>> = { key: 'CAST(r.id AS TEXT)', id: 'r.id' };

/** At most `limit` rows of one kind behind a place, in the order of the kind, newest first. */
export function selectStuckRows(
  database: Database,
  organizationId: number,
  kind: StoredKind,
  { behind, limit }: { behind: Place | undefined; limit: number },
): Statement<StuckRow> {
  const { columns } = kind === 'run' ? failedRunColumns : sources[kind];
  const expressionOf = (name: keyof StuckRow) => columns[name] ?? defaults[name] ?? 'NULL';
  const shown = columnNames.map((name) => `${expressionOf(name)} AS ${name}`).join(', ');
  if (kind === 'run') {
    const ids = newestRows(failedRuns(organizationId), { limit, offset: 0, after: behind?.id });
    const sql = `SELECT ${shown} FROM (${ids.sql}) page CROSS JOIN automation_run r WHERE r.id = page.id ORDER BY page.id DESC`;
    return database.prepare<StuckRow>(sql, ...ids.parameters);
  }
  const { from, order } = sources[kind];
  const [id, at] = [expressionOf('id'), expressionOf('at')];
  const [isBehind, sorted] =
    order === 'id' ? [`${id} < ?3 AND ?2 = ?2`, `${id} DESC`] : [`(${at} < ?2 OR (${at} = ?2 AND ${id} < ?3))`, `${at} DESC, ${id} DESC`];
  return database.prepare<StuckRow>(
    `SELECT ${shown} FROM ${from} AND ${isBehind} ORDER BY ${sorted} LIMIT ?4`,
    organizationId,
    behind?.at ?? Number.MAX_SAFE_INTEGER,
    behind?.id ?? Number.MAX_SAFE_INTEGER,
    limit,
  );
}
