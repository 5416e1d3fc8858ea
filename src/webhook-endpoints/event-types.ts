import { z } from '@hono/zod-openapi';
import { timestamp } from '../http/router.ts';
import { testEventType, type WebhookEventType } from './event-paths.ts';

const id = (of: string) => z.int().describe(`Id of the ${of} in this API.`);
const optionalId = (of: string) => z.int().nullable().describe(`Id of the ${of} in this API; null: there is none.`);
const text = (meaning: string) => z.string().describe(meaning);
const optionalText = (meaning: string) => z.string().nullable().describe(meaning);
const moment = (meaning: string) => timestamp.nullable().describe(`${meaning}, ISO 8601 in UTC; null: never.`);
const count = (meaning: string) => z.int().describe(meaning);

const startedAt = moment('When it began');
const completedAt = moment('When it ended');

const transfer = z
  .object({
    request: z.int().optional().describe('Which request of the agent it answers, from 1; a fallback has that of the try before it.'),
    to: text('Phone number in E.164 or SIP address of the human.'),
    mode: text('`cold`, or `warm`: the human was to get a summary first.'),
    is_fallback: z.boolean().describe('Whether it went to the human to fall back on.'),
    state: text('`completed`: the human has taken the call; `failed`: nobody has.'),
    requested_at: timestamp.describe('When the agent asked for it, ISO 8601 in UTC.'),
    answered_at: moment('When the human picked up'),
    seconds: z.int().nullable().describe('For how long the human had the call; null: nobody took it.'),
    summary_message: z
      .object({
        to: text('Phone number that got the summary.'),
        state: text('`sent`: the messaging provider has taken it; `failed`: it has not.'),
        message_id: optionalText('Id at the provider.'),
        reason: optionalText('Why it was not sent.'),
      })
      .optional()
      .describe('The message with the summary; absent: none was to be sent.'),
    reason: optionalText('Why nobody took it, such as `busy`, `no_answer`, `machine` or `closed`; null: somebody did.'),
  })
  .describe('A try to hand the caller to a human.');

const call = {
  run_id: id('call or chat'),
  workflow_id: id('voice agent'),
  contact_id: optionalId('contact'),
  campaign_id: optionalId('campaign that asked for it'),
  automation_run_id: optionalId('run of a journey that asked for it'),
  call_type: text('`inbound` or `outbound`.'),
  mode: text('The carrier, or `textchat`.'),
  outcome: text('`completed`, `busy`, `no_answer`, `voicemail`, `failed` or `cancelled`.'),
  reason: optionalText('A word and a sentence, where the outcome alone does not tell the next step.'),
  disposition: optionalText('The result of the talk, in a code of the agent; null without a talk.'),
  transfers: z.array(transfer).describe('The tries to hand the caller to a human, in order; mostly empty.'),
  started_at: startedAt,
  completed_at: completedAt,
};

const campaign = {
  campaign_id: id('campaign'),
  workflow_id: id('voice agent that calls'),
  name: text('Its name for people.'),
  state: text('`paused`, `completed`, `failed` or `cancelled`.'),
  state_reason: optionalText('Why it is in this state; null: a person or its end led there.'),
  total_rows: count('How many rows its source has.'),
  completed_rows: count('How many of them have ended with an outcome.'),
  failed_rows: count('How many of them have failed.'),
  skipped_rows: count('How many of them were not called.'),
  started_at: startedAt,
  completed_at: completedAt,
};

const run = {
  run_id: id('run'),
  automation_workflow_id: id('journey'),
  workflow_version: count('The version of the journey that it followed.'),
  trigger_id: optionalId('trigger that started it'),
  contact_id: optionalId('contact'),
  state: text('`completed`, `failed` or `cancelled`.'),
  outcome: optionalText('The outcome that its end node names.'),
  error_type: optionalText('The kind of the error that ended it; the record has the message.'),
  started_at: startedAt,
  completed_at: completedAt,
};

const document = {
  document_uuid: text('Uuid of the document.'),
  filename: text('The name of the uploaded file.'),
  mime_type: text('The type of its content.'),
  file_size_bytes: count('How large the file is.'),
  total_chunks: count('How many passages search finds.'),
  processing_error: optionalText('Why it cannot be searched, and what to do; null when it can.'),
};

const test = {
  test_session_id: id('conversation test'),
  name: text('Its name for people.'),
  load_test_id: optionalId('load test that it is part of'),
  actor_workflow_id: id('voice agent under test'),
  adversary_workflow_id: id('voice agent that plays the person'),
  status: text('`completed`, `stopped` or `failed`.'),
  outcome: optionalText('What the checks found; null without results.'),
  error: optionalText('Why there is no result; null when there is one.'),
  started_at: startedAt,
  completed_at: completedAt,
};

interface EventType {
  /** What has happened. */
  description: string;
  /** The fields of `data`, without `record_url`. */
  data: Record<string, z.ZodType>;
}

