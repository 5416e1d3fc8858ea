import { z } from '@hono/zod-openapi';
import { createdAt, organizationId, queryId, timestamp, updatedAt } from '../../http/router.ts';
import { listSchema, pageQuery } from '../../http/pagination.ts';
import { parseIsoInstant } from '../../library/time/instants.ts';
import { textProblem } from '../../library/json/text-problem.ts';
import { cleanLine } from '../../library/text/clean-text.ts';
import { ContactListRecord, listName } from '../lists/schemas.ts';

const maxContactsPerRequest = 5000;
export const maxTags = 100;
export const maxCustomFieldKeys = 200;
export const maxCustomFieldKeyLength = 100;
export const maxCustomFieldsBytes = 32 * 1024;

const singleLineText = (maximum: number) =>
  z
    .string({ error: textProblem })
    .transform(cleanLine)
    .refine((text) => text.length <= maximum, `Must have ${maximum} characters or fewer`);

/** A number is taken for its digits, as far as JSON has left them intact. */
const singleLineTextOrNumber = (maximum: number) =>
  z
    .union([z.string(), z.number()], { error: textProblem })
    .refine(
      (value) => typeof value === 'string' || !Number.isInteger(value) || Number.isSafeInteger(value),
      'Is a number beyond 2^53, whose last digits are lost in JSON; send it as text',
    )
    .transform((value) => cleanLine(String(value)))
    .refine((text) => text.length <= maximum, `Must have ${maximum} characters or fewer`)
    .openapi({ type: ['string', 'null'] });

const tag = singleLineText(100).refine((text) => text !== '', 'A tag must not be empty');
const customFieldKey = z
  .string()
  .min(1, 'A custom field needs a name')
  .max(maxCustomFieldKeyLength, `The name of a custom field must have ${maxCustomFieldKeyLength} characters or fewer`);

/** The writable fields of a contact, as callers send them. */
const contactFields = {
  phone: singleLineTextOrNumber(100)
    .nullish()
    .describe(
      'Phone number in any usual spelling, stored as E.164. Without country code it is read as one of the `default_country` of the ' +
        'organization. Two contacts never have the same one.',
    ),
  external_id: singleLineTextOrNumber(255)
    .nullish()
    .describe('Id of the person in your own system, up to 255 characters. Two contacts never have the same one.'),
  email: singleLineText(320).nullish().describe('E-mail address. Several contacts may have the same one.'),
  first_name: singleLineText(200).nullish().describe('Given name.'),
  last_name: singleLineText(200).nullish().describe('Family name.'),
  company: singleLineText(300).nullish().describe('The company the person works for.'),
  title: singleLineText(300).nullish().describe('Job title.'),
  tags: z
    .array(tag, 'Must be a list of texts')
    .max(maxTags, `At most ${maxTags} tags`)
    .nullish()
    .describe(
      'Words to group contacts by, up to 100. A change replaces them all; an upsert adds to those that are there; null removes all.',
    ),
  custom_fields: z
    .record(customFieldKey, z.unknown(), 'Must be an object')
    .nullish()
    .openapi({ type: ['object', 'null'] })
    .describe(
      'Any further facts, by name: up to 200 names and 32 KiB of JSON. Merged name by name: a null removes one, null as a whole all.',
    ),
};

export const ContactBody = z
  .object(contactFields)
  .describe('A contact, as callers send it; absent fields keep their value, null clears them.')
  .openapi('ContactFields');
export type ContactFields = z.output<typeof ContactBody>;

/** One row of an upsert: fields that are not standard are folded into custom_fields. */
export const UpsertRow = z
  .looseObject(contactFields, 'Must be an object with the fields of a contact')
  .describe(
    'A contact to create or update. `phone` or `external_id` is required; names that are no field of a contact become custom fields.',
  )
  .openapi('UpsertRow');

const upsertList = listName.describe('The list that they join, without regard to case; created when no list has this name.');

export const UpsertBody = z
  .looseObject({ list_name: upsertList, ...contactFields })
  .describe('A contact to create or update, and its list. `phone` or `external_id` is required; other names become custom fields.')
  .openapi('UpsertContact');

export const BulkUpsertBody = z
  .object({
    list_name: upsertList,
    // Rows are parsed one by one, so that the fault of a row is an error of that row and not of the request.
    contacts: z
      .array(z.unknown(), 'Must be a list of contacts')
      .max(maxContactsPerRequest, `At most ${maxContactsPerRequest} contacts in one request; send several requests`)
      .openapi({ type: 'array', items: { $ref: '#/components/schemas/UpsertRow' }, maxItems: maxContactsPerRequest })
      .describe('Up to 5000 contacts. A bad row is reported in `errors` of the answer and the others are stored.'),
  })
  .openapi('BulkUpsert');

const externalId = z.string().nullable().describe('Id of the person in your own system; null when none was given.');

