import type { z } from '@hono/zod-openapi';
import type { Context } from '../accounts/context.ts';
import { callbackUrl } from './callback-address.ts';
import type { ConfigRow } from './config-store.ts';
import { providerKeys } from './credential-fields.ts';
import { shownBlock } from './credentials.ts';
import type { MessagingConfigRecord } from './schemas.ts';

type Shown = z.infer<typeof MessagingConfigRecord>;

/**
 * Secrets are masked, and the addresses that hold one are there for admins alone. `callbackOrigin`: under which origin the caller has
 * reached the API.
 */
export async function configRecord(context: Context, row: ConfigRow | null, callbackOrigin: string, isAdmin: boolean): Promise<Shown> {
  const keeper = { encryptionKey: context.settings.ENCRYPTION_KEY, organizationId: context.organization.id };
  const blocks: Record<string, unknown> = {};
  const addresses: Record<string, string> = {};
  for (const provider of providerKeys) {
    const stored = row?.credentials[provider];
    blocks[provider] = stored ? await shownBlock(keeper, provider, stored) : null;
    addresses[provider] = await callbackUrl(context, provider, row?.callbackOrigin ?? callbackOrigin);
  }
  return { messaging_app: { provider: row?.provider ?? '', ...blocks }, callback_urls: isAdmin ? addresses : null } as Shown;
}
