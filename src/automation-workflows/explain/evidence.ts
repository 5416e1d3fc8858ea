import type { Context } from '../../accounts/context.ts';
import type { ContactRecord } from '../../contacts/records.ts';
import { latestEventsOfContact, type LatestEvent } from '../../events/latest-of-contact.ts';
import type { TriggerConfig } from '../triggers/configs.ts';
import { latestDeliveries, type LatestDelivery } from '../triggers/delivery-store.ts';
import type { TriggerRow, TriggerType } from '../triggers/store.ts';
import { membershipsIn, type Membership } from './explain-store.ts';

/** All that the rules of the triggers are held against. */
export interface Evidence {
  context: Context;
  contact: ContactRecord;
  isWorkflowActive: boolean;
  /** Epoch ms. */
  now: number;
  /** Of the types that triggers listen to, newest first. */
  events: LatestEvent[];
  /** By trigger. */
  deliveries: Map<number, LatestDelivery>;
  /** By list; a list that is gone is not there. */
  memberships: Map<number, Membership>;
}

export const configOf = <Type extends TriggerType>(trigger: TriggerRow): TriggerConfig<Type> =>
  JSON.parse(trigger.config) as TriggerConfig<Type>;

export async function gatherEvidence(
  context: Context,
  contact: ContactRecord,
  triggers: TriggerRow[],
  isWorkflowActive: boolean,
): Promise<Evidence> {
  const { database, organization } = context;
  const ofType = (type: TriggerType) => triggers.filter((trigger) => trigger.type === type);
  const types = ofType('contact_event').flatMap((trigger) => configOf<'contact_event'>(trigger).event_types);
  const lists = ofType('schedule').flatMap((trigger) => configOf<'schedule'>(trigger).audience?.list_id ?? []);
  const hooks = ofType('webhook').map((trigger) => trigger.id);
  const [events, deliveries, memberships] = await Promise.all([
    latestEventsOfContact(context, contact.id, [...new Set(types)]),
    latestDeliveries(database, organization.id, contact.id, hooks),
    membershipsIn(database, organization.id, contact.id, [...new Set(lists)]),
  ]);
  return {
    context,
    contact,
    isWorkflowActive,
    now: context.clock(),
    events,
    deliveries: new Map(deliveries.map((delivery) => [delivery.trigger_id, delivery])),
    memberships: new Map(memberships.map((membership) => [membership.id, membership])),
  };
}
