import { z } from '@hono/zod-openapi';
import { createdAt, timestamp, updatedAt } from '../http/router.ts';
import { listName } from '../contacts/lists/schemas.ts';
import { apps } from '../library/connectable-apps.ts';

const provider = '`chatapp`: Slack; `tracker`: Jira; `calendar`: Google Calendar; `books`: Zoho Books; `sheet`: Google Sheets.';
const providerName = z
  .string('Must be text')
  .openapi({ enum: [...apps] })
  .describe(`What to connect. ${provider}`);
const shownProvider = z.enum(apps).describe(provider);
const name = z.string('Must be text').trim().min(1, 'Must not be empty').max(200, 'Must have 200 characters or fewer');
const sheetUrl = z
  .string('Must be text')
  .max(2000, 'Must have 2000 characters or fewer')
  .describe('Address of the spreadsheet, as the browser shows it.')
  .openapi({ example: 'https://docs.google.com/spreadsheets/d/1AbC/edit#gid=0' });
const sheetName = name.optional().describe('Name of the tab. Without it the one that the address shows, else the first.');
// What is no object is an invalid mapping, as an entry that does not fit is one, and not an invalid request.
const mapping = z
  .unknown()
  .openapi({ type: 'object', additionalProperties: true })
  .describe(
    'By field of a contact, a standard one or `custom_fields.{key}`. Books: `{ external_field, direction }`, direction `inbound`, `outbound` or ' +
      '`bidirectional`. Sheet: the heading of a column.',
  );
const action = z
  .enum(['all_calls', 'qualified_calls'])
  .describe('Which finished calls are posted to an action target (chatapp, tracker, calendar).');
const accountLabel = z.string().nullable().describe('Name of the connected account or workspace; null when the tool tells none.');
const lastSyncedAt = timestamp
  .nullable()
  .describe('When a data source was last read to its end, in UTC; null: never, or an action target.');
const lastError = z.string().nullable().describe('What went wrong last and what to do; null when all is well.');
const isActive = z.boolean().describe('False: its grant has ended, `last_error` says how; connect it again.');
const brokerId = z.string().describe("The connection broker's id of the connection. No password or token of the tool is ever shown.");

const LastSync = z
  .object({
    sync_id: z.int().describe('Id of the sync.'),
    status: z.enum(['running', 'completed', 'failed']).describe('Where it stands.'),
    started_at: timestamp.describe('When it began, in UTC.'),
    finished_at: timestamp.nullable().describe('When it ended, in UTC; null while it runs.'),
    rows_seen: z.int().describe('Records read so far.'),
    created: z.int().describe('Contacts that are new.'),
    updated: z.int().describe('Contacts that were changed.'),
    unchanged: z.int().describe('Contacts that were the same already.'),
    failed: z.int().describe('Records that could not become a contact.'),
    errors: z.array(z.record(z.string(), z.unknown())).describe('What was wrong with the first 20 of them.'),
    reason: z.string().nullable().describe('Why the sync failed; null when it did not.'),
  })
  .describe('Data sources: the last reading. Absent before the first.');

export const IntegrationRecord = z
  .object({
    id: z.int().describe('Id of the integration, by which paths name it.'),
    integration_id: brokerId,
    organisation_id: z.int().describe('Id of the organization to which it belongs.'),
    created_by: z.int().describe('Id of the user who connected it.'),
    provider: shownProvider,
    is_active: isActive,
    created_at: createdAt,
    action,
    provider_data: z
      .looseObject({ last_sync: LastSync.optional() })
      .openapi({ type: 'object' })
      .describe(
        'What was chosen. Chatapp: `channel`; tracker: `project`, `issue_type`, null until they are chosen; books: `organization_id`, `organization_name`; sheet: `sheet_url`, ' +
          '`sheet_name`, `contact_list_name`. Data sources: `last_sync`.',
      ),
    account_label: accountLabel,
    last_synced_at: lastSyncedAt,
    last_error: lastError,
    updated_at: updatedAt,
  })
  .describe('A connection to a tool of the organization.')
  .openapi('Integration');

