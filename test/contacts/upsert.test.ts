import { expect, test } from 'vitest';
import { newOrganization, newPhone } from '../support/organization.ts';

test('an unknown person is created in a new list, a known one is found by another spelling of the phone', async () => {
  const { client } = await newOrganization();
  const first = await client.post('/contacts/upsert', {
    list_name: 'Leads',
    phone: '+12125550123',
    first_name: 'Ada',
    custom_fields: { tier: 'gold', color: 'red' },
  });
  expect(first).toMatchObject({
    status: 200,
    body: { contact_created: true, list_created: true, contact_list: { name: 'Leads', contacts_count: 1 } },
  });
  const second = await client.post('/contacts/upsert', {
    list_name: 'LEADS',
    phone: '(212) 555-0123',
    last_name: 'Byron',
    custom_fields: { tier: 'silver' },
    loyalty: 7,
  });
  expect(second.body).toMatchObject({
    contact_created: false,
    list_created: false,
    contact: { id: first.body.contact.id, first_name: 'Ada', last_name: 'Byron' },
  });
  expect(second.body.contact.custom_fields).toEqual({ tier: 'silver', color: 'red', loyalty: 7 });
  expect(second.body.contact_list).toEqual(first.body.contact_list);
  expect((await client.get(`/contacts/${first.body.contact.id}`)).body.lists).toMatchObject([{ name: 'Leads' }]);
});

test('a person is found by external id when the phone is unknown or absent, and takes the phone', async () => {
  const { client } = await newOrganization();
  const { id } = (await client.post('/contacts', { external_id: 'crm-1' })).body;
  const phone = newPhone();
  expect((await client.post('/contacts/upsert', { list_name: 'L', external_id: 'crm-1', phone })).body.contact).toMatchObject({
    id,
    phone,
    external_id: 'crm-1',
  });
  expect((await client.post('/contacts/upsert', { list_name: 'L', external_id: 'crm-1' })).body.contact).toMatchObject({ id, phone });
  expect((await client.post('/contacts/upsert', { list_name: 'L', phone, external_id: 'crm-2' })).body.contact).toMatchObject({
    id,
    external_id: 'crm-2',
  });
});

test('phone of one contact with the external id of another is a conflict that names both, and makes no list', async () => {
  const { client } = await newOrganization();
  const a = (await client.post('/contacts', { phone: newPhone() })).body;
  const b = (await client.post('/contacts', { external_id: 'b' })).body;
  const answer = await client.post('/contacts/upsert', { list_name: 'Never', phone: a.phone, external_id: 'b' });
  expect([answer.status, answer.body]).toEqual([
    409,
    { detail: 'identity_conflict', message: `phone belongs to contact ${a.id}, external_id to contact ${b.id}` },
  ]);
  expect((await client.get('/contacts/lists')).body.total).toBe(0);
});

test('empty texts count as absent, null clears, tags are united', async () => {
  const { client } = await newOrganization();
  const phone = newPhone();
  await client.post('/contacts/upsert', {
    list_name: 'L',
    phone,
    first_name: 'Ada',
    company: 'Engines',
    tags: ['a'],
    custom_fields: { tier: 'gold', color: 'red' },
  });
  const { contact } = (
    await client.post('/contacts/upsert', {
      list_name: 'L',
      phone,
      external_id: '',
      first_name: '',
      company: null,
      tags: ['b', 'a'],
      custom_fields: { tier: '', color: null },
      extra: '',
    })
  ).body;
  expect(contact).toMatchObject({ first_name: 'Ada', company: null, external_id: null, tags: ['a', 'b'], custom_fields: { tier: 'gold' } });
});

test('read-only fields of a record that is sent back are no custom fields', async () => {
  const { client } = await newOrganization();
  const { contact } = (await client.post('/contacts/upsert', { list_name: 'L', phone: newPhone(), plan: 'pro' })).body;
  const again = (await client.post('/contacts/upsert', { list_name: 'L', ...contact })).body;
  expect(again.contact).toEqual(contact);
});

