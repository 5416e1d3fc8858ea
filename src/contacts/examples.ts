import type { ExamplesByOperation } from '../http/openapi/examples.ts';

const at = '2026-11-20T10:15:30.000Z';
const ada = {
  id: 1,
  organization_id: 1,
  external_id: 'customer-1',
  phone: '+14155550123',
  email: 'ada@example.com',
  first_name: 'Ada',
  last_name: 'Byron',
  company: null,
  title: null,
  tags: ['vip'],
  custom_fields: { tier: 'gold' },
  created_at: at,
  updated_at: at,
};
const grace = {
  ...ada,
  id: 3,
  external_id: null,
  phone: '+14155550125',
  email: null,
  first_name: 'Grace',
  last_name: 'Hopper',
  tags: [],
  custom_fields: {},
};
const customers = {
  id: 1,
  organization_id: 1,
  name: 'Customers',
  description: null,
  metadata: {},
  column_schema: [],
  warnings: [],
  contacts_count: 1,
  created_at: at,
  updated_at: at,
};
const regulars = { ...customers, id: 2, name: 'Regulars', description: 'They buy each month', contacts_count: 0 };
const suppression = { id: 1, phone: '+14155550199', reason: 'do_not_call', until: null, created_at: at };
const page = { total: 1, limit: 10, offset: 0, next_cursor: null };

/** Requests that work in the order of the document, with their answers. Contact 2, list 3 and suppressions are made to be deleted. */
export const contactExamples: ExamplesByOperation = {
  'contacts.create': [
    {
      name: 'customer',
      summary: 'A customer',
      body: {
        phone: '(415) 555-0123',
        external_id: 'customer-1',
        email: 'ada@example.com',
        first_name: 'Ada',
        last_name: 'Byron',
        tags: ['vip'],
        custom_fields: { tier: 'gold' },
      },
      answer: ada,
    },
    {
      name: 'number',
      summary: 'A number alone',
      body: { phone: '+1 415-555-0124' },
      answer: { ...grace, id: 2, phone: '+14155550124', first_name: null, last_name: null },
    },
  ],
  'contacts.list': { query: { search: 'byron', limit: 10 }, answer: { contacts: [ada], ...page } },
  'contacts.upsert': {
    body: { list_name: 'Customers', phone: '415.555.0125', first_name: 'Grace', last_name: 'Hopper' },
    answer: { contact: grace, contact_list: customers, contact_created: true, list_created: true },
  },
  'contacts.bulkUpsert': {
    body: {
      list_name: 'Customers',
      contacts: [{ phone: '+14155550125', tier: 'silver' }, { phone: '(415) 555-0126', first_name: 'Alan' }, { first_name: 'Nobody' }],
    },
    answer: {
      created: 1,
      updated: 1,
      failed: 1,
      errors: [
        { index: 2, phone: null, external_id: null, detail: 'no_key', message: 'a contact needs a phone or an external_id; add one' },
      ],
      list_created: false,
      contacts: [
        { ...grace, custom_fields: { tier: 'silver' } },
        { ...grace, id: 4, phone: '+14155550126', first_name: 'Alan', last_name: null },
      ],
    },
  },
  'contacts.listFieldKeys': {
    answer: {
      keys: [
        { key: 'phone', label: 'Phone', type: 'phone', standard: true },
        { key: 'tier', label: 'Tier', type: 'string', standard: false },
      ],
    },
  },
  'contacts.get': { path: { contact_id: 1 }, answer: { ...ada, lists: [] } },
  'contacts.update': {
    path: { contact_id: 1 },
    body: { company: 'Analytical Engines' },
    answer: { ...ada, company: 'Analytical Engines' },
  },
  'contacts.delete': { path: { contact_id: 2 }, answer: { status: 'deleted' } },
  'contacts.listLists': {
    path: { contact_id: 3 },
    query: { limit: 10 },
    answer: { lists: [{ ...customers, added_at: at }], ...page },
  },
  'contacts.listEvents': { path: { contact_id: 1 }, query: { limit: 10 }, answer: { events: [], ...page, total: 0 } },
  'contacts.listCalls': { path: { contact_id: 1 }, query: { limit: 10 }, answer: { calls: [], ...page, total: 0 } },
  'contactLists.create': [
    { name: 'regulars', summary: 'A list', body: { name: 'Regulars', description: 'They buy each month' }, answer: regulars },
    {
      name: 'last_year',
      summary: 'Another list',
      body: { name: 'Last year' },
      answer: { ...customers, id: 3, name: 'Last year', contacts_count: 0 },
    },
  ],
  'contactLists.list': { query: { limit: 10 }, answer: { lists: [regulars, customers], ...page, total: 2 } },
  'contactLists.get': { path: { list_id: 2 }, answer: regulars },
  'contactLists.update': {
    path: { list_id: 2 },
    body: { column_schema: [{ key: 'first_name', label: 'First name', type: 'string' }] },
    answer: { ...regulars, column_schema: [{ key: 'first_name', label: 'First name', type: 'string' }] },
  },
  'contactLists.delete': { path: { list_id: 3 }, answer: { status: 'deleted' } },
  'contactLists.listContacts': { path: { list_id: 1 }, query: { limit: 10 }, answer: { contacts: [grace], ...page } },
  'contactLists.addContacts': {
    path: { list_id: 2 },
    body: { contact_ids: [1, 3] },
    answer: { added: 2, already_members: 0, not_found: [] },
  },
  'contactLists.removeContact': { path: { list_id: 2, contact_id: 3 }, answer: { status: 'deleted' } },
  'suppressions.create': [
    { name: 'for_good', summary: 'For good', body: { phone: '(415) 555-0199' }, answer: suppression },
    {
      name: 'until',
      summary: 'Until a day',
      body: { phone: '(415) 555-0198', reason: 'on holiday', until: '2036-12-31T00:00:00Z' },
      answer: { ...suppression, id: 2, phone: '+14155550198', reason: 'on holiday', until: '2036-12-31T00:00:00.000Z' },
    },
  ],
  'suppressions.list': { query: { limit: 10 }, answer: { suppressions: [suppression], ...page } },
  'suppressions.deleteByPhone': { query: { phone: '(415) 555-0199' }, answer: { status: 'deleted' } },
  'suppressions.delete': { path: { suppression_id: 2 }, answer: { status: 'deleted' } },
};
