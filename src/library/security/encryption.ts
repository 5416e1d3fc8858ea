const prefix = 'sealed:v1:';
const importedKeys = new Map<string, Promise<CryptoKey>>();

/** AES-GCM key of 32 bytes in base64, imported once an isolate. */
function importKey(encryptionKey: string): Promise<CryptoKey> {
  let key = importedKeys.get(encryptionKey);
  if (!key) {
    const bytes = Uint8Array.from(atob(encryptionKey), (character) => character.charCodeAt(0));
    key = crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt']);
    importedKeys.set(encryptionKey, key);
  }
  return key;
}

const additionalData = (organizationId: number) => new TextEncoder().encode(`organization:${organizationId}`);

/** Encrypts a secret for storage; it opens only for the same organization. */
export async function seal(encryptionKey: string, organizationId: number, secret: string): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const sealed = await crypto.subtle.encrypt(
    { name: 'AES-GCM', iv, additionalData: additionalData(organizationId) },
    await importKey(encryptionKey),
    new TextEncoder().encode(secret),
  );
  return `${prefix}${Buffer.from(iv).toString('base64')}.${Buffer.from(sealed).toString('base64')}`;
}

export const isSealed = (text: string): boolean => text.startsWith(prefix);

export async function open(encryptionKey: string, organizationId: number, sealed: string): Promise<string> {
  if (!isSealed(sealed)) throw new Error('not a sealed secret');
  const [iv, data] = sealed.slice(prefix.length).split('.');
  const opened = await crypto.subtle.decrypt(
    { name: 'AES-GCM', iv: Buffer.from(iv ?? '', 'base64'), additionalData: additionalData(organizationId) },
    await importKey(encryptionKey),
    Buffer.from(data ?? '', 'base64'),
  );
  return new TextDecoder().decode(opened);
}

/** The form in which a secret is shown: at most its last four characters, and none of a short secret. */
export const mask = (secret: string): string => (secret.length >= 12 ? `****${secret.slice(-4)}` : '****');

/** Whether a value in a request is a mask, which means "keep the stored secret". */
export const isMask = (text: string): boolean => text.startsWith('****');