export const IntegrationArray = z.array(IntegrationRecord).describe('All integrations, newest first.');

export const ConnectBody = z
  .object({
    provider: providerName,
    connection_params: z
      .record(z.string(), z.unknown(), 'Must be an object')
      .nullish()
      .openapi({ type: ['object', 'null'] })
      .describe(
        'Tracker: `subdomain`, the part of its address before `.atlassian.net`. Books: `region`, its data centre, `com` when left out.',
      ),
  })
  .openapi('Connect');

export const Connecting = z
  .object({
    request_id: z.string().describe('Send it to finalize as `connected_account_id`.'),
    redirect_url: z
      .string()
      .nullable()
      .describe('Where a person consents, in a browser. null: there is a connection already; finalize at once.'),
  })
  .describe('The connection is asked for.')
  .openapi('Connecting');

export const FinalizeBody = z
  .object({
    connected_account_id: name.describe('`request_id` of POST /integration/connect.'),
    provider: providerName.describe('The provider that was connected.'),
  })
  .openapi('FinalizeConnection');

export const Disconnected = z
  .object({ status: z.literal('disconnected').describe('Always `disconnected`.') })
  .describe('The grant is revoked and the integration is gone.')
  .openapi('Disconnected');

export const IntegrationStatus = z
  .object({
    provider: shownProvider,
    connected: z.literal(true).describe('Always true: without an integration the answer is 404 `not_connected`.'),
    id: z.int().describe('Id of the integration, by which paths name it.'),
    integration_id: brokerId,
    is_active: isActive,
    account_label: accountLabel,
    last_synced_at: lastSyncedAt,
    last_error: lastError,
  })
  .describe('How the integration is.')
  .openapi('IntegrationStatus');

const selectedFile = z.object({ sheet_url: sheetUrl, sheet_name: sheetName });

export const IntegrationPatchBody = z
  .object({
    action: action.optional(),
    channel: name.nullish().describe('Chatapp: the id of the channel that is written to by default; null: none.'),
    project: name.nullish().describe('Tracker: the key of the project that issues are created in by default; null: none.'),
    issue_type: name.nullish().describe('Tracker: name or id of the type that issues have by default; null: none.'),
    selected_files: z
      .array(selectedFile, 'Must be a list of files')
      .optional()
      .describe('Sheet: the one file to read, with a mapping that is guessed. Legacy: use sheet/select.'),
  })
  .openapi('IntegrationPatch');
export type IntegrationPatch = z.output<typeof IntegrationPatchBody>;

export const BooksOrganizations = z
  .object({
    organizations: z
      .array(
        z.object({
          organization_id: z.string().describe('Id of the organization at books.'),
          name: z.string().describe('Its name at books.'),
          is_default: z.boolean().describe('Whether books opens it first.'),
        }),
      )
      .describe('The organizations that the connected account sees.'),
  })
  .describe('The organizations of the books account.')
  .openapi('BooksOrganizations');

export const BooksOrganizationBody = z
  .object({
    organization_id: z
      .union([z.string().trim().min(1), z.int().positive()], 'Must be the id of an organization of books')
      .transform(String)
      .openapi({ type: 'string' })
      .describe('Id of an organization at books, whose customers become contacts.'),
  })
  .openapi('SelectBooksOrganization');

export const MappingBody = z.object({ field_mapping: mapping.optional() }).openapi('FieldMapping');
export const ShownMapping = z
  .object({
    field_mapping: mapping,
    contact_fields: z.array(z.string()).describe('The fields of contacts that can be mapped.'),
    external_fields: z.array(z.string()).describe('The fields of the data source: names at books, headings of the sheet.'),
  })
  .describe('Which field of a contact is which field of the data source.')
  .openapi('ShownFieldMapping');

export const Pushed = z
  .object({
    status: z.literal('pushed').describe('Always `pushed`.'),
    external_id: z.string().describe('Id of the record in the connected system.'),
    pushed_fields: z.array(z.string()).describe('The fields of the contact that were sent.'),
  })
  .describe('The contact is in the connected system.')
  .openapi('PushedContact');
