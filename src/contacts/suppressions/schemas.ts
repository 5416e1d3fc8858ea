import { z } from '@hono/zod-openapi';
import { createdAt, queryBoolean, timestamp } from '../../http/router.ts';
import { listSchema, pageQuery } from '../../http/pagination.ts';
import { parseIsoInstant } from '../../library/time/instants.ts';
import { cleanLine } from '../../library/text/clean-text.ts';
import { maxSearchedSuppressions } from './store.ts';

const phone = z.string('Must be text').describe('Phone number in any usual spelling; it is compared as E.164.');
const defaultReason = 'do_not_call';

export const SuppressionBody = z
  .object({
    phone,
    reason: z
      .string('Must be text')
      .transform(cleanLine)
      .refine((text) => text !== '', 'Must not be empty')
      .refine((text) => text.length <= 200, 'Must have 200 characters or fewer')
      .nullish()
      .transform((text) => text ?? defaultReason)
      .openapi({ type: 'string', default: defaultReason })
      .describe('Why, in a word or a sentence. Calls that are refused show it.'),
    until: z
      .string('Must be text')
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
    until: timestamp.nullable().describe('When calls are allowed again, ISO 8601 in UTC; null: never.'),
    created_at: createdAt,
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

export const PhoneQuery = z.object({ phone });
export const SuppressionList = listSchema('suppressions', SuppressionRecord);
