import { catalog } from '../../database/shards.ts';
import { publish } from '../../outbox/published-events.ts';
import { evictOrganizationAndKeys } from '../authentication/identity.ts';
import type { Context } from '../../context.ts';
import * as store from '../store.ts';

export interface OrganizationChange {
  name?: string | undefined;
  default_country?: string | undefined;
  timezone?: string | undefined;
  min_hours_between_calls?: number | undefined;
}

/** The organization's catalog row as it is now; the context's may be five seconds old. */
export async function readOrganization({ bindings, organization }: Context): Promise<store.OrganizationRow> {
  return (await store.findOrganization(catalog(bindings), organization.id))!;
}

/** Changes the given settings. Callers cannot change the plan. */
export async function changeOrganization(context: Context, change: OrganizationChange): Promise<store.OrganizationRow> {
  const columns = Object.entries({
    name: change.name,
    defaultCountry: change.default_country,
    timezone: change.timezone,
    minHoursBetweenCalls: change.min_hours_between_calls,
  });
  const given = columns.filter(([, value]) => value !== undefined);
  if (!given.length) return readOrganization(context);
  const { id } = context.organization;
  const row = await store.updateOrganization(catalog(context.bindings), id, Object.fromEntries(given));
  evictOrganizationAndKeys(id);
  if (change.min_hours_between_calls !== undefined) await publish(context, 'dialing_policy.changed', {});
  return row;
}
