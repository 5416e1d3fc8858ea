import { LRUCache } from 'lru-cache';
import { lazily } from '../../library/lazily.ts';
import { catalog, shard } from '../../database/shards.ts';
import { systemClock } from '../../library/time/clock.ts';
import { Logger } from '../../library/platform/log.ts';
import { getSettings } from '../../settings.ts';
import type { Context, Organization } from '../../context.ts';
import * as store from '../store.ts';

/** The organization was deleted, or is being deleted. An object that gets this error deletes its data. */
export class OrganizationGoneError extends Error {
  constructor(organizationId: number) {
    super(`organization ${organizationId} is gone`);
  }
}

const cacheTtlMs = 60_000;
const organizationCache = lazily(() => new LRUCache<number, { organization: Organization; until: number }>({ max: 10_000 }));

/**
 * An organization by its id, for work without a caller's credentials; null when it does not exist or is being deleted. Cached for a minute,
 * unless it is moving to another shard.
 */
export async function organizationById(bindings: Env, id: number): Promise<Organization | null> {
  const now = systemClock();
  const known = organizationCache().get(id);
  if (known && known.until > now && known.until <= now + cacheTtlMs) return known.organization;
  const row = await store.findOrganization(catalog(bindings), id);
  if (!row || row.deletingAt !== null) return null;
  const organization = store.toOrganization(row, getSettings(bindings));
  if (row.movingTo === null) organizationCache().set(id, { organization, until: now + cacheTtlMs });
  return organization;
}

/** The context's organization as it is now; the one in the context may be a minute old. */
export async function readCurrentOrganization({ bindings, organization, settings }: Context): Promise<Organization> {
  const row = await store.findOrganization(catalog(bindings), organization.id);
  return row ? store.toOrganization(row, settings) : organization;
}

/** Makes the next use of an organization in background work read it again, in this isolate. */
export function evictOrganization(id: number): void {
  organizationCache().delete(id);
}

/** The context of background work: queue consumers, the minute tick, Durable Objects. Null when the organization is unknown. */
export async function backgroundContext(bindings: Env, organizationId: number, defer: Context['defer']): Promise<Context | null> {
  const organization = await organizationById(bindings, organizationId);
  return organization && createContext(bindings, organization, defer);
}

/** The context for deleting an organization; null when the organization does not exist or is not being deleted. */
export async function deletedOrganizationContext(bindings: Env, organizationId: number, defer: Context['defer']): Promise<Context | null> {
  const row = await store.findOrganization(catalog(bindings), organizationId);
  return row?.deletingAt ? createContext(bindings, store.toOrganization(row, getSettings(bindings)), defer) : null;
}

function createContext(bindings: Env, organization: Organization, defer: Context['defer']): Context {
  const settings = getSettings(bindings);
  return {
    organization,
    database: shard(bindings, organization.shard),
    bindings,
    settings,
    clock: systemClock,
    log: new Logger(settings.LOG_LEVEL, { organization_id: organization.id }),
    defer,
  };
}
