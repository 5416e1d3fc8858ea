import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { eraseConsents, recordConsent } from '../../src/contact-policy/consents.ts';
import { Database } from '../../src/database/client.ts';
import { dropQueueMessages } from '../support/background.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { recordedDatabase } from '../support/recorded-database.ts';

const path = '/organizations/contact-policy';
const empty = { limits: [], min_gaps: [], quiet_hours: null, days_off: null, consent: null, when_held: 'wait', updated_at: null };
const night = { day_of_week: 0, start_time: '21:00', end_time: '08:00' };

describe('the contact policy', () => {
  test('has no rules at first, is replaced as a whole, and ends with {}', async () => {
    const { client } = await newOrganization();
    expect(await client.get(path)).toMatchObject({ status: 200, body: empty });
    const written = await client.put(path, {
      limits: [
        { channel: 'call', max: 2, per: 'day' },
        { max: 5, per: 'P7D' },
      ],
      min_gaps: [{ gap: 'PT4H' }],
      quiet_hours: { slots: [night] },
      days_off: { dates: ['2026-12-24'] },
      consent: { custom_field: 'agreed' },
      when_held: 'skip',
    });
    expect(written.status, JSON.stringify(written.body)).toBe(200);
    expect(written.body).toEqual({
      limits: [
        { channel: 'call', max: 2, per: 'day' },
        { channel: 'any', max: 5, per: 'P7D' },
      ],
      min_gaps: [{ channel: 'any', gap: 'PT4H' }],
      quiet_hours: { slots: [night], channels: ['call', 'message'] },
      days_off: { public_holidays: true, dates: ['2026-12-24'], channels: ['call', 'message'] },
      consent: { channels: ['call', 'message'], custom_field: 'agreed' },
      when_held: 'skip',
      updated_at: expect.stringMatching(/Z$/),
    });
    expect((await client.get(path)).body).toEqual(written.body);
    expect((await client.put(path, { limits: [{ max: 1, per: 'week' }] })).body).toMatchObject({ quiet_hours: null, when_held: 'wait' });
    expect((await client.put(path, {})).body).toEqual(empty);
    expect((await client.get(path)).body).toEqual(empty);
  });

  test.each([
    ['a limit of nothing', { limits: [{ max: 0, per: 'day' }] }, ['body', 'limits', '0', 'max']],
    ['a limit without time', { limits: [{ max: 1 }] }, ['body', 'limits', '0', 'per']],
    ['a time that is none', { limits: [{ max: 1, per: 'month' }] }, ['body', 'limits', '0', 'per']],
    ['a window of months', { limits: [{ max: 1, per: 'P1M' }] }, ['body', 'limits', '0', 'per']],
    ['a window that is too long', { limits: [{ max: 1, per: 'P91D' }] }, ['body', 'limits', '0', 'per']],
    ['an unknown channel', { limits: [{ channel: 'fax', max: 1, per: 'day' }] }, ['body', 'limits', '0', 'channel']],
    ['too many limits', { limits: Array.from({ length: 21 }, () => ({ max: 1, per: 'day' })) }, ['body', 'limits']],
    ['a gap of nothing', { min_gaps: [{ gap: 'PT0S' }] }, ['body', 'min_gaps', '0', 'gap']],
    ['quiet hours without slots', { quiet_hours: { slots: [] } }, ['body', 'quiet_hours', 'slots']],
    [
      'a slot that is no time',
      { quiet_hours: { slots: [{ ...night, end_time: '21:00' }] } },
      ['body', 'quiet_hours', 'slots', '0', 'end_time'],
    ],
    [
      'quiet hours of the whole week',
      { quiet_hours: { slots: [0, 1, 2, 3, 4, 5, 6].map((day) => ({ day_of_week: day, start_time: '00:00', end_time: '24:00' })) } },
      ['body', 'quiet_hours', 'slots'],
    ],
    ['a date that the calendar lacks', { days_off: { dates: ['2026-02-30'] } }, ['body', 'days_off', 'dates', '0']],
    ['a list of no channels', { consent: { channels: [] } }, ['body', 'consent', 'channels']],
    ['another word for when_held', { when_held: 'drop' }, ['body', 'when_held']],
    ['a key that is none', { limit: [] }, ['body']],
  ])('refuses %s, and names the field', async (_name, policy, loc) => {
    const { client } = await newOrganization();
    const answer = await client.put(path, policy);
    expect(answer.status, JSON.stringify(answer.body)).toBe(422);
    expect(answer.body.detail[0].loc.slice(0, loc.length)).toEqual(loc);
    expect((await client.get(path)).body).toEqual(empty);
  });

  test('is read with any key, changed by admins alone, and belongs to its organization', async () => {
    const reader = await newOrganization({ scopes: ['read'] });
    expect((await reader.client.get(path)).status).toBe(200);
    expect((await reader.client.put(path, {})).status).toBe(403);
    const writer = await newOrganization({ scopes: ['read', 'write'] });
    expect((await writer.client.put(path, {})).status).toBe(403);
    const [one, other] = [await newOrganization(), await newOrganization()];
    await one.client.put(path, { limits: [{ max: 1, per: 'day' }] });
    expect((await other.client.get(path)).body).toEqual(empty);
  });
});

