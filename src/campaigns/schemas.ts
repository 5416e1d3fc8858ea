import { z } from '@hono/zod-openapi';
import { cleanLine } from '../contacts/clean-text.ts';
import { bodyId, timestamp, warnings } from '../http/area.ts';
import { listOf, pageQuery } from '../http/pagination.ts';
import { rowOutcomes } from '../voice-agents/dialing/call-outcomes.ts';
import { CircuitBreakerConfig, configChangeFields, RetryConfig, ScheduleConfig } from './configs.ts';
import { rowStates } from './row-states.ts';
import { SourceOptions } from './source/options.ts';
import { redialOutcomes, sourceKinds } from './sources/kinds.ts';
import { uploadLimitBytes } from './sources/upload-store.ts';
import { campaignStates } from './store.ts';

const name = z
  .string('Must be text')
  .transform(cleanLine)
  .refine((text) => text.length >= 1 && text.length <= 200, 'Must have 1 to 200 characters');

export const NewUploadBody = z
  .object({
    filename: z.string('Must be the name of a file').trim().min(1, 'Must be the name of a file').max(500),
    content_type: z.string().max(200).nullish(),
    file_size: z
      .int('Must be a number of bytes')
      .min(0)
      .max(uploadLimitBytes, `A file may have ${uploadLimitBytes} bytes (50 MiB); split it into several campaigns`)
      .nullish()
      .openapi({ description: 'Bytes; says beforehand whether the file is too large' }),
  })
  .openapi('NewCampaignUpload', { example: { filename: 'people.csv', content_type: 'text/csv', file_size: 52_340 } });
export type NewUpload = z.output<typeof NewUploadBody>;

export const UploadTicket = z
  .object({
    upload_url: z.string().openapi({ description: 'PUT the file here, without credentials' }),
    source_id: z.string().openapi({ description: 'For POST /campaign/create' }),
    expires_in: z.int().openapi({ description: 'Seconds' }),
  })
  .openapi('CampaignUpload');

export const UploadReceipt = z
  .object({ status: z.literal('uploaded'), source_id: z.string(), bytes: z.int() })
  .openapi('CampaignUploadReceipt');

const source = {
  source_type: z.enum(sourceKinds),
  source_id: z.string().max(255).openapi({
    description:
      '`csv`: source_id of POST /campaign/upload-url; `contact_list`: id of a list; `sheet`: id of an integration, whose selected sheet is read',
  }),
  source_options: SourceOptions.nullish(),
};

export const NewCampaignBody = z
  .object({
    name,
    workflow_id: bodyId.openapi({ description: 'The voice agent that calls' }),
    ...source,
    ...configChangeFields,
  })
  .openapi('NewCampaign', {
    example: { name: 'Spring', workflow_id: 7, source_type: 'contact_list', source_id: '12', max_concurrency: 5 },
  });
export type NewCampaignInput = z.output<typeof NewCampaignBody>;

export const CampaignPreviewBody = z
  .object(source)
  .describe('The source of a campaign that is not created yet.')
  .openapi('CampaignPreviewRequest', { example: { source_type: 'contact_list', source_id: '12' } });
export type CampaignPreviewInput = z.output<typeof CampaignPreviewBody>;

export const CampaignPreview = z
  .object({
    source_type: z.enum(sourceKinds),
    source_id: z.string(),
    columns: z
      .array(
        z.object({
          name: z.string().describe('As the header has it; a column without header is named by its place.'),
          variable: z.string().nullable().describe('By which name calls have its cell; null for the phone column.'),
          is_phone: z.boolean().describe('Whether phone numbers are taken from it.'),
        }),
      )
      .describe('In the order of the source; of a contact list, the fields that its contacts give to calls.'),
    phone_column: z
      .object({
        name: z.string(),
        reason: z.string().describe('Why it was chosen, in a sentence.'),
        others: z.array(z.string()).describe('Columns whose cell counts where its own cannot be dialled, best first.'),
      })
      .describe('Where the numbers come from.'),
    total_rows: z.int(),
    examined_rows: z
      .int()
      .describe('How many rows, from the first on, the following counts are of; fewer than total_rows in a large source.'),
    dialable_rows: z.int().describe('Rows that would be dialled.'),
    duplicate_rows: z.int().describe('Rows that an earlier one has the number of: they would be skipped.'),
    not_dialable: z
      .array(
        z.object({
          reason: z.string().openapi({ example: 'too_short', description: 'A word.' }),
          count: z.int(),
          first_row_number: z.int().describe('The first row of them.'),
          detail: z.string().describe('What is wrong with that row, in a sentence.'),
        }),
      )
      .describe('Rows that could not be dialled, by reason, the most frequent first.'),
    rows: z
      .array(
        z.object({
          row_number: z.int(),
          phone: z.string().describe('E.164; where it cannot be read, the cell as it is.'),
          is_dialable: z.boolean(),
          reason: z.string().nullable().describe('Why it would not be dialled: a word, a colon, a sentence.'),
          contact_id: z.int().nullable().describe('The contact that has the number.'),
          variables: z.record(z.string(), z.unknown()).describe('What the call would have as its initial_context.'),
        }),
      )
      .describe('The first ten rows as they would be dialled.'),
  })
  .describe('What a campaign with this source would read and dial. Nothing was created.')
  .openapi('CampaignPreview');

