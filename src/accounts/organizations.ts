import { catalog, shard } from '../database/shards.ts';
import { systemClock } from '../library/clock.ts';
import { Logger } from '../library/log.ts';
import { settingsOf } from '../settings.ts';
import type { Context, Organization } from './context.ts';
import * as store from './store.ts';

/** Nobody knows the organization: it was deleted, or is being deleted. Objects that meet it leave nothing behind. */
export class OrganizationGoneError extends Error {
  constructor(organizationId: number) {
    super(`organization ${organizationId} is gone`);
  }
}

const lifetimeMs = 60_000;
const maximumEntries = 10_000;
const cache = new Map<number, { organization: Organization; until: number }>();

/** An organization by its id, for work that no caller's credentials come with; null when there is none, or it is being deleted. Cached for a minute. */
export async function organizationById(bindings: Env, id: number): Promise<Organization | null> {
  const now = systemClock();
  const known = cache.get(id);
  if (known && known.until > now && known.until <= now + lifetimeMs) return known.organization;
  const row = await store.findOrganization(catalog(bindings), id);
  if (!row || row.deletingAt !== null) return null;
  const organization = store.organizationOf(row, settingsOf(bindings));
  if (cache.size >= maximumEntries) cache.clear();
  cache.set(id, { organization, until: now + lifetimeMs });
  return organization;
}

/** The context's organization as it is now; what the context holds may be a minute old. */
export async function currentOrganization({ bindings, organization, settings }: Context): Promise<Organization> {
  const row = await store.findOrganization(catalog(bindings), organization.id);
  return row ? store.organizationOf(row, settings) : organization;
}

/** Makes the next use of an organization in background work read it again, in this isolate. */
export function forgetOrganizationById(id: number): void {
  cache.delete(id);
}

/** The context of background work: queue consumers, the minute tick, Durable Objects. Null when the organization is unknown. */
export async function backgroundContext(bindings: Env, organizationId: number, defer: Context['defer']): Promise<Context | null> {
  const organization = await organizationById(bindings, organizationId);
  return organization && contextOf(bindings, organization, defer);
}

/** The context of the work that takes an organization away. Null when it is gone. */
export async function contextOfDeleted(bindings: Env, organizationId: number, defer: Context['defer']): Promise<Context | null> {
  const row = await store.findOrganization(catalog(bindings), organizationId);
  return row?.deletingAt ? contextOf(bindings, store.organizationOf(row, settingsOf(bindings)), defer) : null;
}

function contextOf(bindings: Env, organization: Organization, defer: Context['defer']): Context {
  const settings = settingsOf(bindings);
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
