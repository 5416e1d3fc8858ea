import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { actAs, currentActor, type Actor } from '../../../src/database/audit/actor.ts';
import { Database } from '../../../src/database/client.ts';
import { sha256Hex } from '../../../src/library/security/hash.ts';
import { newUser, serviceWith } from '../../http/service.ts';
import { faultyDatabase } from '../../support/faulty-database.ts';
import { Client, newOrganization, newPhone } from '../../support/organization.ts';
import { auditLog, newTeam, sessionClient } from '../../support/people.ts';

afterEach(() => vi.useRealTimers());

describe('an entry', () => {
  test('says who did what, by what, from where, and each changed field before and after', async () => {
    const { client, userId } = await newOrganization();
    const { body: list } = await client.post('/contacts/lists', { name: 'Leads' }, { 'cf-connecting-ip': '192.0.2.4' });
    await client.put(`/contacts/lists/${list.id}`, { name: 'Customers', description: 'Paying' });
    const [changed, made] = await auditLog(client);
    expect(made).toMatchObject({
      action: 'contactLists.create',
      user_id: userId,
      user_email: expect.stringContaining('@example.com'),
      credential: expect.stringMatching(/^key:\d+$/),
      address: '192.0.2.4',
      record_type: 'contact_list',
      record_id: String(list.id),
      change: { name: { before: null, after: 'Leads' } },
    });
    expect(changed).toMatchObject({ action: 'contactLists.update', address: null, record_id: String(list.id) });
    expect(changed.change).toEqual({ name: { before: 'Leads', after: 'Customers' }, description: { before: null, after: 'Paying' } });
  });

  test('of a session names the session, by the id under which its person sees it', async () => {
    const { admin, viewer } = await newTeam();
    await admin.client.patch(`/organizations/members/${viewer.userId}`, { role: 'operator' });
    const [{ id }] = (await admin.client.get('/auth/sessions')).body.sessions;
    expect(await auditLog(admin.client)).toMatchObject([
      {
        credential: `session:${id}`,
        user_id: admin.userId,
        user_email: admin.email,
        record_type: 'member',
        record_id: String(viewer.userId),
        change: { role: { before: 'viewer', after: 'operator' } },
      },
    ]);
  });

  test('is written for no request that fails, changes nothing, or reads', async () => {
    const { client } = await newOrganization();
    const { body: list } = await client.post('/contacts/lists', { name: 'Leads' });
    await client.post('/contacts/lists', { name: 'Leads' });
    await client.put(`/contacts/lists/${list.id}`, { name: 'Leads' });
    await client.put(`/contacts/lists/${list.id}`, { name: 7 });
    await client.delete('/contacts/lists/999999999');
    await client.patch('/organizations/current', { timezone: 'Mars/Base' });
    await client.get('/contacts/lists');
    expect((await auditLog(client)).map(({ action }) => action)).toEqual(['contactLists.create']);
  });

  test('is none for machine traffic', async () => {
    const { client, id } = await newOrganization();
    await client.post('/contacts', { email: 'a@example.com' });
    await client.post('/contacts/upsert', { phone: newPhone(), list_name: 'Leads' });
    await client.post('/events', { event_type: 'seen', data: {} });
    expect(await auditLog(client)).toEqual([]);
    const left = await env.DB.prepare(
      'SELECT (SELECT count(*) FROM audit_entry WHERE organization_id = ?1) + (SELECT count(*) FROM audit_actor) AS n',
    )
      .bind(id)
      .first();
    expect(left).toEqual({ n: 0 });
  });

  test('is one for an import of many and for the delete of a contact', async () => {
    const { client } = await newOrganization();
    const contacts = Array.from({ length: 50 }, (_, index) => ({ phone: newPhone(), first_name: `P${index}` }));
    const { body } = await client.post('/contacts/bulk-upsert', { contacts, list_name: 'Imported' });
    const [contact] = (await client.get('/contacts?limit=1')).body.contacts;
    await client.delete(`/contacts/${contact.id}`);
    expect(body.total ?? 50).toBe(50);
    expect(await auditLog(client)).toMatchObject([
      { action: 'contacts.delete', record_type: 'contact', record_id: String(contact.id), change: null },
      { action: 'contacts.bulkUpsert', record_type: 'contact', record_id: null, change: null },
    ]);
  });

  test('has no secret: neither a key, nor a token, nor a credential', async () => {
    const { client, key } = await newOrganization();
    const secrets = ['secret-of-twilio', 'secret-of-twilio-2', 'secret-of-gupshup', 'secret-of-webhook'];
    const twilio = { account_sid: `AC${'0'.repeat(32)}`, auth_token: secrets[0] };
    const config = await client.post('/organizations/telephony-configs', {
      name: 'T',
      provider: 'twilio',
      twilio,
      from_numbers: ['+12123456001'],
    });
    await client.patch(`/organizations/telephony-configs/${config.body.id}`, { twilio: { ...twilio, auth_token: secrets[1] } });
    const provider_c = { api_key: secrets[2], source: '15550001', app_name: 'shop' };
    await client.post('/organizations/messaging-config', { messaging_app: { provider: 'provider_c', provider_c } });
    const minted = await client.post('/user/api-keys', { name: 'More', scopes: ['read'] });
    const journey = await client.post('/automation-workflows', { name: 'J' });
    const auth = { type: 'header_token', header: 'X-Token', token: secrets[3] };
    await client.post(`/automation-workflows/${journey.body.id}/triggers`, { type: 'webhook', name: 'W', config: { auth } });
    const endpoint = await client.post('/webhook-endpoints', { url: 'https://example.com/hook' });
    const text = JSON.stringify(await auditLog(client, '?limit=500'));
    for (const secret of [...secrets, key, minted.body.api_key, endpoint.body.secret, 'sealed:', 'key_hash'])
      expect(text.includes(secret), secret).toBe(false);
    const [changed] = await auditLog(client, `?action=telephonyConfigs.update`);
    expect(changed.change).toEqual({ credentials: { before: 'secret', after: 'new secret' } });
  });

  test('leaves out a value of more than 8,000 characters, and says that it has changed', async () => {
    const { client } = await newOrganization();
    const long = (letter: string) => ({ name: 'J', description: letter.repeat(9000) });
    const { body } = await client.post('/automation-workflows', long('a'));
    if (body.id === undefined) return;
    await client.patch(`/automation-workflows/${body.id}`, long('b'));
    const [entry] = await auditLog(client, '?action=journeys.update');
    expect(JSON.stringify(entry).length).toBeLessThan(4000);
    expect(entry.change.description).toEqual({ before: '9000 characters', after: '9000 characters, changed' });
  });
});

