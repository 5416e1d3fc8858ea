/** https://www.standardwebhooks.com: HMAC-SHA256 over `id.timestamp.body`, keyed with the secret's base64 after `whsec_`. */

const secretPrefix = 'whsec_';

/** The key bytes of a secret, or null when it is not base64. */
export function decodeSigningSecret(secret: string): Uint8Array<ArrayBuffer> | null {
  const text = secret.startsWith(secretPrefix) ? secret.slice(secretPrefix.length) : secret;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null;
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

const encoder = new TextEncoder();

/** `text` as UTF-8, then `body`: schemes that sign a timestamp put it before the raw bytes. */
export function joinBytes(text: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = encoder.encode(text);
  const content = new Uint8Array(head.length + body.length);
  content.set(head);
  content.set(body, head.length);
  return content;
}

/** The headers that sign `body`. Throws Error when the secret is not base64. */
export async function signStandardWebhook(secret: string, id: string, now: number, body: string): Promise<Record<string, string>> {
  const bytes = decodeSigningSecret(secret);
  if (!bytes) throw new Error('the signing secret is not base64');
  const timestamp = String(Math.floor(now / 1000));
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const signature = new Uint8Array(await crypto.subtle.sign('HMAC', key, joinBytes(`${id}.${timestamp}.`, encoder.encode(body))));
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${btoa(String.fromCharCode(...signature))}` };
}
