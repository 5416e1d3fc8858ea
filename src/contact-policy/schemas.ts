import { z } from '@hono/zod-openapi';
import { listSchema } from '../http/pagination.ts';
import { createdAt, timestamp } from '../http/router.ts';
import { cleanLine } from '../library/text/clean-text.ts';
import { parseIsoInstant } from '../library/time/instants.ts';
import { ContactPolicyBody } from './policy.ts';

export const ContactPolicyRecord = z
  .object({
    ...ContactPolicyBody.shape,
    updated_at: timestamp.nullable().describe('When it was last changed, ISO 8601 in UTC; null: there is no policy.'),
  })
  .describe('The rules by which campaigns, journeys and single calls contact a person.')
  .openapi('ContactPolicy');

const words = (most: number) =>
  z
    .string('Must be text')
    .transform(cleanLine)
    .refine((text) => text !== '', 'Must not be empty')
    .refine((text) => text.length <= most, `Must have ${most.toLocaleString('en')} characters or fewer`)
    .openapi({ type: 'string' });

const consentChannel = z.enum(['call', 'message', 'any'], 'Must be call, message or any');

export const ConsentBody = z
  .strictObject({
    channel: consentChannel.default('any').describe('What the person said it about: `call`, `message`, or `any` of both.'),
    given: z.boolean('Must be true or false').describe('True: the person agrees. False: the person takes the consent back.'),
    source: words(200).describe('Where the person said it, such as "web form /signup" or "paper form, box 12".'),
    text: words(2000).describe('The words to which the person agreed, or which the person said. This is the proof.'),
    at: z
      .string('Must be text')
      .refine((text) => parseIsoInstant(text) !== null, 'Not an ISO 8601 date or time, such as 2026-01-31 or 2026-01-31T10:00:00Z')
      .openapi({ format: 'date-time' })
      .describe(
        'When the person said it: an ISO 8601 date or time. Of a date, a consent has the beginning in UTC, and a withdrawal the end, at most now. Left out: now.',
      )
      .optional(),
  })
  .openapi('NewConsent');
export type ConsentBody = z.output<typeof ConsentBody>;

export const ConsentRecord = z
  .object({
    id: z.int().describe('Id of what was recorded.'),
    contact_id: z.int().describe('Id of the contact whose person said it.'),
    channel: consentChannel.describe('What it is about: `call`, `message`, or `any` of both.'),
    given: z.boolean().describe('Whether the person agreed, or took the consent back.'),
    source: z.string().describe('Where the person said it.'),
    text: z.string().describe('The words to which the person agreed, or which the person said.'),
    at: timestamp.describe('When the person said it, ISO 8601 in UTC.'),
    created_by: z.int().describe('Id of the user who recorded it.'),
    created_at: createdAt,
  })
  .describe('What a person said about being contacted, with its proof. The newest of a channel counts.')
  .openapi('Consent');

export const ConsentList = listSchema('consents', ConsentRecord);
