import { isEqualConstantTime } from './hash.ts';

const importedKeys = new Map<string, Promise<CryptoKey>>();

function importKey(signingKey: string): Promise<CryptoKey> {
  let key = importedKeys.get(signingKey);
  if (!key) {
    key = crypto.subtle.importKey('raw', Buffer.from(signingKey, 'base64'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
    importedKeys.set(signingKey, key);
  }
  return key;
}

/** HMAC-SHA-256 in hex over the list `parts`. `signingKey` in base64. */
export async function signParts(signingKey: string, parts: (string | number)[]): Promise<string> {
  const signed = await crypto.subtle.sign('HMAC', await importKey(signingKey), new TextEncoder().encode(JSON.stringify(parts.map(String))));
  return Buffer.from(signed).toString('hex');
}

/**
 * A path that anybody may use with `method` until `expires` (epoch seconds), without credentials. The bounds of its use (a size, an artifact)
 * stand in its query, which is signed, too. Answers the path with `expires` and `signature` as its last parameters.
 */
export async function signPath(signingKey: string, method: string, path: string, expires: number): Promise<string> {
  const bounded = `${path}${path.includes('?') ? '&' : '?'}expires=${expires}`;
  return `${bounded}&signature=${await signParts(signingKey, [method, bounded])}`;
}

/** Whether `signPath` made this path (with its query) for `method`, and it has not expired at `now` (epoch ms). */
export async function isSignedPath(signingKey: string, method: string, path: string, now: number): Promise<boolean> {
  const match = /^(.*[?&]expires=(\d{1,12}))&signature=([0-9a-f]{64})$/.exec(path);
  if (!match) return false;
  const [, bounded, expires, signature] = match as unknown as [string, string, string, string];
  return Number(expires) * 1000 > now && isEqualConstantTime(signature, await signParts(signingKey, [method, bounded]));
}
