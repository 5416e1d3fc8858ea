import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { connectIntegration, setAccountStatus, planFault } from '../support/integrations.ts';
import { newOrganization, newPhone } from '../support/organization.ts';
import { recordedDatabase } from '../support/recorded-database.ts';
import { labs, syncService } from './sync-service.ts';
import { realFetch } from '../support/real-fetch.ts';

afterEach(() => vi.restoreAllMocks());

const broker = (env as unknown as { COMPOSIO_BASE_URL: string }).COMPOSIO_BASE_URL;
const firstId = '4600000000000000';

const both = (external_field: string) => ({ external_field, direction: 'bidirectional' });
const mapping = {
  phone: both('phone'),
  email: both('email'),
  first_name: { external_field: 'first_name', direction: 'inbound' },
  company: { external_field: 'company_name', direction: 'outbound' },
  'custom_fields.region': both('cf_region'),
};

async function pushService() {
  const service = await syncService();
  const integration = await service.connectBooks(mapping, labs);
  await service.work();
  const push = (contactId: number) => service.client.post(`/integration/${integration}/contacts/${contactId}/push`);
  const record = async (id: string) => (await service.atBooks('GET', `/contacts/${id}`, undefined, labs)).contact;
  const change = (id: string, body: unknown) => service.atBooks('PUT', `/contacts/${id}`, body, labs);
  return { ...service, integration, push, record, change };
}

/** As if the last write of the contacts was long ago. */
const age = (organizationId: number) =>
  env.DB.prepare('UPDATE contact SET updated_at = updated_at - 60000 WHERE organization_id = ?').bind(organizationId).run();

