import type { Context } from '../../context.ts';
import { notFound } from '../../library/errors.ts';
import type { Integration } from '../contract.ts';
import { changeIntegration, findIntegration, type IntegrationChange } from '../store.ts';
import { startSync } from './start-sync.ts';
import { missingSyncConfig } from './missing-sync-config.ts';

/**
 * Changes the source or its mapping, and starts a full sync when the configuration is complete. The integration is due at once, so that
 * the minute tick starts the sync if this process ends before.
 */
export async function changeSource(
  context: Context,
  before: Integration,
  change: Pick<IntegrationChange, 'providerData' | 'fieldMapping' | 'accountLabel'>,
): Promise<Integration> {
  const { database, organization, clock } = context;
  const wanted = { ...before, providerData: { ...before.providerData, ...change.providerData } };
  const isReady = missingSyncConfig({ ...wanted, fieldMapping: change.fieldMapping ?? before.fieldMapping }) === null;
  const now = clock();
  const changed = await changeIntegration(
    database,
    before,
    { ...change, ...(before.isActive && { lastError: null }), nextSyncAt: isReady ? now : null },
    now,
  );
  if (changed === null) throw notFound('Integration');
  // An inactive integration is read when it is connected again.
  if (!isReady || !changed.isActive) return changed;
  await startSync(context, changed);
  return (await findIntegration(database, organization.id, changed.id)) ?? changed;
}