describe('an entry exists exactly when its change does', () => {
  test('also when the answers of the database are lost and the writes repeated', async () => {
    const { key, client } = await newOrganization();
    let calls = 0;
    const trouble = (sql: string) => (/contact_list/.test(sql) ? ([null, 'lost', 'refused'] as const)[calls++ % 3]! : null);
    const unsteady = new Client(key, serviceWith({ DB: faultyDatabase(env.DB, trouble) }));
    const names = Array.from({ length: 12 }, (_, index) => `List ${index}`);
    for (const name of names) await unsteady.post('/contacts/lists', { name });
    const stored: string[] = (await client.get('/contacts/lists?limit=500')).body.lists.map((one: any) => one.name);
    const recorded = (await auditLog(client, '?limit=500')).map(({ change }) => change.name.after);
    expect(recorded.toSorted()).toEqual(stored.toSorted());
    expect(stored.length).toBeGreaterThan(0);
  });

  test('and neither when a later statement of its transaction fails', async () => {
    const { id, client } = await newOrganization();
    const database = new Database(env.DB, true);
    const actor: Actor = {
      organizationId: id,
      requestId: crypto.randomUUID(),
      action: 'contactLists.create',
      userId: 1,
      credential: 'key:1',
      address: null,
      at: Date.now(),
      record: { type: 'contact_list', id: null },
      isSummary: false,
    };
    const insert = () =>
      database.prepare(
        "INSERT INTO contact_list (organization_id, name, metadata, column_schema, created_at, updated_at) VALUES (?, 'Leads', '{}', '[]', 0, 0)",
        id,
      );
    await expect(actAs(actor, () => database.batch([insert(), insert()]))).rejects.toThrow('UNIQUE');
    expect(await auditLog(client)).toEqual([]);
    await actAs(actor, () => database.batch([insert()]));
    expect(await auditLog(client)).toMatchObject([{ action: 'contactLists.create', request_id: actor.requestId }]);
    expect(currentActor()).toBeUndefined();
  });

  test('by each way to send a statement', async () => {
    const { id, client } = await newOrganization();
    const database = new Database(env.DB, true);
    const act = (action: string, work: () => Promise<unknown>) =>
      actAs(
        {
          organizationId: id,
          requestId: crypto.randomUUID(),
          action,
          userId: 1,
          credential: 'key:1',
          address: null,
          at: Date.now(),
          record: { type: 'contact_list', id: null },
          isSummary: false,
        },
        work,
      );
    const sql =
      "INSERT INTO contact_list (organization_id, name, metadata, column_schema, created_at, updated_at) VALUES (?, ?, '{}', '[]', 0, 0) RETURNING id, name";
    const statement = (name: string) => database.prepare<{ id: number; name: string }>(sql, id, name);
    await act('all', async () => expect(await database.all(statement('A'))).toEqual([{ id: expect.any(Number), name: 'A' }]));
    await act('first', async () => expect(await statement('B').first()).toMatchObject({ name: 'B' }));
    await act('column', async () => expect(await statement('C').first('name')).toBe('C'));
    await act('run', async () => expect(await statement('D').run()).toMatchObject({ success: true, meta: expect.anything() }));
    await act('raw', async () => expect(await statement('E').raw()).toEqual([[expect.any(Number), 'E']]));
    await act('once', async () => expect(await database.batchOnce([statement('F')], async () => [[]])).toMatchObject([[{ name: 'F' }]]));
    expect((await auditLog(client)).map(({ action }) => action).toSorted()).toEqual(['all', 'column', 'first', 'once', 'raw', 'run']);
  });

  test('once for a request that is repeated under its Idempotency-Key', async () => {
    const { client } = await newOrganization();
    const send = () => client.post('/contacts/lists', { name: 'Leads' }, { 'Idempotency-Key': 'once' });
    expect([(await send()).status, (await send()).status]).toEqual([201, 201]);
    expect(await auditLog(client)).toHaveLength(1);
  });
});

