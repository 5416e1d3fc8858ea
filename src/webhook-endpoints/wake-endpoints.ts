import { LRUCache } from 'lru-cache';
import type { Context } from '../context.ts';
import { lazily } from '../library/lazily.ts';
import { listActiveEndpoints } from './endpoints/store.ts';
import { callWebhookEndpointObject } from './rpc.ts';

interface Listener {
  id: number;
  /** Null: all types. */
  events: string[] | null;
}

/** For so long an isolate may not know of a new endpoint, whose first events the minute tick then has sent. */
const cacheTtlMs = 30_000;
const listenersByOrganization = lazily(() => new LRUCache<number, { listeners: Listener[]; until: number }>({ max: 10_000 }));

/** Has the endpoints that want an event of this type look for messages, soon after this call. A wake that is lost is made up for by the tick. */
export async function wakeWebhookEndpoints(context: Context, type: string): Promise<void> {
  for (const { id, events } of await findListeners(context)) if (events === null || events.includes(type)) wakeEndpoint(context, id);
}

/** Has an endpoint's object look for messages, soon after this call. */
export function wakeEndpoint({ bindings, organization, defer }: Context, id: number): void {
  defer(callWebhookEndpointObject(bindings, organization.id, id, (object) => object.wake(organization.id, id)));
}

/** Makes this isolate read the organization's endpoints again. */
export function forgetListeners(organizationId: number): void {
  listenersByOrganization().delete(organizationId);
}

async function findListeners({ database, organization, clock }: Context): Promise<Listener[]> {
  const now = clock();
  const known = listenersByOrganization().get(organization.id);
  if (known && known.until > now && known.until <= now + cacheTtlMs) return known.listeners;
  const rows = await listActiveEndpoints(database, organization.id);
  const listeners = rows.map(({ id, events }) => ({ id, events: events === null ? null : (JSON.parse(events) as string[]) }));
  listenersByOrganization().set(organization.id, { listeners, until: now + cacheTtlMs });
  return listeners;
}
