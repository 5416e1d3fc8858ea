import type { ExamplesByOperation } from '../http/openapi/examples.ts';

/** Requests that work in the order of the document. */
export const accountExamples: ExamplesByOperation = {
  'health.get': {},
  'auth.signUp': {
    body: { email: 'sam@acme.example', password: 'correct horse battery', name: 'Sam Rivera', organization_name: 'Acme' },
  },
  'auth.logIn': { body: { email: 'sam@acme.example', password: 'correct horse battery' } },
  'auth.me': {},
  'auth.createOrganization': { body: { name: 'Acme Europe' } },
  'auth.selectOrganization': { body: { organization_id: 2 } },
  'auth.logOut': {},
  'organization.get': {},
  'organization.update': { body: { name: 'Acme', default_country: 'US', timezone: 'America/New_York' } },
  'apiKeys.create': { body: { name: 'Checkout', scopes: ['write'] } },
  'apiKeys.list': {},
  'apiKeys.revoke': { path: { id: 2 } },
  'apiKeys.reactivate': { path: { id: 2 } },
};
