import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { editContact } from '../../src/contacts/contacts/update-contact.ts';
import { changeMemberships, removeDeletedListMembers } from '../../src/contacts/lists/members.ts';
import { Database } from '../../src/database/client.ts';
import { eraseEvents } from '../../src/events/erase-events.ts';
import { newOrganization, newPhone } from '../support/organization.ts';
import { explainQueryPlans, recordedClient, recordedDatabase, rowsRead, type Recording } from '../support/recorded-database.ts';

const size = 20_000;

/** Fills an organization without going through the service: contacts, one list of all of them, their counters. */
async function insertContacts(organizationId: number, count: number): Promise<void> {
  const numbers = '(WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ?2) SELECT value FROM n)';
  await env.DB.batch([
    env.DB.prepare(
      `INSERT INTO contact (organization_id, phone, external_id, email, first_name, last_name, company, tags, custom_fields, created_at, updated_at)
       SELECT ?1, '+1646' || (2000000 + value), 'fill-' || value, 'fill' || value || '@example.com', 'Growing', 'Crowd' || (value % 100), 'Same company',
         '["everybody"]', '{"plan":"pro"}', 1000 + value / 100, 2000 + value / 100 FROM ${numbers}`,
    ).bind(organizationId, count),
    env.DB.prepare(
      `INSERT INTO contact_list (organization_id, name, metadata, column_schema, contacts_count, created_at, updated_at) VALUES (?, 'Filled', '{}', '[]', ?, 1, 1)`,
    ).bind(organizationId, count),
    env.DB.prepare(
      `INSERT INTO contact_list_member SELECT (SELECT id FROM contact_list WHERE organization_id = ?1), id, 1 FROM contact WHERE organization_id = ?1`,
    ).bind(organizationId),
    env.DB.prepare(
      'INSERT INTO organization_usage (organization_id, contacts_count) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET contacts_count = contacts_count + ?2',
    ).bind(organizationId, count),
  ]);
}

/** Makes each of the most frequent requests once. Returns how many rows each read. */
async function measureReads(key: string): Promise<{ reads: Record<string, number>; recording: Recording }> {
  const { client, recording } = recordedClient(key);
  const reads: Record<string, number> = {};
  const measure = async (name: string, call: () => ReturnType<typeof client.get>) => {
    const before = rowsRead(recording);
    const answer = await call();
    expect([name, answer.status]).toEqual([name, expect.toSatisfy((status: number) => status < 300)]);
    reads[name] = rowsRead(recording) - before;
    return answer.body;
  };
  const phone = newPhone();
  const mine = {
    phone,
    external_id: `own-${phone}`,
    email: `own${phone.slice(1)}@example.com`,
    first_name: 'Unmistakable',
    last_name: 'Quixote',
    tags: ['rare'],
  };
  await client.get('/contacts/custom-field-keys');
  const { contact, contact_list: list } = await measure('upsert of a new contact', () =>
    client.post('/contacts/upsert', { list_name: 'Small', ...mine }),
  );
  const at = `/contacts/${contact.id}`;
  await measure('upsert of a known contact', () => client.post('/contacts/upsert', { list_name: 'Small', phone, company: 'Other' }));
  await measure('bulk upsert of 20', () =>
    client.post('/contacts/bulk-upsert', {
      list_name: 'Small',
      contacts: [mine, ...Array.from({ length: 19 }, () => ({ phone: newPhone(), plan: 'pro' }))],
    }),
  );
  await measure('read', () => client.get(at));
  await measure('update', () => client.put(at, { phone, title: 'Dr', custom_fields: { plan: 'free' } }));
  await measure('first page', () => client.get('/contacts'));
  await measure('page by last name', () => client.get('/contacts?sort=last_name&order=asc'));
  await measure('page by change', () => client.get('/contacts?sort=updated_at'));
  await measure('changed since', () => client.get('/contacts?updated_after=2020-01-01&sort=updated_at'));
  await measure('made since', () => client.get('/contacts?created_after=2020-01-01'));
  await measure('search', () => client.get('/contacts?search=unmistak'));
  await measure('search of two words', () => client.get('/contacts?search=unmistakable quix'));
  await measure('search of two letters', () => client.get('/contacts?search=qu'));
  await measure('search of a phone', () => client.get(`/contacts?search=${phone.slice(2)}`));
  await measure('search by last name', () => client.get('/contacts?search=quixote&sort=last_name'));
  await measure('tag', () => client.get('/contacts?tag=rare'));
  for (const field of ['phone', 'email', 'external_id'] as const)
    await measure(field, () => client.get(`/contacts?${field}=${encodeURIComponent(mine[field])}`));
  await measure('list', () => client.get(`/contacts?list_id=${list.id}`));
  await measure('search in a list', () => client.get(`/contacts/lists/${list.id}/contacts?search=quixote`));
  await measure('common search in a small list', () => client.get(`/contacts/lists/${list.id}/contacts?search=growing`));
  await measure('list by last name', () => client.get(`/contacts/lists/${list.id}/contacts?sort=last_name`));
  await measure('lists', () => client.get('/contacts/lists'));
  await measure('lists of a contact', () => client.get(`${at}/lists`));
  await measure('events of a contact', () => client.get(`${at}/events`));
  await measure('calls of a contact', () => client.get(`${at}/calls`));
  await measure('custom field keys', () => client.get('/contacts/custom-field-keys'));
  const made = await measure('create', () => client.post('/contacts', { phone: newPhone() }));
  await measure('add members', () => client.post(`/contacts/lists/${list.id}/contacts`, { contact_ids: [made.id] }));
  await measure('remove a member', () => client.delete(`/contacts/lists/${list.id}/contacts/${made.id}`));
  await measure('create a list', () => client.post('/contacts/lists', { name: 'Made' }));
  await measure('rename a list', () => client.put(`/contacts/lists/${list.id}`, { name: 'Renamed' }));
  await measure('delete', () => client.delete(at));
  await measure('delete a list', () => client.delete(`/contacts/lists/${list.id}`));
  return { reads, recording };
}

