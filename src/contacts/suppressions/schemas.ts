import { z } from '@hono/zod-openapi';
import { timestamp } from '../../http/area.ts';
import { listOf, pageQuery } from '../../http/pagination.ts';
import { parseIsoInstant } from '../../library/instants.ts';
import { cleanLine } from '../clean-text.ts';
import { searchedSuppressions } from './store.ts';

const phone = z.string('Must be text').openapi({ description: 'Any usual spelling; stored as E.164', example: '+12125550100' });
const standardReason = 'do_not_call';

export const SuppressionBody = z
  .object({
    phone,
    reason: z
      .string('Must be text')
      .transform(cleanLine)
      .refine((text) => text !== '', 'Must not be empty')
      .refine((text) => text.length <= 200, 'Must have 200 characters or fewer')
      .nullish()
      .transform((text) => text ?? standardReason)
      .openapi({ type: 'string', default: standardReason }),
    until: z
      .string('Must be text')
      .transform((text) => parseIsoInstant(text))
      .refine((instant) => instant !== null, 'Not an ISO 8601 date or time, such as 2027-01-31 or 2027-01-31T00:00:00Z')
      .transform(Number)
      .nullish()
      .openapi({ type: ['string', 'null'], format: 'date-time', description: 'Left out or null: for good' }),
  })
  .openapi('NewSuppression');
export type SuppressionBody = z.output<typeof SuppressionBody>;

export const SuppressionRecord = z
  .object({ id: z.int(), phone: z.string(), reason: z.string(), until: timestamp.nullable(), created_at: timestamp })
  .openapi('Suppression');

export const SuppressionQuery = z.object({
  ...pageQuery,
  phone: phone.optional(),
  search: z
    .string()
    .max(200)
    .optional()
    .openapi({ description: `Part of the number or the reason, among the newest ${searchedSuppressions.toLocaleString('en')}` }),
  include_expired: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .openapi({ type: 'boolean', description: 'Also those that have ended' }),
});
export type SuppressionQuery = z.output<typeof SuppressionQuery>;

export const PhoneQuery = z.object({ phone });
export const SuppressionList = listOf('suppressions', SuppressionRecord);
