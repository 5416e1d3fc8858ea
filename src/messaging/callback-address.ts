import type { Context } from '../accounts/context.ts';
import { basePath } from '../http/public-url.ts';
import { isSame } from '../library/constant-time.ts';
import { signatureOf } from '../library/signed-paths.ts';
import type { ProviderKey } from '../providers/messaging/messaging.ts';
import type { Settings } from '../settings.ts';

type Signer = Pick<Settings, 'SIGNING_KEY'>;

const form = /^([1-9]\d{0,15})-([0-9a-f]{64})$/;

/** Names the organization, and cannot be made up: two providers sign nothing, so that whoever knows the address is believed. */
async function tokenOf({ SIGNING_KEY }: Signer, provider: ProviderKey, organizationId: number): Promise<string> {
  return `${organizationId}-${await signatureOf(SIGNING_KEY, ['messaging', provider, organizationId])}`;
}

/** The organization of a token; null for one that is not ours. */
export async function organizationOf(settings: Signer, provider: ProviderKey, token: string): Promise<number | null> {
  const organizationId = Number(form.exec(token)?.[1]);
  return organizationId && isSame(token, await tokenOf(settings, provider, organizationId)) ? organizationId : null;
}

/** Under which origin providers reach this service: PUBLIC_URL, or where the configuration was written. */
export const callbackOriginOf = ({ PUBLIC_URL }: Pick<Settings, 'PUBLIC_URL'>, callbackOrigin: string): string =>
  PUBLIC_URL.replace(/\/$/, '') || callbackOrigin;

/** Where a provider tells what becomes of the organization's messages. */
export async function callbackUrl({ settings, organization }: Context, provider: ProviderKey, callbackOrigin: string): Promise<string> {
  const token = await tokenOf(settings, provider, organization.id);
  return `${callbackOriginOf(settings, callbackOrigin)}${basePath}/organizations/messaging-config/callbacks/${provider}/${token}`;
}
