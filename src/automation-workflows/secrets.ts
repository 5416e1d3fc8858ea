import { isMask, isSealed, open, seal } from '../library/encryption.ts';
import type { Issue } from '../library/errors.ts';
import { isRecord } from '../library/json.ts';

// Secrets stand in two places: the auth of a webhook trigger and the data of a node (its signing secret, and headers that
// carry credentials). They are sealed before they are stored, shown as a mask, and a mask sent back means "keep".

const secretFields = new Set(['secret', 'token', 'password', 'verify_token', 'qa_api_key']);
const secretHeader = /authorization|cookie|api[-_]?key|token|secret|password/i;
const shown = '****';

/** `owner` is the object that has the field. A header may also be an item `{ key, value }` of a list. */
const isSecretPlace = (name: string, owner: object, isHeaders: boolean): boolean =>
  secretFields.has(name) ||
  (isHeaders && secretHeader.test(name)) ||
  (isHeaders && name === 'value' && 'key' in owner && typeof owner.key === 'string' && secretHeader.test(owner.key));

const holdsHeaders = (name: string): boolean => name === 'headers' || name === 'custom_headers';

type Transform = (secret: string, path: string) => Promise<string> | string;

/** Copies `value`, passing every secret in it through `transform`. `path` names the place, so that an older value can be found. */
async function mapSecrets(value: unknown, transform: Transform, path = '', isHeaders = false): Promise<unknown> {
  if (Array.isArray(value)) {
    return Promise.all(value.map((item, index) => mapSecrets(item, transform, `${path}/${placeOf(item, index)}`, isHeaders)));
  }
  if (!isRecord(value)) return value;
  const copy = Object.entries(value).map(async ([name, item]): Promise<[string, unknown]> => {
    const isSecret = typeof item === 'string' && item !== '' && isSecretPlace(name, value, isHeaders);
    const place = `${path}/${name}`;
    return [name, await (isSecret ? transform(item, place) : mapSecrets(item, transform, place, holdsHeaders(name)))];
  });
  return Object.fromEntries(await Promise.all(copy));
}

/** Nodes are known by their id, wherever in the list they stand. */
const placeOf = (item: unknown, index: number): string => (isRecord(item) && typeof item.id === 'string' ? item.id : String(index));

/** Seals every secret of a webhook's auth or a definition. */
export async function sealSecrets<T>(encryptionKey: string, organizationId: number, value: T): Promise<T> {
  return (await mapSecrets(value, (secret) => (isSealed(secret) ? secret : seal(encryptionKey, organizationId, secret)))) as T;
}

export async function openSecrets<T>(encryptionKey: string, organizationId: number, value: T): Promise<T> {
  return (await mapSecrets(value, (secret) => (isSealed(secret) ? open(encryptionKey, organizationId, secret) : secret))) as T;
}

/**
 * Puts back what a mask stands for: the secret that stood at the same place in `before`, opened. What a caller sends sealed is
 * taken as text, so that a sealed value seen elsewhere is worth nothing.
 */
export async function restoreMasked<T>(encryptionKey: string, organizationId: number, value: T, before: unknown): Promise<T> {
  const earlier = new Map<string, string>();
  await mapSecrets(before, (secret, path) => {
    earlier.set(path, secret);
    return secret;
  });
  return (await mapSecrets(value, (secret, path) => {
    const kept = isMask(secret) ? earlier.get(path) : undefined;
    if (kept !== undefined) return isSealed(kept) ? open(encryptionKey, organizationId, kept) : kept;
    return isSealed(secret) ? secret.replace('sealed:', 'sealed ') : secret;
  })) as T;
}

/** Where a mask stands for no secret, each place with what is wrong; `value` has its masks put back and its secrets opened. */
export function leftoverMasks(value: unknown, loc: string[], isHeaders = false): Issue[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]: [string, unknown]) => {
    const place = [...loc, Array.isArray(value) ? placeOf(item, Number(name)) : name];
    const isLeftover = isSecretPlace(name, value, isHeaders) && typeof item === 'string' && isMask(item);
    const msg = 'Is a mask, and there is no secret that it stands for; give the secret itself';
    return isLeftover
      ? [{ loc: place, msg, type: 'mask' }]
      : leftoverMasks(item, place, Array.isArray(value) ? isHeaders : holdsHeaders(name));
  });
}

/** As shown to callers and in histories. Synchronous, since lists show many. */
export function maskSecrets<T>(value: T, isHeaders = false): T {
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item, isHeaders)) as T;
  if (!isRecord(value)) return value;
  const copy = Object.entries(value).map(([name, item]) => {
    const isSecret = typeof item === 'string' && item !== '' && isSecretPlace(name, value, isHeaders);
    return [name, isSecret ? shown : maskSecrets(item, holdsHeaders(name))];
  });
  return Object.fromEntries(copy) as T;
}
