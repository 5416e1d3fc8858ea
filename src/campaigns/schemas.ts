import { z } from '@hono/zod-openapi';
import { cleanLine } from '../library/text/clean-text.ts';
import { bodyId, createdAt, timestamp, warnings } from '../http/router.ts';
import { listSchema, pageQuery } from '../http/pagination.ts';
import { rowOutcomes } from '../calls/attempt/outcomes.ts';
import { callResultFields, callTransferFields } from '../calls/listing/schemas.ts';
import { exportQuery } from '../http/export-query.ts';
import { CircuitBreakerConfig, configChangeFields, RetryConfig, ScheduleConfig } from './configs/configs.ts';
import { rowStates } from './rows/row-states.ts';
import { SourceOptions, redialOutcomes, sourceKinds } from './source/options.ts';
import { maxUploadBytes } from './source/upload/store.ts';
import { campaignStates } from './store.ts';

const name = z
  .string('Must be text')
  .transform(cleanLine)
  .refine((text) => text.length >= 1 && text.length <= 200, 'Must have 1 to 200 characters')
  .describe('Name for people.');

export const NewUploadBody = z
  .object({
    filename: z
      .string('Must be the name of a file')
      .trim()
      .min(1, 'Must be the name of a file')
      .max(500)
      .describe('Name of the file, such as `people.csv` or `people.xlsx`. What the file is, its content decides.'),
    content_type: z.string().max(200).nullish().describe('Its type; `text/csv` when left out.'),
    file_size: z
      .int('Must be a number of bytes')
      .min(0)
      .max(maxUploadBytes, `A file may have ${maxUploadBytes} bytes (50 MiB); split it into several campaigns`)
      .nullish()
      .describe('Size in bytes, to learn beforehand whether the file is too large.'),
  })
  .openapi('NewCampaignUpload');
export type NewUpload = z.output<typeof NewUploadBody>;

const sourceId = z.string().describe('Send it as `source_id` to POST /campaign/create with `source_type` `csv`.');

export const UploadTicket = z
  .object({
    upload_url: z.string().describe('Send the file here by PUT, without credentials; at most 50 MiB.'),
    source_id: sourceId,
    expires_in: z.int().describe('Seconds until `upload_url` stops working.'),
  })
  .describe('Where to send the file.')
  .openapi('CampaignUpload');

export const UploadReceipt = z
  .object({
    status: z.literal('uploaded').describe('Always `uploaded`.'),
    source_id: sourceId,
    bytes: z.int().describe('Size of the file in bytes.'),
  })
  .describe('The file is stored.')
  .openapi('CampaignUploadReceipt');

const sourceType = z
  .enum(sourceKinds)
  .describe(
    'Where the rows come from. `csv`: an uploaded file, delimited text or an .xlsx workbook; `contact_list`: a contact list; `sheet`: the selected sheet of an integration.',
  );
const sourceIdDescription =
  'With `csv` the `source_id` of POST /campaign/upload-url; with `contact_list` the id of a list; with `sheet` the id of an integration.';

const source = {
  source_type: sourceType,
  source_id: z.string().max(255).describe(sourceIdDescription),
  source_options: SourceOptions.nullish().describe('How the source is read; what is left out is found out.'),
};

const pinnedVersion = bodyId
  .nullish()
  .describe(
    'The version of the agent by which its calls are held, an `id` of GET /workflow/{id}/versions. Null: each call is held by the version that is current when it is dialled.',
  );

export const NewCampaignBody = z
  .object({
    name,
    workflow_id: bodyId.describe('The voice agent that calls.'),
    definition_id: pinnedVersion,
    ...source,
    ...configChangeFields,
  })
  .openapi('NewCampaign');
export type NewCampaignInput = z.output<typeof NewCampaignBody>;

export const CampaignPreviewBody = z
  .object(source)
  .describe('The source of a campaign that is not created yet.')
  .openapi('CampaignPreviewRequest');
export type CampaignPreviewInput = z.output<typeof CampaignPreviewBody>;

