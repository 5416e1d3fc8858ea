import { catalog } from '../database/shards.ts';
import { unauthorized } from '../library/errors.ts';
import { sha256Hex } from '../library/hash.ts';
import { settingsOf } from '../settings.ts';
import type { Caller, Organization } from './context.ts';
import * as store from './store.ts';

/** A session without a selected organization has none. */
export interface Identity {
  caller: Caller;
  organization: Organization | null;
}

const lifetimeMs = 5000;
const maximumEntries = 10_000;
const cache = new Map<string, { identity: Identity; until: number }>();

/** The owner of an API key. One indexed read, kept in the isolate for five seconds; throws 401. */
export async function authenticateKey(bindings: Env, key: string, now: number): Promise<Identity> {
  const hash = sha256Hex(key);
  return cached(hash, now, async () => {
    const found = await store.findApiKeyByHash(catalog(bindings), hash);
    if (!found) throw unauthorized('Unknown API key');
    const { apiKey, organization } = found;
    if (apiKey.archivedAt !== null) throw unauthorized('This API key was revoked; mint another or reactivate it');
    if (apiKey.expiresAt !== null && apiKey.expiresAt <= now) throw unauthorized('This API key has expired; mint another');
    return {
      identity: {
        caller: { userId: apiKey.createdBy, scopes: store.scopesOf(apiKey), credential: `key:${apiKey.id}` },
        organization: store.organizationOf(organization, settingsOf(bindings)),
      },
      endsAt: apiKey.expiresAt,
    };
  });
}

/** The owner of a session token; throws 401. */
export async function authenticateSession(bindings: Env, token: string, now: number): Promise<Identity> {
  const hash = sha256Hex(token);
  return cached(hash, now, async () => {
    const found = await store.findSession(catalog(bindings), hash, now);
    if (!found) throw unauthorized('Unknown or expired session; log in again');
    return {
      identity: {
        caller: { userId: found.user.id, scopes: ['admin'], credential: `session:${hash.slice(0, 16)}` },
        organization: found.organization && store.organizationOf(found.organization, settingsOf(bindings)),
      },
      endsAt: found.session.expiresAt,
    };
  });
}

/** Makes the next request read the credential again, in this isolate. */
export function forgetCredential(tokenOrKey: string): void {
  cache.delete(sha256Hex(tokenOrKey));
}

/** Makes the next requests of an organization's credentials read it again, in this isolate. */
export function forgetOrganization(organizationId: number): void {
  for (const [hash, entry] of cache) if (entry.identity.organization?.id === organizationId) cache.delete(hash);
}

async function cached(hash: string, now: number, read: () => Promise<{ identity: Identity; endsAt: number | null }>): Promise<Identity> {
  const known = cache.get(hash);
  if (known && known.until > now && known.until <= now + lifetimeMs) return known.identity;
  const { identity, endsAt } = await read();
  if (cache.size >= maximumEntries) cache.clear();
  cache.set(hash, { identity, until: Math.min(now + lifetimeMs, endsAt ?? Infinity) });
  return identity;
}
