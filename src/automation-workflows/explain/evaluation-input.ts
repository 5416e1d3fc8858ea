import type { Context } from '../../context.ts';
import type { ContactRecord } from '../../contacts/contacts/records.ts';
import { findLatestEvents, type LatestEvent } from '../../events/latest-events.ts';
import { loadAdmissionFacts, type AdmissionFacts } from '../runs/admission/store.ts';
import type { TriggerConfig } from '../triggers/configs.ts';
import { findLatestDeliveries, type LatestDelivery } from '../triggers/webhooks/store.ts';
import type { TriggerRow, TriggerType } from '../triggers/store.ts';
import { findMemberships, type ListMembership } from './store.ts';

/** All that the rules of the triggers are held against. */
export interface EvaluationInput {
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
  memberships: Map<number, ListMembership>;
}

export const readTriggerConfig = <Type extends TriggerType>(trigger: TriggerRow): TriggerConfig<Type> =>
  JSON.parse(trigger.config) as TriggerConfig<Type>;

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

/** What decides about each entry key. The key null is always asked for, and stands for a run without one. */
export async function loadEntryKeyFacts(
  { database, organization }: Context,
  run: { workflowId: number; contactId: number; limitsReentry: boolean },
  keys: (string | null)[],
): Promise<Map<string | null, AdmissionFacts>> {
  const asked = [...new Set([null, ...keys])];
  const found = await loadAdmissionFacts(
    database,
    organization.id,
    asked.map((key, index) => ({
      dedup_key: String(index),
      workflow_id: run.workflowId,
      trigger_id: null,
      // Without a rule of re-entry nobody asks for earlier runs, and a contact may have many.
      contact_id: run.limitsReentry && key !== null ? run.contactId : null,
      entry_key: key,
      depth: 0,
    })),
  );
  return new Map(found.map((facts) => [asked[Number(facts.dedup_key)]!, facts]));
}