/** Each type of event: its meaning and its fields. For the OpenAPI document alone, which the Worker serves as it was generated. */
export const eventTypes: Record<WebhookEventType | typeof testEventType, EventType> = {
  'call.completed': {
    description: 'A call has ended, whatever its outcome. All that follows a call, such as its transcript, can be read.',
    data: call,
  },
  'chat.completed': { description: 'A text chat with a voice agent has ended.', data: call },
  'campaign.completed': { description: 'All rows of a campaign have ended.', data: campaign },
  'campaign.paused': {
    description: 'A campaign was paused, by a person, its circuit breaker or a problem; `state_reason` tells which.',
    data: campaign,
  },
  'campaign.failed': { description: 'A campaign cannot continue.', data: campaign },
  'campaign.cancelled': { description: 'A campaign was cancelled.', data: campaign },
  'run.completed': { description: 'A run of a journey has reached its end. Test runs are not reported.', data: run },
  'run.failed': { description: 'A run of a journey has failed, once more with each retry that fails.', data: run },
  'run.cancelled': { description: 'A run of a journey was stopped.', data: run },
  'message.failed': {
    description: 'A message to a person has failed, at once or by the report of the provider.',
    data: {
      message_id: id('message'),
      provider: text('The messaging provider.'),
      provider_message_id: optionalText('The id of the message at the provider; null: it has none.'),
      kind: text('`template` or `text`.'),
      template_name: optionalText('The template that was sent; null for a text.'),
      contact_id: optionalId('contact'),
      automation_run_id: optionalId('run of a journey that sent it'),
      failure_class: optionalText('The kind of failure, as in the log of messages.'),
      failure_code: optionalText('The code of the provider.'),
    },
  },
  'document.completed': { description: 'A document can be searched.', data: document },
  'document.failed': { description: 'A document could not be processed.', data: document },
  'integration.disconnected': {
    description: 'A connection to a tool has ended: a person ended it, or the tool no longer accepts it.',
    data: {
      integration_id: text('Id of the connection.'),
      provider: text('The kind of tool, such as `sheet`.'),
      reason: optionalText('Why the tool does not accept it; null when a person ended it.'),
      disconnected_at: moment('When a person ended it'),
    },
  },
  'integration.sync_failed': {
    description: 'The sync of a data source has failed; the next one tries again.',
    data: {
      integration_id: text('Id of the connection.'),
      provider: text('The kind of tool, such as `sheet`.'),
      sync_id: id('sync'),
      reason: optionalText('Why, and what to do.'),
    },
  },
  'test.completed': {
    description: 'A conversation test has ended with a result, or was stopped. Also those of load tests.',
    data: test,
  },
  'test.failed': { description: 'A conversation test has ended without a result.', data: test },
  'load_test.completed': {
    description: 'All conversations of a load test have ended.',
    data: {
      load_test_id: id('load test'),
      name: text('Its name for people.'),
      actor_workflow_id: id('voice agent under test'),
      adversary_workflow_id: id('voice agent that plays the person'),
      status: text('`completed`, or `stopped` by a person.'),
      test_count: count('How many conversations it has.'),
      completed_at: completedAt,
    },
  },
  'suppression.added': {
    description:
      'A phone number must not be called any more, whoever said so. A longer time for a number that is suppressed is not reported.',
    data: {
      suppression_id: id('suppression'),
      phone: text('The phone number in E.164.'),
      reason: text('Why it must not be called.'),
      source: text('`manual`, `call` or `import`: who said so.'),
      until_at: moment('When calls are allowed again'),
    },
  },
  'trigger.failed': {
    description:
      'What starts a journey has begun to fail: its filter cannot be evaluated, the plan refuses its runs, or its schedule has stopped. Told again once it has been saved anew and fails again.',
    data: {
      trigger_id: id('trigger'),
      automation_workflow_id: id('journey'),
      name: text('Its name for people.'),
      trigger_type: text('The type of the trigger, such as `contact_event`, `webhook` or `schedule`.'),
    },
  },
  'record.given_up': {
    description: 'An accepted record could not be handled for a day. `GET /operations/stuck` says why, and tries it again.',
    data: {
      kind: text('`event`, `delivery`, `schedule_fire` or `cleanup`.'),
      record_id: text('Id of the record within its kind.'),
    },
  },
  'webhook_endpoint.disabled': {
    description: 'The service has disabled a webhook endpoint, which is told to the other endpoints.',
    data: {
      webhook_endpoint_id: id('endpoint that is disabled'),
      reason: text('What led to it, and what to do.'),
      disabled_at: moment('When it was disabled'),
    },
  },
  [testEventType]: {
    description: 'A person tests an endpoint with `POST /webhook-endpoints/{endpoint_id}/test`. It comes to every endpoint that is tested.',
    data: { webhook_endpoint_id: id('endpoint under test') },
  },
};