export const ContactRecord = z
  .object({
    id: z.int().describe('Id of the contact.'),
    organization_id: organizationId,
    external_id: externalId,
    phone: z.string().nullable().describe('Phone number in E.164, such as `+12125550100`; null when none is known.'),
    email: z.string().nullable().describe('E-mail address; null when none is known.'),
    first_name: z.string().nullable().describe('Given name; null when unknown.'),
    last_name: z.string().nullable().describe('Family name; null when unknown.'),
    company: z.string().nullable().describe('The company the person works for; null when unknown.'),
    title: z.string().nullable().describe('Job title; null when unknown.'),
    tags: z.array(z.string()).describe('Words to group contacts by; empty when there are none.'),
    custom_fields: z
      .record(z.string(), z.unknown())
      .describe('Further facts by name, as they were sent. Journeys read them as `contact.custom_fields`.'),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .describe('A person whom the organization knows.')
  .openapi('Contact');

export const ContactWithLists = ContactRecord.extend({
  lists: z
    .array(
      z.object({
        id: z.int().describe('Id of the list.'),
        name: z.string().describe('Name of the list.'),
        added_at: timestamp.describe('When the contact joined it, ISO 8601 in UTC.'),
      }),
    )
    .describe('The lists that the contact is on.'),
})
  .describe('A contact and the lists that it is on.')
  .openapi('ContactWithLists');

/** The read-only fields of a contact's record. In a request they have no effect. */
export const readOnlyContactFields: ReadonlySet<string> = new Set(
  Object.keys(ContactWithLists.shape).filter((field) => !(field in contactFields)),
);

export const ContactPage = listSchema('contacts', ContactRecord, 'in the order asked for');

const listCreated = z.boolean().describe('Whether the list is new; false: a list of this name was there.');

export const UpsertResult = z
  .object({
    contact: ContactRecord,
    contact_list: ContactListRecord,
    contact_created: z.boolean().describe('Whether the contact is new; false: one was found by phone or external_id and updated.'),
    list_created: listCreated,
  })
  .describe('The contact and its list as they are now.')
  .openapi('UpsertResult');

export const BulkUpsertResult = z
  .object({
    created: z.int().describe('How many contacts are new.'),
    updated: z.int().describe('How many contacts were found by phone or external_id, whether or not anything changed.'),
    failed: z.int().describe('How many rows could not be stored; each is an item of `errors`.'),
    errors: z
      .array(
        z.object({
          index: z.int().describe('Place of the row in the request, from 0.'),
          phone: z.string().nullable().describe('The phone number as sent; null when the row has none.'),
          external_id: z.string().nullable().describe('The external_id as sent; null when the row has none.'),
          detail: z.string().openapi({ description: 'A word for programs that names what is wrong.', example: 'no_key' }),
          message: z
            .string()
            .openapi({ description: 'The sentence for people.', example: 'a contact needs a phone or an external_id; add one' }),
        }),
      )
      .describe('The rows that could not be stored, in order.'),
    list_created: listCreated,
    contacts: z.array(ContactRecord).describe('The stored contacts, in the order of the request. Rows of one person are one contact.'),
  })
  .describe('What became of the rows.')
  .openapi('BulkUpsertResult');

const instantText = z
  .string()
  .transform((text) => parseIsoInstant(text))
  .refine((instant) => instant !== null, 'Not an ISO 8601 date or time, such as 2026-11-20 or 2026-11-20T10:15:00Z')
  .transform(Number)
  .openapi({ type: 'string', format: 'date-time', example: '2026-11-20T10:15:30.000Z' });

const filterText = z.string().max(320);

const instantFilter = (meaning: string) => instantText.optional().describe(`${meaning}: an ISO 8601 date (its beginning in UTC) or time.`);

/** Filters, order and page of GET /contacts/lists/{list_id}/contacts. */
const memberQuery = {
  ...pageQuery,
  search: z
    .string()
    .max(200)
    .optional()
    .openapi({ description: 'Part of the phone, e-mail address, first, last or full name, or company.', example: 'byron' }),
  tag: z.string().max(100).optional().openapi({ description: 'One whole tag, without regard to case.', example: 'vip' }),
  email: filterText.optional().describe('The whole e-mail address, without regard to case.'),
  phone: filterText.optional().describe('The whole phone number, in any usual spelling.'),
  external_id: filterText.optional().describe('The whole external_id.'),
  created_after: instantFilter('Only contacts created later than this'),
  created_before: instantFilter('Only contacts created earlier than this'),
  updated_after: instantFilter('Only contacts changed later than this'),
  sort: z
    .enum(['created_at', 'updated_at', 'last_name'])
    .default('created_at')
    .describe(
      'What to sort by. Contacts without a last name come last. Beyond 10,000 matches, an order other than created_at looks at the newest.',
    ),
  order: z.enum(['desc', 'asc']).default('desc').describe('`desc`: newest, or last in the alphabet, first; `asc`: the other way round.'),
};
export const MemberQuery = z.object(memberQuery);

/** The same for GET /contacts. */
export const ContactQuery = z.object({ ...memberQuery, list_id: queryId.optional().describe('Only contacts on this list.') });
export type ContactQuery = z.output<typeof ContactQuery>;

export const CustomFieldKeys = z
  .object({
    keys: z
      .array(
        z.object({
          key: z.string().describe('Name of the field; of a custom field, the name in `custom_fields`.'),
          label: z.string().describe('Name to show to people.'),
          type: z
            .enum(['string', 'number', 'boolean', 'date', 'phone', 'email', 'array', 'object'])
            .describe('The kind of its values; of a custom field, of those seen so far.'),
          standard: z.boolean().describe('True: a field that every contact has; false: a custom field.'),
        }),
      )
      .describe('The standard fields first, then every custom field that was seen.'),
  })
  .describe('The fields of contacts that can be written.')
  .openapi('CustomFieldKeys');
