import { forbidden } from '../library/errors.ts';
import type { Scope } from './context.ts';

const readingPosts = new Set(['/api/v1/knowledge-base/search']);
const apiKeysPath = /^\/api\/v1\/user\/api-keys(\/|$)/;
const organizationPath = '/api/v1/organizations/current';

/**
 * Whether `scopes` cover the call; throws 403 naming the scope that is missing. `read` is every GET and the POSTs that only
 * search; `write` everything but the API keys and changes of the organization; `admin` everything.
 */
export function requireScope(scopes: Scope[], method: string, path: string): void {
  if (scopes.includes('admin')) return;
  const isReading = method === 'GET' || method === 'HEAD' || readingPosts.has(path);
  const isAdministration = apiKeysPath.test(path) || (method === 'PATCH' && path === organizationPath);
  if (isReading && scopes.includes('read')) return;
  if (!isAdministration && scopes.includes('write')) return;
  const missing = isAdministration ? 'admin' : isReading ? 'read' : 'write';
  throw forbidden(`insufficient_scope: this call needs an API key with the scope "${missing}"; its scopes are ${scopes.join(', ')}`);
}
