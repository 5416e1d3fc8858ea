import { env } from 'cloudflare:workers';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { suppress, findSuppressedPhones } from '../../src/contacts/suppressions/suppressions.ts';
import { Database } from '../../src/database/client.ts';
import { explainQueryPlans, recordedClient, recordedDatabase, rowsRead, type Recording } from '../support/recorded-database.ts';
import { Client, newOrganization, newPhone } from '../support/organization.ts';

const path = '/contacts/suppressions';
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();
const nextWeek = () => new Date(Date.now() + 7 * 86_400_000).toISOString();

/** The context of background work with its D1 calls counted, at a time that the test sets. */
async function contextOf(organizationId: number) {
  const recording: Recording = { statements: [], calls: 0 };
  const time = { now: Date.now() };
  const context: Context = {
    ...(await backgroundContext(env, organizationId, () => {}))!,
    clock: () => time.now,
    database: new Database(recordedDatabase(env.DB, recording), true),
  };
  return { context, recording, time };
}

/** Has a suppression end in the past. */
const expire = (id: number) =>
  env.DB.prepare('UPDATE suppression SET until = ? WHERE id = ?')
    .bind(Date.now() - 1, id)
    .run();
const phonesOf = async (client: Client, query = ''): Promise<string[]> =>
  (await client.get(`${path}${query}`)).body.suppressions.map(({ phone }: any) => phone);

/** Many at once, whose numbers are `+1212` and seven digits; those whose place is odd have ended. */
const insertSuppressions = (organizationId: number, count: number, first: number) =>
  env.DB.prepare(
    `INSERT INTO suppression (organization_id, phone, reason, until, created_at)
     SELECT ?1, '+1212' || CAST(?2 + value AS INTEGER), 'filled', iif(value % 2, 1, NULL), 0 FROM json_each(?3)`,
  )
    .bind(organizationId, first, JSON.stringify(Array.from({ length: count }, (_, index) => index)))
    .run();

describe('a suppression', () => {
  test('is made of a number in any spelling, forever and without a reason of its own by default', async () => {
    const { client } = await newOrganization();
    const answer = await client.post(path, { phone: '(212) 555-0188' });
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body).toEqual({
      id: expect.any(Number),
      phone: '+12125550188',
      reason: 'do_not_call',
      source: 'manual',
      evidence: null,
      call_run_id: null,
      created_by: expect.any(Number),
      until: null,
      created_at: expect.stringMatching(/Z$/),
      restored_at: null,
      restored_by: null,
      restore_reason: null,
    });
    const until = tomorrow();
    const { body } = await client.post(path, { phone: newPhone(), reason: ' on  holiday ', until });
    expect(body).toMatchObject({ reason: 'on holiday', until });
    expect((await client.get(path)).body).toMatchObject({ suppressions: [body, answer.body], total: 2, next_cursor: null });
  });

  test('of the same number again is the same one, for the longer of the two times', async () => {
    const { client } = await newOrganization();
    const phone = newPhone();
    const [soon, later] = [tomorrow(), nextWeek()];
    const first = (await client.post(path, { phone, reason: 'first', until: soon })).body;
    expect((await client.post(path, { phone, reason: 'longer', until: later })).body).toEqual({ ...first, reason: 'longer', until: later });
    expect((await client.post(path, { phone, reason: 'shorter', until: soon })).body).toEqual({ ...first, reason: 'longer', until: later });
    expect((await client.post(path, { phone, reason: 'for good' })).body).toEqual({ ...first, reason: 'for good', until: null });
    expect((await client.post(path, { phone, reason: 'shorter', until: later })).body).toEqual({
      ...first,
      reason: 'for good',
      until: null,
    });
    expect((await client.get(path)).body.total).toBe(1);
  });

  test('that has ended begins anew', async () => {
    const { client } = await newOrganization();
    const phone = newPhone();
    const first = (await client.post(path, { phone, reason: 'first', until: tomorrow() })).body;
    await env.DB.prepare('UPDATE suppression SET until = ?, created_at = ? WHERE id = ?').bind(1000, 500, first.id).run();
    const until = tomorrow();
    const { body } = await client.post(path, { phone, reason: 'second', until });
    expect(body).toMatchObject({ id: first.id, reason: 'second', until });
    expect(Date.parse(body.created_at)).toBeGreaterThan(1000);
  });

  test.each([
    ['no number', {}, 'phone'],
    ['a number that is none', { phone: 'N/A' }, 'phone'],
    ['a number with an extension', { phone: '+1 212 555 0100 ext. 5' }, 'phone'],
    ['an end in the past', { phone: '+12125550100', until: '2020-01-01T00:00:00Z' }, 'until'],
    ['an end that is no moment', { phone: '+12125550100', until: 'soon' }, 'until'],
    ['an empty reason', { phone: '+12125550100', reason: ' ' }, 'reason'],
    ['a long reason', { phone: '+12125550100', reason: 'x'.repeat(201) }, 'reason'],
  ])('%s is a 422 that names the field', async (_, body, field) => {
    const { client } = await newOrganization();
    expect(await client.post(path, body)).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', field] }] } });
    expect((await client.get(path)).body.total).toBe(0);
  });

  test('is deleted by its id or by its number, and then is not there', async () => {
    const { client } = await newOrganization();
    const phone = newPhone();
    const { id } = (await client.post(path, { phone })).body;
    expect(await client.delete(`${path}/${id}`)).toMatchObject({ status: 200, body: { status: 'deleted' } });
    expect((await client.delete(`${path}/${id}`)).status).toBe(404);
    await client.post(path, { phone });
    expect((await client.delete(`${path}?phone=${encodeURIComponent(phone)}`)).body).toEqual({ status: 'deleted' });
    await client.post(path, { phone });
    // An unescaped plus arrives as a space.
    expect((await client.delete(`${path}/?phone=${phone}`)).status).toBe(200);
    expect((await client.delete(`${path}?phone=${phone}`)).status).toBe(404);
    expect((await client.get(path)).body.total).toBe(0);
  });

  test('is not deleted by a request that does not say which', async () => {
    const { client } = await newOrganization();
    await client.post(path, { phone: newPhone() });
    expect(await client.delete(path)).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', 'phone'] }] } });
    expect(await client.delete(`${path}?phone=nobody`)).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', 'phone'] }] } });
    expect(await client.delete(`${path}/all`)).toMatchObject({ status: 422 });
    expect((await client.get(path)).body.total).toBe(1);
  });

  test('outlives the contact, and no import or upsert takes it away', async () => {
    const { client } = await newOrganization();
    const phone = newPhone();
    const contact = (await client.post('/contacts', { phone, first_name: 'Ada' })).body;
    const suppression = (await client.post(path, { phone, reason: 'asked on the phone' })).body;
    await client.post('/contacts/bulk-upsert', { list_name: 'Leads', contacts: [{ phone, first_name: 'Ada' }, { phone: newPhone() }] });
    await client.post('/contacts/upsert', { list_name: 'Leads', phone });
    await client.delete(`/contacts/${contact.id}`);
    await client.post('/contacts/bulk-upsert', { list_name: 'Leads', contacts: [{ phone }] });
    expect((await client.get(path)).body).toMatchObject({ suppressions: [suppression], total: 1 });
  });
});

