import type { ExamplesByOperation } from '../http/openapi/examples.ts';

const at = '2026-11-20T10:15:30.000Z';
const user = { id: 2, email: 'ada@example.com', name: 'Ada Byron', created_at: at };
const organization = {
  id: 2,
  name: 'Analytical Engines',
  default_country: 'US',
  timezone: 'UTC',
  min_hours_between_calls: 0,
  plan: { max_integrations: 10, max_contacts: 1_000_000, concurrent_call_limit: 10 },
  created_at: at,
};
const session = { token: 'vas_2mQ7hX0cV4kT9sLrYw8bNf3eJd6uGaPz', user, organization };
const key = {
  id: 2,
  name: 'Checkout',
  key_prefix: 'vaa_k7Qd',
  scopes: ['write'],
  status: 'active',
  created_by: 1,
  expires_at: null,
  archived_at: null,
  created_at: at,
};

/** Requests that work in the order of the document, with their answers. Organization 1, user 1 and API key 1 are those of `npm start`. */
export const accountExamples: ExamplesByOperation = {
  'health.get': {
    answer: {
      status: 'ok',
      version: '0.1.0',
      backend_api_endpoint: 'http://127.0.0.1:8787/api/v1',
      deployment_mode: 'local',
      auth_provider: 'local',
    },
  },
  'auth.signUp': {
    body: { email: 'ada@example.com', password: 'a long and secret phrase', name: 'Ada Byron', organization_name: 'Analytical Engines' },
    answer: session,
  },
  'auth.logIn': { body: { email: 'ada@example.com', password: 'a long and secret phrase' }, answer: session },
  'auth.me': { answer: { user, organization } },
  'auth.createOrganization': { body: { name: 'Difference Engines' }, answer: { ...organization, id: 3, name: 'Difference Engines' } },
  'auth.selectOrganization': { body: { organization_id: 2 }, answer: organization },
  'auth.logOut': { answer: { status: 'logged_out' } },
  'organization.get': { answer: organization },
  'organization.update': {
    body: { default_country: 'US', timezone: 'America/New_York' },
    answer: { ...organization, timezone: 'America/New_York' },
  },
  'apiKeys.create': { body: { name: 'Checkout', scopes: ['write'] }, answer: { ...key, api_key: 'vaa_k7QdW2xR9pLmT4vYc8sHnB1eZu6fJg3o' } },
  'apiKeys.list': { query: { status: 'active' }, answer: { api_keys: [key], total: 1, limit: 50, offset: 0, next_cursor: null } },
  'apiKeys.revoke': { path: { id: 2 }, answer: { ...key, status: 'archived', archived_at: at } },
  'apiKeys.reactivate': { path: { id: 2 }, answer: key },
};
