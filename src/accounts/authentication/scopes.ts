import { forbidden } from '../../library/errors.ts';
import type { Scope } from '../../context.ts';

const readOnlyPosts = new Set(['/api/v1/knowledge-base/search', '/api/v1/campaign/preview']);
const apiKeysPath = /^\/api\/v1\/user\/api-keys(\/|$)/;
const membersPath = /^\/api\/v1\/organizations\/members(\/|$)/;
const organizationPath = '/api/v1/organizations/current';
const contactPolicyPath = '/api/v1/organizations/contact-policy';

/**
 * The scope that `scopes` lack for the call, null when they cover it. `read` is every GET and the POSTs that write nothing; `write`
 * everything but the API keys, the members, and changes of the organization and its contact policy; `admin` everything. `path` includes the base path.
 */
export function missingScope(scopes: Scope[], method: string, path: string): Scope | null {
  if (scopes.includes('admin')) return null;
  const isReading = method === 'GET' || method === 'HEAD' || readOnlyPosts.has(path.replace(/\/$/, ''));
  const isAdministration =
    apiKeysPath.test(path) ||
    membersPath.test(path) ||
    (['PATCH', 'DELETE'].includes(method) && path.replace(/\/$/, '') === organizationPath) ||
    (method === 'PUT' && path.replace(/\/$/, '') === contactPolicyPath);
  if (isReading && scopes.includes('read')) return null;
  if (!isAdministration && scopes.includes('write')) return null;
  return isAdministration ? 'admin' : isReading ? 'read' : 'write';
}

/** Throws 403 naming the scope that is missing. */
export function requireScope(scopes: Scope[], method: string, path: string): void {
  const missing = missingScope(scopes, method, path);
  if (missing)
    throw forbidden(`insufficient_scope: this call needs an API key with the scope "${missing}"; its scopes are ${scopes.join(', ')}`);
}
