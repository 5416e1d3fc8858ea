import { z } from '@hono/zod-openapi';
import { dateOrInstant } from '../../http/date-range.ts';
import { exportQuery } from '../../http/export-query.ts';
import { listSchema, pageQuery } from '../../http/pagination.ts';
import { queryId, timestamp } from '../../http/router.ts';

const side = (when: string) =>
  z.unknown().describe(`The value ${when}; null: none. Secrets are masked, values over 8,000 characters left out.`);

export const AuditEntryRecord = z
  .object({
    id: z.int().describe('Id of the entry.'),
    at: timestamp.describe('When the request came, ISO 8601 in UTC.'),
    user_id: z.int().describe('Who did it; of a key, the person who made the key.'),
    user_email: z.string().nullable().describe('The address of that person; null: the account was deleted.'),
    credential: z
      .string()
      .describe('By what: `key:{id}` an API key, `session:{id}` a session, `link` the link of an invitation or of a password reset.'),
    address: z.string().nullable().describe('The network address that the request came from; null: unknown.'),
    action: z.string().describe('The operation, by its `operationId` in this document.').openapi({ example: 'campaigns.pause' }),
    record_type: z.string().describe('What kind of record was changed, such as `campaign`, `workflow` (a voice agent) or `member`.'),
    record_id: z.string().nullable().describe('Id of the record as text; null: the request is about many, or about one to be made.'),
    change: z
      .record(z.string(), z.object({ before: side('before'), after: side('after') }))
      .nullable()
      .describe('Each changed field. Null: the entry stands for a whole request, such as an import.'),
    request_id: z.string().describe('The same for all entries of one request.'),
  })
  .describe('What a person or key has changed.')
  .openapi('AuditEntry');

const filters = {
  user_id: queryId.optional().describe('Only what this person did, also by keys.'),
  credential: z.string().max(100).optional().describe('Only what was done by this key or session, written as in the entries.'),
  action: z.string().max(100).optional().describe('Only this operation.'),
  record_type: z.string().max(100).optional().describe('Only changes of records of this kind.'),
  record_id: z.string().max(200).optional().describe('Only changes of the record with this id; `record_type` must be given, too.'),
  start_date: dateOrInstant.optional().openapi({
    description: 'Only entries at or after this: a date (from its beginning in UTC) or an ISO 8601 time.',
    example: '2026-11-01',
  }),
  end_date: dateOrInstant.optional().openapi({
    description: 'Only entries at or before this: a date (to its end in UTC) or an ISO 8601 time.',
    example: '2026-11-30',
  }),
};

export const AuditQuery = z.object({ ...pageQuery, ...filters });
export const AuditExportQuery = z.object({ ...filters, ...exportQuery('All fields of an entry when left out.') });
export type AuditFilters = Omit<z.output<typeof AuditQuery>, keyof typeof pageQuery>;

export const AuditList = listSchema('entries', AuditEntryRecord);
