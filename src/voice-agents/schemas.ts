import { z } from '@hono/zod-openapi';
import { bodyId, queryBoolean, timestamp, warnings } from '../http/area.ts';
import { listOf, pageQuery } from '../http/pagination.ts';
import { TestResults, TestSessionRecord } from '../simtest/schemas.ts';
import { longestCallSeconds } from './conversation/guards.ts';
import { rowOutcomes } from './dialing/call-outcomes.ts';

const jsonObject = z.record(z.string(), z.unknown());
const name = z.string().trim().min(1, 'Must not be empty').max(200, 'Must have 200 characters or fewer');

// Agents

const definition = jsonObject.openapi({
  description:
    '`{ nodes: [{ id, type, position, data }], edges: [{ id, source, target, data: { label, condition, transition_speech? } }] }` with the node types startCall (one), agentNode, endCall, globalNode and webhook. Secrets in it are shown as a mask; a mask sent back keeps them.',
  example: {
    nodes: [
      {
        id: 'start',
        type: 'startCall',
        data: { prompt: 'Ask {{first_name}} whether they are interested.', greeting: 'Hello {{first_name}}!' },
      },
      { id: 'bye', type: 'endCall', data: { prompt: 'Thank them and say goodbye.' } },
    ],
    edges: [{ id: 'e1', source: 'start', target: 'bye', data: { label: 'answered', condition: 'the person has answered' } }],
  },
});
const configurations = jsonObject.openapi({
  description: `How the agent talks; an unknown key is kept and named in \`warnings\`, null is the default. \`model\`, \`max_call_duration\` (seconds, 300, at most ${longestCallSeconds}), \`max_user_idle_timeout\` (seconds, 10), \`recording_enabled\` (true), \`language\` (such as "en-US"), \`voice\`, \`tts_provider\`, \`transcription_provider\`, \`phrases\` (what it says without asking the model), \`required_tests\` (\`[{ adversary_workflow_id, config }]\`, at most 50: which agent plays the person, and the \`config\` of a test session).`,
  example: { max_call_duration: 600, language: 'en-US', phrases: { goodbye: 'Goodbye, and thank you.' } },
});
const variables = jsonObject.openapi({ description: 'What prompts may use where a call brings no variable of that name' });
const dispositionCodes = z
  .record(z.string().trim().min(1).max(64), z.string().max(500))
  .refine((codes) => Object.keys(codes).length <= 100, 'Must have 100 codes or fewer')
  .openapi({
    description: '`{ code: meaning }`: what a talk may have led to; without any, the usual ones',
    example: { sold: 'They ordered' },
  });

const fields = {
  template_context_variables: variables.nullish(),
  workflow_configurations: configurations.nullish(),
  call_disposition_codes: dispositionCodes.nullish(),
};
export const NewAgentBody = z.object({ name, workflow_definition: definition, ...fields }).openapi('NewVoiceAgent');
export const AgentChangeBody = z
  .object({
    name: name.optional(),
    workflow_definition: definition.optional(),
    ...fields,
    require_verified: z
      .boolean()
      .nullish()
      .openapi({ description: 'Change it only if, as it is then, it passes its `required_tests`; otherwise 409, and nothing is changed' }),
  })
  .openapi('VoiceAgentChange');

export const agentStatuses = ['active', 'archived'] as const;
export const AgentStatusBody = z.object({ status: z.enum(agentStatuses) }).openapi('VoiceAgentStatus');

export const AgentRecord = z
  .object({
    id: z.int(),
    name: z.string(),
    status: z.enum(agentStatuses),
    created_at: timestamp,
    updated_at: timestamp,
    workflow_definition: jsonObject,
    current_definition_id: z.int(),
    template_context_variables: jsonObject,
    call_disposition_codes: jsonObject,
    total_runs: z.int(),
    workflow_configurations: jsonObject,
    warnings,
  })
  .openapi('VoiceAgent');

export const AgentQuery = z.object({
  ...pageQuery,
  status: z.enum(agentStatuses).default('active'),
  search: z.string().trim().max(200).optional().openapi({ description: 'Part of the name' }),
});
export const AgentList = listOf('workflows', AgentRecord);

const problem = z.object({ loc: z.array(z.string()), msg: z.string(), type: z.string() });
export const AgentValidationBody = z.object({ workflow_definition: definition.nullish() }).openapi('VoiceAgentProposal');
export const AgentValidation = z.object({ valid: z.boolean(), errors: z.array(problem), warnings }).openapi('VoiceAgentValidation');

export const AgentVerification = z
  .object({
    workflow_id: z.int(),
    definition_id: z.int(),
    passed: z.boolean().nullable().openapi({
      description: 'null: no test has failed, and not all have ended; their sessions go on, and `GET` of them tells their ends',
    }),
    tests: z.array(
      z.object({
        index: z.int().openapi({ description: 'Its place in `required_tests`, from 0' }),
        test_session_id: z.int().nullable().openapi({ description: 'null: it could not be run, and `error` tells why' }),
        adversary_workflow_id: z.int(),
        status: TestSessionRecord.shape.status,
        outcome: TestResults.shape.outcome.nullable(),
        error: z.string().nullable(),
        checks: TestResults.shape.checks,
      }),
    ),
  })
  .openapi('VoiceAgentVerification');

