import type { z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import { callbackUrl } from '../callbacks/callback-url.ts';
import type { ConfigRow } from './store.ts';
import { providerKeys } from './credential-fields.ts';
import { maskCredentials } from './credentials.ts';
import type { MessagingConfigRecord } from '../schemas.ts';

type ConfigResponse = z.infer<typeof MessagingConfigRecord>;

/**
 * The API record. Secrets are masked, and only admins see the callback addresses, which hold a secret. `callbackOrigin`: the origin at
 * which the caller reached the API.
 */
export async function toConfigRecord(
  context: Context,
  row: ConfigRow | null,
  callbackOrigin: string,
  isAdmin: boolean,
): Promise<ConfigResponse> {
  const keeper = { encryptionKey: context.settings.ENCRYPTION_KEY, organizationId: context.organization.id };
  const blocks: Record<string, unknown> = {};
  const addresses: Record<string, string> = {};
  for (const provider of providerKeys) {
    const stored = row?.credentials[provider];
    blocks[provider] = stored ? await maskCredentials(keeper, provider, stored) : null;
    addresses[provider] = await callbackUrl(context, provider, row?.callbackOrigin ?? callbackOrigin);
  }
  return { messaging_app: { provider: row?.provider ?? '', ...blocks }, callback_urls: isAdmin ? addresses : null } as ConfigResponse;
}
