import type { Context } from '../../context.ts';
import { conflict } from '../../library/errors.ts';
import { toAppConnection } from '../connection/active-connection.ts';
import { dataSources } from '../contract.ts';
import { existingIntegration } from '../existing-integration.ts';
import { startSync } from './start-sync.ts';
import { missingSyncConfig } from './missing-sync-config.ts';

/** Begins to read a data source now, or finds the reading that is under way. Throws 409 while something is still to be chosen. */
export async function resync(context: Context, id: number): Promise<{ status: 'started'; sync_id: number }> {
  const integration = await existingIntegration(context, id, dataSources);
  toAppConnection(context, integration);
  const lacking = missingSyncConfig(integration);
  if (lacking !== null) throw conflict(`The integration cannot be read yet: ${lacking}`);
  const { sync_id } = await startSync(context, integration);
  return { status: 'started', sync_id };
}
