import { z } from '@hono/zod-openapi';
import { bodyId, createdAt, organizationId, timestamp, updatedAt, warnings } from '../../http/router.ts';
import { listSchema, pageQuery } from '../../http/pagination.ts';
import { configObject, collectWarnings, type Warning } from '../../library/json/config-object.ts';
import { textProblem } from '../../library/json/text-problem.ts';
import { cleanLine } from '../../library/text/clean-text.ts';

const maxIdsPerRequest = 5000;
const maxMetadataLength = 64 * 1024;

export const listName = z
  .string({ error: textProblem })
  .transform(cleanLine)
  .refine((text) => text !== '', 'Must not be empty')
  .refine((text) => text.length <= 200, 'Must have 200 characters or fewer')
  .openapi({ type: 'string', minLength: 1, maxLength: 200 });

const columnTypes = ['string', 'number', 'boolean', 'date', 'phone', 'email'] as const;

const columnFields = {
  key: z
    .string()
    .min(1, 'Must not be empty')
    .max(100)
    .describe('Name of the field of a contact that the column shows. Each may come once.'),
  label: z.string().max(200).describe('Heading of the column; the key when left out.'),
  type: z.enum(columnTypes).describe('The kind of its values; `string` when left out.'),
};
const columnSchemaDescription = 'Which fields the dashboard shows for this list, in order, up to 200.';

const column = configObject({
  ...columnFields,
  label: columnFields.label.optional(),
  type: columnFields.type.default('string'),
}).transform(({ key, label, ...rest }) => ({ key, label: label ?? key, ...rest }));

const columnSchema = z
  .array(column, 'Must be a list of columns')
  .max(200, 'At most 200 columns')
  .refine((columns) => new Set(columns.map(({ key }) => key)).size === columns.length, 'Each key may come once')
  .refine((columns) => JSON.stringify(columns).length <= maxMetadataLength, `Must have ${maxMetadataLength} characters of JSON or fewer`)
  .nullish()
  .describe(`${columnSchemaDescription} null clears it.`);

/** The keys of columns that have no effect. */
export const columnWarnings = (columns: unknown): Warning[] => collectWarnings(columnSchema, columns, ['body', 'column_schema']);

const metadata = z
  .record(z.string(), z.unknown(), 'Must be an object')
  .refine((value) => JSON.stringify(value).length <= maxMetadataLength, `Must have ${maxMetadataLength} characters of JSON or fewer`)
  .openapi({ type: 'object' })
  .nullish()
  .describe('Anything you want to keep with the list, up to 64 KiB of JSON. A change replaces all of it; null clears it.');

const description = z
  .string({ error: textProblem })
  .max(2000)
  .nullish()
  .describe('What the list is for, up to 2000 characters; null clears it.');
const name = listName.describe('Name of the list. Two lists never have the same one, without regard to case.');

export const NewList = z.object({ name, description, metadata, column_schema: columnSchema }).openapi('NewContactList');

export const ListChange = z
  .object({ name: name.optional(), description, metadata, column_schema: columnSchema })
  .describe('What to change; absent fields stay as they are.')
  .openapi('ContactListChange');

export const ContactListRecord = z
  .object({
    id: z.int().describe('Id of the list.'),
    organization_id: organizationId,
    name: z.string().describe('Name of the list, unique in the organization without regard to case.'),
    description: z.string().nullable().describe('What the list is for; null when nobody has said it.'),
    metadata: z.record(z.string(), z.unknown()).describe('What you keep with the list; `{}` at first.'),
    column_schema: z.array(configObject(columnFields)).describe(columnSchemaDescription),
    warnings,
    contacts_count: z.int().describe('How many contacts are on it.'),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .describe('A named list of contacts. A contact may be on several.')
  .openapi('ContactList');

export const ListQuery = z.object({
  ...pageQuery,
  search: z.string().max(200).optional().describe('Part of the name, without regard to case.'),
});
export const PageQuery = z.object(pageQuery);

export const ListPage = listSchema('lists', ContactListRecord);
export const ListsOfContact = listSchema(
  'lists',
  ContactListRecord.extend({ added_at: timestamp.describe('When the contact joined the list, ISO 8601 in UTC.') })
    .describe('A list, and when the contact joined it.')
    .openapi('ContactListOfContact'),
);

export const MembersBody = z
  .object({
    contact_ids: z
      .array(bodyId, 'Must be a list of contact ids')
      .max(maxIdsPerRequest, `At most ${maxIdsPerRequest} contacts in one request; send several requests`)
      .describe('Ids of up to 5000 contacts. Those that do not exist are named in the answer; the others are added.'),
  })
  .openapi('NewMembers');

export const MembersResult = z
  .object({
    added: z.int().describe('How many contacts joined the list.'),
    already_members: z.int().describe('How many were on it before.'),
    not_found: z.array(z.int()).describe('The ids that are no contact of the organization.'),
  })
  .describe('What became of the ids.')
  .openapi('NewMembersResult');
