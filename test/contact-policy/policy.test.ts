import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { newOrganization, newPhone } from '../support/organization.ts';

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
    const { eraseConsents } = await import('../../src/contact-policy/consents.ts');
    const { backgroundContext } = await import('../../src/accounts/organizations/background-context.ts');
    expect(await eraseConsents((await backgroundContext(env, id, () => {}))!, contact)).toBe(true);
    expect((await client.get(`/contacts/${contact}/consents`)).body.consents).toEqual([]);
  });
});
