import { isMask, isSealed, open, seal } from '../../library/security/encryption.ts';
import type { Issue } from '../../library/errors.ts';
import { isNonSecretHeader } from '../../library/security/secret-names.ts';
import { replaceSecrets, type FoundSecret } from './replace-secrets.ts';

// Secrets are sealed before they are stored, shown as a mask, and a mask sent back means "keep", as long as what stands there is sent to
// the origin that it was given for.

const mask = '****';

async function mapSecrets<T>(value: T, transform: (found: FoundSecret) => Promise<string> | string): Promise<T> {
  const secrets: (Promise<string> | string)[] = [];
  replaceSecrets(value, (found) => {
    secrets.push(transform(found));
    return found.text;
  });
  const transformed = (await Promise.all(secrets)).values();
  return replaceSecrets(value, () => transformed.next().value!);
}

/** Seals every secret of a webhook's auth or a definition. */
export const sealSecrets = <T>(encryptionKey: string, organizationId: number, value: T): Promise<T> =>
  mapSecrets(value, ({ text }) => (isSealed(text) ? text : seal(encryptionKey, organizationId, text)));

export const openSecrets = <T>(encryptionKey: string, organizationId: number, value: T): Promise<T> =>
  mapSecrets(value, ({ text }) => (isSealed(text) ? open(encryptionKey, organizationId, text) : text));

/**
 * Puts back what a mask stands for: the secret that stood at the same place in `before`, opened, if it is sent to the same origin. What a
 * caller sends sealed is taken as text, so that a sealed value seen elsewhere is worth nothing.
 */
export function restoreMasked<T>(encryptionKey: string, organizationId: number, value: T, before: unknown): Promise<T> {
  const earlier = secretsByPlace(before);
  return mapSecrets(value, ({ text, place, addresses }) => {
    const kept = isMask(text) ? earlier.get(place) : undefined;
    if (kept?.addresses === addresses) return isSealed(kept.text) ? open(encryptionKey, organizationId, kept.text) : kept.text;
    return isSealed(text) ? text.replace('sealed:', 'sealed ') : text;
  });
}

/** Each place where a mask stands for a secret that was given for another origin. */
export function maskOriginIssues(value: unknown, before: unknown, loc: string[]): Issue[] {
  const earlier = secretsByPlace(before);
  return maskIssues(value, loc, ({ place, addresses }) => {
    const kept = earlier.get(place);
    if (!kept || kept.addresses === addresses) return null;
    return 'Is a mask of the secret for another address, to which alone that secret is sent; give the secret itself once more';
  });
}

/** Where a mask stands for no secret, each place with what is wrong; `value` has its masks put back and its secrets opened. */
export const unresolvedMaskIssues = (value: unknown, loc: string[]): Issue[] =>
  maskIssues(value, loc, () => 'Is a mask, and there is no secret that it stands for; give the secret itself');

function maskIssues(value: unknown, loc: string[], faultOf: (found: FoundSecret) => string | null): Issue[] {
  const issues: Issue[] = [];
  replaceSecrets(value, (found) => {
    const msg = isMask(found.text) ? faultOf(found) : null;
    if (msg !== null) issues.push({ loc: [...loc, ...found.loc], msg, type: 'mask' });
    return found.text;
  });
  return issues;
}

function secretsByPlace(value: unknown): Map<string, FoundSecret> {
  const secrets = new Map<string, FoundSecret>();
  replaceSecrets(value, (found) => {
    secrets.set(found.place, found);
    return found.text;
  });
  return secrets;
}

/** As shown to callers and in histories. Synchronous, since lists show many. */
export const maskSecrets = <T>(value: T): T => replaceSecrets(value, () => mask);

/** Headers as they may be shown. */
export const maskHeaders = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, isNonSecretHeader(name) ? value : mask]));
