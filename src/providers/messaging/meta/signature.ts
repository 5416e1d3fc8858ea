import { createHmac } from 'node:crypto';
import { isEqualConstantTime } from '../../../library/security/hash.ts';

/** Whether a webhook is Meta's: `X-Hub-Signature-256` is `sha256=` and the hex HMAC of the raw body under the app secret. */
export function hasValidMetaSignature(body: string, signature: string | null, appSecret: string): boolean {
  // An empty key would let anyone sign.
  if (signature === null || appSecret === '') return false;
  return isEqualConstantTime(signature, `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`);
}

/** The answer to Meta's question, a GET, whether an address wants its webhooks; null: it does not, or this is no such question. */
export function verifyWebhookChallenge(url: string, verifyToken: string): string | null {
  const asked = new URL(url).searchParams;
  const isMeant =
    asked.get('hub.mode') === 'subscribe' && verifyToken !== '' && isEqualConstantTime(asked.get('hub.verify_token') ?? '', verifyToken);
  return isMeant ? asked.get('hub.challenge') : null;
}
