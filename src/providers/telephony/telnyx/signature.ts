export interface SignedTelnyxRequest {
  body: string;
  /** telnyx-signature-ed25519, base64. */
  signature: string | null;
  /** telnyx-timestamp, epoch seconds. */
  timestamp: string | null;
}

const toleranceMs = 5 * 60_000;
const signatureBytes = 64;

/**
 * Whether a webhook is signed by Telnyx and at most five minutes old: Ed25519 over `{timestamp}|{body}`. `publicKey` is the account's, in
 * base64 as the Telnyx portal shows it; `now` in epoch ms.
 * (https://developers.telnyx.com/development/api-fundamentals/webhooks/receiving-webhooks)
 */
export async function hasValidTelnyxSignature(
  { body, signature, timestamp }: SignedTelnyxRequest,
  publicKey: string,
  now: number,
): Promise<boolean> {
  if (signature === null || timestamp === null || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(now - Number(timestamp) * 1000) > toleranceMs) return false;
  const [key, signatureBuffer] = [await importPublicKey(publicKey), Buffer.from(signature, 'base64')];
  // Workers throw for a signature of another length.
  if (key === undefined || signatureBuffer.byteLength !== signatureBytes) return false;
  return crypto.subtle.verify('Ed25519', key, signatureBuffer, new TextEncoder().encode(`${timestamp}|${body}`));
}

/** Whether a text has the form of an account's public key: 32 bytes in base64. */
export const isTelnyxPublicKey = (text: string): boolean => /^[A-Za-z0-9+/]{43}=$/.test(text.trim());

async function importPublicKey(publicKey: string): Promise<CryptoKey | undefined> {
  if (!isTelnyxPublicKey(publicKey)) return undefined;
  try {
    return await crypto.subtle.importKey('raw', Buffer.from(publicKey.trim(), 'base64'), 'Ed25519', false, ['verify']);
  } catch {
    return undefined;
  }
}