describe('the audit log', () => {
  async function filled() {
    const team = await newTeam();
    const { client, operator, admin } = team;
    const { body: one } = await client.post('/contacts/lists', { name: 'One' });
    await operator.client.post('/contacts/lists', { name: 'Two' });
    await admin.client.patch('/organizations/current', { name: 'Acme' });
    await client.put(`/contacts/lists/${one.id}`, { name: 'First' });
    return { ...team, one: one.id as number };
  }

  test('is filtered by person, key or session, action, record and date, together too', async () => {
    const { client, operator, one } = await filled();
    const names = async (query: string) => (await auditLog(client, query)).map(({ action, change }) => `${action} ${change.name.after}`);
    expect(await names('')).toEqual([
      'contactLists.update First',
      'organization.update Acme',
      'contactLists.create Two',
      'contactLists.create One',
    ]);
    expect(await names(`?user_id=${operator.userId}`)).toEqual(['contactLists.create Two']);
    expect(await names('?action=contactLists.create')).toEqual(['contactLists.create Two', 'contactLists.create One']);
    expect(await names(`?record_type=contact_list&record_id=${one}`)).toEqual(['contactLists.update First', 'contactLists.create One']);
    expect(await names(`?record_type=contact_list&record_id=${one}&action=contactLists.create`)).toEqual(['contactLists.create One']);
    expect(await names('?record_type=organization')).toEqual(['organization.update Acme']);
    const [first] = await auditLog(client, `?user_id=${operator.userId}`);
    expect(await names(`?credential=${first.credential}`)).toEqual(['contactLists.create Two']);
    expect(await names('?start_date=2000-01-01&end_date=2000-12-31')).toEqual([]);
    expect(await names(`?start_date=${new Date().toISOString().slice(0, 10)}`)).toHaveLength(4);
  });

  test('has each entry once, in pages of any size', async () => {
    const { client } = await filled();
    const all = (await auditLog(client)).map(({ id }) => id);
    for (const limit of [1, 2, 3]) {
      const seen: number[] = [];
      for (let cursor = ''; ;) {
        const { body } = await client.get(`/audit-log?limit=${limit}${cursor && `&cursor=${cursor}`}`);
        expect(body.total).toBe(4);
        seen.push(...body.entries.map((one: any) => one.id));
        if (body.next_cursor === null) break;
        cursor = body.next_cursor;
      }
      expect(seen).toEqual(all);
    }
  });

  test('is downloaded as CSV, XLSX and JSON lines, with the columns that were chosen', async () => {
    const { client } = await filled();
    const csv = await client.get('/audit-log/export?columns=action,record_type');
    expect(csv.headers.get('content-type')).toContain('text/csv');
    expect(String(csv.body).trim().split(/\r?\n/)).toHaveLength(5);
    const lines = String((await client.get('/audit-log/export?format=jsonl')).body)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ action }) => action)).toEqual((await auditLog(client)).map(({ action }) => action));
    const xlsx = await client.get('/audit-log/export?format=xlsx');
    expect([xlsx.status, xlsx.headers.get('content-disposition')]).toEqual([200, 'attachment; filename="audit-log.xlsx"']);
  });

  test('refuses a wrong filter, and names it', async () => {
    const { client } = await newOrganization();
    for (const [query, field] of [
      ['user_id=x', 'user_id'],
      ['start_date=yesterday', 'start_date'],
      ['record_id=7', 'record_id'],
      ['limit=501', 'limit'],
      ['cursor=x', 'cursor'],
    ] as const)
      expect(await client.get(`/audit-log?${query}`)).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', field] }] } });
    expect((await client.get('/audit-log/export?columns=password')).status).toBe(422);
  });

  test('is shown to admins, and to nobody of another organization', async () => {
    const { operator, viewer, one } = await filled();
    for (const { client } of [operator, viewer]) {
      expect((await client.get('/audit-log')).status).toBe(403);
      expect((await client.get('/audit-log/export')).status).toBe(403);
    }
    const { client: stranger } = await newOrganization();
    expect(await auditLog(stranger)).toEqual([]);
    expect(await auditLog(stranger, `?record_type=contact_list&record_id=${one}`)).toEqual([]);
  });

  test('still names a person whose account was deleted by id alone', async () => {
    const { owner, operator, client } = await newTeam();
    await operator.client.post('/contacts/lists', { name: 'Two' });
    await owner.client.delete(`/organizations/members/${operator.userId}`);
    const [entry] = await auditLog(client, `?user_id=${operator.userId}`);
    expect(entry).toMatchObject({ user_id: operator.userId, user_email: null });
  });

  test('has an invitation from its making to its acceptance, and a password reset', async () => {
    const { client, operator } = await newTeam();
    const { body } = await client.post('/organizations/invitations', { role: 'viewer' });
    const joined = await new Client(undefined).post('/auth/invitations/accept', {
      token: body.token,
      email: `${crypto.randomUUID()}@example.com`,
      password: 'a quiet harbour at dusk',
    });
    const { body: reset } = await client.post(`/organizations/members/${operator.userId}/password-reset`);
    await new Client(undefined).post('/auth/password/reset', { token: reset.token, new_password: 'lanterns over a quiet harbour' });
    const entries = await auditLog(client);
    expect(entries.map(({ action, credential, user_id }) => [action, credential.split(':')[0], user_id === joined.body.user.id])).toEqual([
      ['members.resetPassword', 'link', false],
      ['members.offerReset', 'key', false],
      ['invitations.accept', 'link', true],
      ['invitations.accept', 'link', true],
      ['invitations.create', 'key', false],
    ]);
  });

  test('says that a person joined by their session, where they had one', async () => {
    const { client, id } = await newTeam();
    const { body: invited } = await client.post('/organizations/invitations', { role: 'viewer' });
    const { userId, token } = await newUser();
    const joining = sessionClient(token);
    const [{ id: session }] = (await joining.get('/auth/sessions')).body.sessions;
    const from = { 'cf-connecting-ip': '192.0.2.9' };
    expect(await joining.post('/auth/invitations/join', { token: invited.token }, from)).toMatchObject({ status: 200, body: { id } });
    const entries = (await auditLog(client)).filter(({ user_id }) => user_id === userId);
    expect(entries.map(({ record_type }) => record_type).toSorted()).toEqual(['invitation', 'member']);
    for (const entry of entries)
      expect(entry).toMatchObject({ action: 'invitations.join', credential: `session:${session}`, address: '192.0.2.9' });
  });

  test('has no entry of a password link that came by mail, in no organization', async () => {
    const { operator } = await newTeam();
    const token = `var_${crypto.randomUUID()}`;
    await env.DB.prepare(
      'INSERT INTO password_reset (user_id, token_hash, organization_id, created_by, created_at, expires_at) VALUES (?1, ?2, 0, ?1, ?3, ?4)',
    )
      .bind(operator.userId, sha256Hex(token), Date.now(), Date.now() + 60_000)
      .run();
    const chosen = await new Client(undefined).post('/auth/password/reset', { token, new_password: 'lanterns over a quiet harbour' });
    expect(chosen.status).toBe(200);
    const { results } = await env.DB.prepare('SELECT action FROM account_audit_entry WHERE organization_id = 0 AND user_id = ?')
      .bind(operator.userId)
      .all();
    expect(results).toEqual([]);
  });
});
