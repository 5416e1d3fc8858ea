import { z } from '@hono/zod-openapi';
import { bodyId, createdAt, queryBoolean, timestamp } from '../../http/router.ts';
import { listSchema, pageQuery } from '../../http/pagination.ts';
import { rowOutcomes } from '../attempt/outcomes.ts';
import { carrierKeys } from '../../providers/telephony/registry.ts';

const jsonObject = z.record(z.string(), z.unknown());
// Runs

const agentRunModes = [...carrierKeys, 'textchat', 'simtest'] as const;

export const StartRunBody = z
  .object({
    mode: z.enum(['telephony', 'textchat']).describe('`telephony`: call somebody; `textchat`: chat in text, without a telephone.'),
    phone: z
      .string()
      .max(100)
      .nullish()
      .describe('Phone number to call, in any usual spelling. With `telephony` either this or `contact_id`.'),
    contact_id: bodyId.nullish().describe('The contact to call, at its phone; in a chat, the contact that it is with.'),
    initial_context: jsonObject.nullish().describe('Variables of this run, for prompts and tools.'),
    live_tools: z
      .boolean()
      .nullish()
      .describe('In a chat: true has HTTP tools called for real; otherwise they answer that they were not called.'),
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

const event = z.object({
  type: z.string().describe('What happened, in a word.'),
  at: timestamp.describe('When, ISO 8601 in UTC.'),
  node_id: z.string().describe('At which node of the definition.'),
  payload: jsonObject.describe('What more there is to tell, by type.'),
});
const statusCallback = z.object({
  status: z.string().describe('What the carrier said of the call, in its word.'),
  at: timestamp.describe('When it said so, ISO 8601 in UTC.'),
  details: jsonObject.describe('What else it said.'),
});
const artifactUrl = (what: string) =>
  z
    .string()
    .nullable()
    .describe(`Address of the ${what}, which needs credentials; \`/download\` gives a public link. null: there is none.`);

export const transferModes = ['cold', 'warm'] as const;
export const transferStates = ['requested', 'dialing', 'connected', 'completed', 'failed'] as const;
const transfer = z
  .object({
    request: z
      .int()
      .optional()
      .describe('Which request of the agent it answers, from 1: a fallback has the request of the try before it. Absent in old records.'),
    to: z.string().describe('Phone number in E.164 or SIP address of the human.'),
    mode: z.enum(transferModes).describe('`warm`: the human hears a summary before the two are connected.'),
    is_fallback: z.boolean().describe('Whether it is `fallback_to`.'),
    state: z
      .enum(transferStates)
      .describe(
        '`requested`: about to be dialled; `dialing`: rings; `connected`: talks with the caller; `completed`: has talked with the caller; `failed`: has not.',
      ),
    requested_at: timestamp.describe('When the agent asked for it, ISO 8601 in UTC.'),
    answered_at: timestamp.nullable().describe('When the human picked up, ISO 8601 in UTC; null: nobody did.'),
    seconds: z.int().nullable().describe('Seconds from the pick-up to the end; null unless it is completed.'),
    reason: z
      .string()
      .nullable()
      .describe(
        'Why it has failed: `busy`, `no_answer`, `machine` (a mailbox answered), `failed` (with the words of the carrier), `cancelled`, `closed` (outside of the business hours), ' +
          '`not_connected` (the human hung up during the summary), `caller_hung_up`, or `not_a_call` in a chat or test. Else null.',
      ),
    summary_message: z
      .object({
        to: z.string().describe('Phone number that gets the summary, E.164.'),
        state: z
          .enum(['sending', 'sent', 'failed'])
          .describe('`sent`: the messaging provider has taken it, which does not mean delivered.'),
        message_id: z.string().nullable().describe('Id at the provider, by which the log of messages has it; null: not taken.'),
        reason: z.string().nullable().describe('Why it was not sent; null: it was.'),
      })
      .optional()
      .describe('The message with the summary; absent: none was to be sent.'),
  })
  .describe('A try to hand the caller to a human.');

export const AgentRunRecordSchema = z
  .object({
    id: z.int().describe('Id of the call or chat; `run_id` in paths.'),
    workflow_id: z.int().describe('The voice agent.'),
    name: z.string().describe('Name for people: the agent and whom it talks to.'),
    mode: z
      .enum(agentRunModes)
      .describe(
        `${carrierKeys.map((key) => `\`${key}\``).join(' or ')}: a call through this carrier; \`textchat\`: a chat; \`simtest\`: a side of a test.`,
      ),
    created_at: createdAt,
    is_completed: z.boolean().describe('Whether line and talk are over, and everything of them is recorded.'),
    transcript_url: artifactUrl('transcript'),
    recording_url: artifactUrl('recording'),
    cost_info: jsonObject.describe(
      '`llm_tokens` `{ prompt, completion }`, `call_duration_seconds`, and `total_cost_usd`, the cost of the model in US dollars.',
    ),
    definition_id: z.int().describe('The definition of the agent by which it talks.'),
    initial_context: jsonObject.describe('The variables that it began with.'),
    gathered_context: jsonObject.describe(
      'What came of it: `call_status`, which is queued, dialing, ringing or in_progress, then the outcome (null in lists while a call is live), ' +
        '`call_disposition`, `call_tags`, `nodes_visited`, `extracted_variables`, and each extracted variable.',
    ),
    call_type: z.enum(['inbound', 'outbound']).describe('Who called: `inbound` the person, `outbound` the agent.'),
    logs: z
      .object({
        events: z.array(event).describe('What happened in the talk, in order.'),
        status_callbacks: z.array(statusCallback).describe('What the carrier said of the line, in order.'),
      })
      .describe('What happened. Lists leave it empty; GET of one run has it.'),
    annotations: jsonObject.describe('`summary` and `sentiment`, written by the model after the talk (null without one), and `checks`.'),
    transfers: z.array(transfer).describe('The tries to hand the caller to a human, in order; mostly empty.'),
    outcome: z.enum(rowOutcomes).nullable().describe('What the line did; null until it has ended. `completed`: somebody answered.'),
    reason: z
      .string()
      .nullable()
      .describe('Where the outcome alone does not say it: a word, a colon and a sentence. Of a live call, what it waits for. Else null.'),
    phone: z.string().nullable().describe('Phone number of the person in E.164; null in a chat.'),
    contact_id: z.int().nullable().describe('The contact; null: none has the number.'),
    campaign_id: z.int().nullable().describe('The campaign that called; null: none.'),
    automation_run_id: z.int().nullable().describe('The journey run that called; null: none.'),
    completed_at: timestamp.nullable().describe('When it ended, ISO 8601 in UTC; null while it lives.'),
  })
  .describe('A call or chat of a voice agent.')
  .openapi('VoiceAgentRun');
