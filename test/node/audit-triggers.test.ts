import { readFileSync, readdirSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { auditedTables, auditTriggersSql } from '../../src/database/audit/audited-tables.ts';

/** The schema as the migrations make it. */
function migrated(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  for (const file of readdirSync('migrations')
    .filter((name) => name.endsWith('.sql'))
    .toSorted())
    database.exec(readFileSync(`migrations/${file}`, 'utf8'));
  return database;
}

const plain = (sql: string): string => sql.replaceAll(/\s+/g, ' ').replace(/; *END;?$/, '; END');

test('the database has exactly the triggers that the list of audited tables makes', () => {
  const stored = migrated()
    .prepare("SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name GLOB 'audit_*'")
    .all()
    .map(({ sql }) => plain(String(sql)));
  // A migration with the statements of auditTriggersSql() brings them up to date.
  expect(stored.toSorted()).toEqual(auditTriggersSql().map(plain).toSorted());
});

test.each(auditedTables.map((audited) => [audited.table, audited] as const))('an entry of %s is within the limits of D1', (_, audited) => {
  expect(audited.columns.length).toBeLessThanOrEqual(16);
  for (const named of [...(audited.large ?? []), ...(audited.secret ?? [])]) expect(audited.columns).toContain(named);
});

test('no column with a secret is recorded as it is', () => {
  const secretive = /hash|secret|credential|^api_key$|token|password/;
  for (const { table, columns, secret = [] } of auditedTables)
    for (const column of columns.filter((name) => secretive.test(name) && !/_until$|^first_token_seconds$/.test(name)))
      expect(secret, `${table}.${column}`).toContain(column);
});

test('a password link that a person asked for by mail is in the log of no organization; one by an admin is in that of its organization', () => {
  const database = migrated();
  database.exec(`INSERT INTO audit_actor (id, request_id, action, user_id, credential, at, record_type, is_summary, changes_before)
    VALUES (1, 'r', 'members.resetPassword', 7, 'link', 1, 'member', 0, 0)`);
  const entries = (): unknown[] =>
    database
      .prepare('SELECT organization_id FROM account_audit_entry')
      .all()
      .map(({ organization_id }) => organization_id);
  const use = (organizationId: number): void =>
    database.exec(`INSERT INTO password_reset (user_id, token_hash, organization_id, created_by, created_at, expires_at)
        VALUES (7, 'h', ${organizationId}, 7, 1, 2);
      UPDATE password_reset SET token_hash = 'other' WHERE user_id = 7;
      DELETE FROM password_reset WHERE user_id = 7`);
  use(0);
  expect(entries()).toEqual([]);
  use(3);
  expect(entries()).toEqual([3, 3, 3]);
});