// Runs

export const runModes = ['twilio', 'telnyx', 'textchat', 'simtest'] as const;

export const StartRunBody = z
  .object({
    mode: z.enum(['telephony', 'textchat']),
    phone: z.string().max(100).nullish().openapi({ description: 'Whom to call; or contact_id' }),
    contact_id: bodyId.nullish().openapi({ description: 'Whom to call, at the phone of the contact' }),
    initial_context: jsonObject.nullish().openapi({ description: 'Variables of this run, for prompts and tools' }),
    live_tools: z
      .boolean()
      .nullish()
      .openapi({ description: 'Of a text chat: HTTP tools are called. Otherwise they answer that they were not' }),
  })
  .superRefine(({ mode, phone, contact_id: contactId }, context) => {
    const given = [phone, contactId].filter((one) => one != null).length;
    if (mode !== 'telephony' || given === 1) return;
    const message =
      given === 0
        ? 'Whom to call is missing: send "phone" or "contact_id"'
        : 'Send "phone" or "contact_id", not both: one person is called';
    context.addIssue({ code: 'custom', path: ['phone'], message });
  })
  .openapi('StartVoiceAgentRun');

const event = z.object({ type: z.string(), at: timestamp, node_id: z.string(), payload: jsonObject });
const statusCallback = z.object({ status: z.string(), at: timestamp, details: jsonObject });

export const RunRecordSchema = z
  .object({
    id: z.int(),
    workflow_id: z.int(),
    name: z.string(),
    mode: z.enum(runModes),
    created_at: timestamp,
    is_completed: z.boolean().openapi({ description: 'Line and talk are over, and everything of them is recorded' }),
    transcript_url: z.string().nullable().openapi({ description: 'Needs credentials; `/download` gives a public link' }),
    recording_url: z.string().nullable().openapi({ description: 'Needs credentials; `/download` gives a public link' }),
    cost_info: jsonObject.openapi({ description: '`{ llm_tokens: { prompt, completion }, call_duration_seconds, total_cost_usd }`' }),
    definition_id: z.int(),
    initial_context: jsonObject,
    gathered_context: jsonObject.openapi({
      description:
        '`{ call_status, call_disposition, call_tags, nodes_visited, extracted_variables }` and each extracted variable. `call_status` is queued, dialing, ringing or in_progress, then the outcome; in lists it is null while a call is live',
    }),
    call_type: z.enum(['inbound', 'outbound']),
    logs: z.object({ events: z.array(event), status_callbacks: z.array(statusCallback) }).openapi({
      description: 'What happened, in order. Lists leave it empty; GET of one run has it',
    }),
    annotations: jsonObject.openapi({ description: '`{ summary, sentiment, checks }`' }),
    outcome: z.enum(rowOutcomes).nullable().openapi({ description: 'What the line did; null until it has ended' }),
    reason: z.string().nullable().openapi({ description: '`word: sentence`, where the outcome alone does not say it' }),
    phone: z.string().nullable(),
    contact_id: z.int().nullable(),
    campaign_id: z.int().nullable(),
    automation_run_id: z.int().nullable(),
    completed_at: timestamp.nullable(),
  })
  .openapi('VoiceAgentRun');
export type RunRecord = z.infer<typeof RunRecordSchema>;

export const RunQuery = z.object({
  ...pageQuery,
  is_completed: queryBoolean.optional(),
});
export const RunList = listOf('runs', RunRecordSchema);

// Text chats

export const MessageBody = z
  .object({
    text: z
      .string()
      .max(10_000, 'Must have 10000 characters or fewer')
      .refine((text) => text.trim() !== '', 'Must not be empty'),
    expected_revision: z
      .int()
      .min(0)
      .nullish()
      .openapi({ description: 'The `revision` of the last answer; refused with 409 when the chat has gone on since' }),
  })
  .openapi('ChatMessage');
export const ChatAnswer = z.object({ messages: z.array(jsonObject), revision: z.int(), is_completed: z.boolean() }).openapi('ChatAnswer');

// Artifacts

const artifact = z.enum(['recording', 'transcript']);
export const TranscriptQuery = z.object({ format: z.enum(['text', 'json']).default('text') });
export const DownloadQuery = z.object({
  artifact,
  expires_in: z
    .string()
    .regex(/^\d{1,9}$/, 'Must be a whole number of seconds')
    .transform(Number)
    .pipe(z.int().min(1, 'Must be 1 or more').max(604_800, 'Must be 604800 (7 days) or less'))
    .default(3600)
    .openapi({ type: 'integer', minimum: 1, maximum: 604_800, default: 3600, description: 'Seconds for which the link works' }),
});
export const DownloadLink = z.object({ url: z.string(), expires_at: timestamp }).openapi('DownloadLink');
export const SignedArtifactParams = z.object({ organization_id: z.string(), run_id: z.string(), artifact: z.string() });
