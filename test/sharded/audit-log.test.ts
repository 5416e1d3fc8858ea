import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { second } from '../support/moves.ts';
import { newOrganization } from '../support/organization.ts';
import { auditLog } from '../support/people.ts';

const countIn = async (database: D1Database, table: string, id: number) =>
  (await database.prepare(`SELECT count(*) AS n FROM ${table} WHERE organization_id = ?`).bind(id).first<{ n: number }>())!.n;

test('the audit log of an organization on a later shard has what changed there and what changed in the accounts, in one order', async () => {
  const { client, id } = await newOrganization({ shard: 1 });
  await client.post('/contacts/lists', { name: 'One' });
  await client.post('/user/api-keys', { name: 'Key' });
  await client.post('/contacts/lists', { name: 'Two' });
  await client.patch('/organizations/current', { name: 'Acme' });
  await client.post('/contacts/bulk-upsert', { contacts: [{ email: 'a@example.com' }], list_name: 'Imported' });
  const expected = ['contacts.bulkUpsert', 'organization.update', 'contactLists.create', 'apiKeys.create', 'contactLists.create'];
  const entries = await auditLog(client);
  expect(entries.map(({ action }) => action)).toEqual(expected);
  expect(new Set(entries.map((one) => one.id)).size).toBe(5);
  expect([await countIn(second, 'audit_entry', id), await countIn(env.DB, 'account_audit_entry', id)]).toEqual([3, 2]);
  expect([await countIn(env.DB, 'audit_entry', id), await countIn(second, 'account_audit_entry', id)]).toEqual([0, 0]);
  const pages: string[] = [];
  for (let cursor = ''; ;) {
    const { body } = await client.get(`/audit-log?limit=2${cursor && `&cursor=${cursor}`}`);
    pages.push(...body.entries.map((one: any) => one.action));
    if (!body.next_cursor) break;
    cursor = body.next_cursor;
  }
  expect(pages).toEqual(expected);
});