export const Resync = z
  .object({
    status: z.literal('started').describe('Always `started`.'),
    sync_id: z.int().describe('Id of the sync; `provider_data.last_sync` of the integration shows how far it is.'),
  })
  .describe('A sync runs: a new one, or the one that ran already.')
  .openapi('Resync');

export const SheetSearchQuery = z.object({
  query: z.string().max(500).default('').describe('Part of the name; empty: all.'),
  page_token: z.string().max(2000).optional().describe('`next_page_token` of the page before.'),
});
export const SheetFiles = z
  .object({
    files: z
      .array(
        z.object({
          id: z.string().describe('Id of the spreadsheet at its provider.'),
          name: z.string().describe('Its name.'),
          url: z.string().describe('Its address, for `sheet_url`.'),
          modified_at: z.string().nullable().describe('When it was last changed, ISO 8601; null when the provider does not say.'),
        }),
      )
      .describe('The spreadsheets, last changed first.'),
    next_page_token: z.string().nullable().describe('Send it as `page_token` to get the next page; null on the last one.'),
  })
  .describe('One page of spreadsheets that the connected account sees.')
  .openapi('SheetFiles');

export const SheetHeadersQuery = z.object({ sheet_url: sheetUrl, sheet_name: sheetName });
export const SheetPreview = z
  .object({
    sheet_name: z.string().describe('Name of the tab that is shown.'),
    sheets: z.array(z.string()).describe('Names of all tabs.'),
    header_row: z.int().describe('Row of the spreadsheet that has the headings, from 1; lines above it are titles.'),
    headers: z
      .array(z.string())
      .describe('Headings of the columns, unique: a repeated one has a suffix (`Name_2`), a blank one its position (`column_3`).'),
    sample_rows: z.array(z.array(z.string())).describe('The first 5 rows below the headings, a cell for each heading.'),
    phone_columns: z
      .array(z.string())
      .describe(
        "Headings that are words for phone numbers, the person's own before the company's. With the suggested mapping each row has the phone of the first of them whose cell holds a number.",
      ),
    suggested_mapping: z
      .record(z.string(), z.string())
      .describe(
        'By field of a contact, the column that seems to hold it; a column right of the headings has its place as name (`column_10`).',
      ),
  })
  .describe('What is in the sheet.')
  .openapi('SheetPreview');

export const SelectSheetBody = z
  .object({
    sheet_url: sheetUrl,
    sheet_name: sheetName,
    contact_list_name: listName.describe('The list that the people of the sheet join; created when no list has this name.'),
    field_mapping: mapping
      .optional()
      .describe('By field of a contact, the heading of a column. Without it the suggested mapping is taken.'),
  })
  .openapi('SelectSheet');

export const Channels = z
  .object({
    channels: z
      .array(
        z.object({
          id: z.string().describe('Id of the channel, for `channel`.'),
          name: z.string().describe('Its name, without #.'),
          is_private: z.boolean().describe('Whether only invited people see it.'),
          is_member: z.boolean().describe('Whether the connected account is in it; if not, invite it before you write there.'),
        }),
      )
      .describe('The channels that the connected account sees.'),
  })
  .describe('The channels of the connected workspace.')
  .openapi('Channels');
export const Projects = z
  .object({
    projects: z
      .array(
        z.object({
          id: z.string().describe('Id of the project.'),
          key: z.string().describe('Its key, for `project`; issues are numbered with it.'),
          name: z.string().describe('Its name.'),
        }),
      )
      .describe('The projects that the connected account sees.'),
  })
  .describe('The projects of the connected tracker.')
  .openapi('Projects');
export const IssueTypesQuery = z.object({
  project: name.optional().describe('Key or id of a project. Without it, the issue types of the whole site.'),
});
export const IssueTypes = z
  .object({
    issue_types: z
      .array(
        z.object({
          id: z.string().describe('Id of the type.'),
          name: z.string().describe('Its name, for `issue_type`.'),
          subtask: z.boolean().describe('Whether issues of this type need a parent issue.'),
        }),
      )
      .describe('The types that issues of the project can have.'),
  })
  .describe('The types of issues.')
  .openapi('IssueTypes');
