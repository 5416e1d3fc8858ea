import type { ExamplesByOperation } from '../http/operation-examples.ts';

const sheet = 'https://docs.google.com/spreadsheets/d/simulated-leads/edit#gid=0';

/** Requests that work in the order of the document. */
export const integrationExamples: ExamplesByOperation = {
  'integrations.connect': [
    { name: 'chatapp', summary: 'A chat workspace', body: { provider: 'chatapp' } },
    { name: 'tracker', summary: 'An issue tracker', body: { provider: 'tracker', connection_params: { subdomain: 'acme' } } },
    { name: 'books', summary: 'A data source: books', body: { provider: 'books', connection_params: { region: 'com' } } },
    { name: 'sheet', summary: 'A data source: a sheet', body: { provider: 'sheet' } },
    { name: 'calendar', summary: 'A calendar', body: { provider: 'calendar' } },
  ],
  'integrations.finalize': ['chatapp', 'tracker', 'books', 'sheet', 'calendar'].map((provider) => ({
    name: provider,
    body: { connected_account_id: 'ca_0123456789ab', provider },
  })),
  'integrations.list': {},
  'integrations.getStatus': { path: { provider: 'sheet' } },
  'integrations.listChannels': {},
  'integrations.listProjects': {},
  'integrations.listIssueTypes': { query: { project: 'OPS' } },
  'integrations.update': { path: { integration_id: 1 }, body: { action: 'qualified_calls', channel: 'C0000000001' } },
  'integrations.listBooksOrganizations': { path: { integration_id: 3 } },
  'integrations.selectBooksOrganization': { path: { integration_id: 3 }, body: { organization_id: '10234696' } },
  'integrations.searchSheets': { path: { integration_id: 4 }, query: { query: 'Leads' } },
  'integrations.previewSheet': { path: { integration_id: 4 }, query: { sheet_url: sheet } },
  'integrations.selectSheet': {
    path: { integration_id: 4 },
    body: {
      sheet_url: sheet,
      sheet_name: 'Leads',
      contact_list_name: 'Leads',
      field_mapping: { phone: 'Mobile No.', email: 'E-mail', company: 'Company' },
    },
  },
  'integrations.getFieldMapping': { path: { integration_id: 3 } },
  'integrations.replaceFieldMapping': {
    path: { integration_id: 3 },
    body: {
      field_mapping: {
        phone: { external_field: 'mobile', direction: 'bidirectional' },
        first_name: { external_field: 'first_name', direction: 'bidirectional' },
        last_name: { external_field: 'last_name', direction: 'bidirectional' },
        email: { external_field: 'email', direction: 'inbound' },
      },
    },
  },
  'integrations.resync': { path: { integration_id: 3 } },
  'integrations.pushContact': { path: { integration_id: 3, contact_id: 1 } },
  'integrations.disconnect': { path: { integration_id: 5 } },
};
