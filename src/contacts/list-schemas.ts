import { z } from '@hono/zod-openapi';
import { bodyId, timestamp } from '../http/area.ts';
import { listOf, pageQuery } from '../http/pagination.ts';
import { cleanLine } from './clean-text.ts';

export const maximumIdsPerRequest = 5000;
const maximumMetadataBytes = 64 * 1024;

export const listName = z
  .string('Must be text')
  .transform(cleanLine)
  .refine((text) => text !== '', 'Must not be empty')
  .refine((text) => text.length <= 200, 'Must have 200 characters or fewer')
  .openapi({ type: 'string', minLength: 1, maxLength: 200, example: 'Leads' });

const columnTypes = ['string', 'number', 'boolean', 'date', 'phone', 'email'] as const;

const column = z
  .object({
    key: z.string().min(1, 'Must not be empty').max(100),
    label: z.string().max(200).optional().openapi({ description: 'The key when left out' }),
    type: z.enum(columnTypes).default('string'),
  })
  .transform((one) => ({ key: one.key, label: one.label ?? one.key, type: one.type }));

const columnSchema = z
  .array(column, 'Must be a list of columns')
  .max(200, 'At most 200 columns')
  .refine((columns) => new Set(columns.map(({ key }) => key)).size === columns.length, 'Each key may come once');

const metadata = z
  .record(z.string(), z.unknown(), 'Must be an object')
  .refine((value) => JSON.stringify(value).length <= maximumMetadataBytes, `Must have ${maximumMetadataBytes} characters of JSON or fewer`)
  .openapi({ type: 'object', example: { source: 'website' } });

const description = z.string('Must be text').max(2000).nullish();

export const NewList = z
  .object({ name: listName, description, metadata: metadata.nullish(), column_schema: columnSchema.nullish() })
  .openapi('NewContactList');

export const ListChange = z
  .object({ name: listName.optional(), description, metadata: metadata.nullish(), column_schema: columnSchema.nullish() })
  .openapi('ContactListChange');

export const ContactListRecord = z
  .object({
    id: z.int(),
    organization_id: z.int(),
    name: z.string(),
    description: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()),
    column_schema: z.array(z.object({ key: z.string(), label: z.string(), type: z.enum(columnTypes) })),
    contacts_count: z.int(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .openapi('ContactList');

export const ListQuery = z.object({
  ...pageQuery,
  search: z.string().max(200).optional().openapi({ description: 'Part of the name', example: 'leads' }),
});
export const PageQuery = z.object(pageQuery);

export const ListPage = listOf('lists', ContactListRecord);
export const ListsOfContact = listOf('lists', ContactListRecord.extend({ added_at: timestamp }).openapi('ContactListOfContact'));

export const MembersBody = z
  .object({
    contact_ids: z
      .array(bodyId, 'Must be a list of contact ids')
      .max(maximumIdsPerRequest, `At most ${maximumIdsPerRequest} contacts in one request; send several requests`)
      .openapi({ example: [42, 43] }),
  })
  .openapi('NewMembers');

export const MembersResult = z
  .object({ added: z.int(), already_members: z.int(), not_found: z.array(z.int()) })
  .openapi('NewMembersResult');
