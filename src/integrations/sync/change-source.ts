import type { Context } from '../../context.ts';
import { notFound } from '../../library/errors.ts';
import type { Integration } from '../contract.ts';
import { changeIntegration, findIntegration, type IntegrationChange } from '../store.ts';
import { startSync } from './start-sync.ts';
import { missingSyncConfig } from './missing-sync-config.ts';

/**
 * Changes what is read or how, and begins to read anew when all is chosen. Due at once: the minute tick reads it even if this process
 * ends before the sync has begun.
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
  // One whose grant has ended is read as soon as it is connected again.
  if (!isReady || !changed.isActive) return changed;
  await startSync(context, changed);
  return (await findIntegration(database, organization.id, changed.id)) ?? changed;
}