export const CampaignPreview = z
  .object({
    source_type: sourceType,
    source_id: z.string().describe(sourceIdDescription),
    columns: z
      .array(
        z.object({
          name: z.string().describe('As the header has it; a column without header is named by its place.'),
          variable: z
            .string()
            .nullable()
            .describe(
              'By which name calls have its cell; null for the phone column, unless the cell of a row holds more than the number that is dialled.',
            ),
          is_phone: z.boolean().describe('Whether phone numbers are taken from it.'),
        }),
      )
      .describe('In the order of the source; of a contact list, the fields that its contacts give to calls.'),
    phone_column: z
      .object({
        name: z.string().describe('Name of the column.'),
        reason: z.string().describe('Why it was chosen, in a sentence.'),
        others: z.array(z.string()).describe('Columns whose cell counts where its own cannot be dialled, best first.'),
      })
      .describe('Where the numbers come from.'),
    guessed_encoding: z.string().nullable().openapi({
      example: 'windows-1252',
      description:
        'The encoding that was guessed for a file by its letters: see whether the names in `rows` are right, else name it in `source_options.encoding`. Null: nothing was guessed in the rows that were examined.',
    }),
    total_rows: z.int().describe('How many rows the source has.'),
    examined_rows: z
      .int()
      .describe('How many rows, from the first on, the following counts are of; fewer than total_rows in a large source.'),
    dialable_rows: z.int().describe('Rows that would be dialled.'),
    duplicate_rows: z.int().describe('Rows with the number of an earlier row: they would be skipped.'),
    not_dialable: z
      .array(
        z.object({
          reason: z.string().openapi({ example: 'too_short', description: 'Why, in a word.' }),
          count: z.int().describe('How many rows.'),
          first_row_number: z.int().describe('The first row of them.'),
          detail: z.string().describe('What is wrong with that row, in a sentence.'),
        }),
      )
      .describe('Rows that could not be dialled, by reason, the most frequent first.'),
    rows: z
      .array(
        z.object({
          row_number: z.int().describe('Place in the source: 1 = first row, not counting headers.'),
          phone: z.string().describe('E.164; where it cannot be read, the cell as it is.'),
          phone_column: z
            .string()
            .nullable()
            .describe('Name of the column whose cell has the phone; null when none has, or in a contact list.'),
          is_dialable: z.boolean().describe('Whether it would be dialled.'),
          reason: z.string().nullable().describe('Why it would not be dialled: a word, a colon, a sentence.'),
          contact_id: z.int().nullable().describe('The contact that has the number.'),
          variables: z.record(z.string(), z.unknown()).describe('What the call would have as its initial_context.'),
        }),
      )
      .describe('The first ten rows as they would be dialled.'),
  })
  .describe('What a campaign with this source would read and dial. Nothing was created.')
  .openapi('CampaignPreview');

export const CampaignPatchBody = z
  .object({ name: name.optional(), definition_id: pinnedVersion, ...configChangeFields })
  .describe('What to change; absent fields and keys stay as they are, null gives a key its default.')
  .openapi('CampaignPatch');
export type CampaignPatch = z.output<typeof CampaignPatchBody>;

const count = z.int();
const rowCounts = {
  total_rows: count.describe(
    'How many rows the source has: of a draft as it was when it was created, later as they were read. A draft from a sheet of more than ten pages of rows also counts its empty rows.',
  ),
  processed_rows: count.describe('Rows in a final state: completed, failed and skipped.'),
  completed_rows: count.describe('Rows whose person was reached.'),
  failed_rows: count.describe('Rows whose person was not reached, or whose phone number is none.'),
  skipped_rows: count.describe('Rows that are not called: repeats, suppressed numbers.'),
  in_flight: count.describe('Rows with a call under way.'),
};
const state = z
  .enum(campaignStates)
  .describe(
    '`draft`: not started; `syncing`: its rows are read; `running`; `paused`; `completed`: every row is in a final state; `failed`: its source cannot be read; `cancelled`.',
  );
const stateReason = z
  .string()
  .nullable()
  .describe('Why the campaign is in this state, such as `circuit_breaker` or `source_empty`; null: no special reason.');
const rowState = z
  .enum(rowStates)
  .describe(
    '`pending`: to be called; `scheduled`: waits for a retry or a calling window; `dialing`: asked for or ringing; `in_call`: answered; `completed`: ' +
      'the person was reached; `failed`: not reached, or no phone number; `skipped`: not to be called.',
  );

