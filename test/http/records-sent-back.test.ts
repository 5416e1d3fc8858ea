import { describe, expect, test } from 'vitest';
import { connectIntegration } from '../support/integrations.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

/** Reads a record, sends it back as it is, and expects the same record, apart from the moment of its last change. */
async function sendsBack(
  client: Client,
  read: string,
  send: (record: any) => Promise<{ status: number; body: any }>,
  of = (body: any) => body,
) {
  const before = of((await client.get(read)).body);
  const { status, body } = await send(before);
  expect([status, body]).toEqual([200, expect.anything()]);
  const { updated_at: _, ...same } = before;
  expect(of((await client.get(read)).body)).toMatchObject(same);
}

describe('a record that was read can be sent back, and changes nothing:', () => {
  test('a contact list', async () => {
    const { client } = await newOrganization();
    const column_schema = [{ key: 'plan', label: 'Plan', type: 'string' }];
    const { id } = (await client.post('/contacts/lists', { name: 'Leads', description: 'New', metadata: { a: 1 }, column_schema })).body;
    await sendsBack(client, `/contacts/lists/${id}`, (record) =>
      client.put(`/contacts/lists/${id}`, { ...record, id: 5, contacts_count: 99 }),
    );
    const copy = await client.post('/contacts/lists', { ...(await client.get(`/contacts/lists/${id}`)).body, name: 'Copy' });
    expect(copy).toMatchObject({ status: 201, body: { name: 'Copy', metadata: { a: 1 }, column_schema, contacts_count: 0 } });
  });

  test('the organization, whose plan only its operator changes', async () => {
    const { client } = await newOrganization();
    await sendsBack(client, '/organizations/current', (record) =>
      client.patch('/organizations/current', { ...record, id: 1, plan: { max_contacts: 5 } }),
    );
  });

  test('a messaging configuration, with and without a provider', async () => {
    const { client } = await newOrganization();
    const path = '/organizations/messaging-config';
    await sendsBack(client, path, (record) => client.post(path, record));
    const provider_c = { api_key: 'secret-of-gupshup', source: '15550001', app_name: 'shop' };
    expect((await client.post(path, { messaging_app: { provider: 'provider_c', provider_c } })).status).toBe(200);
    await sendsBack(client, path, (record) => client.post(path, record));
    const reading = (await newOrganization()).client;
    await reading.post(path, { messaging_app: { provider: 'provider_c', provider_c } });
    await sendsBack(reading, path, (record) => reading.post(path, { ...record, callback_urls: null }));
  });

  test('a telephony configuration of either carrier', async () => {
    const { client } = await newOrganization();
    for (const body of [
      {
        name: 'T',
        provider: 'twilio',
        twilio: { account_sid: `AC${'0'.repeat(32)}`, auth_token: 'secret-of-twilio' },
        from_numbers: ['+12123456001'],
      },
      {
        name: 'X',
        provider: 'telnyx',
        telnyx: { api_key: 'secret-of-telnyx', connection_id: '1', public_key: btoa('0'.repeat(32)) },
        from_numbers: ['+12123456002'],
      },
    ]) {
      const made = await client.post('/organizations/telephony-configs', body);
      expect([made.status, made.body]).toEqual([200, expect.anything()]);
      const path = `/organizations/telephony-configs/${made.body.id}`;
      await sendsBack(client, path, (record) => client.patch(path, record));
    }
  });

  test('a language model', async () => {
    const { client } = await newOrganization();
    const body = { name: 'M', provider: 'anthropic', model: 'claude-haiku-4-5', api_key: 'secret-of-anthropic', purposes: { talk: 1 } };
    const made = await client.post('/language-models', body);
    expect([made.status, made.body]).toEqual([200, expect.anything()]);
    const path = `/language-models/${made.body.id}`;
    await sendsBack(client, path, (record) => client.put(path, record));
  });

  test('an integration of each provider', async () => {
    const { client } = await newOrganization();
    for (const provider of ['chatapp', 'tracker', 'calendar', 'books', 'sheet'] as const) {
      const { id } = await connectIntegration(client, provider);
      const of = (all: any[]) => all.find((one) => one.id === id);
      await sendsBack(client, '/integration/', (record) => client.put(`/integration/${id}`, record), of);
    }
  });

  test('a suppression, which is then renewed', async () => {
    const { client } = await newOrganization();
    const phone = newPhone();
    const until = new Date(Date.now() + 86_400_000).toISOString();
    await client.post('/contacts/suppressions', { phone, reason: 'asked', until });
    const of = (body: any) => body.suppressions[0];
    await sendsBack(client, '/contacts/suppressions', (record) => client.post('/contacts/suppressions', record), of);
  });

  test('an API key, of which another one is made', async () => {
    const { client } = await newOrganization();
    const made = await client.post('/user/api-keys', { name: 'Importer', scopes: ['read'] });
    const { api_keys } = (await client.get('/user/api-keys')).body;
    const read = api_keys.find((one: { id: number }) => one.id === made.body.id);
    const again = await client.post('/user/api-keys', read);
    expect(again).toMatchObject({ status: 200, body: { name: 'Importer', scopes: ['read'], api_key: expect.stringMatching(/^vaa_/) } });
    expect([again.body.id, again.body.api_key]).not.toEqual([made.body.id, made.body.api_key]);
  });

  test('an event, which is then another one', async () => {
    const { client } = await newOrganization();
    await client.post('/events', { event_type: 'seen', data: { a: 1 }, occurred_at: '2026-11-20T10:15:30Z' });
    const [read] = (await client.get('/events')).body.events;
    expect(await client.post('/events', read)).toMatchObject({ status: 201, body: { event_id: expect.any(Number) } });
  });
});