test('no call reads more because its organization, or another beside it, has 20,000 contacts', async () => {
  const organizations = await Promise.all([newOrganization(), newOrganization()]);
  for (const { id } of organizations) await insertContacts(id, 100);
  const small = await measureReads(organizations[0]!.key);
  await insertContacts((await newOrganization()).id, size);
  const besideLarge = await measureReads(organizations[1]!.key);
  const large = await newOrganization();
  await insertContacts(large.id, size);
  const inLarge = await measureReads(large.key);
  for (const [name, reads] of Object.entries(small.reads)) {
    expect([name, besideLarge.reads[name]! - reads]).toEqual([name, expect.toSatisfy((more: number) => more <= 20)]);
    expect([name, inLarge.reads[name]! - reads]).toEqual([name, expect.toSatisfy((more: number) => more <= 20)]);
  }
});

test('a search that everybody fits reads a bounded number of rows', async () => {
  const { id, key } = await newOrganization();
  await insertContacts(id, size);
  const { client, recording } = recordedClient(key);
  const list = (await client.get('/contacts/lists')).body.lists[0];
  for (const [query, bound] of [
    ['search=growing', 10_200],
    ['tag=everybody', 10_200],
    ['created_before=2020-01-01', 10_200],
    ['search=growing&sort=last_name', 80_000],
    ['search=growing&updated_after=1970-01-01', 80_000],
    [`list_id=${list.id}&sort=updated_at`, 80_000],
    [`list_id=${list.id}&search=growing`, 100_000],
  ] as const) {
    const before = rowsRead(recording);
    const { body } = await client.get(`/contacts?${query}`);
    expect(body).toMatchObject({ total: 10_000, total_capped: true });
    expect(body.contacts).toHaveLength(50);
    expect([query, rowsRead(recording) - before]).toEqual([query, expect.toSatisfy((reads: number) => reads <= bound)]);
  }
});

const tables = 'contact|contact_list|contact_list_member|contact_change|custom_field_key|organization_usage|event|cleanup';