describe('a consent', () => {
  const agreed = { channel: 'call', given: true, source: 'web form', text: 'Yes, call me.', at: '2026-01-31T10:00:00Z' };

  test('is recorded with its proof, and the newest stands first', async () => {
    const { client, userId } = await newOrganization();
    const contact = (await client.post('/contacts', { phone: newPhone() })).body.id;
    const first = await client.post(`/contacts/${contact}/consents`, agreed);
    expect(first.status, JSON.stringify(first.body)).toBe(201);
    expect(first.body).toEqual({
      id: expect.any(Number),
      contact_id: contact,
      channel: 'call',
      given: true,
      source: 'web form',
      text: 'Yes, call me.',
      at: '2026-01-31T10:00:00.000Z',
      created_by: userId,
      created_at: expect.stringMatching(/Z$/),
    });
    const second = await client.post(`/contacts/${contact}/consents`, { given: false, source: 'call', text: 'No more, please.' });
    expect(second.body).toMatchObject({ channel: 'any', given: false });
    const page = (await client.get(`/contacts/${contact}/consents?limit=1`)).body;
    expect(page).toMatchObject({ consents: [second.body], total: 2 });
    expect((await client.get(`/contacts/${contact}/consents?cursor=${page.next_cursor}`)).body.consents).toEqual([first.body]);
  });

  test.each([
    ['no words', { ...agreed, text: ' ' }, 'text'],
    ['no source', { ...agreed, source: undefined }, 'source'],
    ['a moment to come', { ...agreed, at: '2999-01-01' }, 'at'],
    ['a moment that is none', { ...agreed, at: 'yesterday' }, 'at'],
    ['an answer that is neither yes nor no', { ...agreed, given: 'yes' }, 'given'],
  ])('with %s is refused, and the field is named', async (_name, body, field) => {
    const { client } = await newOrganization();
    const contact = (await client.post('/contacts', { phone: newPhone() })).body.id;
    const answer = await client.post(`/contacts/${contact}/consents`, body);
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0].loc).toEqual(['body', field]);
  });

  test('needs a contact of the organization with a phone, and a key that may write', async () => {
    const { client } = await newOrganization();
    const contact = (await client.post('/contacts', { phone: newPhone() })).body.id;
    const other = await newOrganization();
    expect((await other.client.post(`/contacts/${contact}/consents`, agreed)).status).toBe(404);
    expect((await other.client.get(`/contacts/${contact}/consents`)).status).toBe(404);
    const reader = await newOrganization({ scopes: ['read'] });
    expect((await reader.client.post(`/contacts/1/consents`, agreed)).status).toBe(403);
    const phoneless = (await client.post('/contacts', { external_id: 'x-1' })).body.id;
    expect((await client.post(`/contacts/${phoneless}/consents`, agreed)).status).toBe(422);
  });

  test('is erased with its contact', async () => {
    const { id, client } = await newOrganization();
    const contact = (await client.post('/contacts', { phone: newPhone() })).body.id;
    await client.post(`/contacts/${contact}/consents`, agreed);
    expect(await eraseConsents((await backgroundContext(env, id, () => {}))!, contact)).toBe(true);
    expect((await client.get(`/contacts/${contact}/consents`)).body.consents).toEqual([]);
  });
});

