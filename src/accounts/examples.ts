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
  'auth.changePassword': { body: { current_password: 'correct horse battery', new_password: 'lanterns over a quiet harbour' } },
  'auth.logOutEverywhere': {},
  'organization.get': {},
  'organization.update': { body: { name: 'Acme', default_country: 'US', timezone: 'America/New_York' } },
  'members.list': {},
  'members.offerReset': { path: { user_id: 1 } },
  'members.resetPassword': {
    body: { token: 'var_0ZWdJQmR1tZxmSgV5bHyQkC3nLpTf8oEaUw2iXrBvKM', new_password: 'lanterns over a quiet harbour' },
  },
  'apiKeys.create': { body: { name: 'Checkout', scopes: ['write'] } },
  'apiKeys.list': {},
  'apiKeys.revoke': { path: { id: 2 } },
  'apiKeys.reactivate': { path: { id: 2 } },
};
