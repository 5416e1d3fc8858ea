import { z } from '@hono/zod-openapi';
import { createdAt, queryId, timestamp } from '../../http/router.ts';
import { dateOrInstant } from '../../http/date-range.ts';
import { exportQuery } from '../../http/export-query.ts';
import { listSchema, pageQuery } from '../../http/pagination.ts';
import { rowOutcomes } from '../attempt/outcomes.ts';
import { callSorts } from './call-filter.ts';
import { transferModes, transferStates } from '../records/schemas.ts';

const artifactUrl = (what: string) =>
  z.string().nullable().describe(`Address of the ${what}, which needs credentials; null: there is none, or not yet.`);

/** What came of a call. Rows of campaigns show the same fields of their calls. */
export const callResultFields = {
  disposition: z.string().nullable().describe('The result of the talk, in a code of the agent; null without one.'),
  answered_by: z
    .enum(['person', 'machine'])
    .nullable()
    .describe('Who answered, by machine detection of the carrier; null: it did not say, or nobody answered.'),
  summary: z.string().nullable().describe('The talk in a few sentences, written by the model; null without a talk.'),
  sentiment: z.string().nullable().describe('The mood of the person, written by the model; null without a talk.'),
  extracted_variables: z.record(z.string(), z.unknown()).describe('What the agent took from the talk, by the names of its variables.'),
  started_at: timestamp.nullable().describe('When somebody answered, ISO 8601 in UTC; null: nobody did.'),
  ended_at: timestamp.nullable().describe('When it ended, ISO 8601 in UTC; null while it is live.'),
};

/** The human to whom a caller was handed. Rows of campaigns show the same fields of their calls. */
export const callTransferFields = {
  transferred_to: z
    .string()
    .nullable()
    .describe(
      'Phone number or SIP address of the human to whom the caller was handed last, whether or not they took the call; null: to nobody.',
    ),
  transfer_mode: z.enum(transferModes).nullable().describe('`warm`: the human was to get a summary first; `cold`: none; null: to nobody.'),
  transfer_is_fallback: z.boolean().nullable().describe('Whether that human was the one to fall back on; null: to nobody.'),
  transfer_state: z
    .enum(transferStates)
    .nullable()
    .describe('What came of it: `completed` where the human has taken the call; null: to nobody.'),
  transfer_answered_at: timestamp.nullable().describe('When the human picked up, ISO 8601 in UTC; null: nobody did.'),
  transfer_seconds: z.int().nullable().describe('Seconds that the human had the call; null: nobody took it.'),
  transfer_reason: z.string().nullable().describe('Why nobody took it, such as `busy`, `no_answer`, `machine` or `closed`; else null.'),
};

export const CallRecordSchema = z
  .object({
    id: z.int().describe('Id of the call; `run_id` in paths.'),
    workflow_id: z.int().describe('The voice agent.'),
    workflow_name: z.string().describe('Name of the voice agent.'),
    direction: z.enum(['inbound', 'outbound']).describe('Who called: `inbound` the person, `outbound` the agent.'),
    status: z.enum(['live', 'ended']).describe('`live`: queued, ringing or talking; `ended`: everything of it is recorded.'),
    outcome: z.enum(rowOutcomes).nullable().describe('What the line did; null while it is live. `completed`: somebody answered.'),
    reason: z.string().nullable().describe('Where the outcome alone does not say it: a word, a colon and a sentence; else null.'),
    phone: z.string().nullable().describe('Phone number of the person in E.164; null once the contact is deleted.'),
    own_number: z.string().nullable().describe('The number of the organization, E.164; null: it was not dialled.'),
    contact_id: z.int().nullable().describe('The contact; null: none has the number.'),
    campaign_id: z.int().nullable().describe('The campaign that called; null: none.'),
    automation_run_id: z.int().nullable().describe('The journey run that called; null: none.'),
    automation_workflow_id: z.int().nullable().describe('The journey of that run; null: none.'),
    ...callResultFields,
    talk_seconds: z
      .int()
      .nullable()
      .describe('Seconds from the answer to the end, where a person talked with the agent; else 0. Null while it is live.'),
    ...callTransferFields,
    cost_usd: z.number().nullable().describe('Cost of the model in US dollars; null: its price is unknown, or the call is live.'),
    created_at: createdAt,
    run_url: z.string().describe('Address of the call with its logs, which needs credentials.'),
    transcript_url: artifactUrl('transcript'),
    recording_url: artifactUrl('recording'),
  })
  .describe('A telephone call, and what came of it.')
  .openapi('Call');
export type CallRecord = z.infer<typeof CallRecordSchema>;

const integerFrom0 = z
  .string()
  .regex(/^\d{1,9}$/, 'Must be a whole number of seconds')
  .transform(Number);

const filters = {
  workflow_id: queryId.optional().describe('Only calls of this voice agent.'),
  campaign_id: queryId.optional().describe('Only calls of this campaign.'),
  automation_workflow_id: queryId.optional().describe('Only calls that runs of this journey made.'),
  automation_run_id: queryId.optional().describe('Only calls that this run of a journey made.'),
  contact_id: queryId.optional().describe('Only calls with this contact.'),
  phone: z.string().max(100).optional().describe('Only calls with this number of a person, in any usual spelling.'),
  own_number: z.string().max(100).optional().describe('Only calls from or to this number of the organization.'),
  direction: z.enum(['inbound', 'outbound']).optional().describe('Only calls that a person made, or that an agent made.'),
  status: z.enum(['live', 'ended']).optional().describe('Only calls that are live, or that have ended.'),
  outcome: z.enum(rowOutcomes).optional().describe('Only calls with this outcome.'),
  disposition: z.string().max(200).optional().describe('Only calls with this disposition, letter by letter.'),
  start_date: dateOrInstant.optional().openapi({
    description: 'Only calls asked for at or after this: a date (from its beginning in UTC) or an ISO 8601 time.',
    example: '2026-11-01',
  }),
  end_date: dateOrInstant.optional().openapi({
    description: 'Only calls asked for at or before this: a date (to its end in UTC) or an ISO 8601 time.',
    example: '2026-11-30',
  }),
  min_talk_seconds: integerFrom0.optional().openapi({
    type: 'integer',
    minimum: 0,
    description: 'Only calls on which a person and the agent talked for at least so long.',
  }),
  text: z
    .string()
    .trim()
    .max(500)
    .optional()
    .describe('Only calls in whose transcript or summary all of these words are, in any order and in their usual forms.'),
};

const sort = z
  .enum(callSorts)
  .default('newest')
  .openapi({ description: '`newest` or `oldest` first; `longest_talk` first, where calls without a talk are left out.' });

export const CallQuery = z.object({ ...pageQuery, ...filters, sort });
export type CallQuery = z.output<typeof CallQuery>;

export const CallExportQuery = z.object({
  ...filters,
  sort,
  ...exportQuery(
    'All fields of a call when left out. `extracted_variables.{name}` is a column for one of the extracted variables, which otherwise stand in one column.',
  ),
});
export type CallExportQuery = z.output<typeof CallExportQuery>;

export const CallList = listSchema('calls', CallRecordSchema, 'in the order that was asked for');
