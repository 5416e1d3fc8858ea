import { expect, test } from 'vitest';
import { chain } from '../support/journeys.ts';
import { newOrganization, newPhone } from '../support/organization.ts';

/** Numbers of four characters, `1e20`, which take twenty-two in the database. */
const growing = (count: number) => `[${'1e20,'.repeat(count)}1]`;

test('200 contacts with 100 new long names of fields each are a 422 that names the field, before the write', async () => {
  const { client } = await newOrganization();
  const contacts = Array.from({ length: 200 }, (_, row) => ({
    phone: newPhone(),
    custom_fields: Object.fromEntries(Array.from({ length: 100 }, (_one, field) => [`${row}.${field}.`.padEnd(100, 'é'), 'x'])),
  }));
  const answer = await client.post('/contacts/bulk-upsert', { list_name: 'Wide', contacts });
  expect(answer).toMatchObject({
    status: 422,
    body: { detail: [{ loc: ['body', 'contacts'], msg: expect.stringContaining('names of custom fields'), type: 'too_large' }] },
  });
  expect((await client.get('/contacts')).body.total).toBe(0);
  expect((await client.get('/contacts/lists')).body.total).toBe(0);
});

test('external ids that no statement holds are a 422 that names the field', async () => {
  const { client } = await newOrganization();
  const contacts = Array.from({ length: 3000 }, (_, row) => ({ external_id: `${row}`.padEnd(255, '語') }));
  const answer = await client.post('/contacts/bulk-upsert', { list_name: 'Long', contacts });
  expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'contacts'], type: 'too_large' }] } });
  expect((await client.get('/contacts')).body.total).toBe(0);
});

test('an allowed body whose numbers take more than 2 MB when they are stored is never a 500', async () => {
  const { client } = await newOrganization();
  const workflow = (await client.post('/automation-workflows', { name: 'Journey', definition: chain() })).body.id;
  const grown = growing(180_000);
  const node = `{"nodes":[{"id":"start","type":"trigger","data":{"x":${grown}}}],"edges":[]}`;
  const requests: [method: 'post' | 'put' | 'patch', path: string, body: string][] = [
    ['post', '/contacts', `{"email":"x@example.com","custom_fields":{"x":${grown}}}`],
    ['post', '/contacts/lists', `{"name":"L","columns":${grown},"metadata":{"x":${grown.slice(0, 10)}]}}`],
    ['post', '/events', `{"event_type":"x","data":{"x":${grown}}}`],
    ['post', '/automation-workflows', `{"name":"x","definition":${node}}`],
    ['patch', `/automation-workflows/${workflow}`, `{"definition":${node}}`],
    ['patch', `/automation-workflows/${workflow}`, `{"context_schema":{"enum":${grown}}}`],
    ['patch', `/automation-workflows/${workflow}`, `{"settings":{"x":${grown}}}`],
    ['post', `/automation-workflows/${workflow}/test`, `{"context":{"x":${grown}}}`],
    ['post', `/automation-workflows/${workflow}/triggers`, `{"type":"manual","config":{"x":${grown}}}`],
    ['post', `/automation-workflows/${workflow}/triggers`, `{"type":"manual","config":{"context_schema":{"enum":${grown}}}}`],
    ['post', '/workflow/create/definition', `{"name":"x","workflow_definition":${node}}`],
    ['post', '/workflow/create/definition', `{"name":"x","workflow_definition":{"nodes":[]},"template_context_variables":{"x":${grown}}}`],
    ['post', '/workflow/create/definition', `{"name":"x","workflow_definition":{"nodes":[]},"workflow_configurations":{"x":${grown}}}`],
    ['post', '/workflow/create/definition', `{"name":"x","workflow_definition":{"nodes":[]},"call_disposition_codes":{"x":${grown}}}`],
  ];
  for (const [method, path, body] of requests) {
    const answer = await client[method](path, body);
    const shown = `${path} ${body.slice(0, 60)} ${JSON.stringify(answer.body).slice(0, 300)}`;
    expect(answer.status, shown).toBeLessThan(500);
    if (answer.status === 422) expect(answer.body.detail[0].loc[0], shown).toBe('body');
  }
}, 60_000);
