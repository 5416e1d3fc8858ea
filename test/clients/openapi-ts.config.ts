import { defineConfig } from '@hey-api/openapi-ts';

/** Groups become objects and operations their methods: `api.contacts.upsert()`. */
export default defineConfig({
  input: '../../openapi.json',
  output: { path: 'generated/hey-api' },
  plugins: [
    '@hey-api/client-fetch',
    { name: '@hey-api/sdk', operations: { strategy: 'single', containerName: 'Api', nesting: 'operationId' } },
  ],
});
