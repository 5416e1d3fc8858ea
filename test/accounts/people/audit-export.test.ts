import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { maxQueries } from '../../../src/database/query-budget.ts';
import { newOrganization } from '../../support/organization.ts';
import { recordedClient } from '../../support/recorded-database.ts';

/** Entries of an organization, `count` in each of the two tables, one each second, every tenth by another action. */
async function fill(organizationId: number, userId: number, count: number, change = '{}'): Promise<void> {
  for (const table of ['audit_entry', 'account_audit_entry'])
    await env.DB.prepare(
      `WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?3)
       INSERT INTO ${table} (organization_id, request_id, action, user_id, credential, record_type, record_id, change, created_at)
       SELECT ?1, '${table}:' || n, iif(n % 1000 = 0, 'rare.one', 'contactLists.update'), ?2, 'key:1', 'contact_list', n, ?4, n * 1000 FROM n`,
    )
      .bind(organizationId, userId, count, change)
      .run();
}

const linesOf = (body: unknown): any[] =>
  String(body)
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

test('an export has each of many entries once, newest first, and takes so few queries that a million entries are within those of D1', async () => {
  const { key, id, userId } = await newOrganization();
  const count = 6500;
  await fill(id, userId, count);
  const { client, recording } = recordedClient(key);
  const { status, body } = await client.get('/audit-log/export?format=jsonl&columns=request_id,at,user_email');
  const lines = linesOf(body);
  expect([status, lines.length]).toEqual([200, 2 * count]);
  expect(new Set(lines.map(({ request_id }) => request_id)).size).toBe(2 * count);
  const times = lines.map(({ at }) => at);
  expect(times).toEqual(times.toSorted().toReversed());
  expect(new Set(lines.map(({ user_email }) => user_email)).size).toBe(1);
  const queries = recording.statements.filter(({ sql }) => !sql.includes('api_key')).length;
  expect((maxQueries / queries) * lines.length).toBeGreaterThan(1_000_000);
  expect(recording.statements.filter(({ sql }) => sql.includes('CROSS JOIN user'))).toHaveLength(1);
}, 60_000);

test('an export of the few entries that match a filter finds all of them, and takes as few queries', async () => {
  const { key, id, userId } = await newOrganization();
  await fill(id, userId, 45_000);
  const { client, recording } = recordedClient(key);
  const { body } = await client.get('/audit-log/export?format=jsonl&action=rare.one');
  expect(linesOf(body)).toHaveLength(90);
  expect(recording.statements.length).toBeLessThan(25);
}, 60_000);

test('an export of large changes reads fewer of them at a time, and none is left out', async () => {
  const { key, id, userId } = await newOrganization();
  const change = JSON.stringify({ definition: { before: 'a'.repeat(8000), after: 'b'.repeat(8000) } });
  await fill(id, userId, 600, change);
  const { client, recording } = recordedClient(key);
  const lines = linesOf((await client.get('/audit-log/export?format=jsonl')).body);
  expect(new Set(lines.map(({ request_id }) => request_id)).size).toBe(1200);
  expect(lines[0].change.definition.after).toHaveLength(8000);
  expect(recording.statements.filter(({ sql }) => /FROM audit_entry/.test(sql))).toHaveLength(3);
}, 60_000);