const LogEntry = z
  .object({
    at: timestamp.describe('When, ISO 8601 in UTC.'),
    level: z.enum(['info', 'warning', 'error']).describe('How serious it is.'),
    event: z.string().describe('What happened, in a word.'),
    message: z.string().describe('What happened, in a sentence.'),
    details: z.record(z.string(), z.unknown()).describe('Further details; the keys depend on the event.'),
  })
  .describe('Something that happened to a campaign.')
  .openapi('CampaignLogEntry');

export const CampaignRecord = z
  .object({
    id: z.int().describe('Id of the campaign.'),
    name: z.string().describe('Name for people.'),
    workflow_id: z.int().describe('The voice agent that calls.'),
    workflow_name: z.string().describe('Name of that agent.'),
    definition_id: z
      .int()
      .nullable()
      .describe('The version of the agent that its calls are held by; null: the one that is current at each call.'),
    state,
    state_reason: stateReason,
    source_type: sourceType,
    source_id: z.string().describe(sourceIdDescription),
    source_options: SourceOptions.describe('How the source is read, as given.'),
    redial_of: z
      .object({
        campaign_id: z.int().describe('The campaign whose rows are called again.'),
        outcomes: z.array(z.enum(redialOutcomes)).describe('Those of its rows that ended with one of these.'),
      })
      .nullable()
      .describe('Of a redial: whose rows are called again, and which of them; else null.'),
    ...rowCounts,
    created_at: createdAt,
    started_at: timestamp.nullable().describe('When it was started, ISO 8601 in UTC; null before.'),
    completed_at: timestamp.nullable().describe('When it ended, ISO 8601 in UTC; null before.'),
    retry_config: RetryConfig.describe('Whether and when rows are called again whose person was not reached.'),
    max_concurrency: z.int().describe('How many of its calls may be live at one time.'),
    schedule_config: ScheduleConfig.describe('When it calls.'),
    circuit_breaker: CircuitBreakerConfig.describe('When it pauses by itself because too many calls fail.'),
    logs: z.array(LogEntry).describe('The last 100 things that happened, newest first; empty in lists.'),
    warnings,
  })
  .describe('A voice agent that calls everybody in a source.')
  .openapi('Campaign');

export const CampaignQuery = z.object({
  ...pageQuery,
  limit: pageQuery.limit
    .unwrap()
    .optional()
    .openapi({ description: 'How many at most; all when absent, and the `limit` of the answer is then how many there are' }),
  state: state.optional().describe('Only campaigns in this state.'),
  search: z.string().trim().max(200).optional().describe('Part of the name.'),
});
export type CampaignQuery = z.output<typeof CampaignQuery>;
export const CampaignList = listSchema('campaigns', CampaignRecord);
export type CampaignList = z.infer<typeof CampaignList>;

const toCountSchema = (names: readonly string[]) =>
  z.object(Object.fromEntries(names.map((one) => [one, count.describe(`How many rows are \`${one}\`.`)])));

export const CampaignProgress = z
  .object({
    state,
    state_reason: stateReason,
    ...rowCounts,
    rows: toCountSchema(rowStates).describe('Rows by state; they add up to `total_rows`.'),
    attempts: count.describe('Calls that used up an attempt.'),
    outcomes: toCountSchema(rowOutcomes).describe('Rows that were dialled and have ended, by outcome.'),
    reached_share: z.number().nullable().describe('Of these rows, the share whose person was reached, from 0 to 1; null: there are none.'),
    next_attempt_at: timestamp.nullable().describe('When the next row is due that waits for a retry, ISO 8601 in UTC; null: none waits.'),
    next_window_at: timestamp.nullable().describe('When the next calling window opens, ISO 8601 in UTC; null while one is open.'),
    waiting: z
      .object({
        queued: count.describe('Calls of the campaign that wait for a place.'),
        live: count.describe('Its calls that are live.'),
        organization_live: count.describe('Live calls of the whole organization.'),
        limit: count.describe('How many the organization may have at one time.'),
        waiting_for: z.string().nullable().describe('What its queued calls wait for, in words; null: nothing.'),
      })
      .nullable()
      .describe("Its calls among all of the organization's; null while it does not run."),
  })
  .describe('How far a campaign is.')
  .openapi('CampaignProgress');

