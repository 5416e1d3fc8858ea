import { z } from '@hono/zod-openapi';
import { timestamp } from '../http/area.ts';
import { listName } from '../contacts/list-schemas.ts';
import { apps } from '../providers/broker/broker.ts';

const providerName = z.string('Must be text').openapi({ enum: [...apps], example: 'chatapp' });
const name = z.string('Must be text').trim().min(1, 'Must not be empty').max(200, 'Must have 200 characters or fewer');
const sheetUrl = z
  .string('Must be text')
  .max(2000, 'Must have 2000 characters or fewer')
  .openapi({ example: 'https://docs.google.com/spreadsheets/d/1AbC/edit#gid=0' });
const sheetName = name.optional().openapi({ description: 'Of the tab; without it the one that the address shows, else the first' });
const mapping = z.record(z.string(), z.unknown(), 'Must be an object').openapi({
  type: 'object',
  description:
    'By field of a contact, a standard one or `custom_fields.{key}`. Books: `{ external_field, direction }`, direction `inbound`, `outbound` or ' +
    '`bidirectional`. Sheet: the name of a column',
  example: { phone: { external_field: 'mobile', direction: 'bidirectional' } },
});

const LastSync = z.object({
  sync_id: z.int(),
  status: z.enum(['running', 'completed', 'failed']),
  started_at: timestamp,
  finished_at: timestamp.nullable(),
  rows_seen: z.int(),
  created: z.int(),
  updated: z.int(),
  unchanged: z.int(),
  failed: z.int(),
  errors: z.array(z.record(z.string(), z.unknown())).openapi({ description: 'The first 20' }),
  reason: z.string().nullable().openapi({ description: 'Why it failed' }),
});

export const IntegrationRecord = z
  .object({
    id: z.int().openapi({ description: 'Names it in paths' }),
    integration_id: z.string().openapi({ description: "The broker's id of the connection" }),
    organisation_id: z.int(),
    created_by: z.int(),
    provider: z.enum(apps),
    is_active: z.boolean().openapi({ description: 'False: its grant has ended, `last_error` says how; connect it again' }),
    created_at: timestamp,
    action: z.enum(['all_calls', 'qualified_calls']).openapi({ description: 'Which finished calls an action target is told of' }),
    provider_data: z.looseObject({ last_sync: LastSync.optional() }).openapi({
      type: 'object',
      description:
        'What was chosen. Chatapp: `channel`; tracker: `project`, `issue_type`; books: `organization_id`, `organization_name`; sheet: `sheet_url`, ' +
        '`sheet_name`, `contact_list_name`. Data sources: `last_sync`',
    }),
    account_label: z.string().nullable(),
    last_synced_at: timestamp.nullable(),
    last_error: z.string().nullable(),
    updated_at: timestamp,
  })
  .openapi('Integration');

export const IntegrationArray = z.array(IntegrationRecord);

export const ConnectBody = z
  .object({
    provider: providerName,
    connection_params: z
      .record(z.string(), z.unknown(), 'Must be an object')
      .nullish()
      .openapi({
        type: ['object', 'null'],
        description: 'Tracker: `subdomain`, the part of its address before `.atlassian.net`. Books: `region`, its data centre (`com`)',
        example: { subdomain: 'acme' },
      }),
  })
  .openapi('Connect');

export const Connecting = z
  .object({
    request_id: z.string().openapi({ description: 'The `connected_account_id` of finalize' }),
    redirect_url: z.string().nullable().openapi({ description: 'Where a person consents, in a browser; null: finalize at once' }),
  })
  .openapi('Connecting');

export const FinalizeBody = z
  .object({ connected_account_id: name.openapi({ example: 'ca_1AbC' }), provider: providerName })
  .openapi('FinalizeConnection');

export const Disconnected = z.object({ status: z.literal('disconnected') }).openapi('Disconnected');

export const IntegrationStatus = z
  .object({
    provider: z.enum(apps),
    connected: z.literal(true),
    id: z.int(),
    integration_id: z.string(),
    is_active: z.boolean(),
    account_label: z.string().nullable(),
    last_synced_at: timestamp.nullable(),
    last_error: z.string().nullable(),
  })
  .openapi('IntegrationStatus');

