import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { newOrganization, newPhone } from '../support/organization.ts';
import { recordedClient, rowsWritten } from '../support/recorded-database.ts';

const people = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, n) => ({
    phone: newPhone(),
    email: `p${n}@example.com`,
    first_name: `First${n}`,
    last_name: `Last${n % 50}`,
    company: 'Acme',
    plan: 'pro',
    score: n,
    ...more,
  }));

const withFields = (rows: object[], more: object) => rows.map((row) => Object.assign({}, row, more));

/** Does `meddle` before the first call whose SQL fits. */
function onceBeforeCall(fits: (sql: string) => boolean, meddle: () => Promise<unknown>) {
  let isDone = false;
  return async (sql: string[]) => {
    if (isDone || !sql.some(fits)) return;
    isDone = true;
    await meddle();
  };
}

const withoutAudit = <One extends { sql: string }>(statements: One[]): One[] => statements.filter(({ sql }) => !sql.includes('audit_'));

test('good rows come in, bad ones are named, people who come twice are one, fields unknown to us are custom', async () => {
  const { client } = await newOrganization();
  const [a, b] = [newPhone(), newPhone()];
  const { status, body } = await client.post('/contacts/bulk-upsert', {
    list_name: 'Import',
    contacts: [
      { phone: a, first_name: 'One', plan: 'pro', tags: ['x'], custom_fields: { tier: 1 } },
      { phone: b, external_id: 'e-b' },
      { phone: a.replace('+1', '1-'), last_name: 'Folded', tags: ['y'], tier: 2 },
      { phone: '9.18E+11', first_name: 'Broken' },
      { email: 'nobody@example.com' },
      { phone: newPhone(), email: 7 },
      { external_id: 'tags', tags: 'vip' },
      'not a row',
      { phone: a, external_id: 'e-b' },
      null,
      { external_id: 77, phone: 12125550177 },
    ],
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({ created: 3, updated: 0, failed: 7, list_created: true });
  expect(body.contacts.map((contact: { phone: string }) => contact.phone)).toEqual([a, b, '+12125550177']);
  expect(body.contacts[0]).toMatchObject({
    first_name: 'One',
    last_name: 'Folded',
    tags: ['x', 'y'],
    custom_fields: { plan: 'pro', tier: 2 },
  });
  expect(body.contacts[2].external_id).toBe('77');
  expect(body.errors).toEqual([
    { index: 3, phone: '9.18E+11', external_id: null, detail: 'invalid_phone', message: expect.any(String) },
    { index: 4, phone: null, external_id: null, detail: 'no_key', message: expect.any(String) },
    { index: 5, phone: expect.any(String), external_id: null, detail: 'invalid_email', message: expect.stringMatching(/^email/) },
    { index: 6, phone: null, external_id: 'tags', detail: 'invalid_tags', message: expect.stringMatching(/^tags/) },
    { index: 7, phone: null, external_id: null, detail: 'invalid_row', message: expect.any(String) },
    {
      index: 8,
      phone: a,
      external_id: 'e-b',
      detail: 'identity_conflict',
      message: 'phone belongs to the contact of row 0, external_id to the contact of row 1',
    },
    { index: 9, phone: null, external_id: null, detail: 'invalid_row', message: expect.any(String) },
  ]);
  const lists = (await client.get('/contacts/lists')).body.lists;
  expect(lists).toMatchObject([{ name: 'Import', contacts_count: 3 }]);
});

test('a stored phone with the stored external id of another is a row error with both ids', async () => {
  const { client } = await newOrganization();
  const a = (await client.post('/contacts', { phone: newPhone() })).body;
  const b = (await client.post('/contacts', { external_id: 'b' })).body;
  const { body } = await client.post('/contacts/bulk-upsert', { list_name: 'L', contacts: [{ phone: a.phone, external_id: 'b' }] });
  expect(body).toMatchObject({ created: 0, updated: 0, failed: 1, list_created: true, contacts: [] });
  const message = `phone belongs to contact ${a.id}, external_id to contact ${b.id}`;
  expect(body.errors[0]).toMatchObject({ detail: 'identity_conflict', message });
});

test('a row by phone and a row by external id that are one stored contact are folded into it', async () => {
  const { client } = await newOrganization();
  const stored = (await client.post('/contacts', { phone: newPhone(), external_id: 'one' })).body;
  const { body } = await client.post('/contacts/bulk-upsert', {
    list_name: 'L',
    contacts: [
      { phone: stored.phone, first_name: 'A' },
      { external_id: 'one', last_name: 'B' },
    ],
  });
  expect(body).toMatchObject({ created: 0, updated: 1, failed: 0, contacts: [{ id: stored.id, first_name: 'A', last_name: 'B' }] });
});

test('a phone that one row lets go of can be taken by the next', async () => {
  const { client } = await newOrganization();
  const phone = newPhone();
  const a = (await client.post('/contacts', { phone, external_id: 'a' })).body;
  const b = (await client.post('/contacts', { external_id: 'b' })).body;
  const { body } = await client.post('/contacts/bulk-upsert', {
    list_name: 'L',
    contacts: [
      { external_id: 'b', phone: null },
      { external_id: 'a', phone: null },
      { external_id: 'b', phone },
      { external_id: 'c', phone: newPhone() },
    ],
  });
  expect(body).toMatchObject({ created: 1, updated: 2, failed: 0 });
  expect((await client.get(`/contacts/${a.id}`)).body.phone).toBeNull();
  expect((await client.get(`/contacts/${b.id}`)).body.phone).toBe(phone);
  const taken = await client.post('/contacts/bulk-upsert', {
    list_name: 'L',
    contacts: [
      { external_id: 'b', phone: newPhone() },
      { phone, first_name: 'New' },
    ],
  });
  expect(taken.body).toMatchObject({ created: 1, updated: 1, failed: 0 });
});

test('a second identical import creates nothing, changes nothing and writes nothing', async () => {
  const { client, key } = await newOrganization();
  const contacts = [...people(40), { external_id: 'no-phone', tags: ['t'] }];
  const first = (await client.post('/contacts/bulk-upsert', { list_name: 'L', contacts })).body;
  expect(first).toMatchObject({ created: 41, updated: 0 });
  const recorded = recordedClient(key);
  const second = (await recorded.client.post('/contacts/bulk-upsert', { list_name: 'L', contacts })).body;
  expect(second).toMatchObject({ created: 0, updated: 41, failed: 0, list_created: false, errors: [] });
  expect(second.contacts).toEqual(first.contacts);
  // The row by which the audit log knows the caller comes and goes.
  expect(rowsWritten({ ...recorded.recording, statements: withoutAudit(recorded.recording.statements) })).toBe(0);
  expect(rowsWritten(recorded.recording)).toBe(2);
});

test('the answer shows the contacts as they are stored', async () => {
  const { client } = await newOrganization();
  await client.post('/contacts/bulk-upsert', { list_name: 'L', contacts: people(3, { tags: ['a'] }) });
  const contacts = (await client.get('/contacts')).body.contacts.map((contact: { phone: string }) => ({
    phone: contact.phone,
    company: 'Changed',
    score: 'x',
    tags: ['b'],
  }));
  const { body } = await client.post('/contacts/bulk-upsert', {
    list_name: 'L',
    contacts: [...contacts, { external_id: 'new', plan: { a: 1 } }],
  });
  for (const contact of body.contacts) {
    const { lists, ...stored } = (await client.get(`/contacts/${contact.id}`)).body;
    expect(contact).toEqual(stored);
    expect(lists).toHaveLength(1);
  }
});

test('a request without a row, or without a good one, makes its list all the same, once', async () => {
  const { client } = await newOrganization();
  const send = async (list_name: string, contacts: unknown[]) => (await client.post('/contacts/bulk-upsert', { list_name, contacts })).body;
  expect(await send('Empty', [])).toEqual({ created: 0, updated: 0, failed: 0, errors: [], list_created: true, contacts: [] });
  expect(await send('empty', [])).toMatchObject({ list_created: false });
  expect(await send('Bad', [{ phone: 'nobody' }, 5])).toMatchObject({ failed: 2, list_created: true, contacts: [] });
  expect((await client.get('/contacts/lists')).body.lists).toMatchObject([
    { name: 'Bad', contacts_count: 0 },
    { name: 'Empty', contacts_count: 0 },
  ]);
});

test('a contact that was read can be sent back: nothing that is ours becomes a custom field', async () => {
  const { client } = await newOrganization();
  const { id } = (
    await client.post('/contacts', { phone: newPhone(), external_id: 'crm-1', custom_fields: { tier: 'gold' }, tags: ['vip'] })
  ).body;
  await client.post('/contacts/upsert', { list_name: 'Here', external_id: 'crm-1' });
  const read = (await client.get(`/contacts/${id}`)).body;
  const same = { ...read, updated_at: expect.any(String) };
  const back = { ...read, id: 999, organization_id: 999, created_at: 'never' };
  expect((await client.put(`/contacts/${id}`, back)).body).toMatchObject({ id, custom_fields: { tier: 'gold' } });
  expect((await client.get(`/contacts/${id}`)).body).toEqual(same);
  expect((await client.post('/contacts/upsert', { ...back, list_name: 'Here' })).body.contact.custom_fields).toEqual({ tier: 'gold' });
  const bulk = await client.post('/contacts/bulk-upsert', { list_name: 'Here', contacts: [back] });
  expect(bulk.body).toMatchObject({ updated: 1, failed: 0, contacts: [{ id, custom_fields: { tier: 'gold' } }] });
  expect((await client.get(`/contacts/${id}`)).body).toEqual(same);
  const copy = await client.post('/contacts', { ...back, phone: newPhone(), external_id: null });
  expect([copy.status, copy.body.custom_fields]).toEqual([201, { tier: 'gold' }]);
  expect((await client.get('/contacts/custom-field-keys')).body.keys.filter((one: { standard: boolean }) => !one.standard)).toHaveLength(1);
});

test('rows beyond the plan are row errors, known people are updated all the same', async () => {
  const { client } = await newOrganization({ maxContacts: 3 });
  const known = (await client.post('/contacts', { phone: newPhone() })).body;
  const [a, b, c] = people(3);
  const { body } = await client.post('/contacts/bulk-upsert', {
    list_name: 'L',
    contacts: [a, b, c, { phone: known.phone, first_name: 'Known' }, { ...c, first_name: 'again' }, a],
  });
  expect(body).toMatchObject({ created: 2, updated: 1, failed: 2 });
  expect(body.errors.map((error: { index: number; detail: string }) => [error.index, error.detail])).toEqual([
    [2, 'contact_limit_reached'],
    [4, 'contact_limit_reached'],
  ]);
  expect(body.errors[0].message).toContain('3 contacts');
  expect((await client.get('/contacts')).body.total).toBe(3);
});

test('two imports of the same new people at once both succeed and make each person once', async () => {
  const { client } = await newOrganization();
  const contacts = people(300);
  const answers = await Promise.all(
    ['A', 'B', 'A'].map((list_name, n) =>
      client.post('/contacts/bulk-upsert', { list_name, contacts: withFields(contacts, { [`from${n}`]: true }) }),
    ),
  );
  for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: { failed: 0 } });
  expect(answers.map((answer) => answer.body.created).toSorted((a, b) => a - b)).toEqual([0, 0, 300]);
  const { body } = await client.get('/contacts?limit=500');
  expect(body.total).toBe(300);
  expect(new Set(body.contacts.map((contact: { phone: string }) => contact.phone)).size).toBe(300);
  for (const contact of body.contacts) expect(contact.custom_fields).toMatchObject({ from0: true, from1: true, from2: true });
  for (const list of (await client.get('/contacts/lists')).body.lists) expect(list.contacts_count).toBe(300);
});

