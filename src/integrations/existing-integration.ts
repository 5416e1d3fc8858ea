import type { Context } from '../context.ts';
import { badRequest, notFound } from '../library/errors.ts';
import { apps, type App } from '../library/connectable-apps.ts';
import type { Integration } from './contract.ts';
import { findIntegration } from './store.ts';

/** The integration. Throws 404, also for a disconnected one, and 400 for a provider outside `providers`. */
export async function existingIntegration(
  { database, organization }: Context,
  id: number,
  providers: readonly App[] = apps,
): Promise<Integration> {
  const row = await findIntegration(database, organization.id, id);
  if (!row) throw notFound('Integration');
  if (!providers.includes(row.provider))
    throw badRequest(`Integration ${id} is of ${row.provider}; this call is for integrations of ${providers.join(' or ')}`);
  return row;
}