/** Steps of the plans that go through a whole table or index of ours. */
async function findScans(recording: Recording): Promise<{ step: string; sql: string }[]> {
  const named = new RegExp(`\\b(?:FROM|JOIN|UPDATE)\\s+(${tables})(?:\\s+(?:AS\\s+)?(\\w+))?`, 'g');
  return (await explainQueryPlans(recording)).flatMap(({ sql, plan }) => {
    const names = new Set([...tables.split('|'), ...[...sql.matchAll(named)].flatMap(([, , alias]) => alias ?? [])]);
    return plan.filter((step) => names.has(/^SCAN (\w+)/.exec(step)?.[1] ?? '')).map((step) => ({ step, sql }));
  });
}

/** Statements that only some imports, journeys and clean-ups need. */
async function runRareOperations(organizationId: number, key: string, recording: Recording): Promise<void> {
  const context = (await backgroundContext(env, organizationId, () => {}))!;
  const database = new Database(recordedDatabase(env.DB, recording), true);
  const { client } = recordedClient(key, { recording });
  const { body } = await client.post('/contacts/bulk-upsert', {
    list_name: 'Rare',
    contacts: [{ external_id: 'fill-1' }, { external_id: 'fill-2' }, { external_id: 'fill-3' }],
  });
  const [first, second, third] = body.contacts;
  const moves = [
    { external_id: 'fill-1', phone: newPhone() },
    { external_id: 'fill-2', phone: first.phone },
    { external_id: 'fill-3', title: 'Dr' },
  ];
  expect((await client.post('/contacts/bulk-upsert', { list_name: 'Rare', contacts: moves })).body).toMatchObject({
    updated: 3,
    failed: 0,
  });
  expect((await client.post('/contacts', { phone: second.phone, external_id: 'fill-3' })).status).toBe(409);
  expect((await client.post('/contacts/lists', { name: 'rare' })).status).toBe(409);
  for (const query of [
    'search=abc&email=a@example.com',
    'search=abc&created_after=2020-01-01&sort=updated_at',
    'sort=last_name&cursor=WyJDcm93ZDEiLDFd',
    'sort=last_name&cursor=W251bGwsMV0',
    'cursor=WzEwMDAsMV0',
  ])
    expect((await client.get(`/contacts?${query}`)).status).toBe(200);
  await editContact({ ...context, database }, third.id, { set: { last_name: 'New' }, add_tags: ['t'] }, { depth: 1 });
  await changeMemberships({ ...context, database }, third.id, { add: ['New'], remove: ['Rare'] });
  await eraseEvents({ ...context, database }, third.id);
  await removeDeletedListMembers({ ...context, database }, 1);
}

test('no statement scans a table', async () => {
  const { id, key } = await newOrganization();
  await insertContacts(id, 10);
  const { recording } = await measureReads(key);
  await runRareOperations(id, key, recording);
  expect(recording.statements.length).toBeGreaterThan(80);
  expect(await findScans(recording)).toEqual([]);
  const scan = {
    sql: 'SELECT 1 FROM json_each(?) j CROSS JOIN contact c WHERE c.title = j.value',
    parameters: ['[]'],
    rowsRead: 0,
    rowsWritten: 0,
  };
  expect(await findScans({ statements: [scan], calls: 1 })).toMatchObject([{ step: expect.stringMatching(/^SCAN c/) }]);
});

test('one call to D1 answers a page, a search, a list, a contact and a create', async () => {
  const { key } = await newOrganization();
  const { client, recording } = recordedClient(key);
  const { contact, contact_list: list } = (await client.post('/contacts/upsert', { list_name: 'L', phone: newPhone() })).body;
  const calls = async (call: () => Promise<unknown>) => {
    const before = recording.calls;
    await call();
    return recording.calls - before;
  };
  for (const path of [
    '/contacts',
    '/contacts?search=abc',
    '/contacts?tag=abc&sort=last_name',
    `/contacts?list_id=${list.id}`,
    `/contacts/${contact.id}`,
    '/contacts/lists',
  ])
    expect([path, await calls(() => client.get(path))]).toEqual([path, 1]);
  expect(await calls(() => client.post('/contacts', { phone: newPhone() }))).toBe(1);
  expect(await calls(() => client.post(`/contacts/lists/${list.id}/contacts`, { contact_ids: [contact.id] }))).toBe(1);
  expect(await calls(() => client.post('/contacts/upsert', { list_name: 'L', phone: newPhone() }))).toBe(2);
  expect(await calls(() => client.delete(`/contacts/${contact.id}`))).toBe(1);
});
