import { z } from '@hono/zod-openapi';
import { queryId, timestamp } from '../http/area.ts';
import { listOf, pageQuery } from '../http/pagination.ts';
import { parseIsoInstant } from '../library/instants.ts';
import { cleanLine } from './clean-text.ts';
import { ContactListRecord, listName } from './list-schemas.ts';

export const maximumContactsPerRequest = 5000;
export const maximumTags = 100;
export const maximumCustomFieldKeys = 200;
export const maximumCustomFieldKeyLength = 100;
export const maximumCustomFieldsBytes = 32 * 1024;

const line = (maximum: number) =>
  z
    .string('Must be text')
    .transform(cleanLine)
    .refine((text) => text.length <= maximum, `Must have ${maximum} characters or fewer`);

/** A number is taken for its digits, as far as JSON has left them intact. */
const lineOrNumber = (maximum: number) =>
  z
    .union([z.string(), z.number()], 'Must be text')
    .refine(
      (value) => typeof value === 'string' || !Number.isInteger(value) || Number.isSafeInteger(value),
      'Is a number beyond 2^53, whose last digits are lost in JSON; send it as text',
    )
    .transform((value) => cleanLine(String(value)))
    .refine((text) => text.length <= maximum, `Must have ${maximum} characters or fewer`)
    .openapi({ type: ['string', 'null'] });

const tag = line(100).refine((text) => text !== '', 'A tag must not be empty');
const customFieldKey = z
  .string()
  .min(1, 'A custom field needs a name')
  .max(maximumCustomFieldKeyLength, `The name of a custom field must have ${maximumCustomFieldKeyLength} characters or fewer`);

/** The writable fields of a contact, as callers send them. */
const contactFields = {
  phone: lineOrNumber(100).nullish().openapi({ description: 'Any usual spelling; stored as E.164', example: '+1 (212) 555-0100' }),
  external_id: lineOrNumber(255).nullish().openapi({ description: 'Id of the person in your own system', example: 'crm-1042' }),
  email: line(320).nullish().openapi({ example: 'ada@example.com' }),
  first_name: line(200).nullish().openapi({ example: 'Ada' }),
  last_name: line(200).nullish().openapi({ example: 'Byron' }),
  company: line(300).nullish().openapi({ example: 'Analytical Engines' }),
  title: line(300).nullish().openapi({ description: 'Job title', example: 'Countess' }),
  tags: z
    .array(tag, 'Must be a list of texts')
    .max(maximumTags, `At most ${maximumTags} tags`)
    .nullish()
    .openapi({ example: ['vip'] }),
  custom_fields: z
    .record(customFieldKey, z.unknown(), 'Must be an object')
    .nullish()
    .openapi({ type: ['object', 'null'], description: 'Merged key by key; null removes a key', example: { tier: 'gold' } }),
};

export const ContactBody = z.object(contactFields).openapi('ContactFields');
export type ContactFields = z.output<typeof ContactBody>;

/** One row of an upsert: fields that are not standard are folded into custom_fields. */
export const UpsertRow = z.looseObject(contactFields, 'Must be an object with the fields of a contact').openapi('UpsertRow');

export const UpsertBody = z.looseObject({ list_name: listName, ...contactFields }).openapi('UpsertContact');

export const BulkUpsertBody = z
  .object({
    list_name: listName,
    // Rows are read one by one, so that a bad one is its own error and not that of the request.
    contacts: z
      .array(z.unknown(), 'Must be a list of contacts')
      .max(maximumContactsPerRequest, `At most ${maximumContactsPerRequest} contacts in one request; send several requests`)
      .openapi({ type: 'array', items: { $ref: '#/components/schemas/UpsertRow' }, maxItems: maximumContactsPerRequest }),
  })
  .openapi('BulkUpsert');

export const ContactRecord = z
  .object({
    id: z.int(),
    organization_id: z.int(),
    external_id: z.string().nullable(),
    phone: z.string().nullable().openapi({ example: '+12125550100' }),
    email: z.string().nullable(),
    first_name: z.string().nullable(),
    last_name: z.string().nullable(),
    company: z.string().nullable(),
    title: z.string().nullable(),
    tags: z.array(z.string()),
    custom_fields: z.record(z.string(), z.unknown()),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .openapi('Contact');

export const ContactWithLists = ContactRecord.extend({
  lists: z.array(z.object({ id: z.int(), name: z.string(), added_at: timestamp })),
}).openapi('ContactWithLists');

export const ContactPage = listOf('contacts', ContactRecord);

export const UpsertResult = z
  .object({ contact: ContactRecord, contact_list: ContactListRecord, contact_created: z.boolean(), list_created: z.boolean() })
  .openapi('UpsertResult');

export const BulkUpsertResult = z
  .object({
    created: z.int(),
    updated: z.int().openapi({ description: 'Contacts that were found, changed or not' }),
    failed: z.int(),
    errors: z.array(
      z.object({
        index: z.int().openapi({ description: 'Place of the row in the request, from 0' }),
        phone: z.string().nullable(),
        external_id: z.string().nullable(),
        detail: z.string().openapi({ example: 'no_key: a contact needs a phone or an external_id; add one' }),
      }),
    ),
    list_created: z.boolean(),
    contacts: z.array(ContactRecord),
  })
  .openapi('BulkUpsertResult');

const moment = z
  .string()
  .transform((text) => parseIsoInstant(text))
  .refine((instant) => instant !== null, 'Not an ISO 8601 date or time, such as 2026-11-20 or 2026-11-20T10:15:00Z')
  .transform(Number)
  .openapi({ type: 'string', format: 'date-time', example: '2026-11-20T10:15:30.000Z' });

const filterText = z.string().max(320);

/** Filters, order and page of GET /contacts/lists/{list_id}/contacts. */
export const memberQuery = {
  ...pageQuery,
  search: z
    .string()
    .max(200)
    .optional()
    .openapi({ description: 'Part of the phone, e-mail address, first, last or full name, or company', example: 'byron' }),
  tag: z.string().max(100).optional().openapi({ description: 'One whole tag, without regard to case', example: 'vip' }),
  email: filterText.optional().openapi({ description: 'The whole address, without regard to case' }),
  phone: filterText.optional().openapi({ description: 'Any usual spelling of the number' }),
  external_id: filterText.optional(),
  created_after: moment.optional(),
  created_before: moment.optional(),
  updated_after: moment.optional(),
  sort: z.enum(['created_at', 'updated_at', 'last_name']).default('created_at').openapi({
    description:
      'Contacts without a last name come after the others. Beyond 10,000 matches, an order other than created_at looks at the newest',
  }),
  order: z.enum(['desc', 'asc']).default('desc'),
};
export const MemberQuery = z.object(memberQuery);

/** The same for GET /contacts. */
export const ContactQuery = z.object({ ...memberQuery, list_id: queryId.optional() });
export type ContactQuery = z.output<typeof ContactQuery>;

export const CustomFieldKeys = z
  .object({
    keys: z.array(
      z.object({
        key: z.string(),
        label: z.string(),
        type: z.enum(['string', 'number', 'boolean', 'date', 'phone', 'email', 'array', 'object']),
        standard: z.boolean(),
      }),
    ),
  })
  .openapi('CustomFieldKeys');
