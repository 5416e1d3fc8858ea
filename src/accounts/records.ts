import type { z } from '@hono/zod-openapi';
import { nullableTimestamp, toTimestamp } from '../library/time/clock.ts';
import type { Settings } from '../settings.ts';
import { emailFromHandle } from './members/email-handles.ts';
import { planRecord } from '../plan.ts';
import type { Deletion } from './deletion/store.ts';
import { toSessionId } from './sign-in/session-id.ts';
import type { ApiKeyRecord, DeletionRecord, OrganizationRecord, SessionList, UserRecord } from './schemas.ts';
import { toOrganization, toScopes, type ApiKeyRow, type OrganizationRow, type SessionRow, type UserRow } from './store.ts';

export function organizationRecord(row: OrganizationRow, settings: Settings): z.infer<typeof OrganizationRecord> {
  const { plan } = toOrganization(row, settings);
  return {
    id: row.id,
    name: row.name,
    default_country: row.defaultCountry,
    timezone: row.timezone,
    min_hours_between_calls: row.minHoursBetweenCalls,
    plan: planRecord(plan),
    created_at: toTimestamp(row.createdAt),
  };
}

export const deletionRecord = ({ id, removed, createdAt, finishedAt }: Deletion): z.infer<typeof DeletionRecord> => ({
  id,
  status: finishedAt === null ? ('deleting' as const) : ('deleted' as const),
  removed,
  requested_at: toTimestamp(createdAt),
  finished_at: nullableTimestamp(finishedAt),
});

export const userRecord = (row: UserRow): z.infer<typeof UserRecord> => ({
  id: row.id,
  email: emailFromHandle(row.email),
  name: row.name,
  created_at: toTimestamp(row.createdAt),
});

/** `ownId` is the id of the session that asks. */
export function sessionRecord(row: SessionRow, ownId: string): z.infer<typeof SessionList>['sessions'][number] {
  const id = toSessionId(row.tokenHash);
  return {
    id,
    is_current: id === ownId,
    user_agent: row.userAgent,
    network: row.network,
    organization_id: row.organizationId,
    created_at: toTimestamp(row.createdAt),
    expires_at: toTimestamp(row.expiresAt),
  };
}

export const apiKeyRecord = (row: ApiKeyRow, now: number): z.infer<typeof ApiKeyRecord> => ({
  id: row.id,
  name: row.name,
  key_prefix: row.keyPrefix,
  scopes: toScopes(row),
  status: row.archivedAt !== null ? 'archived' : row.expiresAt !== null && row.expiresAt <= now ? 'expired' : 'active',
  created_by: row.createdBy,
  expires_at: nullableTimestamp(row.expiresAt),
  archived_at: nullableTimestamp(row.archivedAt),
  created_at: toTimestamp(row.createdAt),
});
