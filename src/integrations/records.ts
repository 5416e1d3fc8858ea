import type { z } from '@hono/zod-openapi';
import type { Context } from '../context.ts';
import { nullableTimestamp, toTimestamp } from '../library/time/clock.ts';
import type { App } from '../library/connectable-apps.ts';
import type { Integration } from './contract.ts';
import type { IntegrationRecord } from './schemas.ts';
import { findLastSync, listIntegrations, type Sync } from './store.ts';

type IntegrationResponse = z.infer<typeof IntegrationRecord>;

export async function listIntegrationRecords({ database, organization }: Context): Promise<IntegrationResponse[]> {
  const found = await listIntegrations(database, organization.id);
  return found.map(({ integration, lastSync }) => toRecord(integration, lastSync));
}

export const toIntegrationRecord = async ({ database }: Context, integration: Integration): Promise<IntegrationResponse> =>
  toRecord(integration, await findLastSync(database, integration.id));

/** Settings that are chosen from lists are null until they are chosen. */
const unsetProviderData: Partial<Record<App, Record<string, null>>> = {
  chatapp: { channel: null },
  tracker: { project: null, issue_type: null },
};

function toRecord(row: Integration, lastSync: Sync | null): IntegrationResponse {
  return {
    id: row.id,
    integration_id: row.accountId,
    organisation_id: row.organizationId,
    created_by: row.createdBy,
    provider: row.provider,
    is_active: row.isActive,
    created_at: toTimestamp(row.createdAt),
    action: row.action,
    provider_data: { ...unsetProviderData[row.provider], ...row.providerData, ...(lastSync && { last_sync: toSyncRecord(lastSync) }) },
    account_label: row.accountLabel,
    last_synced_at: nullableTimestamp(row.lastSyncedAt),
    last_error: row.lastError,
    updated_at: toTimestamp(row.updatedAt),
  };
}

const toSyncRecord = (sync: Sync) => ({
  sync_id: sync.id,
  status: sync.status,
  started_at: toTimestamp(sync.startedAt),
  finished_at: nullableTimestamp(sync.finishedAt),
  rows_seen: sync.rowsSeen,
  created: sync.created,
  updated: sync.updated,
  unchanged: sync.unchanged,
  failed: sync.failed,
  errors: sync.errors,
  reason: sync.reason,
});
