import { z } from 'zod';
import { triggerConfigs, triggerTypes, type TriggerType } from './configs.ts';
import { eventSamples } from './events/event-samples.ts';

export interface TriggerDescription {
  type: TriggerType;
  label: string;
  description: string;
  /** JSON Schema 2020-12 of `config`. */
  config_schema: Record<string, unknown>;
  /** What a run started by it finds in its context. */
  sample_context: Record<string, unknown>;
}

const contact = {
  id: 42,
  first_name: 'Ada',
  last_name: 'Lovelace',
  phone: '+14155550100',
  email: 'ada@example.org',
  tags: [],
  custom_fields: {},
};
const order = { order_id: 'A-17', total: 120.5 };

/** As a run finds it that an event has started: its data stand under `event`, under `data` and at the top level. */
const toEventContext = (type: string, data: Record<string, unknown>) => ({ contact, event: { type, data }, data, ...data });
const toServiceEventContext = (type: string, data: Record<string, unknown> | undefined) =>
  toEventContext(type, { event_type: type, ...data });
const scheduleData = { scheduled_at: '2026-11-20T14:30:00.000Z' };

const triggerTexts: Record<TriggerType, { label: string; description: string; sample_context: Record<string, unknown> }> = {
  contact_event: {
    label: 'Contact event',
    description: 'Starts a run for each event of one of the types that POST /events receives.',
    sample_context: toEventContext('order_placed', order),
  },
  webhook: {
    label: 'Webhook',
    description: 'Starts a run for each request that another system sends to the address of the trigger, checked by its signature.',
    sample_context: {
      contact,
      data: order,
      webhook: { body: order, headers: { 'content-type': 'application/json' }, query: {} },
      ...order,
    },
  },
  schedule: {
    label: 'Schedule',
    description: 'Starts runs at the times of a cron line in a time zone: one, or one for each contact of a list.',
    sample_context: { contact, data: scheduleData, ...scheduleData },
  },
  data_condition: {
    label: 'Contact data',
    description: 'Starts a run when a change makes a contact match a condition that it did not match before.',
    sample_context: toServiceEventContext('contact.updated', eventSamples['contact.updated']),
  },
  event: {
    label: 'Service event',
    description:
      'Starts a run when the service itself reports something, such as a call that is over. The data of each event are in internal_event_samples.',
    sample_context: toServiceEventContext('call.completed', eventSamples['call.completed']),
  },
  manual: {
    label: 'Manual',
    description: 'Starts runs when it is fired through the API, with the given context or for the given contacts.',
    sample_context: { contact, data: {} },
  },
};

export const describeTriggers = (): TriggerDescription[] =>
  triggerTypes.map((type) => {
    const { label, description, sample_context } = triggerTexts[type];
    return { type, label, description, config_schema: z.toJSONSchema(triggerConfigs[type], { io: 'input' }), sample_context };
  });
