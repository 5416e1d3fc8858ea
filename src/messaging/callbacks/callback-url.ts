import type { Context } from '../../context.ts';
import { basePath } from '../../http/public-url.ts';
import { isEqualConstantTime } from '../../library/security/hash.ts';
import { signParts } from '../../library/security/signed-paths.ts';
import type { ProviderKey } from '../../providers/messaging/messaging.ts';
import type { Settings } from '../../settings.ts';

type SigningSettings = Pick<Settings, 'SIGNING_KEY'>;

const tokenPattern = /^([1-9]\d{0,15})-([0-9a-f]{64})$/;

/** A signed token that names the organization. Two providers sign no callbacks: there the secret address is the only proof. */
async function createToken({ SIGNING_KEY }: SigningSettings, provider: ProviderKey, organizationId: number): Promise<string> {
  return `${organizationId}-${await signParts(SIGNING_KEY, ['messaging', provider, organizationId])}`;
}

/** The organization of a token; null for a forged one. */
export async function organizationFromToken(settings: SigningSettings, provider: ProviderKey, token: string): Promise<number | null> {
  const organizationId = Number(tokenPattern.exec(token)?.[1]);
  return organizationId && isEqualConstantTime(token, await createToken(settings, provider, organizationId)) ? organizationId : null;
}

/** The address of the webhook to which a provider reports the organization's messages. */
export const resolveCallbackOrigin = ({ PUBLIC_URL }: Pick<Settings, 'PUBLIC_URL'>, callbackOrigin: string): string =>
  PUBLIC_URL.replace(/\/$/, '') || callbackOrigin;

/** Where a provider tells what becomes of the organization's messages. */
export async function callbackUrl({ settings, organization }: Context, provider: ProviderKey, callbackOrigin: string): Promise<string> {
  const token = await createToken(settings, provider, organization.id);
  return `${resolveCallbackOrigin(settings, callbackOrigin)}${basePath}/organizations/messaging-config/callbacks/${provider}/${token}`;
}
