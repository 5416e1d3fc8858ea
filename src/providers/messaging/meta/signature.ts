import { createHmac } from 'node:crypto';
import { isEqualConstantTime } from '../../../library/security/hash.ts';

/** Whether Meta has signed a webhook: `X-Hub-Signature-256` is `sha256=` and the hex HMAC of the raw body under the app secret. */
export function hasValidMetaSignature(body: string, signature: string | null, appSecret: string): boolean {
  // With an empty key anybody could sign.
  if (signature === null || appSecret === '') return false;
  return isEqualConstantTime(signature, `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`);
}

/** The answer to Meta's verification request, a GET; null: the request is another one, or has a wrong token. */
export function verifyWebhookChallenge(url: string, verifyToken: string): string | null {
  const parameters = new URL(url).searchParams;
  const isVerification =
    parameters.get('hub.mode') === 'subscribe' &&
    verifyToken !== '' &&
    isEqualConstantTime(parameters.get('hub.verify_token') ?? '', verifyToken);
  return isVerification ? parameters.get('hub.challenge') : null;
}
