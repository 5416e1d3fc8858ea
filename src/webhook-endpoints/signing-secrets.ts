import { randomBytes } from 'node:crypto';
import type { Settings } from '../settings.ts';
import { open, seal } from '../library/security/encryption.ts';
import { signStandardWebhook } from '../library/security/standard-webhooks.ts';
import type { EndpointRow } from './endpoints/store.ts';

/** Standard Webhooks asks for 24 to 64 random bytes. */
const secretBytes = 32;

/** A new secret, and the form in which it is stored. */
export async function createSigningSecret(settings: Settings, organizationId: number): Promise<{ secret: string; sealed: string }> {
  const secret = `whsec_${randomBytes(secretBytes).toString('base64')}`;
  return { secret, sealed: await seal(settings.ENCRYPTION_KEY, organizationId, secret) };
}

type Secrets = Pick<EndpointRow, 'organization_id' | 'secret' | 'previous_secret' | 'previous_secret_until'>;

/** The secrets that sign at `now` (epoch ms): the present one, and during the overlap of a rotation the one before. */
export async function openSigningSecrets(settings: Settings, endpoint: Secrets, now: number): Promise<string[]> {
  const { secret, previous_secret: previous, previous_secret_until: until } = endpoint;
  const sealed = previous !== null && until !== null && until > now ? [secret, previous] : [secret];
  return Promise.all(sealed.map((text) => open(settings.ENCRYPTION_KEY, endpoint.organization_id, text)));
}

/**
 * The headers of Standard Webhooks: `webhook-id`, `webhook-timestamp` and `webhook-signature` with a signature of each secret, divided by
 * spaces. https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export async function signWithAll(secrets: string[], id: string, now: number, body: string): Promise<Record<string, string>> {
  const signed = await Promise.all(secrets.map((secret) => signStandardWebhook(secret, id, now, body)));
  return { ...signed[0]!, 'webhook-signature': signed.map((headers) => headers['webhook-signature']).join(' ') };
}