export type AgentRunRecord = z.infer<typeof AgentRunRecordSchema>;

export const AgentRunQuery = z.object({
  ...pageQuery,
  is_completed: queryBoolean.optional().describe('True: only those that have ended; false: only those that have not.'),
});
export const AgentRunList = listSchema('runs', AgentRunRecordSchema);

// Text chats

export const MessageBody = z
  .object({
    text: z
      .string()
      .max(10_000, 'Must have 10000 characters or fewer')
      .refine((text) => text.trim() !== '', 'Must not be empty')
      .describe('What the person says, up to 10,000 characters.'),
    expected_revision: z
      .int()
      .min(0)
      .nullish()
      .describe('The `revision` of the last answer: refused with 409 when the chat has gone on since. Absent or null: not looked at.'),
  })
  .openapi('ChatMessage');
export const ChatAnswer = z
  .object({
    messages: z.array(jsonObject).describe('All that was said so far, in order: `{ role, text, at }`.'),
    revision: z.int().describe('Grows with each message; for `expected_revision`.'),
    is_completed: z.boolean().describe('Whether the chat is over.'),
  })
  .describe('The chat as it is now.')
  .openapi('ChatAnswer');

// Artifacts

const artifact = z.enum(['recording', 'transcript']).describe('Which file.');
export const TranscriptQuery = z.object({
  format: z.enum(['text', 'json']).default('text').describe('`text`: a line for each utterance; `json`: with speakers and times.'),
});
export const DownloadQuery = z.object({
  artifact,
  expires_in: z
    .string()
    .regex(/^\d{1,9}$/, 'Must be a whole number of seconds')
    .transform(Number)
    .pipe(z.int().min(1, 'Must be 1 or more').max(604_800, 'Must be 604800 (7 days) or less'))
    .default(3600)
    .openapi({
      type: 'integer',
      minimum: 1,
      maximum: 604_800,
      default: 3600,
      description: 'Seconds for which the link works, up to 604800 (7 days).',
    }),
});
export const DownloadLink = z
  .object({
    url: z.string().describe('Address of the file, which anybody can open without credentials.'),
    expires_at: timestamp.describe('When it stops working, ISO 8601 in UTC.'),
  })
  .describe('A public link to a file.')
  .openapi('DownloadLink');
export const SignedArtifactParams = z.object({ organization_id: z.string(), run_id: z.string(), artifact: z.string() });