test.each([
  [{ phone: newPhone() }, ['body', 'list_name']],
  [{ list_name: '  ', phone: newPhone() }, ['body', 'list_name']],
  [{ list_name: 5, phone: newPhone() }, ['body', 'list_name']],
  [{ list_name: 'L', email: 'x@example.com' }, ['body', 'phone']],
  [{ list_name: 'L', phone: '', external_id: '' }, ['body', 'phone']],
  [{ list_name: 'L', phone: '12' }, ['body', 'phone']],
  [{ list_name: 'L', phone: newPhone(), email: 'x' }, ['body', 'email']],
  [{ list_name: 'L', phone: newPhone(), tags: 'x' }, ['body', 'tags']],
  [{ list_name: 'L', phone: newPhone(), custom_fields: 'x' }, ['body', 'custom_fields']],
  [{ list_name: 'L', phone: newPhone(), '': 'blank name' }, ['body', 'custom_fields']],
])('a body that cannot be used is 422 and names the field: %j', async (body, loc) => {
  const { client } = await newOrganization();
  const answer = await client.post('/contacts/upsert', body);
  expect([answer.status, answer.body.detail[0].loc]).toEqual([422, loc]);
});

test('a field that is missing is told from one that is no text', async () => {
  const { client } = await newOrganization();
  const problemOf = async (body: object) => (await client.post('/contacts/upsert', body)).body.detail[0];
  expect(await problemOf({ phone: newPhone() })).toEqual({
    loc: ['body', 'list_name'],
    msg: 'Is missing; give text',
    type: 'invalid_type',
  });
  expect(await problemOf({ list_name: 5, phone: newPhone() })).toMatchObject({ loc: ['body', 'list_name'], msg: 'Must be text' });
});

test('an external id beyond 2^53 keeps its digits', async () => {
  const { client } = await newOrganization();
  const answer = await client.post('/contacts/upsert', '{"list_name":"L","external_id":820982911946154508}');
  expect(answer.body.contact?.external_id ?? answer.body.detail[0].loc).toBe('820982911946154508');
});

test('at the plan limit a known person is still updated, an unknown one is 403', async () => {
  const { client } = await newOrganization({ maxContacts: 1 });
  const phone = newPhone();
  await client.post('/contacts', { phone });
  expect((await client.post('/contacts/upsert', { list_name: 'L', phone, first_name: 'Ada' })).body.contact.first_name).toBe('Ada');
  const answer = await client.post('/contacts/upsert', { list_name: 'Never', phone: newPhone() });
  expect([answer.status, answer.body]).toEqual([403, { detail: 'contact_limit_reached', message: expect.stringMatching(/\b1 contacts/) }]);
  expect((await client.get('/contacts/lists')).body.lists.map((list: { name: string }) => list.name)).toEqual(['L']);
});

test('many requests that upsert one new person into one new list at once make one contact and one list', async () => {
  const { client } = await newOrganization();
  const phone = newPhone();
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) => client.post('/contacts/upsert', { list_name: 'L', phone, [`k${n}`]: n })),
  );
  expect(answers.map((answer) => answer.status)).toEqual(Array(8).fill(200));
  expect(answers.filter((answer) => answer.body.contact_created)).toHaveLength(1);
  expect(answers.filter((answer) => answer.body.list_created)).toHaveLength(1);
  const { contacts, total } = (await client.get('/contacts')).body;
  expect(total).toBe(1);
  expect(Object.keys(contacts[0].custom_fields)).toHaveLength(8);
  expect((await client.get('/contacts/lists')).body.lists[0].contacts_count).toBe(1);
});

test('an unknown person of another organization is created here', async () => {
  const mine = await newOrganization();
  const theirs = await newOrganization();
  const phone = newPhone();
  const there = (await theirs.client.post('/contacts/upsert', { list_name: 'L', phone, first_name: 'Theirs' })).body;
  const here = (await mine.client.post('/contacts/upsert', { list_name: 'L', phone })).body;
  expect(here).toMatchObject({ contact_created: true, list_created: true, contact: { first_name: null } });
  expect(here.contact.id).not.toBe(there.contact.id);
  expect(here.contact_list.id).not.toBe(there.contact_list.id);
});