describe('a push', () => {
  test('makes a record of the outbound fields alone, and says which', async () => {
    const { client, push, record } = await pushService();
    const phone = newPhone();
    const { body } = await client.post('/contacts', { phone, first_name: 'Ada', company: 'Engines', custom_fields: { region: 'East' } });
    const pushed = await push(body.id);
    expect(pushed).toMatchObject({
      status: 200,
      body: { status: 'pushed', external_id: expect.any(String), pushed_fields: ['phone', 'company', 'custom_fields.region'] },
    });
    expect(await record(pushed.body.external_id)).toMatchObject({
      contact_name: 'Ada',
      company_name: 'Engines',
      phone,
      first_name: '',
      custom_field_hash: { cf_region: 'East' },
    });
  });

  test('changes the record that the contact came from, and nothing else of it', async () => {
    const { client, push, record, contacts } = await pushService();
    const [contact] = await contacts();
    await client.put(`/contacts/${contact.id}`, { company: 'Ours', email: 'ours@example.com', first_name: 'Only here' });
    expect((await push(contact.id)).body).toMatchObject({ external_id: firstId, pushed_fields: ['phone', 'email', 'company'] });
    expect(await record(firstId)).toMatchObject({ company_name: 'Ours', email: 'ours@example.com', first_name: 'Amara' });
  });

  test('never comes back as a change, on a poll or on a full reading', async () => {
    const { client, integration, push, poll, resync, contacts } = await pushService();
    const [contact] = await contacts();
    await client.put(`/contacts/${contact.id}`, { company: 'Ours', email: 'ours@example.com' });
    await push(contact.id);
    const made = await client.post('/contacts', { phone: newPhone(), first_name: 'New', email: 'new@example.com' });
    await push(made.body.id);
    const before = await contacts();
    expect(await poll(integration)).toMatchObject({ rows_seen: 2, created: 0, updated: 0, unchanged: 2 });
    expect(await resync(integration)).toMatchObject({ rows_seen: 6, created: 0, updated: 0, unchanged: 6 });
    expect(await contacts()).toEqual(before);
  });

  test('clears what was cleared here, and not what never came from here', async () => {
    const { client, push, record, change, contacts } = await pushService();
    await change(firstId, { custom_fields: [{ api_name: 'cf_region', value: 'West' }] });
    const [contact] = await contacts();
    await client.put(`/contacts/${contact.id}`, { email: null });
    expect((await push(contact.id)).body.pushed_fields).toEqual(['phone', 'email']);
    expect(await record(firstId)).toMatchObject({ email: '', custom_field_hash: { cf_region: 'West' }, company_name: 'Northwind' });
  });

  test('leaves a field that has changed there alone to the next sync', async () => {
    const { client, integration, push, poll, record, change, contacts } = await pushService();
    const [contact] = await contacts();
    const [person] = (await record(firstId)).contact_persons;
    await change(firstId, {
      contact_persons: [{ ...person, email: 'theirs@example.com' }],
      custom_fields: [{ api_name: 'cf_region', value: 'West' }],
    });
    await client.put(`/contacts/${contact.id}`, { company: 'Ours' });
    expect((await push(contact.id)).body.pushed_fields).toEqual(['phone', 'company']);
    const theirs = { email: 'theirs@example.com', custom_field_hash: { cf_region: 'West' } };
    expect(await record(firstId)).toMatchObject({ ...theirs, company_name: 'Ours' });
    expect(await poll(integration)).toMatchObject({ updated: 1 });
    expect((await contacts())[0]).toMatchObject({ email: 'theirs@example.com', company: 'Ours', custom_fields: { region: 'West' } });
  });

  test.each([
    ['phone', '+16463330001', ''],
    ['e-mail address, whose phone is written otherwise', '+1 (646) 333-0001', 'there@example.com'],
    ['e-mail address alone', '', 'there@example.com'],
  ])('takes the record that has the %s instead of making another', async (_how, phone, email) => {
    const { client, integration, push, record, atBooks, contacts, links, resync } = await pushService();
    const person = { first_name: 'There', phone, email, is_primary_contact: true };
    const { contact: there } = await atBooks('POST', '/contacts', { contact_name: 'There', contact_persons: [person] }, labs);
    const { body } = await client.post('/contacts', { phone: '6463330001', email: 'there@example.com', company: 'Here' });
    expect((await push(body.id)).body).toMatchObject({ external_id: there.contact_id, pushed_fields: ['phone', 'email', 'company'] });
    const filled = { first_name: 'There', email: 'there@example.com' };
    expect(await record(there.contact_id)).toMatchObject({ ...filled, contact_name: 'There', company_name: 'Here' });
    expect(await links()).toHaveLength(6);
    expect(await resync(integration)).toMatchObject({ created: 0, updated: 1 });
    expect((await contacts()).find(({ id }) => id === body.id)).toMatchObject({ ...filled, phone: '+16463330001' });
  });

  test('does not take the record of somebody else who shares the e-mail address', async () => {
    const { client, push, contacts } = await pushService();
    const [contact] = await contacts();
    const { body } = await client.post('/contacts', { phone: newPhone(), email: contact.email });
    const pushed = await push(body.id);
    expect(pushed.status).toBe(200);
    expect(pushed.body.external_id).not.toBe(firstId);
  });

  test('gives two people of one name two records', async () => {
    const { client, push, record } = await pushService();
    const [one, other] = [newPhone(), newPhone()];
    const first = await client.post('/contacts', { phone: one, first_name: 'Ada', last_name: 'Byron' });
    const second = await client.post('/contacts', { phone: other, first_name: 'Ada', last_name: 'Byron' });
    expect((await record((await push(first.body.id)).body.external_id)).contact_name).toBe('Ada Byron');
    expect((await record((await push(second.body.id)).body.external_id)).contact_name).toBe(`Ada Byron (${other})`);
  });

  test('makes a record anew that was deleted there', async () => {
    const { push, atBooks, contacts, record } = await pushService();
    await atBooks('DELETE', `/contacts/${firstId}`, undefined, labs);
    const [contact] = await contacts();
    const pushed = await push(contact.id);
    expect(pushed).toMatchObject({ status: 200, body: { pushed_fields: ['phone', 'email'] } });
    expect(await record(pushed.body.external_id)).toMatchObject({ phone: contact.phone, email: contact.email });
  });

  test('by two at once makes one record', async () => {
    const { client, push, atBooks } = await pushService();
    const phone = newPhone();
    const { body } = await client.post('/contacts', { phone, first_name: 'Both' });
    const answers = await Promise.all([push(body.id), push(body.id), push(body.id)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map((answer) => answer.body.external_id)).size).toBe(1);
    const { contacts } = await atBooks('GET', '/contacts', undefined, labs);
    expect(contacts.filter((one: any) => one.phone === phone)).toHaveLength(1);
  });

  test.each(['reads its links', 'writes its page'] as const)('while a sync %s is not undone by what that has read before', async (when) => {
    const { id, client, integration, push, change, record, bindings, step, resync, contacts, messages } = await pushService();
    const [contact] = await contacts();
    await client.put(`/contacts/${contact.id}`, { email: 'ours@example.com' });
    await age(id);
    const [person] = (await record(firstId)).contact_persons;
    await change(firstId, { contact_persons: [{ ...person, email: 'theirs@example.com' }] });
    await client.post(`/integration/${integration}/resync`);
    const sql = { 'reads its links': /AS is_listed[\s\S]*json_each/, 'writes its page': /INSERT INTO integration_contact/ }[when];
    let isPushed = false;
    const DB = recordedDatabase(env.DB, { statements: [], calls: 0 }, async (statements) => {
      if (isPushed || !statements.some((one) => sql.test(one))) return;
      isPushed = true;
      expect((await push(contact.id)).body.pushed_fields).toContain('email');
    });
    await step({ ...bindings, DB });
    expect([isPushed, messages]).toEqual([true, []]);
    expect((await contacts())[0].email).toBe('ours@example.com');
    expect((await record(firstId)).email).toBe('ours@example.com');
    expect(await resync(integration)).toMatchObject({ updated: 0, unchanged: 5 });
  });
});

