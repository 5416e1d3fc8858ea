import type { Context } from '../../context.ts';
import { ServiceError } from '../../library/errors.ts';
import { changeSource } from '../sync/change-source.ts';
import type { Integration } from '../contract.ts';
import { existingIntegration } from '../existing-integration.ts';
import { unwrapOutcome } from '../unwrap-outcome.ts';
import { openBooks } from './open-books.ts';

/** The active organizations of the connected account. Throws 404, 400, 403 and 502. */
export async function listOrganizations(context: Context, id: number) {
  const integration = await existingIntegration(context, id, ['books']);
  const { organizations } = await unwrapOutcome(context, integration, await openBooks(context, integration).listOrganizations());
  return organizations.map((one) => ({ organization_id: one.id, name: one.name, is_default: one.isDefault }));
}

/**
 * Selects an organization of the account. Throws 404, 400, 403, and 502 when the account has no such organization, which may have been
 * deleted there.
 */
export async function selectOrganization(context: Context, id: number, organizationId: string): Promise<Integration> {
  const integration = await existingIntegration(context, id, ['books']);
  const { organizations } = await unwrapOutcome(context, integration, await openBooks(context, integration).listOrganizations());
  const selected = organizations.find((one) => one.id === organizationId);
  if (selected === undefined) {
    const known = organizations.map((one) => `${one.id} ("${one.name}")`).join(', ') || 'none';
    throw new ServiceError('provider_failed', `books: the account has no active organization "${organizationId}"; it has ${known}`);
  }
  const providerData = { organization_id: selected.id, organization_name: selected.name };
  return changeSource(context, integration, { providerData, accountLabel: selected.name });
}
