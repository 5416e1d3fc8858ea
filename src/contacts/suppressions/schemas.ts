import { z } from '@hono/zod-openapi';
import { createdAt, queryBoolean, timestamp } from '../../http/router.ts';
import { listSchema, pageQuery } from '../../http/pagination.ts';
import { parseIsoInstant } from '../../library/time/instants.ts';
import { textProblem } from '../../library/json/text-problem.ts';
import { cleanLine } from '../../library/text/clean-text.ts';
import { maxSearchedSuppressions } from './store.ts';

const phone = z.string({ error: textProblem }).describe('Phone number in any usual spelling; it is compared as E.164.');
const defaultReason = 'do_not_call';

export const SuppressionBody = z
  .object({
    phone,
    reason: z
      .string({ error: textProblem })
      .transform(cleanLine)
      .refine((text) => text !== '', 'Must not be empty')
      .refine((text) => text.length <= 200, 'Must have 200 characters or fewer')
      .nullish()
      .transform((text) => text ?? defaultReason)
      .openapi({ type: 'string', default: defaultReason })
      .describe('Why, in a word or a sentence. Calls that are refused show it.'),
    until: z
      .string({ error: textProblem })
      .transform((text) => parseIsoInstant(text))
      .refine((instant) => instant !== null, 'Not an ISO 8601 date or time, such as 2027-01-31 or 2027-01-31T00:00:00Z')
      .transform(Number)
      .nullish()
      .openapi({ type: ['string', 'null'], format: 'date-time' })
      .describe('When calls are allowed again: an ISO 8601 date (its beginning in UTC) or time. Left out or null: never.'),
  })
  .openapi('NewSuppression');
export type SuppressionBody = z.output<typeof SuppressionBody>;

export const SuppressionRecord = z
  .object({
    id: z.int().describe('Id of the suppression.'),
    phone: z.string().describe('The phone number in E.164.'),
    reason: z.string().describe('Why it must not be called; `do_not_call` when nothing else was said.'),
    source: z
      .enum(['manual', 'import', 'call'])
      .describe('How it came: `manual` by a request of its own, `import` with a list, `call` from a talk.'),
    evidence: z
      .string()
      .nullable()
      .describe('The sentence, word for word, in which the person asked not to be called again; null: there is none.'),
    call_run_id: z.int().nullable().describe('Id of the run of the call in which the person asked; null: it does not come from a call.'),
    created_by: z.int().nullable().describe('Id of the user who added, imported or confirmed it; null: nobody did, the call alone.'),
    until: timestamp
      .nullable()
      .describe('When calls are allowed again, ISO 8601 in UTC; null: never. Of a restored one, when it was restored.'),
    created_at: createdAt,
    restored_at: timestamp.nullable().describe('When somebody allowed calls again; null: nobody has.'),
    restored_by: z.int().nullable().describe('Id of the user who allowed calls again.'),
    restore_reason: z.string().nullable().describe('Why calls were allowed again, in the words of that user.'),
  })
  .describe('A phone number that must not be called, whoever asks: campaign, journey or single call.')
  .openapi('Suppression');

export const SuppressionQuery = z.object({
  ...pageQuery,
  phone: phone.optional(),
  search: z
    .string()
    .max(200)
    .optional()
    .openapi({ description: `Part of the number or the reason, among the newest ${maxSearchedSuppressions.toLocaleString('en')}.` }),
  include_expired: queryBoolean.default(false).openapi({ description: 'Also those whose `until` has passed.' }),
});
export type SuppressionQuery = z.output<typeof SuppressionQuery>;

const sentence = z
  .string({ error: textProblem })
  .transform(cleanLine)
  .refine((text) => text !== '', 'Must not be empty')
  .refine((text) => text.length <= 200, 'Must have 200 characters or fewer');

export const RestoreBody = z
  .object({
    reason: sentence.openapi({ type: 'string' }).describe('Why calls are allowed again, such as "asked for a call by e-mail". It is kept.'),
  })
  .openapi('RestoreSuppression');
export type RestoreBody = z.output<typeof RestoreBody>;

export const maxImportedRows = 10_000;

export const ImportBody = z
  .object({
    csv: z
      .string({ error: textProblem })
      .refine((text) => text.trim() !== '', 'Must not be empty')
      .describe(
        `The text of a file with numbers: CSV with headers, separated by comma, semicolon, tab or bar, or one number a line. At most ${maxImportedRows.toLocaleString('en')} rows. Every number of a row is taken; a column "reason" and a column "until" count for their row.`,
      ),
    reason: SuppressionBody.shape.reason,
    until: SuppressionBody.shape.until,
  })
  .openapi('SuppressionImport');
export type ImportBody = z.output<typeof ImportBody>;

export const ImportResult = z
  .object({
    rows: z.int().describe('How many rows the file has.'),
    added: z.int().describe('Numbers that were not suppressed before.'),
    already_suppressed: z.int().describe('Numbers that were suppressed already; those with an earlier end have the later one now.'),
    phone_columns: z.array(z.string()).describe('The columns that numbers were taken from.'),
    failed: z
      .int()
      .describe('What could not be read: rows, and cells or parts of cells in phone columns. The other numbers of a row are suppressed.'),
    errors: z
      .array(
        z
          .object({
            row: z.int().describe('Number of the row, as a spreadsheet program counts.'),
            value: z.string().describe('What stands there.'),
            detail: z.string().describe('What is wrong with it.'),
          })
          .describe('A row, a cell or a part of a cell that was left out.')
          .openapi('SuppressionImportError'),
      )
      .describe('The first 100 of them.'),
  })
  .describe('What an import of suppressions did.')
  .openapi('SuppressionImportResult');

export const ExportQuery = z.object({
  format: z.enum(['csv', 'jsonl']).default('csv').openapi({ description: '`csv`, or `jsonl`: a JSON object a line.' }),
  include_expired: SuppressionQuery.shape.include_expired,
});
export type ExportQuery = z.output<typeof ExportQuery>;

export const ProposalRecord = z
  .object({
    id: z.int().describe('Id of the proposal.'),
    phone: z.string().describe('The phone number in E.164.'),
    contact_id: z.int().nullable().describe('Id of the contact that was called; null: none is known.'),
    call_run_id: z.int().describe('Id of the run of the call; its transcript has the words.'),
    reason: z.string().describe('Why a person has to decide: `no_words` or `words_not_said`, a colon, and a sentence.'),
    state: z
      .enum(['open', 'confirmed', 'dismissed'])
      .describe('`open`: calls go on until somebody decides. `confirmed`: the number is suppressed. `dismissed`: it is not.'),
    created_at: createdAt,
    decided_at: timestamp.nullable().describe('When somebody decided; null while it is open.'),
    decided_by: z.int().nullable().describe('Id of the user who decided.'),
  })
  .describe('A call that ended as if the person did not want to be called again, without a sentence of theirs that says so.')
  .openapi('SuppressionProposal');

export const ProposalQuery = z.object({
  ...pageQuery,
  state: ProposalRecord.shape.state.default('open').openapi({ description: 'Which ones; `open` when left out.' }),
});
export type ProposalQuery = z.output<typeof ProposalQuery>;
export const ProposalList = listSchema('proposals', ProposalRecord);

export const PhoneQuery = z.object({ phone });
export const SuppressionList = listSchema('suppressions', SuppressionRecord);