test('a push is left alone by a sync that runs while it is under way', async () => {
  const { id, client, integration, push, change, record, work, resync, lastSync, contacts } = await pushService();
  const [contact] = await contacts();
  await client.put(`/contacts/${contact.id}`, { email: 'ours@example.com' });
  await age(id);
  const [person] = (await record(firstId)).contact_persons;
  await change(firstId, { contact_persons: [{ ...person, email: 'theirs@example.com' }] });
  await client.post(`/integration/${integration}/resync`);
  let isUnderWay = false;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input as RequestInfo, init as RequestInit);
    const isPut = request.url.startsWith(broker) && /"method":"PUT"/.test(await (request.clone() as Request).text());
    if (isPut && !isUnderWay) {
      isUnderWay = true;
      await work();
      expect(await lastSync(integration)).toMatchObject({ status: 'completed', updated: 0 });
    }
    return realFetch(request);
  });
  expect((await push(contact.id)).body.pushed_fields).toContain('email');
  vi.restoreAllMocks();
  expect([isUnderWay, (await contacts())[0].email, (await record(firstId)).email]).toEqual([true, 'ours@example.com', 'ours@example.com']);
  expect(await resync(integration)).toMatchObject({ updated: 0, unchanged: 5 });
});

describe('of a bidirectional field that both sides have changed, the later change stays', () => {
  test('theirs', async () => {
    const { id, client, integration, change, record, poll, contacts } = await pushService();
    const [contact] = await contacts();
    await client.put(`/contacts/${contact.id}`, { email: 'ours@example.com' });
    await age(id);
    const [person] = (await record(firstId)).contact_persons;
    await change(firstId, { contact_persons: [{ ...person, email: 'theirs@example.com' }] });
    await poll(integration);
    expect((await contacts())[0].email).toBe('theirs@example.com');
  });

  test('ours, which the next push sends', async () => {
    const { client, integration, change, record, poll, push, contacts } = await pushService();
    const [contact] = await contacts();
    const [person] = (await record(firstId)).contact_persons;
    await change(firstId, { contact_persons: [{ ...person, email: 'theirs@example.com' }] });
    await client.put(`/contacts/${contact.id}`, { email: 'ours@example.com' });
    await poll(integration);
    expect((await contacts())[0].email).toBe('ours@example.com');
    await push(contact.id);
    expect((await record(firstId)).email).toBe('ours@example.com');
  });
});

