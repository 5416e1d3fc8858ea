import { catalog } from '../../database/shards.ts';
import { invalidAt, notFound } from '../../library/errors.ts';
import { enqueueDeletion } from '../../outbox/enqueue.ts';
import { evictOrganizationAndKeys } from '../authentication/identity.ts';
import type { Caller, Context } from '../../context.ts';
import * as deletions from './store.ts';
import * as store from '../store.ts';

/**
 * Deletes an organization. Its keys and sessions stop working, in other isolates within five seconds, and its data is deleted in the
 * background. Throws 404, and 422 unless `confirmName` is its name.
 */
export async function deleteOrganization(context: Context, caller: Caller, confirmName: string): Promise<deletions.Deletion> {
  const accounts = catalog(context.bindings);
  const row = await store.findOrganization(accounts, context.organization.id);
  if (!row) throw notFound('Organization');
  if (confirmName.trim() !== row.name)
    throw invalidAt(['query', 'confirm_name'], 'Is not the name of the organization; send it as GET /organizations/current has it');
  const id = crypto.randomUUID();
  const deletion = await deletions.insertDeletion(accounts, { id, organizationId: row.id, userId: caller.userId, now: context.clock() });
  evictOrganizationAndKeys(row.id);
  context.log.warn('an organization is being deleted', { deletion_id: deletion.id });
  enqueueDeletion(context);
  return deletion;
}

/** The progress of a deletion, found by its id alone. Throws 404. */
export async function readDeletion(bindings: Env, id: string): Promise<deletions.Deletion> {
  const found = await deletions.findDeletion(catalog(bindings), id);
  if (!found) throw notFound('Deletion');
  return found;
}
