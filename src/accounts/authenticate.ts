import { catalog } from '../database/shards.ts';
import { unauthorized } from '../library/errors.ts';
import { sha256Hex } from '../library/hash.ts';
import { settingsOf } from '../settings.ts';
import type { Caller, Organization } from './context.ts';
import { forgetOrganizationById } from './organizations.ts';
import * as store from './store.ts';

/** A session without a selected organization has none. */
export interface Identity {
  caller: Caller;
  organization: Organization | null;
}

const lifetimeMs = 5000;
const maximumEntries = 10_000;
/** By the key's hash. */
const cache = new Map<string, { identity: Identity & { organization: Organization }; until: number }>();

/** The owner of an API key. One indexed read, kept in the isolate for five seconds; throws 401. */
export async function authenticateKey(bindings: Env, key: string, now: number): Promise<Identity> {
  const hash = sha256Hex(key);
  const known = cache.get(hash);
  // A clock that was set back must not stretch the five seconds.
  if (known && known.until > now && known.until <= now + lifetimeMs) return known.identity;
  cache.delete(hash);
  const found = await store.findApiKeyByHash(catalog(bindings), hash);
  if (!found) throw unauthorized('Unknown API key');
  const { apiKey, organization } = found;
  if (organization.deletingAt !== null) throw unauthorized('The organization of this API key is being deleted');
  if (apiKey.archivedAt !== null) throw unauthorized('This API key was revoked; mint another or reactivate it');
  if (apiKey.expiresAt !== null && apiKey.expiresAt <= now) throw unauthorized('This API key has expired; mint another');
  const identity = {
    caller: { userId: apiKey.createdBy, scopes: store.scopesOf(apiKey), credential: `key:${apiKey.id}` },
    organization: store.organizationOf(organization, settingsOf(bindings)),
  };
  if (cache.size >= maximumEntries) cache.delete(cache.keys().next().value!);
  cache.set(hash, { identity, until: Math.min(now + lifetimeMs, apiKey.expiresAt ?? Infinity) });
  return identity;
}

/**
 * The owner of a session token; throws 401. Read each time: after log-out, or after another organization was selected, no
 * isolate may go on with what was true before.
 */
export async function authenticateSession(bindings: Env, token: string, now: number): Promise<Identity> {
  const hash = sha256Hex(token);
  const found = await store.findSession(catalog(bindings), hash, now);
  if (!found) throw unauthorized('Unknown or expired session; log in again');
  return {
    caller: { userId: found.session.userId, scopes: ['admin'], credential: `session:${hash.slice(0, 16)}` },
    organization: found.organization && store.organizationOf(found.organization, settingsOf(bindings)),
  };
}

/** Makes the next use of an organization read it and its keys again, in this isolate; others follow when theirs lapse. */
export function forgetOrganization(organizationId: number): void {
  forgetOrganizationById(organizationId);
  for (const [hash, { identity }] of cache) if (identity.organization.id === organizationId) cache.delete(hash);
}