const selectedFile = z.object({ sheet_url: sheetUrl, sheet_name: sheetName });

export const IntegrationPatchBody = z
  .object({
    action: z.enum(['all_calls', 'qualified_calls']).optional(),
    channel: name.nullish().openapi({ description: 'Chatapp: the id of the default channel' }),
    project: name.nullish().openapi({ description: 'Tracker: the key of the default project' }),
    issue_type: name.nullish().openapi({ description: 'Tracker: name or id of the default issue type' }),
    selected_files: z.array(selectedFile, 'Must be a list of files').optional().openapi({ description: 'Sheet: the one to read; legacy' }),
  })
  .openapi('IntegrationPatch');
export type IntegrationPatch = z.output<typeof IntegrationPatchBody>;

export const BooksOrganizations = z
  .object({ organizations: z.array(z.object({ organization_id: z.string(), name: z.string(), is_default: z.boolean() })) })
  .openapi('BooksOrganizations');

export const BooksOrganizationBody = z
  .object({
    organization_id: z
      .union([z.string().trim().min(1), z.int().positive()], 'Must be the id of an organization of books')
      .transform(String)
      .openapi({ type: 'string', example: '10234695' }),
  })
  .openapi('SelectBooksOrganization');

export const MappingBody = z.object({ field_mapping: mapping }).openapi('FieldMapping');
export const ShownMapping = z
  .object({ field_mapping: z.record(z.string(), z.unknown()), contact_fields: z.array(z.string()), external_fields: z.array(z.string()) })
  .openapi('ShownFieldMapping');

export const Pushed = z
  .object({ status: z.literal('pushed'), external_id: z.string(), pushed_fields: z.array(z.string()) })
  .openapi('PushedContact');
export const Resync = z.object({ status: z.literal('started'), sync_id: z.int() }).openapi('Resync');

export const SheetSearchQuery = z.object({
  query: z.string().max(500).default('').openapi({ description: 'Part of the name; empty: all' }),
  page_token: z.string().max(2000).optional().openapi({ description: '`next_page_token` of the page before' }),
});
export const SheetFiles = z
  .object({
    files: z.array(z.object({ id: z.string(), name: z.string(), url: z.string(), modified_at: z.string().nullable() })),
    next_page_token: z.string().nullable(),
  })
  .openapi('SheetFiles');

export const SheetHeadersQuery = z.object({ sheet_url: sheetUrl, sheet_name: sheetName });
export const SheetPreview = z
  .object({
    sheet_name: z.string(),
    sheets: z.array(z.string()),
    headers: z
      .array(z.string())
      .openapi({ description: 'Unique: a repeated one has a suffix (`Name_2`), a blank one its position (`column_3`)' }),
    sample_rows: z.array(z.array(z.string())).openapi({ description: 'The first 5, a cell for each header' }),
    suggested_mapping: z.record(z.string(), z.string()),
  })
  .openapi('SheetPreview');

export const SelectSheetBody = z
  .object({
    sheet_url: sheetUrl,
    sheet_name: sheetName,
    contact_list_name: listName,
    field_mapping: mapping.optional().openapi({ type: 'object', description: 'Without it the suggested one' }),
  })
  .openapi('SelectSheet');

export const Channels = z
  .object({
    channels: z.array(z.object({ id: z.string(), name: z.string(), is_private: z.boolean(), is_member: z.boolean() })),
  })
  .openapi('Channels');
export const Projects = z
  .object({ projects: z.array(z.object({ id: z.string(), key: z.string(), name: z.string() })) })
  .openapi('Projects');
export const IssueTypesQuery = z.object({
  project: name.optional().openapi({ description: 'Key or id; without it the project that the integration has', example: 'OPS' }),
});
export const IssueTypes = z
  .object({ issue_types: z.array(z.object({ id: z.string(), name: z.string(), subtask: z.boolean() })) })
  .openapi('IssueTypes');
