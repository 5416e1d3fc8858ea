import { percentEncoded } from '../library/text/clean-text.ts';

// Without schemas: the objects of endpoints load this file, and nothing of the routes.

/** The types of events that an endpoint may want. The triggers of the migrations `webhook_endpoints` and `failures_of_triggers_and_records` record them. */
export const webhookEventTypes = [
  'call.completed',
  'chat.completed',
  'campaign.completed',
  'campaign.paused',
  'campaign.failed',
  'campaign.cancelled',
  'run.completed',
  'run.failed',
  'run.cancelled',
  'message.failed',
  'document.completed',
  'document.failed',
  'integration.disconnected',
  'integration.sync_failed',
  'test.completed',
  'test.failed',
  'load_test.completed',
  'suppression.added',
  'trigger.failed',
  'record.given_up',
  'webhook_endpoint.disabled',
] as const;
export type WebhookEventType = (typeof webhookEventTypes)[number];

/** The type of the event that `POST /webhook-endpoints/{id}/test` sends. No endpoint asks for it. */
export const testEventType = 'webhook_endpoint.test';

/** The facts of an event as they are stored. */
type EventData = Record<string, unknown>;

const callPath = (data: EventData) => `/workflow/${data['workflow_id'] as number}/runs/${data['run_id'] as number}`;
const campaignPath = (data: EventData) => `/campaign/${data['campaign_id'] as number}`;
const runPath = (data: EventData) => `/automation-workflows/runs/${data['run_id'] as number}`;
const documentPath = (data: EventData) => `/knowledge-base/documents/${data['document_uuid'] as string}`;
const testPath = (data: EventData) => `/simtest/test-sessions/${data['test_session_id'] as number}`;
const integrationsPath = () => '/integration';
const endpointPath = (data: EventData) => `/webhook-endpoints/${data['webhook_endpoint_id'] as number}`;

/** The path below the base path of the record that an event is of. */
const recordPaths: Record<WebhookEventType | typeof testEventType, (data: EventData) => string> = {
  'call.completed': callPath,
  'chat.completed': callPath,
  'campaign.completed': campaignPath,
  'campaign.paused': campaignPath,
  'campaign.failed': campaignPath,
  'campaign.cancelled': campaignPath,
  'run.completed': runPath,
  'run.failed': runPath,
  'run.cancelled': runPath,
  'message.failed': () => '/organizations/messages?status=failed',
  'document.completed': documentPath,
  'document.failed': documentPath,
  'integration.disconnected': integrationsPath,
  'integration.sync_failed': integrationsPath,
  'test.completed': testPath,
  'test.failed': testPath,
  'load_test.completed': (data) => `/simtest/load-tests/${data['load_test_id'] as number}/stats`,
  'suppression.added': (data) => `/contacts/suppressions?phone=${percentEncoded(data['phone'] as string)}`,
  'trigger.failed': (data) => `/automation-workflows/${data['automation_workflow_id'] as number}/triggers`,
  'record.given_up': (data) => `/operations/stuck?kind=${data['kind'] as string}`,
  'webhook_endpoint.disabled': endpointPath,
  [testEventType]: endpointPath,
};

export const recordPath = (type: string, data: EventData): string => recordPaths[type as keyof typeof recordPaths](data);