export const CampaignPatchBody = z.object({ name: name.optional(), ...configChangeFields }).openapi('CampaignPatch');
export type CampaignPatch = z.output<typeof CampaignPatchBody>;

const count = z.int();
const rowCounts = {
  total_rows: count.openapi({
    description:
      'How many rows the source has: of a draft as it was when it was created, later as they were read. A draft from a sheet of more than ten pages of rows also counts its empty rows',
  }),
  processed_rows: count,
  completed_rows: count,
  failed_rows: count,
  skipped_rows: count,
  in_flight: count,
};

const LogEntry = z
  .object({
    at: timestamp,
    level: z.enum(['info', 'warning', 'error']),
    event: z.string(),
    message: z.string(),
    details: z.record(z.string(), z.unknown()),
  })
  .openapi('CampaignLogEntry');

export const CampaignRecord = z
  .object({
    id: z.int(),
    name: z.string(),
    workflow_id: z.int(),
    workflow_name: z.string(),
    state: z.enum(campaignStates),
    state_reason: z.string().nullable(),
    source_type: z.enum(sourceKinds),
    source_id: z.string(),
    source_options: SourceOptions,
    redial_of: z
      .object({ campaign_id: z.int(), outcomes: z.array(z.enum(redialOutcomes)) })
      .nullable()
      .openapi({ description: 'Whose rows are called again, and which of them' }),
    ...rowCounts,
    created_at: timestamp,
    started_at: timestamp.nullable(),
    completed_at: timestamp.nullable(),
    retry_config: RetryConfig,
    max_concurrency: z.int(),
    schedule_config: ScheduleConfig,
    circuit_breaker: CircuitBreakerConfig,
    warnings,
    logs: z.array(LogEntry).openapi({ description: 'The last 100, newest first; empty in lists' }),
  })
  .openapi('Campaign');

export const CampaignQuery = z.object({
  ...pageQuery,
  limit: pageQuery.limit
    .unwrap()
    .optional()
    .openapi({ description: 'How many at most; all when absent, and the `limit` of the answer is then how many there are' }),
  state: z.enum(campaignStates).optional(),
  search: z.string().trim().max(200).optional().openapi({ description: 'Part of the name' }),
});
export type CampaignQuery = z.output<typeof CampaignQuery>;
export const CampaignList = listOf('campaigns', CampaignRecord);
export type CampaignList = z.infer<typeof CampaignList>;

const countOf = (names: readonly string[]) => z.object(Object.fromEntries(names.map((one) => [one, count])));

export const CampaignProgress = z
  .object({
    state: z.enum(campaignStates),
    state_reason: z.string().nullable(),
    ...rowCounts,
    rows: countOf(rowStates).openapi({ description: 'Rows by state; they add up to total_rows' }),
    attempts: count.openapi({ description: 'Calls that used up an attempt' }),
    outcomes: countOf(rowOutcomes).openapi({ description: 'Rows that were dialled and have ended, by outcome' }),
    reached_share: z.number().nullable().openapi({ description: 'Of these rows, the share whose person was reached' }),
    next_attempt_at: timestamp.nullable(),
    next_window_at: timestamp.nullable().openapi({ description: 'When the next calling window opens; null while one is open' }),
    waiting: z
      .object({
        queued: count,
        live: count,
        organization_live: count,
        limit: count,
        waiting_for: z.string().nullable(),
      })
      .nullable()
      .openapi({ description: "Its calls among all of the organization's" }),
  })
  .openapi('CampaignProgress');

export const CampaignRowRecord = z
  .object({
    id: z.int(),
    row_number: z.int().openapi({ description: '1 = first row of the source; of a sheet, the row below the headers' }),
    phone: z.string(),
    contact_id: z.int().nullable(),
    state: z.enum(rowStates),
    outcome: z.string().nullable(),
    reason: z.string().nullable(),
    attempts: z.int(),
    next_attempt_at: timestamp.nullable(),
    run_ids: z.array(z.int()),
    variables: z.record(z.string(), z.unknown()),
  })
  .openapi('CampaignRow');

export const CampaignRowQuery = z.object({ ...pageQuery, state: z.enum(rowStates).optional() });
export type CampaignRowQuery = z.output<typeof CampaignRowQuery>;
export const CampaignRowList = listOf('runs', CampaignRowRecord);

export const RedialBody = z
  .object({
    outcomes: z
      .array(z.enum(redialOutcomes))
      .min(1, 'Name at least one outcome')
      .max(20)
      .nullish()
      .openapi({ description: 'All four when absent' }),
    name: name.nullish(),
  })
  .openapi('CampaignRedial', { example: { outcomes: ['no_answer', 'busy'] } });
export type RedialInput = z.output<typeof RedialBody>;
