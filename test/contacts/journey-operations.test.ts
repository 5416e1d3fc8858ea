import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { toContactRecord } from '../../src/contacts/contacts/records.ts';
import { editContact } from '../../src/contacts/contacts/update-contact.ts';
import { changeMemberships } from '../../src/contacts/lists/members.ts';
import { eraseEvents } from '../../src/events/erase-events.ts';
import { Database } from '../../src/database/client.ts';
import { newOrganization, newPhone } from '../support/organization.ts';
import { recordedClient, recordedDatabase, rowsWritten, type Recording } from '../support/recorded-database.ts';

async function journeyContext(options: Parameters<typeof newOrganization>[0] = {}) {
  const organization = await newOrganization(options);
  const recording: Recording = { statements: [], calls: 0 };
  const context = (await backgroundContext(env, organization.id, () => {}))!;
  return { ...organization, recording, context: { ...context, database: new Database(recordedDatabase(env.DB, recording), true) } };
}

test('a journey sets fields, custom fields and tags of its contact, and notes how deep it is', async () => {
  const { client, context } = await journeyContext();
  const { id } = (await client.post('/contacts', { phone: newPhone(), tags: ['a', 'b'], custom_fields: { tier: 'gold', old: 1 } })).body;
  const set = {
    first_name: 'Ada',
    title: null,
    phone: '(212) 555-0123',
    external_id: 42,
    'custom_fields.tier': 'silver',
    'custom_fields.old': null,
    'custom_fields.order.id': { n: 1 },
  };
  const contact = await editContact(context, id, { set, add_tags: ['c'], remove_tags: ['a'] }, { depth: 3 });
  expect(contact).toMatchObject({
    id,
    first_name: 'Ada',
    phone: '+12125550123',
    external_id: '42',
    tags: ['b', 'c'],
    custom_fields: { tier: 'silver', 'order.id': { n: 1 } },
  });
  const { lists: _, ...shown } = (await client.get(`/contacts/${id}`)).body;
  expect(toContactRecord(contact!)).toEqual(shown);
  expect(await env.DB.prepare('SELECT depth, revision FROM contact WHERE id = ?').bind(id).first()).toEqual({ depth: 3, revision: 2 });
  await client.put(`/contacts/${id}`, { first_name: 'Eve' });
  expect(await env.DB.prepare('SELECT depth, revision FROM contact WHERE id = ?').bind(id).first()).toEqual({ depth: 0, revision: 3 });
});

test('the same change again writes nothing', async () => {
  const { client, context, recording } = await journeyContext();
  const { id } = (await client.post('/contacts', { phone: newPhone() })).body;
  const edit = { set: { company: 'Engines', 'custom_fields.a': { b: [1] } }, add_tags: ['x'], remove_tags: ['y'] };
  const first = await editContact(context, id, edit, { depth: 1 });
  const written = rowsWritten(recording);
  expect(written).toBeGreaterThan(0);
  expect(await editContact(context, id, edit, { depth: 2 })).toEqual(first);
  expect(rowsWritten(recording)).toBe(written);
});

test('values that cannot be used are refused by name, keys of others are a conflict', async () => {
  const { client, context } = await journeyContext();
  const { id } = (await client.post('/contacts', { phone: newPhone() })).body;
  const other = (await client.post('/contacts', { phone: newPhone() })).body;
  for (const set of [{ phone: 'none' }, { email: 'x' }, { first_name: {} }, { phone: null }])
    await expect(editContact(context, id, { set }, { depth: 1 })).rejects.toMatchObject({
      code: 'invalid',
      issues: [{ loc: expect.arrayContaining(['set']) }],
    });
  await expect(editContact(context, id, { set: { phone: other.phone } }, { depth: 1 })).rejects.toMatchObject({ code: 'conflict' });
});

test('a contact that is gone, or another organization’s, answers null and changes nothing', async () => {
  const { client, context } = await journeyContext();
  const theirs = await newOrganization();
  const { id: foreign } = (await theirs.client.post('/contacts', { phone: newPhone() })).body;
  const { id } = (await client.post('/contacts', { phone: newPhone() })).body;
  await client.delete(`/contacts/${id}`);
  for (const gone of [id, foreign]) {
    expect(await editContact(context, gone, { set: { title: 'x' } }, { depth: 1 })).toBeNull();
    expect(await changeMemberships(context, gone, { add: ['Never'], remove: [] })).toBeNull();
  }
  expect((await client.get('/contacts/lists')).body.total).toBe(0);
});

test('lists are joined and left by name, made when missing, counted exactly, and the same again changes nothing', async () => {
  const { client, context, recording } = await journeyContext();
  const { contact } = (await client.post('/contacts/upsert', { list_name: 'Leads', phone: newPhone() })).body;
  await client.post('/contacts/upsert', { list_name: 'Leads', phone: newPhone() });
  const move = { add: ['Customers', 'LEADS', ' customers '], remove: ['leads', 'Unknown'] };
  expect(await changeMemberships(context, contact.id, move)).toEqual({ added: ['Customers'], removed: ['Leads'] });
  const counts = async () =>
    (await client.get('/contacts/lists')).body.lists.map((list: { name: string; contacts_count: number }) => [
      list.name,
      list.contacts_count,
    ]);
  expect(await counts()).toEqual([
    ['Customers', 1],
    ['Leads', 1],
  ]);
  expect((await client.get(`/contacts/${contact.id}`)).body.lists).toMatchObject([{ name: 'Customers' }]);
  const written = rowsWritten(recording);
  expect(await changeMemberships(context, contact.id, { add: ['Customers'], remove: ['Leads'] })).toEqual({ added: [], removed: [] });
  expect(rowsWritten(recording)).toBe(written);
  expect(recording.calls).toBe(2);
});

