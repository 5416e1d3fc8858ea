import { createHash } from 'node:crypto';
import { ComposioError } from './errors.ts';

/** Refuses a request without a key, or with one that contains `invalid`. */
export function requireKey(key: string | undefined): void {
  if (!key) throw new ComposioError(401, 'No API key was provided', { slug: 'HTTP_Unauthorized', code: 401 });
  if (key.includes('invalid')) throw new ComposioError(401, 'Invalid API key', { slug: 'InvalidApiKey', code: 10_401 });
}

/** Whether a key may call vendors: a key that contains `noproxy` may not. */
export function requireProxy(key: string): void {
  if (key.includes('noproxy'))
    throw new ComposioError(
      403,
      'Proxy execute is not enabled for this API key. Create a new scoped API key with proxy execute functionality',
      { slug: 'HTTP_Forbidden', code: 403 },
    );
}

/** The project of a key, whose accounts it opens. */
export const projectOf = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, 16);