describe('the list', () => {
  test('leaves out ended suppressions unless they are requested', async () => {
    const { client } = await newOrganization();
    const [ended, held] = [newPhone(), newPhone()];
    await expire((await client.post(path, { phone: ended, until: tomorrow() })).body.id);
    await client.post(path, { phone: held, until: tomorrow() });
    expect(await phonesOf(client)).toEqual([held]);
    expect(await phonesOf(client, '?include_expired=true')).toEqual([held, ended]);
    expect((await client.get(`${path}?include_expired=true`)).body.total).toBe(2);
    expect((await client.get(`${path}?include_expired=perhaps`)).status).toBe(422);
  });

  test('is newest first, in pages that hang together while it grows', async () => {
    const { client } = await newOrganization();
    const phones = [newPhone(), newPhone(), newPhone(), newPhone(), newPhone()];
    for (const phone of phones) await client.post(path, { phone });
    const first = (await client.get(`${path}?limit=2`)).body;
    expect(first).toMatchObject({ total: 5, limit: 2, offset: 0 });
    await client.post(path, { phone: newPhone() });
    const second = (await client.get(`${path}?limit=3&cursor=${first.next_cursor}`)).body;
    expect([...first.suppressions, ...second.suppressions].map(({ phone }: any) => phone)).toEqual(phones.toReversed());
    expect(second.next_cursor).toBeNull();
    expect(await phonesOf(client, '?limit=1&offset=5')).toEqual([phones[0]]);
  });

  test('finds one number in any spelling, and by a part of number or reason', async () => {
    const { client } = await newOrganization();
    const [one, other] = ['+12125550171', '+12125550172'];
    await client.post(path, { phone: one, reason: 'Complaint' });
    await client.post(path, { phone: other });
    expect(await phonesOf(client, `?phone=${encodeURIComponent('(212) 555-0171')}`)).toEqual([one]);
    expect(await phonesOf(client, `?phone=${one}`)).toEqual([one]);
    expect(await phonesOf(client, '?search=0172')).toEqual([other]);
    expect(await phonesOf(client, '?search=COMPL')).toEqual([one]);
    expect(await phonesOf(client, '?search=555017')).toEqual([other, one]);
    expect(await phonesOf(client, '?search=do_not&phone=2125550171')).toEqual([]);
    expect(await client.get(`${path}?phone=none`)).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', 'phone'] }] } });
  });

  test('says so when a search has not looked at all', async () => {
    const { client, id } = await newOrganization();
    await client.post(path, { phone: '+13475550100', reason: 'oldest' });
    await insertSuppressions(id, 10_000, 3_000_000);
    const searched = (await client.get(`${path}?search=oldest&include_expired=true`)).body;
    expect(searched).toMatchObject({ suppressions: [], total: 0, total_capped: true });
    expect(await phonesOf(client, '?phone=+13475550100')).toEqual(['+13475550100']);
    const all = (await client.get(`${path}?limit=1&include_expired=true`)).body;
    expect(all).toMatchObject({ total: 10_000, total_capped: true });
    expect((await client.get(`${path}?limit=1`)).body).toMatchObject({ total: 5001 });
    expect((await client.get(`${path}?limit=1`)).body).not.toHaveProperty('total_capped');
  });
});

