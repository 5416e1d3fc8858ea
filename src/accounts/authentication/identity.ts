import { LRUCache } from 'lru-cache';
import { lazily } from '../../library/lazily.ts';
import { catalog } from '../../database/shards.ts';
import { unauthorized } from '../../library/errors.ts';
import { sha256Hex } from '../../library/security/hash.ts';
import { getSettings } from '../../settings.ts';
import type { Caller, Organization } from '../../context.ts';
import { evictOrganization } from '../organizations/background-context.ts';
import { roleScopes, toKeyScopes } from './roles.ts';
import { toSessionId } from '../sign-in/session-id.ts';
import * as store from '../store.ts';

/** A session without a selected organization has none. */
export interface Identity {
  caller: Caller;
  organization: Organization | null;
}

const cacheTtlMs = 5000;
/** By the key's hash. */
const identityCache = lazily(
  () => new LRUCache<string, { identity: Identity & { organization: Organization }; until: number }>({ max: 10_000 }),
);

/** The owner of an API key. One indexed read, kept in the isolate for five seconds; throws 401. */
export async function authenticateKey(bindings: Env, key: string, now: number): Promise<Identity> {
  const hash = sha256Hex(key);
  const known = identityCache().get(hash);
  // A clock that was set back must not stretch the five seconds.
  if (known && known.until > now && known.until <= now + cacheTtlMs) return known.identity;
  identityCache().delete(hash);
  const found = await store.findApiKeyByHash(catalog(bindings), hash);
  if (!found) throw unauthorized('Unknown API key');
  const { apiKey, organization, role } = found;
  if (organization.deletingAt !== null) throw unauthorized('The organization of this API key is being deleted');
  if (apiKey.archivedAt !== null) throw unauthorized('This API key was revoked; mint another or reactivate it');
  if (apiKey.expiresAt !== null && apiKey.expiresAt <= now) throw unauthorized('This API key has expired; mint another');
  if (role === null) throw unauthorized('The person who made this API key has left the organization; reactivate it, or mint another');
  const identity = {
    caller: { userId: apiKey.createdBy, scopes: toKeyScopes(store.toScopes(apiKey), role), role, credential: `key:${apiKey.id}` },
    organization: store.toOrganization(organization, getSettings(bindings)),
  };
  if (organization.movingTo === null)
    identityCache().set(hash, { identity, until: Math.min(now + cacheTtlMs, apiKey.expiresAt ?? Infinity) });
  return identity;
}

/**
 * The owner of a session token. Throws 401. Never cached: after a log-out, or after another organization was selected, no isolate may use
 * the old state.
 */
export async function authenticateSession(bindings: Env, token: string, now: number): Promise<Identity> {
  const hash = sha256Hex(token);
  const found = await store.findSession(catalog(bindings), hash, now);
  if (!found) throw unauthorized('Unknown or expired session; log in again');
  const { session, organization, role } = found;
  return {
    caller: { userId: session.userId, scopes: role ? [...roleScopes[role]] : [], role, credential: `session:${toSessionId(hash)}` },
    // Somebody who has left the organization in the meantime has none selected.
    organization: organization && role && store.toOrganization(organization, getSettings(bindings)),
  };
}

/** Makes the next use of an organization read it and its keys again, in this isolate; others follow when theirs lapse. */
export function evictOrganizationAndKeys(organizationId: number): void {
  evictOrganization(organizationId);
  for (const [hash, { identity }] of identityCache()) if (identity.organization.id === organizationId) identityCache().delete(hash);
}
