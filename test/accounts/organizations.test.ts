import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { organizationById } from '../../src/accounts/organizations/background-context.ts';
import { asBearer, newMember, serviceWith } from '../http/service.ts';
import { Client, newOrganization } from '../support/organization.ts';
import { notifiedSlots } from '../voice-agents/carrier-accounts.ts';

afterEach(() => vi.restoreAllMocks());

describe('the organization', () => {
  test('is read with its settings and its plan, by key or by session', async () => {
    const { organizationId, token } = await newMember();
    const { body } = await asBearer(token).get('/organizations/current');
    expect(body).toEqual({
      id: organizationId,
      name: 'Test organization',
      default_country: 'US',
      timezone: 'UTC',
      min_hours_between_calls: 0,
      plan: expect.objectContaining({ max_integrations: 10, max_contacts: 1_000_000, concurrent_call_limit: 100, max_api_keys: 100 }),
      created_at: expect.any(String),
    });
    const minted = await asBearer(token).post('/user/api-keys', { name: 'Reader', scopes: ['read'] });
    expect((await new Client(minted.body.api_key).get('/organizations/current')).body).toEqual(body);
  });

  test('changes the given fields and keeps the rest, from the next request on', async () => {
    const { client, id } = await newOrganization();
    await organizationById(env, id);
    const changed = await client.patch('/organizations/current', { timezone: 'Asia/Kolkata', default_country: 'in' });
    expect(changed).toMatchObject({ status: 200, body: { name: 'Test organization', timezone: 'Asia/Kolkata', default_country: 'IN' } });
    expect((await client.get('/organizations/current')).body).toEqual(changed.body);
    expect((await client.post('/contacts', { phone: '098765 43210' })).body).toMatchObject({ phone: '+919876543210' });
    expect(await organizationById(env, id)).toMatchObject({ timezone: 'Asia/Kolkata', defaultCountry: 'IN' });
    expect((await client.patch('/organizations/current', { name: ' Renamed ' })).body).toMatchObject({
      name: 'Renamed',
      default_country: 'IN',
    });
  });

  test('nothing given changes nothing, and unknown fields are not read', async () => {
    const { client } = await newOrganization();
    const before = (await client.get('/organizations/current')).body;
    expect((await client.patch('/organizations/current', {})).body).toEqual(before);
    expect((await client.patch('/organizations/current', { id: 1, shard: 3, color: 'red' })).body).toEqual(before);
  });

  test.each([
    ['a zone that does not exist', { timezone: 'Mars/Olympus' }, 'timezone'],
    ['an empty zone', { timezone: '' }, 'timezone'],
    ['a number as zone', { timezone: 5 }, 'timezone'],
    ['a country that does not exist', { default_country: 'XX' }, 'default_country'],
    ['a country of three letters', { default_country: 'USA' }, 'default_country'],
    ['an empty country', { default_country: '' }, 'default_country'],
    ['an empty name', { name: '   ' }, 'name'],
    ['a name that is null', { name: null }, 'name'],
    ['fewer hours between calls than none', { min_hours_between_calls: -1 }, 'min_hours_between_calls'],
    ['more than thirty days between calls', { min_hours_between_calls: 720.5 }, 'min_hours_between_calls'],
    ['hours as text', { min_hours_between_calls: '24' }, 'min_hours_between_calls'],
    ['hours that are null', { min_hours_between_calls: null }, 'min_hours_between_calls'],
  ])('%s is a 422 that names the field, and changes nothing', async (_, body, field) => {
    const { client } = await newOrganization();
    const answer = await client.patch('/organizations/current', { name: 'Changed', ...body });
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', field] }] } });
    expect((await client.get('/organizations/current')).body.name).toBe('Test organization');
  });

  test('the hours between two calls may be fractions, background work knows them, and the call slots are notified', async () => {
    const { client, id } = await newOrganization();
    const notified = notifiedSlots();
    for (const hours of [720, 0.25, 0]) {
      expect((await client.patch('/organizations/current', { min_hours_between_calls: hours })).body.min_hours_between_calls).toBe(hours);
      expect((await client.get('/organizations/current')).body.min_hours_between_calls).toBe(hours);
      expect(await organizationById(env, id)).toMatchObject({ minHoursBetweenCalls: hours });
    }
    expect(notified).toEqual([String(id), String(id), String(id)]);
    await client.patch('/organizations/current', { name: 'Renamed' });
    expect(notified).toHaveLength(3);
  });

  test("a change is seen by no other organization's", async () => {
    const { client } = await newOrganization();
    const { client: other } = await newOrganization();
    await client.patch('/organizations/current', { name: 'Changed' });
    expect((await other.get('/organizations/current')).body.name).toBe('Test organization');
  });
});

describe('the plan', () => {
  test('is not for callers to change', async () => {
    const { client } = await newOrganization();
    const plan = { max_integrations: 999, max_contacts: 999, concurrent_call_limit: 999 };
    const answer = await client.patch('/organizations/current', { name: 'Changed', plan });
    expect(answer).toMatchObject({
      status: 200,
      body: { name: 'Changed', plan: { max_integrations: 10, max_contacts: 1_000_000, concurrent_call_limit: 100 } },
    });
  });

  test('comes from the variables, unless the operator sets a limit for one organization', async () => {
    const { client, id, key } = await newOrganization();
    const { key: otherKey } = await newOrganization();
    await env.DB.prepare('UPDATE organization SET plan_max_contacts = 1, plan_concurrent_calls = 7 WHERE id = ?').bind(id).run();
    const send = serviceWith({ PLAN_MAX_INTEGRATIONS: '3', PLAN_MAX_CONTACTS: '5', PLAN_CONCURRENT_CALLS: '2' });
    const planOf = async (from: string) => (await new Client(from, send).get('/organizations/current')).body.plan;
    expect(await planOf(key)).toMatchObject({ max_integrations: 3, max_contacts: 1, concurrent_call_limit: 7 });
    expect(await planOf(otherKey)).toMatchObject({ max_integrations: 3, max_contacts: 5, concurrent_call_limit: 2 });
    expect((await client.post('/contacts', { email: 'one@example.com' })).status).toBe(201);
    expect(await client.post('/contacts', { email: 'two@example.com' })).toMatchObject({
      status: 403,
      body: { detail: 'contact_limit_reached', message: expect.stringContaining('1 contacts') },
    });
  });
});
