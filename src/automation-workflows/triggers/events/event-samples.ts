import type { internalEvents } from '../../internal-events.ts';

type EventName = (typeof internalEvents)[number];

const contactData = { contact_id: 42, changed_fields: ['custom_fields'] };
const documentData = {
  document_id: 9,
  document_uuid: '7a0c9f9e-64a5-4a55-9f0c-0d9b8ff5c2a1',
  filename: 'handbook.pdf',
  mime_type: 'application/pdf',
};
const runData = { run_id: 7, automation_workflow_id: 3, workflow_name: 'Welcome' };

/** Of what the service reports, the data of each event. */
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