test('the plan limit is exact under imports at once', async () => {
  const { client } = await newOrganization({ maxContacts: 100 });
  const answers = await Promise.all([0, 1, 2].map(() => client.post('/contacts/bulk-upsert', { list_name: 'L', contacts: people(60) })));
  expect(answers.reduce((sum, answer) => sum + answer.body.created, 0)).toBe(100);
  expect(answers.reduce((sum, answer) => sum + answer.body.failed, 0)).toBe(80);
  expect((await client.get('/contacts')).body.total).toBe(100);
});

test('a change that meets another writer of the same contact starts over and loses neither', async () => {
  const { client, key } = await newOrganization();
  const contacts = people(20);
  await client.post('/contacts/bulk-upsert', { list_name: 'L', contacts });
  const target = (await client.get('/contacts?limit=1')).body.contacts[0];
  // Between reading and writing.
  const beforeCall = onceBeforeCall(
    (sql) => sql.includes('contact_list_member'),
    () => client.put(`/contacts/${target.id}`, { custom_fields: { meanwhile: true } }),
  );
  const recorded = recordedClient(key, { beforeCall });
  const { body } = await recorded.client.post('/contacts/bulk-upsert', {
    list_name: 'L',
    contacts: contacts.map(({ phone }) => ({ phone, title: 'Dr' })),
  });
  expect(body).toMatchObject({ created: 0, updated: 20, failed: 0 });
  expect(body.contacts.find((contact: { id: number }) => contact.id === target.id)).toMatchObject({
    title: 'Dr',
    custom_fields: { meanwhile: true },
  });
});