test('events of a deleted contact are unlinked page by page', async () => {
  const { client, context, id: organizationId } = await journeyContext();
  const { id } = (await client.post('/contacts', { phone: newPhone() })).body;
  const rows = JSON.stringify(Array.from({ length: 700 }));
  await env.DB.prepare(
    `INSERT INTO event (organization_id, event_type, contact_id, data, created_at, handled_at) SELECT ?, 'seen', ?, '{}', 1, 1 FROM json_each(?)`,
  )
    .bind(organizationId, id, rows)
    .run();
  const linked = async () =>
    (await env.DB.prepare('SELECT count(*) AS n FROM event WHERE contact_id = ?').bind(id).first<{ n: number }>())!.n;
  expect(await eraseEvents(context, id)).toBe(true);
  expect(await linked()).toBe(700);
  await env.DB.prepare('UPDATE contact SET deleted_at = 1, phone = NULL WHERE id = ?').bind(id).run();
  for (const left of [500, 300, 100]) {
    expect(await eraseEvents(context, id)).toBe(false);
    expect(await linked()).toBe(left);
  }
  expect(await eraseEvents(context, id)).toBe(true);
  expect(await linked()).toBe(0);
  expect(
    (await env.DB.prepare('SELECT count(*) AS n FROM event WHERE organization_id = ?').bind(organizationId).first<{ n: number }>())!.n,
  ).toBe(700);
});

// A journey that watches contacts

async function watchContacts(organizationId: number): Promise<void> {
  const [workflow] = await env.DB.batch<{ id: number }>([
    env.DB.prepare(
      `INSERT INTO automation_workflow (organization_id, name, description, version, status, definition, trigger, context_schema, settings, created_at)
       VALUES (?, 'W', '', 1, 'active', '{}', '{}', '{}', '{}', 1) RETURNING id`,
    ).bind(organizationId),
  ]);
  const [trigger] = await env.DB.batch<{ id: number }>([
    env.DB.prepare(
      `INSERT INTO automation_trigger (uuid, organization_id, workflow_id, type, name, config, state, created_at, updated_at)
       VALUES (?, ?, ?, 'data_condition', 'T', '{}', 'active', 1, 1) RETURNING id`,
    ).bind(crypto.randomUUID(), organizationId, workflow!.results[0]!.id),
  ]);
  for (const topic of ['change:created', 'change:updated'])
    await env.DB.prepare('INSERT INTO trigger_topic (organization_id, topic, trigger_id) VALUES (?, ?, ?)')
      .bind(organizationId, topic, trigger!.results[0]!.id)
      .run();
}

test('while a journey watches contacts, every write that changes one is recorded and announced, and no other', async () => {
  const { id, key } = await newOrganization();
  const sent: unknown[] = [];
  const FANOUT_QUEUE = { send: async (message: unknown) => void sent.push(message) } as unknown as Queue;
  const { client } = recordedClient(key, { bindings: { FANOUT_QUEUE } });
  const announced = async (call: () => Promise<{ status: number }>) => {
    sent.length = 0;
    expect((await call()).status).toBeLessThan(300);
    const { results } = await env.DB.prepare(
      'SELECT contact_id, before IS NULL AS is_new FROM contact_change WHERE organization_id = ? ORDER BY id',
    )
      .bind(id)
      .all<{ is_new: number }>();
    await env.DB.prepare('DELETE FROM contact_change WHERE organization_id = ?').bind(id).run();
    return [results.map((row) => row.is_new), sent.slice()];
  };
  const message = { v: 1, kind: 'contact_changes', organization_id: id };
  const phone = newPhone();
  expect(await announced(() => client.post('/contacts', { phone }))).toEqual([[], []]);
  await watchContacts(id);
  expect(await announced(() => client.post('/contacts', { phone: newPhone() }))).toEqual([[1], [message]]);
  expect(await announced(() => client.post('/contacts/upsert', { list_name: 'L', phone, title: 'Dr' }))).toEqual([[0], [message]]);
  expect(await announced(() => client.post('/contacts/upsert', { list_name: 'L', phone, title: 'Dr' }))).toEqual([[], []]);
  expect(
    await announced(() =>
      client.post('/contacts/bulk-upsert', { list_name: 'L', contacts: [{ phone, title: 'Prof' }, { phone: newPhone() }] }),
    ),
  ).toEqual([[0, 1], [message]]);
  const contact = (await client.get(`/contacts?phone=${encodeURIComponent(phone)}`)).body.contacts[0];
  expect(await announced(() => client.put(`/contacts/${contact.id}`, { company: 'C' }))).toEqual([[0], [message]]);
  expect(await announced(() => client.put(`/contacts/${contact.id}`, { company: 'C' }))).toEqual([[], []]);
  expect(await announced(() => client.delete(`/contacts/${contact.id}`))).toEqual([
    [],
    [expect.objectContaining({ v: 1, kind: 'cleanup', organization_id: id })],
  ]);
});
