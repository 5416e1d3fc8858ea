import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { recordedDatabase, type Recording } from '../support/recorded-database.ts';
import { acme, everythingInbound, labs, syncService } from './sync-service.ts';

const firstId = '4600000000000000';

describe('a sync of books', () => {
  test('brings in every page with its fields, and counts what it saw', async () => {
    const { connectBooks, work, lastSync, integrationOf, contacts, links } = await syncService();
    const id = await connectBooks();
    await work();
    expect(await lastSync(id)).toMatchObject({
      status: 'completed',
      rows_seen: 450,
      created: 450,
      updated: 0,
      unchanged: 0,
      failed: 0,
      errors: [],
      reason: null,
      finished_at: expect.any(String),
    });
    expect(await integrationOf(id)).toMatchObject({ last_error: null, last_synced_at: expect.any(String) });
    const all = await contacts();
    expect(all).toHaveLength(450);
    expect(all[0]).toMatchObject({
      phone: '+16462000100',
      first_name: 'Amara',
      last_name: 'Adeyemi',
      email: 'amara.adeyemi.0@books.example.com',
      company: 'Northwind',
      custom_fields: { source: 'fair' },
    });
    expect(await links()).toHaveLength(450);
  });

  test('finds people by their phone who are contacts already, and lets what it does not read be', async () => {
    const { client, connectBooks, work, lastSync, contacts } = await syncService();
    const { body } = await client.post('/contacts', { phone: '(646) 200-0100', title: 'Chief', first_name: 'Old', tags: ['vip'] });
    const id = await connectBooks(everythingInbound, labs);
    await work();
    expect(await lastSync(id)).toMatchObject({ rows_seen: 5, created: 4, updated: 1 });
    const found = (await contacts()).find((contact) => contact.id === body.id);
    expect(found).toMatchObject({ first_name: 'Amara', title: 'Chief', tags: ['vip'] });
  });

  test('a second time writes nothing of contacts that are as they were', async () => {
    const { client, connectBooks, work, step, messages, bindings, lastSync, contacts, links } = await syncService();
    const id = await connectBooks();
    await work();
    const before = [await contacts(), await links()];
    await client.post(`/integration/${id}/resync`);
    const recording: Recording = { statements: [], calls: 0 };
    await step({ ...bindings, DB: recordedDatabase(env.DB, recording) });
    expect(messages).toEqual([]);
    expect(await lastSync(id)).toMatchObject({ rows_seen: 450, created: 0, updated: 0, unchanged: 450, failed: 0 });
    expect([await contacts(), await links()]).toEqual(before);
    const written = recording.statements
      .filter(({ rowsWritten }) => rowsWritten > 0)
      .map(({ sql }) => /(?:UPDATE|INTO|FROM) (\w+)/.exec(sql)![1]);
    expect(new Set(written)).toEqual(new Set(['integration_sync', 'integration', 'write_receipt']));
    // A page is read from the links, and written as a place.
    expect(recording.calls).toBeLessThanOrEqual(3 * 2 + 5);
  });

  test('takes over what has changed there, and what was emptied', async () => {
    const { connectBooks, work, resync, atBooks, contacts } = await syncService();
    const id = await connectBooks();
    await work();
    const [person] = (await atBooks('GET', `/contacts/${firstId}`)).contact.contact_persons;
    await atBooks('PUT', `/contacts/${firstId}`, {
      company_name: 'Renamed',
      contact_persons: [{ ...person, email: '', phone: '+16462009999' }],
    });
    expect(await resync(id)).toMatchObject({ updated: 1, unchanged: 449 });
    expect((await contacts())[0]).toMatchObject({ company: 'Renamed', email: null, phone: '+16462009999', first_name: 'Amara' });
  });

  test('lets a change of ours be until the field changes there', async () => {
    const { client, connectBooks, work, resync, atBooks, contacts } = await syncService();
    const id = await connectBooks();
    await work();
    const [contact] = await contacts();
    await client.put(`/contacts/${contact.id}`, { company: 'Ours', email: 'ours@example.com' });
    expect(await resync(id)).toMatchObject({ updated: 0 });
    await atBooks('PUT', `/contacts/${firstId}`, { company_name: 'Theirs' });
    expect(await resync(id)).toMatchObject({ updated: 1 });
    expect((await contacts())[0]).toMatchObject({ company: 'Theirs', email: 'ours@example.com' });
  });

  test('does not touch a field that is outbound', async () => {
    const { connectBooks, work, contacts } = await syncService();
    await connectBooks({ ...everythingInbound, company: { external_field: 'company_name', direction: 'outbound' } }, labs);
    await work();
    expect((await contacts()).map(({ company }) => company)).toEqual([null, null, null, null, null]);
  });

  test('tells each record that is refused, and takes in the others', async () => {
    const { connectBooks, work, lastSync, atBooks } = await syncService({ maxContacts: 6 });
    await atBooks('POST', '/contacts', { contact_name: 'Nobody' }, labs);
    await atBooks('POST', '/contacts', { contact_name: 'Bad', contact_persons: [{ phone: '12', is_primary_contact: true }] }, labs);
    for (const line of ['+16462010001', '+16462010002'])
      await atBooks('POST', '/contacts', { contact_name: line, contact_persons: [{ phone: line, is_primary_contact: true }] }, labs);
    const id = await connectBooks(everythingInbound, labs);
    await work();
    const { errors, ...last } = await lastSync(id);
    expect(last).toMatchObject({ status: 'completed', rows_seen: 9, created: 6, updated: 0, unchanged: 0, failed: 3 });
    const details = errors.map(({ external_id, detail, message }: any) => [typeof external_id, detail, message]);
    expect(details).toEqual([
      ['string', 'no_key', expect.any(String)],
      ['string', 'invalid_phone', expect.any(String)],
      ['string', 'contact_limit_reached', expect.stringMatching(/^The plan allows 6 contacts/)],
    ]);
  });

  test('two records with one phone are one contact, and settle', async () => {
    const { connectBooks, work, resync, lastSync, atBooks, links } = await syncService();
    await atBooks(
      'POST',
      '/contacts',
      { contact_name: 'Twin', contact_persons: [{ phone: '+16462000100', is_primary_contact: true }] },
      labs,
    );
    const id = await connectBooks(everythingInbound, labs);
    await work();
    expect(await lastSync(id)).toMatchObject({ rows_seen: 6, created: 5, unchanged: 1, failed: 0 });
    expect(new Set((await links()).map(({ contact_id }) => contact_id)).size).toBe(5);
    expect(await resync(id)).toMatchObject({ rows_seen: 6, updated: 0, unchanged: 6 });
  });

  test("a phone that is another contact's is a conflict, reported again until it is solved", async () => {
    const { client, connectBooks, work, resync, atBooks, contacts } = await syncService();
    const id = await connectBooks(everythingInbound, labs);
    await work();
    const other = await client.post('/contacts', { phone: '+16462017777' });
    const [person] = (await atBooks('GET', `/contacts/${firstId}`, undefined, labs)).contact.contact_persons;
    await atBooks('PUT', `/contacts/${firstId}`, { contact_persons: [{ ...person, phone: '+16462017777' }] }, labs);
    const conflict = {
      external_id: firstId,
      detail: 'identity_conflict',
      message: expect.stringMatching(`phone belongs to contact ${other.body.id}`),
    };
    expect(await resync(id)).toMatchObject({ failed: 1, errors: [conflict] });
    expect(await resync(id)).toMatchObject({ failed: 1, errors: [conflict] });
    await client.delete(`/contacts/${other.body.id}`);
    expect(await resync(id)).toMatchObject({ failed: 0, updated: 1 });
    expect((await contacts())[0].phone).toBe('+16462017777');
  });

  test('a contact that was deleted here comes back as long as it is there', async () => {
    const { client, connectBooks, work, resync, contacts } = await syncService();
    const id = await connectBooks(everythingInbound, labs);
    await work();
    await client.delete(`/contacts/${(await contacts())[0].id}`);
    expect(await resync(id)).toMatchObject({ created: 1, unchanged: 4 });
    expect(await contacts()).toHaveLength(5);
  });

  test('of another organization reads that one', async () => {
    const { client, connectBooks, work, lastSync } = await syncService();
    const id = await connectBooks(everythingInbound, labs);
    await work();
    await client.post(`/integration/${id}/books/organization`, { organization_id: acme });
    await work();
    expect(await lastSync(id)).toMatchObject({ rows_seen: 450 });
  });

  test('whose mapping is changed while it runs begins anew under the same id', async () => {
    const { client, connectBooks, messages, step, work, lastSync, contacts, addToBooks } = await syncService();
    await addToBooks(3_000);
    const id = await connectBooks();
    const syncId = messages[0]!.body.id;
    await step();
    expect(await lastSync(id)).toMatchObject({ sync_id: syncId, status: 'running', created: 2_000 });
    await client.put(`/integration/${id}/field-mapping`, {
      field_mapping: { ...everythingInbound, 'custom_fields.site': { external_field: 'company_name', direction: 'inbound' } },
    });
    await work();
    expect(await lastSync(id)).toMatchObject({ sync_id: syncId, status: 'completed', rows_seen: 3_450, created: 1_450, updated: 2_000 });
    expect((await contacts()).every(({ company, custom_fields }) => custom_fields.site === company)).toBe(true);
  });

  test('of an integration that is disconnected meanwhile ends', async () => {
    const { client, connectBooks, work, id: organizationId } = await syncService();
    const id = await connectBooks();
    await client.post(`/integration/${id}/disconnect`);
    await work();
    const { results } = await env.DB.prepare('SELECT status, reason FROM integration_sync WHERE organization_id = ?')
      .bind(organizationId)
      .all();
    expect(results).toEqual([{ status: 'failed', reason: 'The integration was disconnected' }]);
  });
});
