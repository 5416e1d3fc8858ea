import type { Context } from '../../context.ts';
import type { ContactRecord } from '../../contacts/contacts/records.ts';
import { findLatestEvents, type LatestEvent } from '../../events/latest-events.ts';
import { loadAdmissionFacts, type AdmissionFacts } from '../runs/admission/store.ts';
import type { TriggerConfig, TriggerType } from '../triggers/configs.ts';
import { findLatestDeliveries, type LatestDelivery } from '../triggers/webhooks/store.ts';
import type { TriggerRow } from '../triggers/store.ts';
import { findMemberships, type ListMembership } from './store.ts';

/** The data that the rules of all triggers are evaluated with. */
export interface EvaluationInput {
  context: Context;
  contact: ContactRecord;
  isWorkflowActive: boolean;
  /** Epoch ms. */
  now: number;
  /** The contact's latest event of each type that triggers listen to, newest first. */
  events: LatestEvent[];
  /** The contact's latest delivery to each webhook trigger, by trigger id. */
  deliveries: Map<number, LatestDelivery>;
  /** By list id; deleted lists are left out. */
  memberships: Map<number, ListMembership>;
}

export const readTriggerConfig = <Type extends TriggerType>(trigger: TriggerRow): TriggerConfig<Type> =>
  JSON.parse(trigger.config) as TriggerConfig<Type>;

/** Loads the contact's latest events and deliveries, and its memberships in the lists that schedules name. */
export async function loadEvaluationInput(
  context: Context,
  contact: ContactRecord,
  triggers: TriggerRow[],
  isWorkflowActive: boolean,
): Promise<EvaluationInput> {
  const { database, organization } = context;
  const ofType = (type: TriggerType) => triggers.filter((trigger) => trigger.type === type);
  const types = ofType('contact_event').flatMap((trigger) => readTriggerConfig<'contact_event'>(trigger).event_types);
  const lists = ofType('schedule').flatMap((trigger) => readTriggerConfig<'schedule'>(trigger).audience?.list_id ?? []);
  const hooks = ofType('webhook').map((trigger) => trigger.id);
  const [events, deliveries, memberships] = await Promise.all([
    findLatestEvents(context, contact.id, [...new Set(types)]),
    findLatestDeliveries(database, organization.id, contact.id, hooks),
    findMemberships(database, organization.id, contact.id, [...new Set(lists)]),
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

/** The facts that the rules of admission need, by entry key. The key null is always there: the facts of a run without entry key. */
export async function loadEntryKeyFacts(
  { database, organization }: Context,
  run: { workflowId: number; contactId: number; limitsReentry: boolean },
  keys: (string | null)[],
): Promise<Map<string | null, AdmissionFacts>> {
  const wanted = [...new Set([null, ...keys])];
  const found = await loadAdmissionFacts(
    database,
    organization.id,
    wanted.map((key, index) => ({
      dedup_key: String(index),
      workflow_id: run.workflowId,
      trigger_id: null,
      // Only a rule of re-entry needs the contact's earlier runs, which may be many.
      contact_id: run.limitsReentry && key !== null ? run.contactId : null,
      entry_key: key,
      depth: 0,
    })),
  );
  return new Map(found.map((facts) => [wanted[Number(facts.dedup_key)]!, facts]));
}
