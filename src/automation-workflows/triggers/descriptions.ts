import { z } from 'zod';
import { triggerConfigs, triggerTypes, type TriggerType } from './configs.ts';
import type { internalEvents } from '../internal-events.ts';

type EventName = (typeof internalEvents)[number];

const contactData = { contact_id: 42, changed_fields: ['custom_fields'] };
const documentData = {
  document_id: 9,
  document_uuid: '7a0c9f9e-64a5-4a55-9f0c-0d9b8ff5c2a1',
  filename: 'handbook.pdf',
  mime_type: 'application/pdf',
};
const runData = { run_id: 7, automation_workflow_id: 3, workflow_name: 'Welcome' };

/** Sample data of each internal event. */
export const eventSamples: Record<EventName, Record<string, unknown>> = {
  'contact.created': { ...contactData, changed_fields: ['phone', 'first_name'] },
  'contact.updated': contactData,
  'call.completed': {
    call_run_id: 15,
    workflow_id: 12,
    workflow_name: 'Greeter',
    outcome: 'completed',
    reason: null,
    disposition: 'interested',
    extracted_variables: { budget: 900 },
    summary: 'Wants to see the offer in writing.',
    phone: '+14155550100',
    campaign_id: null,
    automation_run_id: 7,
    duration_seconds: 48,
  },
  'campaign.completed': {
    campaign_id: 4,
    campaign_name: 'Spring offer',
    workflow_id: 12,
    total_rows: 100,
    processed_rows: 100,
    completed_rows: 71,
    failed_rows: 25,
    skipped_rows: 4,
    in_flight: 0,
    outcomes: { completed: 71, busy: 6, no_answer: 10, voicemail: 7, failed: 2, cancelled: 0 },
  },
  'document.processed': { ...documentData, total_chunks: 42, file_size_bytes: 183_204 },
  'document.failed': {
    ...documentData,
    processing_error: 'The file is protected by a password; save it without one and upload it again',
  },
  'run.completed': { ...runData, state: 'completed', outcome: 'done', error: null },
  'run.failed': {
    ...runData,
    state: 'failed',
    outcome: null,
    error: { node_id: 'tell', type: 'http_status', message: 'The server answered 503', attempt: 3 },
  },
};

export interface TriggerDescription {
  type: TriggerType;
  label: string;
  description: string;
  /** JSON Schema 2020-12 of `config`. */
  config_schema: Record<string, unknown>;
  /** The context of a run that such a trigger starts. */
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

/** The context of a run that an event starts: the data stand in `event`, in `data` and at the top level. */
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

/** The trigger types as a form for triggers shows them. */
export const describeTriggers = (): TriggerDescription[] =>
  triggerTypes.map((type) => {
    const { label, description, sample_context } = triggerTexts[type];
    return { type, label, description, config_schema: z.toJSONSchema(triggerConfigs[type], { io: 'input' }), sample_context };
  });
