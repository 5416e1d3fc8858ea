import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { evictOrganizationAndKeys } from '../../src/accounts/authentication/identity.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { validDefinition } from '../support/agent-definitions.ts';

type Make = (client: Client, name: string) => Promise<{ status: number; body: any }>;

const workflow: Make = (client, name) => client.post('/automation-workflows', { name });
const scheduled: Make = (client, name) =>
  client.post('/automation-workflows', { name, trigger: { type: 'schedule', config: { cron: '* * * * *' } } });

/** The limits of one organization, and the request that exceeds each. */
const makers: Record<string, Make> = {
  max_lists: (client, name) => client.post('/contacts/lists', { name }),
  max_workflows: workflow,
  max_triggers: (client, name) =>
    client.post('/automation-workflows', { name, trigger: { type: 'contact_event', config: { event_type: 'ordered' } } }),
  max_schedules: scheduled,
  max_voice_agents: (client, name) => client.post('/workflow/create/definition', { name, workflow_definition: validDefinition }),
  max_telephony_configs: (client, name) =>
    client.post('/organizations/telephony-configs', {
      name,
      provider: 'twilio',
      twilio: { account_sid: 'AC00000000000000000000000000000000', auth_token: 'a-token-of-the-test' },
      from_numbers: [newPhone()],
    }),
  max_language_models: (client, name) =>
    client.post('/language-models', { name, provider: 'anthropic', model: 'claude-haiku-4-5', api_key: 'a-key-of-the-test', purposes: {} }),
};

test.each(Object.entries(makers))('%s is a limit: one record more is a 409 that names it', async (limit, make) => {
  const { client } = await newOrganization({ plan: { [limit]: 2 } });
  expect((await client.get('/organizations/current')).body.plan[limit]).toBe(2);
  for (const name of ['One', 'Two']) expect(await make(client, name)).toMatchObject({ status: expect.toBeOneOf([200, 201]) });
  const refused = await make(client, 'Three');
  expect(refused).toMatchObject({ status: 409, body: { detail: expect.stringContaining(`(${limit})`) } });
  expect(refused.body.detail).toMatch(/^The plan allows 2 .*; (archive|delete|revoke) some/);
  // Another organization has its own limit.
  expect((await make((await newOrganization({ plan: { [limit]: 2 } })).client, 'One')).status).toBeLessThan(300);
});

test('twenty creations at once create no more records than the plan allows', async () => {
  const { client } = await newOrganization({ plan: { max_workflows: 5 } });
  const made = await Promise.all(Array.from({ length: 20 }, (_, index) => workflow(client, `At once ${index}`)));
  expect(made.filter(({ status }) => status === 201)).toHaveLength(5);
  expect((await client.get('/automation-workflows')).body.total).toBe(5);
});

test('archiving a journey makes room, and it is restored only while there is room', async () => {
  const { client } = await newOrganization({ plan: { max_workflows: 1 } });
  const first = (await workflow(client, 'First')).body.id;
  await client.delete(`/automation-workflows/${first}`);
  const second = (await workflow(client, 'Second')).body.id;
  const refused = await client.patch(`/automation-workflows/${first}`, { status: 'draft' });
  expect(refused).toMatchObject({ status: 409, body: { detail: expect.stringContaining('(max_workflows)') } });
  await client.delete(`/automation-workflows/${second}`);
  expect((await client.patch(`/automation-workflows/${first}`, { status: 'draft' })).status).toBe(200);
});

test('revoking an API key makes room, and it is reactivated only while there is room', async () => {
  // The test itself uses one key.
  const { client } = await newOrganization({ plan: { max_api_keys: 2 } });
  const mint = (name: string) => client.post('/user/api-keys', { name });
  const { body } = await mint('Second');
  expect(await mint('Third')).toMatchObject({ status: 409, body: { detail: expect.stringContaining('(max_api_keys)') } });
  await client.delete(`/user/api-keys/${body.id}`);
  const third = await mint('Third');
  expect(third.status).toBeLessThan(300);
  expect((await client.put(`/user/api-keys/${body.id}/reactivate`)).status).toBe(409);
  expect((await client.get('/contacts', { 'X-API-Key': third.body.api_key })).status).toBe(200);
});

test('lowering a plan deletes nothing', async () => {
  const { client, id } = await newOrganization({ plan: { max_lists: 3 } });
  for (const name of ['One', 'Two', 'Three']) await client.post('/contacts/lists', { name });
  await env.DB.prepare(`UPDATE organization SET plan_limits = '{"max_lists":1}' WHERE id = ?`).bind(id).run();
  evictOrganizationAndKeys(id);
  expect((await client.post('/contacts/upsert', { list_name: 'Two', phone: newPhone() })).status).toBe(200);
  expect((await client.post('/contacts/upsert', { list_name: 'Four', phone: newPhone() })).status).toBe(409);
});

test('lists that an upsert or event creates count like others, and an event beyond the limit is still stored', async () => {
  const { client } = await newOrganization({ plan: { max_lists: 1 } });
  expect((await client.post('/contacts/upsert', { list_name: 'First', phone: newPhone() })).status).toBe(200);
  const bulk = await client.post('/contacts/bulk-upsert', { list_name: 'Second', contacts: [{ phone: newPhone() }] });
  expect(bulk).toMatchObject({ status: 409, body: { detail: expect.stringContaining('(max_lists)') } });
  const event = await client.post('/events', { event_type: 'ordered', list_name: 'Second', phone: newPhone() });
  expect(event).toMatchObject({ status: 201, body: { contact_id: expect.any(Number) } });
  expect((await client.get('/contacts/lists')).body.total).toBe(1);
});