describe('a push that cannot be', () => {
  test('of no contact, or of one of another organization, is 404', async () => {
    const { push } = await pushService();
    const stranger = await newOrganization();
    const { body } = await stranger.client.post('/contacts', { phone: newPhone() });
    for (const id of [body.id, 987_654_321]) expect(await push(id)).toMatchObject({ status: 404, body: { detail: 'Contact not found' } });
  });

  test('to a sheet, or without an outbound field, is 400, and before an organization is selected 409', async () => {
    const service = await syncService();
    const { client } = service;
    const { body: contact } = await client.post('/contacts', { phone: newPhone() });
    const sheet = await service.connectSheet('Leads');
    expect(await client.post(`/integration/${sheet}/contacts/${contact.id}/push`)).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('read only') },
    });
    const { id } = await connectIntegration(client, 'books');
    const push = () => client.post(`/integration/${id}/contacts/${contact.id}/push`);
    expect(await push()).toMatchObject({ status: 409, body: { detail: expect.stringContaining('books/organization') } });
    await client.post(`/integration/${id}/books/organization`, { organization_id: labs });
    expect(await push()).toMatchObject({ status: 400, body: { detail: expect.stringContaining('field-mapping') } });
    await client.put(`/integration/${id}/field-mapping`, {
      field_mapping: { company: { external_field: 'company_name', direction: 'outbound' } },
    });
    expect(await push()).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('has nothing in the fields that are pushed: company') },
    });
  });

  test('because the grant has ended is 404 not_connected, and the integration is inactive', async () => {
    const { integration, push, integrationOf, contacts } = await pushService();
    const [contact] = await contacts();
    await setAccountStatus((await integrationOf(integration)).integration_id, 'REVOKED');
    expect(await push(contact.id)).toMatchObject({ status: 404, body: { detail: 'not_connected', message: expect.any(String) } });
    expect(await integrationOf(integration)).toMatchObject({ is_active: false });
  });

  test('because the provider fails is 502, changes nothing, and works later', async () => {
    const { integration, push, record, contacts, client, change, resync } = await pushService();
    const [contact] = await contacts();
    await client.put(`/contacts/${contact.id}`, { company: 'Ours' });
    await planFault({
      provider: 'zohobooks',
      match: { method: 'PUT' },
      times: 1,
      status: 400,
      body: { code: 4, message: 'Invalid value passed for company_name' },
    });
    expect(await push(contact.id)).toMatchObject({ status: 502, body: { detail: expect.stringContaining('Invalid value passed') } });
    await change(firstId, { custom_fields: [{ api_name: 'cf_region', value: 'West' }] });
    expect(await resync(integration)).toMatchObject({ updated: 1 });
    expect((await push(contact.id)).status).toBe(200);
    expect((await record(firstId)).company_name).toBe('Ours');
  });

  test('because the grant covers reading alone is 403', async () => {
    const service = await syncService();
    const { client } = service;
    const { id } = await connectIntegration(client, 'books', { scopes: 'ZohoBooks.settings.READ,ZohoBooks.contacts.READ' });
    await client.post(`/integration/${id}/books/organization`, { organization_id: labs });
    await client.put(`/integration/${id}/field-mapping`, { field_mapping: mapping });
    const { body } = await client.post('/contacts', { phone: newPhone() });
    expect(await client.post(`/integration/${id}/contacts/${body.id}/push`)).toMatchObject({
      status: 403,
      body: { detail: expect.stringMatching(/^insufficient_permissions: /) },
    });
  });
});
