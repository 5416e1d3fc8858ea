import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { openApiDocument } from '../../src/openapi/document.ts';
import { chain } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

interface Operation {
  parameters?: { name: string; in: string }[];
  requestBody?: { content: { 'application/json'?: { schema: { $ref?: string } } } };
}

const { paths, components } = openApiDocument(createApp()) as unknown as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { properties?: Record<string, unknown> }> };
};
// These operations would delete the test's organization, or answer with other content than JSON.
const leftOut = /\/auth\/|\/webhook\//;

const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, operation]) => (leftOut.test(path) ? [] : [{ path, method, operation }])),
);

/** Values that people and programs send in place of valid ones. */
const oddValue = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    '',
    ' ',
    '0',
    '-1',
    'null',
    '9.18E+11',
    '{{',
    '{% for i in (1..99999999) %}',
    '\u0000',
    '\uD800',
    "'; --",
    '__proto__',
    '+1415',
    [],
    {},
    [[]],
    -1,
    0,
    1.5,
    1e308,
    2 ** 53,
    true,
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

const fieldsOf = (operation: Operation): string[] => {
  const name = operation.requestBody?.content['application/json']?.schema.$ref?.split('/').at(-1);
  return Object.keys((name && components.schemas[name]?.properties) || {});
};

const oddBody = (operation: Operation) => {
  const fields = fieldsOf(operation);
  const record = fc.dictionary(fields.length ? fc.oneof(fc.constantFrom(...fields), fc.string()) : fc.string(), oddValue, { maxKeys: 6 });
  return fc.oneof({ weight: 4, arbitrary: record }, { weight: 1, arbitrary: oddValue });
};

async function ids(client: Client): Promise<Record<string, number>> {
  const contact = await client.post('/contacts', { phone: newPhone() });
  const list = await client.post('/contacts/lists', { name: 'List' });
  const workflow = await client.post('/automation-workflows', { name: 'Journey', definition: chain() });
  const trigger = await client.post(`/automation-workflows/${workflow.body.id}/triggers`, { type: 'manual' });
  const run = await client.post(`/automation-workflows/${workflow.body.id}/test`, {});
  const key = await client.post('/user/api-keys', { name: 'Key' });
  return {
    contact_id: contact.body.id,
    list_id: list.body.id,
    workflow_id: workflow.body.id,
    trigger_id: trigger.body.id,
    run_id: run.body.id,
    id: key.body.id,
  };
}

test('no input makes any operation answer 500', async () => {
  const { client } = await newOrganization();
  const known = await ids(client);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...operations).chain((one) =>
        fc.record({
          one: fc.constant(one),
          body: oddBody(one.operation),
          query: fc.dictionary(
            fc.constantFrom(
              'x',
              ...(one.operation.parameters ?? []).flatMap((parameter) => (parameter.in === 'query' ? [parameter.name] : [])),
            ),
            oddValue,
            { maxKeys: 4 },
          ),
          isKnown: fc.boolean(),
          oddId: oddValue,
        }),
      ),
      async ({ one, body, query, isKnown, oddId }) => {
        const path = one.path
          .replace('/api/v1', '')
          .replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(well(isKnown ? known[name] : oddId)));
        const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, well(value)])).toString();
        const method = one.method as 'get' | 'post' | 'put' | 'patch' | 'delete';
        const url = `${path}${search ? `?${search}` : ''}`;
        const answer = await (method === 'get' || method === 'delete' ? client[method](url) : client[method](url, body));
        // 502 is the fault of a provider: those of the tests cannot be reached.
        if (answer.status !== 502)
          expect(answer.status, `${method} ${url} ${JSON.stringify(body)} answered ${JSON.stringify(answer.body)}`).toBeLessThan(500);
        if (answer.status >= 400) expect(answer.body).toHaveProperty('detail');
      },
    ),
    { numRuns: 800 },
  );
}, 120_000);

const well = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed();