test('a contact that vanishes between reading and writing is created anew', async () => {
  const { client, key } = await newOrganization();
  const phone = newPhone();
  const { id } = (await client.post('/contacts', { phone })).body;
  const beforeCall = onceBeforeCall(
    (sql) => sql.includes('contact_list_member'),
    () => client.delete(`/contacts/${id}`),
  );
  const recorded = recordedClient(key, { beforeCall });
  const { body } = await recorded.client.post('/contacts/bulk-upsert', { list_name: 'L', contacts: [{ phone, first_name: 'Back' }] });
  expect(body).toMatchObject({ created: 1, updated: 0, failed: 0 });
  expect(body.contacts[0].id).not.toBe(id);
  expect((await client.get('/contacts/lists')).body.lists[0].contacts_count).toBe(1);
});

test('a contact that others never stop writing is given up as a row error', async () => {
  let calls = 0;
  const { client, key } = await newOrganization();
  const phone = newPhone();
  const { id } = (await client.post('/contacts', { phone })).body;
  const beforeCall = async () => void (await client.put(`/contacts/${id}`, { custom_fields: { call: calls++ } }));
  const recorded = recordedClient(key, { beforeCall });
  const { body } = await recorded.client.post('/contacts/bulk-upsert', {
    list_name: 'L',
    contacts: [{ phone, first_name: 'Never' }, { external_id: 'other' }],
  });
  expect(body).toMatchObject({
    created: 1,
    updated: 0,
    failed: 1,
    errors: [{ index: 0, phone, detail: 'conflict', message: expect.any(String) }],
  });
});

