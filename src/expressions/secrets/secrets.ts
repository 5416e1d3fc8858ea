import { isMask, isSealed, open, seal } from '../../library/security/encryption.ts';
import type { Issue } from '../../library/errors.ts';
import { isNonSecretHeader } from '../../library/security/secret-names.ts';
import { replaceSecrets, type FoundSecret } from '../../library/security/replace-secrets.ts';

// Secrets are sealed before they are stored, and shown as a mask. A caller who sends the mask back keeps the secret, as long as the secret
// is still sent to the origin that it was given for.

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

/** Seals every secret in `value`, such as a definition; sealed secrets stay as they are. */
export const sealSecrets = <T>(encryptionKey: string, organizationId: number, value: T): Promise<T> =>
  mapSecrets(value, ({ text }) => (isSealed(text) ? text : seal(encryptionKey, organizationId, text)));

/** Opens every sealed secret in `value`. */
export const openSecrets = <T>(encryptionKey: string, organizationId: number, value: T): Promise<T> =>
  mapSecrets(value, ({ text }) => (isSealed(text) ? open(encryptionKey, organizationId, text) : text));

/**
 * Replaces each mask in `value` by the opened secret at the same place in `before`, when that secret goes to the same origin. A sealed text
 * from a caller is treated as plain text, so that a sealed value seen elsewhere is worthless.
 */
export function restoreMasked<T>(encryptionKey: string, organizationId: number, value: T, before: unknown): Promise<T> {
  const earlier = secretsByPlace(before);
  return mapSecrets(value, ({ text, place, addresses }) => {
    const stored = isMask(text) ? earlier.get(place) : undefined;
    if (stored?.addresses === addresses) return isSealed(stored.text) ? open(encryptionKey, organizationId, stored.text) : stored.text;
    return isSealed(text) ? text.replace('sealed:', 'sealed ') : text;
  });
}

/** An issue for each mask whose secret was given for another origin. */
export function maskOriginIssues(value: unknown, before: unknown, loc: string[]): Issue[] {
  const earlier = secretsByPlace(before);
  return maskIssues(value, loc, ({ place, addresses }) => {
    const stored = earlier.get(place);
    if (!stored || stored.addresses === addresses) return null;
    return 'Is a mask of the secret for another address, to which alone that secret is sent; give the secret itself once more';
  });
}

/** An issue for each mask without a secret. Call it with the value of `restoreMasked`. */
export const unresolvedMaskIssues = (value: unknown, loc: string[]): Issue[] =>
  maskIssues(value, loc, () => 'Is a mask, and there is no secret that it stands for; give the secret itself');

function maskIssues(value: unknown, loc: string[], findFault: (found: FoundSecret) => string | null): Issue[] {
  const issues: Issue[] = [];
  replaceSecrets(value, (found) => {
    const msg = isMask(found.text) ? findFault(found) : null;
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

/** `value` for answers and histories: every secret is a mask. Synchronous, since lists mask many values. */
export const maskSecrets = <T>(value: T): T => replaceSecrets(value, () => mask);

/** Headers for answers and histories: every header that may hold a credential is a mask. */
export const maskHeaders = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, isNonSecretHeader(name) ? value : mask]));
