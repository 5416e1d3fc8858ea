import type { testEventType, WebhookEventType } from './event-paths.ts';

/** The moment of the examples, epoch ms. */
export const exampleMoment = Date.UTC(2026, 10, 20, 10, 15, 30);

const startedAt = exampleMoment - 95_000;

const call = {
  run_id: 42,
  workflow_id: 3,
  contact_id: 7,
  campaign_id: 5,
  automation_run_id: null,
  call_type: 'outbound',
  mode: 'twilio',
  outcome: 'completed',
  reason: null,
  disposition: 'interested',
  transfers: [
    {
      request: 1,
      to: '+14155550142',
      mode: 'warm',
      is_fallback: false,
      state: 'completed',
      requested_at: '2026-11-20T10:14:20.000Z',
      answered_at: '2026-11-20T10:14:31.000Z',
      seconds: 59,
      reason: null,
    },
  ],
  started_at: startedAt,
  completed_at: exampleMoment,
};
const campaign = {
  campaign_id: 5,
  workflow_id: 3,
  name: 'Renewals in November',
  state: 'completed',
  state_reason: null,
  total_rows: 300,
  completed_rows: 281,
  failed_rows: 12,
  skipped_rows: 7,
  started_at: startedAt,
  completed_at: exampleMoment,
};
const run = {
  run_id: 91,
  automation_workflow_id: 4,
  workflow_version: 2,
  trigger_id: 6,
  contact_id: 7,
  state: 'completed',
  outcome: 'completed',
  error_type: null,
  started_at: startedAt,
  completed_at: exampleMoment,
};
const document = {
  document_uuid: '0b6f9f9e-5d0a-4f5e-9a43-5b0f2f6d2f11',
  filename: 'returns-policy.pdf',
  mime_type: 'application/pdf',
  file_size_bytes: 48_213,
  total_chunks: 12,
  processing_error: null,
};
const test = {
  test_session_id: 8,
  name: 'A caller who is in a hurry',
  load_test_id: null,
  actor_workflow_id: 3,
  adversary_workflow_id: 2,
  status: 'completed',
  outcome: 'passed',
  error: null,
  started_at: startedAt,
  completed_at: exampleMoment,
};

/** An example of each type of event, as it is stored. */
export const eventExamples: Record<WebhookEventType | typeof testEventType, Record<string, unknown>> = {
  'call.completed': call,
  'chat.completed': { ...call, campaign_id: null, call_type: 'inbound', mode: 'textchat', disposition: null, transfers: [] },
  'campaign.completed': campaign,
  'campaign.paused': { ...campaign, state: 'paused', state_reason: 'circuit_breaker', completed_rows: 20, completed_at: null },
  'campaign.failed': { ...campaign, state: 'failed', state_reason: 'source_unreadable: the sheet cannot be read', completed_rows: 0 },
  'campaign.cancelled': { ...campaign, state: 'cancelled', completed_rows: 20 },
  'run.completed': run,
  'run.failed': { ...run, state: 'failed', outcome: null, error_type: 'http_request_failed' },
  'run.cancelled': { ...run, state: 'cancelled', outcome: null },
  'message.failed': {
    message_id: 12,
    provider: 'provider_b',
    provider_message_id: 'wamid.7oQZ',
    kind: 'template',
    template_name: 'order_update',
    contact_id: 7,
    automation_run_id: 91,
    failure_class: 'not_on_channel',
    failure_code: '131026',
  },
  'document.completed': document,
  'document.failed': { ...document, total_chunks: 0, processing_error: 'The file has a password; upload it without one' },
  'integration.disconnected': {
    integration_id: 'ca_9xLq',
    provider: 'sheet',
    reason: 'The grant was revoked at Google',
    disconnected_at: null,
  },
  'integration.sync_failed': { integration_id: 'ca_9xLq', provider: 'sheet', sync_id: 31, reason: 'The sheet was deleted; select another' },
  'test.completed': test,
  'test.failed': { ...test, status: 'failed', outcome: null, error: 'The language model did not answer' },
  'load_test.completed': {
    load_test_id: 2,
    name: 'A busy morning',
    actor_workflow_id: 3,
    adversary_workflow_id: 2,
    status: 'completed',
    test_count: 100,
    completed_at: exampleMoment,
  },
  'suppression.added': { suppression_id: 9, phone: '+14155550123', reason: 'do_not_call', source: 'manual', until_at: null },
  'trigger.failed': { trigger_id: 4, automation_workflow_id: 2, name: 'Large orders', trigger_type: 'contact_event' },
  'record.given_up': { kind: 'event', record_id: '8123' },
  'webhook_endpoint.disabled': {
    webhook_endpoint_id: 1,
    reason: 'gone: the receiver answered 410, which says that it wants no more webhooks; resume the endpoint to send again',
    disabled_at: exampleMoment,
  },
  'webhook_endpoint.test': { webhook_endpoint_id: 1 },
};
