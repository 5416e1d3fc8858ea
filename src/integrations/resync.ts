import type { Context } from '../accounts/context.ts';
import { conflict } from '../library/errors.ts';
import { connectionOf } from './connection-to.ts';
import { dataSources } from './contract.ts';
import { existingIntegration } from './existing-integration.ts';
import { startSync } from './sync/start-sync.ts';
import { whatSyncLacks } from './what-sync-lacks.ts';

/** Begins to read a data source now, or finds the reading that is under way. Throws 409 while something is still to be chosen. */
export async function resync(context: Context, id: number): Promise<{ status: 'started'; sync_id: number }> {
  const integration = await existingIntegration(context, id, dataSources);
  connectionOf(context, integration);
  const lacking = whatSyncLacks(integration);
  if (lacking !== null) throw conflict(`The integration cannot be read yet: ${lacking}`);
  const { sync_id } = await startSync(context, integration);
  return { status: 'started', sync_id };
}
