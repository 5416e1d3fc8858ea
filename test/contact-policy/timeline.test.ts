import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { reserveContacts } from '../../src/contact-policy/reserve-contacts.ts';
import { ContactPolicyBody } from '../../src/contact-policy/policy.ts';
import { callingOrganization, relayCallbacks } from '../support/carrier.ts';
import { recordedClient, rowsRead } from '../support/recorded-database.ts';
import { newOrganization, newPhone } from '../support/organization.ts';

const policy = { limits: [{ channel: 'call', max: 1, per: 'day' }] };

/** A contact with an event, a consent, a suppression, and decisions of the policy. */
async function setUp() {
  const organization = await newOrganization();
  const { id, client } = organization;
  const phone = newPhone();
  const contact = (await client.post('/contacts', { phone, custom_fields: { timezone: 'UTC' } })).body.id as number;
  await client.put('/organizations/contact-policy', policy);
  const context = (await backgroundContext(env, id, () => {}))!;
  const attempt = (key: string) =>
    reserveContacts(context, ContactPolicyBody.parse(policy), [{ key, phone, channel: 'call', source: 'campaign', sourceId: 7 }]);
  return { ...organization, phone, contact, attempt, path: `/contacts/${contact}/timeline` };
}

describe('the timeline of a contact', () => {
  test('has each kind with its reason, newest first, and when the person may be contacted next', async () => {
    const { client, phone, contact, attempt, path } = await setUp();
    await client.post('/events', { event_type: 'order.placed', phone, data: {} });
    await client.post(`/contacts/${contact}/consents`, { channel: 'call', given: true, source: 'form', text: 'Yes, call me.' });
    await attempt('timeline:1');
    await attempt('timeline:2');
    const { body, status } = await client.get(path);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.timeline.map(({ kind, state }: any) => `${kind} ${state}`)).toEqual([
      'decision held',
      'decision reserved',
      'consent given',
      expect.stringMatching(/^event (open|handled)$/),
    ]);
    expect(body.timeline[0]).toMatchObject({
      rule: 'calls_per_day',
      why: 'at most 1 call to a person a day',
      channel: 'call',
      campaign_id: 7,
      next_at: expect.stringMatching(/T00:00:0\d\.\d{3}Z$|T00:00:00.000Z$/),
    });
    expect(body.timeline[2]).toMatchObject({ why: 'Yes, call me.', channel: 'call' });
    expect(body.timeline[3]).toMatchObject({ event_type: 'order.placed' });
    expect(body.next).toEqual({
      call: { state: 'waits', rule: 'calls_per_day', why: 'at most 1 call to a person a day', at: body.timeline[0].next_at },
      message: { state: 'allowed', rule: null, why: null, at: null },
    });
    await client.post('/contacts/suppressions', { phone, reason: 'asked for it' });
    const after = (await client.get(path)).body;
    expect(after.timeline[0]).toMatchObject({ kind: 'suppression', state: 'in_force', why: 'asked for it' });
    expect(after.next.call).toEqual({ state: 'never', rule: 'suppressed', why: 'the number is suppressed (asked for it)', at: null });
  });

  test('counts the hours between two calls to a person for the next call', async () => {
    const { client, agentId, account } = await callingOrganization();
    expect((await client.patch('/organizations/current', { min_hours_between_calls: 2 })).status).toBe(200);
    const phone = `+1219${700 + Math.floor(Math.random() * 200)}0001`;
    const contact = (await client.post('/contacts', { phone })).body.id as number;
    const next = async () => (await client.get(`/contacts/${contact}/timeline`)).body.next;
    expect((await next()).call).toMatchObject({ state: 'allowed' });
    const run = (await client.post(`/workflow/${agentId}/runs`, { mode: 'telephony', phone })).body.id;
    await relayCallbacks(account, async () => (await client.get(`/workflow/${agentId}/runs/${run}`)).body.is_completed);
    const { call, message } = await next();
    expect(call).toEqual({
      state: 'waits',
      rule: 'min_hours_between_calls',
      why: 'at least 2 hours between two calls to a person',
      at: expect.any(String),
    });
    expect(Math.abs(Date.parse(call.at) - Date.now() - 2 * 3_600_000)).toBeLessThan(60_000);
    expect(message).toMatchObject({ state: 'allowed' });
    await client.put('/organizations/contact-policy', {
      limits: [{ channel: 'call', max: 1, per: 'P1D' }],
      consent: { channels: ['call'] },
    });
    expect((await next()).call).toMatchObject({ state: 'never', rule: 'no_consent' });
    await client.patch('/organizations/current', { min_hours_between_calls: 0 });
    await client.put('/organizations/contact-policy', {});
    expect((await next()).call).toMatchObject({ state: 'allowed' });
  });

  test('is read page by page without a gap or a repetition', async () => {
    const { client, phone, attempt, path } = await setUp();
    for (let n = 0; n < 5; n++) {
      await client.post('/events', { event_type: `step.${n}`, phone, data: {} });
      await attempt(`pages:${n}`);
    }
    const all = (await client.get(path)).body.timeline;
    expect(all).toHaveLength(10);
    const read: any[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body }: { body: any } = await client.get(`${path}?limit=3${cursor && `&cursor=${cursor}`}`);
      expect(body.timeline.length).toBeLessThanOrEqual(3);
      read.push(...body.timeline);
      cursor = body.next_cursor;
    }
    expect(read.map(({ kind, id }) => `${kind} ${id}`)).toEqual(all.map(({ kind, id }: any) => `${kind} ${id}`));
  });

  test('reads as much of a long history as of a short one', async () => {
    const { id, key, contact, phone, path } = await setUp();
    const fill = (count: number) =>
      env.DB.batch([
        env.DB.prepare(
          `INSERT INTO event (organization_id, event_type, phone, contact_id, data, created_at, handled_at)
           SELECT ?1, 'filled', ?2, ?3, '{}', value, value FROM json_each(?4)`,
        ).bind(id, phone, contact, JSON.stringify(Array.from({ length: count }, (_, index) => index))),
        env.DB.prepare(
          `INSERT INTO contact_decision (organization_id, phone, key, channel, source, source_id, state, created_at)
           SELECT ?1, ?2, 'filled:' || value, 'call', 'single', 0, 'released', value FROM json_each(?3)`,
        ).bind(id, phone, JSON.stringify(Array.from({ length: count }, (_, index) => index))),
      ]);
    const readsOf = async () => {
      const { client, recording } = recordedClient(key);
      expect((await client.get(`${path}?limit=10`)).body.timeline).toHaveLength(10);
      return rowsRead(recording);
    };
    await fill(50);
    await readsOf();
    const few = await readsOf();
    await fill(2000);
    expect(await readsOf()).toBeLessThanOrEqual(few + 5);
  });

  test('is answered for contacts of the organization alone, and refuses a foreign cursor', async () => {
    const { client, path } = await setUp();
    const other = await newOrganization();
    expect((await other.client.get(path)).status).toBe(404);
    for (const cursor of ['nonsense', btoa('[1,2]'), btoa('[["a",1],0,0,0,0,0,0]')])
      expect((await client.get(`${path}?cursor=${cursor}`)).body.detail[0]).toMatchObject({ loc: ['query', 'cursor'] });
    expect((await client.get(`${path}?limit=0`)).body.detail[0].loc).toEqual(['query', 'limit']);
    const reader = await newOrganization({ scopes: ['read'] });
    expect((await reader.client.get(path)).status).toBe(404);
    expect((await client.get('/contacts/999999999/timeline')).status).toBe(404);
  });
});
