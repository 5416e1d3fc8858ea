import type { ExamplesByOperation } from '../http/operation-examples.ts';

/** Requests that work in the order of the document. */
export const contactExamples: ExamplesByOperation = {
  'contacts.create': [
    {
      name: 'ada',
      summary: 'A customer',
      body: {
        phone: '(415) 555-0123',
        external_id: 'crm-1042',
        email: 'ada@example.com',
        first_name: 'Ada',
        last_name: 'Byron',
        tags: ['newsletter'],
        custom_fields: { product: 'heat pumps' },
      },
    },
    { name: 'grace', summary: 'Another, without a phone', body: { external_id: 'crm-1043', first_name: 'Grace' } },
  ],
  'contacts.list': { query: { search: 'ada', limit: 10 } },
  'contacts.upsert': { body: { list_name: 'Customers', phone: '+1 415-555-0123', company: 'Analytical Engines', tier: 'silver' } },
  'contacts.bulkUpsert': {
    body: {
      list_name: 'Customers',
      contacts: [
        { phone: '(212) 555-0110', first_name: 'Nina', last_name: 'Okafor', product: 'solar roofs' },
        { phone: '+44 20 7946 0958', first_name: 'Priya', product: 'heat pumps' },
        { first_name: 'Without phone' },
      ],
    },
  },
  'contacts.listFieldKeys': {},
  'contacts.get': { path: { contact_id: 1 } },
  'contacts.update': { path: { contact_id: 1 }, body: { title: 'Countess', custom_fields: { tier: 'gold' } } },
  'contacts.delete': { path: { contact_id: 2 } },
  'contacts.listLists': { path: { contact_id: 1 } },
  'contacts.listEvents': { path: { contact_id: 1 } },
  'contacts.listCalls': { path: { contact_id: 1 } },
  'contactLists.list': {},
  'contactLists.create': [
    {
      name: 'newsletter',
      summary: 'A list with columns',
      body: {
        name: 'Newsletter',
        description: 'Who wants to hear of offers',
        metadata: { source: 'website' },
        column_schema: [
          { key: 'first_name', label: 'First name', type: 'string' },
          { key: 'product', label: 'Interested in', type: 'string' },
        ],
      },
    },
    { name: 'old', summary: 'A list with a name alone', body: { name: 'Old leads' } },
  ],
  'contactLists.get': { path: { list_id: 2 } },
  'contactLists.update': { path: { list_id: 2 }, body: { description: 'Who wants to hear of offers by telephone' } },
  'contactLists.delete': { path: { list_id: 3 } },
  'contactLists.listContacts': { path: { list_id: 1 }, query: { sort: 'last_name', order: 'asc' } },
  'contactLists.addContacts': { path: { list_id: 2 }, body: { contact_ids: [1, 3, 999] } },
  'contactLists.removeContact': { path: { list_id: 2, contact_id: 3 } },
  'suppressions.create': [
    { name: 'forGood', summary: 'Never call it again', body: { phone: '(212) 555-0111', reason: 'asked not to be called' } },
    { name: 'forATime', summary: 'Not until a day', body: { phone: '(212) 555-0112', until: '2099-01-01T00:00:00Z' } },
  ],
  'suppressions.list': {},
  'suppressions.import': { body: { csv: 'phone,reason\n(212) 555-0113,asked by letter\n+44 20 7946 0959,\nunknown,\n' } },
  'suppressions.export': {},
  'suppressions.restore': { path: { suppression_id: 1 }, body: { reason: 'Asked for a call by e-mail' } },
  'suppressions.listProposals': {},
  'suppressions.deleteByPhone': { query: { phone: '+12125550112' } },
  'suppressions.delete': { path: { suppression_id: 1 } },
};
