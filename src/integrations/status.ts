import type { Context } from '../context.ts';
import { nullableTimestamp } from '../library/time/clock.ts';
import { requireConnection } from './connection/active-connection.ts';
import { parseProvider } from './contract.ts';

/** The state of a provider's connection. Throws 400 for an unknown provider, and 404 `not_connected` without an active integration. */
export async function readStatus(context: Context, provider: string) {
  const { integration } = await requireConnection(context, parseProvider(provider));
  return {
    provider: integration.provider,
    connected: true as const,
    id: integration.id,
    integration_id: integration.accountId,
    is_active: integration.isActive,
    account_label: integration.accountLabel,
    last_synced_at: nullableTimestamp(integration.lastSyncedAt),
    last_error: integration.lastError,
  };
}