test('5,000 ordinary contacts take at most 12 statements in two calls and well under a second, again and changed too', async () => {
  const { client, key } = await newOrganization();
  const contacts = people(5000);
  const imports = [
    contacts,
    withFields(contacts, { company: 'Changed', plan: 'free' }),
    [...withFields(contacts.slice(0, 2500), { last_name: 'Other' }), ...people(2500)],
  ];
  for (const [round, rows] of imports.entries()) {
    const recorded = recordedClient(key);
    await recorded.client.get('/contacts/lists');
    recorded.recording.statements.length = recorded.recording.calls = 0;
    const startedAt = Date.now();
    const { body } = await recorded.client.post('/contacts/bulk-upsert', { list_name: 'L', contacts: rows });
    const took = Date.now() - startedAt;
    expect([body.created, body.updated, body.failed]).toEqual(
      [
        [5000, 0, 0],
        [0, 5000, 0],
        [2500, 2500, 0],
      ][round],
    );
    expect(body.contacts).toHaveLength(5000);
    expect(withoutAudit(recorded.recording.statements).length).toBeLessThanOrEqual(12);
    expect(recorded.recording.calls).toBe(2);
    expect(took).toBeLessThan(2000);
  }
  expect((await client.get('/contacts')).body.total).toBe(7500);
});

test("large contacts are sent in several values, none beyond D1's limit", async () => {
  const { client } = await newOrganization();
  const contacts = people(400, { note: 'ü'.repeat(8000) });
  expect((await client.post('/contacts/bulk-upsert', { list_name: 'L', contacts })).body).toMatchObject({ created: 400, failed: 0 });
  const changed = withFields(contacts, { note: 'é'.repeat(8000) });
  expect((await client.post('/contacts/bulk-upsert', { list_name: 'L', contacts: changed })).body).toMatchObject({
    updated: 400,
    failed: 0,
  });
});

test('5,001 rows, no list, no rows and wrong types are 422; over 16 MiB is 413', async () => {
  const { client } = await newOrganization();
  const many = Array.from({ length: 5001 }, (_, n) => ({ external_id: `x${n}` }));
  for (const [body, loc] of [
    [{ list_name: 'L', contacts: many }, ['body', 'contacts']],
    [{ contacts: [] }, ['body', 'list_name']],
    [{ list_name: 'L' }, ['body', 'contacts']],
    [{ list_name: 'L', contacts: {} }, ['body', 'contacts']],
  ] as const) {
    const answer = await client.post('/contacts/bulk-upsert', body);
    expect([answer.status, answer.body.detail[0].loc]).toEqual([422, loc]);
  }
  expect((await client.post('/contacts/bulk-upsert', { list_name: 'L', contacts: [], padding: 'x'.repeat(17 * 1024 * 1024) })).status).toBe(
    413,
  );
  expect((await client.post('/contacts/bulk-upsert', { list_name: 'L', contacts: [], padding: 'x'.repeat(2 * 1024 * 1024) })).status).toBe(
    200,
  );
});

test('an import changes no contact of another organization', async () => {
  const mine = await newOrganization();
  const theirs = await newOrganization();
  const contacts = people(5, { external_id: undefined });
  await theirs.client.post('/contacts/bulk-upsert', { list_name: 'L', contacts });
  const { body } = await mine.client.post('/contacts/bulk-upsert', {
    list_name: 'L',
    contacts: withFields(contacts, { company: 'Mine' }),
  });
  expect(body).toMatchObject({ created: 5, list_created: true });
  expect((await theirs.client.get('/contacts')).body.contacts.every((contact: { company: string }) => contact.company === 'Acme')).toBe(
    true,
  );
  const { results } = await env.DB.prepare('SELECT contacts_count FROM contact_list WHERE organization_id IN (?, ?)')
    .bind(mine.id, theirs.id)
    .all();
  expect(results).toEqual([{ contacts_count: 5 }, { contacts_count: 5 }]);
});