const callUrl = (what: string) => z.string().nullable().describe(`Address of the ${what}, which needs credentials; null: there is none.`);

export const CampaignRowCall = z
  .object({
    attempt: z.int().describe('Which call of the row it is, from 1.'),
    run_id: z.int().describe('Id of the call (voice agent run).'),
    outcome: z.enum(rowOutcomes).nullable().describe('What the line did; null while the call is live.'),
    reason: z.string().nullable().describe('Where the outcome alone does not say it: a word, a colon and a sentence; else null.'),
    ...callResultFields,
    talk_seconds: z.int().nullable().describe('Seconds that the person and the agent talked; null while the call is live.'),
    ...callTransferFields,
    cost_usd: z.number().nullable().describe('Cost of the model in US dollars; null: its price is unknown, or the call is live.'),
    run_url: z.string().describe('Address of the call with its logs, which needs credentials.'),
    transcript_url: callUrl('transcript'),
    recording_url: callUrl('recording'),
  })
  .describe('One call of a row, and what came of it.')
  .openapi('CampaignRowCall');

const CampaignRowResult = z
  .object({
    ...callResultFields,
    talk_seconds: z.int().describe('Seconds that the person and the agent talked, in all calls together.'),
    ...callTransferFields,
    cost_usd: z.number().nullable().describe('Cost of the model in all calls, in US dollars; null: the price of one is unknown.'),
    run_url: callUrl('last call'),
    transcript_url: callUrl('last transcript'),
    recording_url: callUrl('last recording'),
  })
  .describe(
    'What came of a row in all: of what several calls say, the last counts; seconds and costs are added up; null where no call says anything.',
  )
  .openapi('CampaignRowResult');

export const CampaignRowRecord = z
  .object({
    id: z.int().describe('Id of the row.'),
    row_number: z.int().describe('Place in the source: 1 = first row, not counting headers.'),
    phone: z.string().describe('Phone number in E.164; where it is none, the cell as it is.'),
    contact_id: z.int().nullable().describe('The contact with this number; null: none.'),
    state: rowState,
    outcome: z.string().nullable().describe('The outcome of the last call; null before the first.'),
    reason: z
      .string()
      .nullable()
      .describe('Why the row failed, was skipped or waits: a word, often with a colon and a sentence; else null.'),
    attempts: z.int().describe('How many calls used up an attempt.'),
    next_attempt_at: timestamp.nullable().describe('When it is called again, ISO 8601 in UTC; null: not planned.'),
    run_ids: z.array(z.int()).describe('Its calls (voice agent runs), oldest first.'),
    variables: z.record(z.string(), z.unknown()).describe('The other columns of the row, by name; the call has them as `initial_context`.'),
    result: CampaignRowResult,
    calls: z.array(CampaignRowCall).describe('Its calls that are stored, oldest first.'),
  })
  .describe('A row of a campaign: one person to call.')
  .openapi('CampaignRow');

export const CampaignRowQuery = z.object({ ...pageQuery, state: rowState.optional().describe('Only rows in this state.') });
export type CampaignRowQuery = z.output<typeof CampaignRowQuery>;
export const CampaignReportQuery = z.object({
  per: z.enum(['row', 'attempt']).default('row').openapi({
    description: '`row`: a line for each row, with its calls in sum; `attempt`: a line for each call, and one for a row without calls.',
  }),
  ...exportQuery(
    'All when left out: the fields of the row, what came of its calls, each extracted variable, and each variable of the source. ' +
      'A variable whose name is taken has the suffix `_extracted` or `_variable`.',
  ),
});
export type CampaignReportQuery = z.output<typeof CampaignReportQuery>;
export const CampaignRowList = listSchema('runs', CampaignRowRecord, 'in the order of the source');

export const RedialBody = z
  .object({
    outcomes: z
      .array(z.enum(redialOutcomes))
      .min(1, 'Name at least one outcome')
      .max(20)
      .nullish()
      .describe('Calls the rows again that ended with one of these; all four when left out.'),
    name: name.nullish().describe('Name of the new campaign; made from that of the old one when left out.'),
  })
  .openapi('CampaignRedial');
export type RedialInput = z.output<typeof RedialBody>;