const yes = { given: true, source: 'form', text: 'Yes, call me.' };
const no = { given: false, source: 'call 12', text: 'No more, please.' };
const today = () => new Date().toISOString().slice(0, 10);

/** An organization that contacts nobody without consent; `newContact` is a contact whose custom field says yes. */
async function askingForConsent() {
  const organization = await newOrganization();
  const { id, client } = organization;
  await client.put(path, { consent: { custom_field: 'agreed' } });
  const newContact = async (phone: string) =>
    (await client.post('/contacts', { phone, custom_fields: { agreed: 'yes' } })).body.id as number;
  const stored = async () =>
    (await env.DB.prepare('SELECT * FROM contact_consent WHERE organization_id = ? ORDER BY id').bind(id).all<any>()).results;
  return { ...organization, newContact, stored, context: (await backgroundContext(env, id, () => {}))! };
}

const record = async (client: Client, contact: number, body: object): Promise<any> => {
  const answer = await client.post(`/contacts/${contact}/consents`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
};
/** Deletes a contact; its consents are erased by the test alone. */
async function deleteContact(client: Client, contact: number): Promise<void> {
  const lost = dropQueueMessages();
  await client.delete(`/contacts/${contact}`);
  lost.restore();
}
const nextOf = async (client: Client, contact: number): Promise<any> => {
  const { call, message } = (await client.get(`/contacts/${contact}/timeline`)).body.next;
  return { call: call.rule ?? call.state, message: message.rule ?? message.state };
};

describe('a withdrawal', () => {
  test('with a bare date wins against all consents of that day, until a later one', async () => {
    const { client, newContact } = await askingForConsent();
    const contact = await newContact(newPhone());
    await record(client, contact, { ...yes, channel: 'call' });
    const withdrawn = await record(client, contact, { ...no, at: today() });
    expect(Date.parse(withdrawn.at)).toBeLessThanOrEqual(Date.parse(withdrawn.created_at));
    expect(await nextOf(client, contact)).toEqual({ call: 'no_consent', message: 'no_consent' });
    await record(client, contact, { ...yes, at: today() });
    expect(await nextOf(client, contact)).toEqual({ call: 'no_consent', message: 'no_consent' });
    await record(client, contact, yes);
    expect(await nextOf(client, contact)).toEqual({ call: 'allowed', message: 'allowed' });
  });

  test('with a bare date of the past has the end of that day, with a time that time, and a consent the beginning', async () => {
    const { client, newContact } = await askingForConsent();
    const contact = await newContact(newPhone());
    const momentOf = async (body: object) => (await record(client, contact, body)).at;
    expect(await momentOf({ ...yes, at: '2026-01-31T15:00:00Z' })).toBe('2026-01-31T15:00:00.000Z');
    expect(await momentOf({ ...no, at: '2026-01-31' })).toBe('2026-01-31T23:59:59.999Z');
    expect(await nextOf(client, contact)).toMatchObject({ call: 'no_consent' });
    expect(await momentOf({ ...no, at: '2026-01-30T08:00:00Z' })).toBe('2026-01-30T08:00:00.000Z');
    expect(await momentOf({ ...yes, at: '2026-02-01' })).toBe('2026-02-01T00:00:00.000Z');
    expect(await nextOf(client, contact)).toMatchObject({ call: 'allowed' });
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    expect((await client.post(`/contacts/${contact}/consents`, { ...no, at: tomorrow })).status).toBe(422);
  });

  test('outlives its contact with the number alone, and holds when the number is imported again', async () => {
    const { client, newContact, stored, context } = await askingForConsent();
    const phone = newPhone();
    const contact = await newContact(phone);
    await record(client, contact, { ...yes, channel: 'message' });
    await record(client, contact, no);
    await deleteContact(client, contact);
    expect(await eraseConsents(context, contact)).toBe(true);
    expect(await eraseConsents(context, contact)).toBe(true);
    expect(await stored()).toMatchObject([{ phone, channel: 'any', is_given: 0, contact_id: 0, source: '', text: '' }]);
    const again = await newContact(phone);
    expect(again).not.toBe(contact);
    expect(await nextOf(client, again)).toEqual({ call: 'no_consent', message: 'no_consent' });
    expect((await client.get(`/contacts/${again}/consents`)).body).toMatchObject({ consents: [], total: 0 });
    await record(client, again, yes);
    expect(await nextOf(client, again)).toEqual({ call: 'allowed', message: 'allowed' });
    // What is kept is in force no more, and leaves with the consent that followed it.
    await deleteContact(client, again);
    await eraseConsents(context, again);
    expect(await stored()).toEqual([]);
  });

  test('of a channel holds for this channel alone, and the newest one of a number is kept', async () => {
    const { client, newContact, stored, context } = await askingForConsent();
    const phone = newPhone();
    for (let time = 0; time < 3; time++) {
      const contact = await newContact(phone);
      await record(client, contact, { ...no, channel: 'message' });
      await record(client, contact, { ...no, channel: 'message' });
      await deleteContact(client, contact);
      await eraseConsents(context, contact);
      expect(await stored()).toMatchObject([{ phone, channel: 'message', contact_id: 0 }]);
    }
    expect(await nextOf(client, await newContact(phone))).toEqual({ call: 'allowed', message: 'no_consent' });
  });

  test('stays of a person who said more than a page holds, and none of another person or organization is touched', async () => {
    const { id, client, newContact, stored, context } = await askingForConsent();
    const other = await askingForConsent();
    const [phone, stays] = [newPhone(), newPhone()];
    const [contact, neighbour, foreign] = [await newContact(phone), await newContact(stays), await other.newContact(phone)];
    await record(client, neighbour, no);
    await record(other.client, foreign, no);
    await env.DB.prepare(
      `INSERT INTO contact_consent (organization_id, phone, contact_id, channel, is_given, source, text, at, created_by, created_at)
       SELECT ?1, ?2, ?3, 'any', value % 2, 'form', 'words', 1000 - value, 0, 1 FROM json_each(?4)`,
    )
      .bind(id, phone, contact, JSON.stringify(Array.from({ length: 700 }, (_, index) => index)))
      .run();
    await deleteContact(client, contact);
    expect(await eraseConsents(context, contact)).toBe(false);
    expect(await eraseConsents(context, contact)).toBe(true);
    expect(await stored()).toMatchObject([
      { phone: stays, contact_id: neighbour, source: 'call 12' },
      { phone, contact_id: 0, is_given: 0, at: 1000, text: '' },
    ]);
    expect(await other.stored()).toMatchObject([{ phone, contact_id: foreign, text: 'No more, please.' }]);
  });
});

test('nothing is recorded about a contact that is deleted while it is being recorded', async () => {
  const { client, newContact, stored, context } = await askingForConsent();
  const contact = await newContact(newPhone());
  const recording = { statements: [], calls: 0 };
  const binding = recordedDatabase(env.DB, recording, async (sql) => {
    if (sql.some((one) => one.includes('INSERT INTO contact_consent'))) await deleteContact(client, contact);
  });
  const body = { channel: 'any' as const, given: true, source: 'form', text: 'Yes, call me.' };
  await expect(recordConsent({ ...context, database: new Database(binding, true) }, contact, body, 1)).rejects.toMatchObject({
    code: 'not_found',
  });
  expect(await stored()).toEqual([]);
});