describe('the suppressions of an organization', () => {
  test('are nothing to another one', async () => {
    const { client, id } = await newOrganization();
    const { client: other, id: otherId } = await newOrganization();
    const phone = newPhone();
    const suppression = (await client.post(path, { phone })).body;
    expect((await other.get(`${path}?include_expired=true`)).body).toMatchObject({ suppressions: [], total: 0 });
    expect((await other.delete(`${path}/${suppression.id}`)).status).toBe(404);
    expect((await other.delete(`${path}?phone=${phone}`)).status).toBe(404);
    expect((await findSuppressedPhones((await contextOf(otherId)).context, [phone])).size).toBe(0);
    expect((await findSuppressedPhones((await contextOf(id)).context, [phone])).size).toBe(1);
    expect((await other.post(path, { phone })).body.id).not.toBe(suppression.id);
  });

  test('are read with the scope read, and changed with write', async () => {
    const { client } = await newOrganization({ scopes: ['write'] });
    const { id } = (await client.post(path, { phone: newPhone() })).body;
    expect((await client.delete(`${path}/${id}`)).status).toBe(200);
    const { client: reader } = await newOrganization({ scopes: ['read'] });
    expect((await reader.get(path)).status).toBe(200);
    const refused = [
      await reader.post(path, { phone: newPhone() }),
      await reader.delete(`${path}/1`),
      await reader.delete(`${path}?phone=${newPhone()}`),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect((await new Client(undefined).get(path)).status).toBe(401);
  });
});

describe('before a call', () => {
  test('the numbers in force are known with their reasons, however many are asked about, by one statement', async () => {
    const { id } = await newOrganization();
    await insertSuppressions(id, 3000, 4_000_000);
    const { context, recording } = await contextOf(id);
    const asked = Array.from({ length: 2500 }, (_, index) => `+1212${4_002_000 + index}`);
    const found = await findSuppressedPhones(context, asked);
    expect(recording.calls).toBe(1);
    // A thousand of them are there, and every second of those has ended.
    expect(found.size).toBe(500);
    expect(found.get('+12124002000')).toBe('filled');
    expect(found.has('+12124002001')).toBe(false);
    expect((await explainQueryPlans(recording)).flatMap(({ plan }) => plan)).toEqual([
      expect.stringContaining('SCAN p VIRTUAL TABLE'),
      expect.stringMatching(/SEARCH s USING INDEX suppression_phone \(organization_id=\? AND phone=\?\)/),
    ]);
    expect((await findSuppressedPhones(context, [])).size).toBe(0);
  });

  test('a suppression holds until its last millisecond', async () => {
    const { id } = await newOrganization();
    const { context, time } = await contextOf(id);
    const phone = newPhone();
    await suppress(context, { phone, reason: 'pause', source: 'manual', until: time.now + 1000 });
    time.now += 999;
    expect((await findSuppressedPhones(context, [phone])).has(phone)).toBe(true);
    time.now += 1;
    expect((await findSuppressedPhones(context, [phone])).has(phone)).toBe(false);
  });

  test('however a number is suppressed, and in whatever order, the last end of all holds', async () => {
    const { id } = await newOrganization();
    const { context, time } = await contextOf(id);
    const end = fc.option(fc.integer({ min: 1, max: 1000 }), { nil: null, freq: 4 });
    await fc.assert(
      fc.asyncProperty(fc.array(end, { minLength: 1, maxLength: 5 }), async (ends) => {
        const phone = newPhone();
        for (const after of ends)
          await suppress(context, { phone, reason: `until ${after}`, source: 'manual', until: after === null ? null : time.now + after });
        const last = ends.includes(null) ? null : Math.max(...(ends as number[]));
        const row = await suppress(context, { phone, reason: 'too short', source: 'manual', until: time.now });
        expect(row).toMatchObject({ reason: `until ${last}`, until: last === null ? null : time.now + last });
      }),
      { numRuns: 50 },
    );
  });

  test("the cost grows neither with the data of others nor with the organization's", async () => {
    const { client, key, id } = await newOrganization();
    const phone = newPhone();
    const cost = async () => {
      const { client: recorded, recording } = recordedClient(key);
      const { body } = await recorded.post(path, { phone });
      await recorded.get(`${path}?phone=${phone}`);
      await recorded.delete(`${path}/${body.id}`);
      return rowsRead(recording);
    };
    await cost();
    const before = await cost();
    await insertSuppressions((await newOrganization()).id, 2000, 5_000_000);
    await insertSuppressions(id, 2000, 6_000_000);
    expect(await cost()).toBeLessThanOrEqual(before + 2);
    expect((await client.get(path)).body.total).toBe(1000);
  });
});
