import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';

/** Migrations that have landed, by their SHA-256. Databases have taken them as they were; a change is a new migration. */
const landed = {
  '0000_initial.sql': '7d73efadb36ea0cd',
  '0001_contact_search.sql': '9556f1a2d2b9e422',
  '0002_contact_changes.sql': '19dc1e45d1f5d317',
  '0003_automation_counters.sql': '03adfb7a7a8841b5',
  '0004_journey_policies.sql': '732d86d77b2c7dd3',
  '0005_voice_agents_and_campaigns.sql': '89c0b93efb5e4e73',
  '0006_knowledge_base.sql': '11555e706f8d6890',
  '0007_conversation_tests.sql': '425ac5194ad473f2',
  '0008_messaging_and_integrations.sql': '156047d270bee8d9',
  '0009_where_vectors_are.sql': '6d19a1321e482524',
  '0010_failed_messages.sql': '4c2145ddf2a0911a',
  '0011_plan_limits.sql': '94f34ea837a9cd5c',
  '0012_chained_runs.sql': '14bc7f9ecb144168',
  '0013_write_receipts.sql': 'cce91d7f8b670933',
  '0014_rows_of_organizations.sql': 'b3b4740eb0f7ef51',
  '0015_account_sessions.sql': '3ad4fbf12d107c84',
  '0016_retention.sql': 'c9652d0ecf59f163',
  '0017_password_resets.sql': '44b86892321166f5',
  '0018_failure_reasons.sql': '92422ff1f5b4ca73',
  '0019_erasable_deliveries.sql': '8d41e8f24a95ecb9',
  '0020_who_asks_for_a_message.sql': '69a8d1aa803e30e2',
  '0021_archived_campaigns.sql': '40ea244fcd09d11e',
  '0022_deletions.sql': 'b875e18cdae6a591',
  '0023_uploads.sql': 'd17a00c7663b10c1',
  '0024_histories_in_rows.sql': '301d173f2122843c',
  '0025_fewer_indexes.sql': 'd33a671f4b8c3a67',
  '0026_moves_between_shards.sql': '8ddc57517cea0d77',
  '0027_document_warnings.sql': '101fcfd031a8b0e6',
  '0028_one_spelling_of_phones.sql': 'e655bf67dc9ef2b8',
  '0029_search_terms.sql': '5f4d533c171fca36',
  '0030_suppression_evidence.sql': 'c52333f7b3358203',
  '0031_webhook_endpoints.sql': '5e57a4fe26c7221b',
  '0032_call_lists.sql': '2a610bce46728da7',
  '0033_language_models.sql': 'e0abf0d10af15827',
  '0034_statistics.sql': 'bd3ca13e33a13640',
  '0035_people_and_contact_policy.sql': 'f897f72cd66b073c',
  '0036_operations.sql': 'f9d46315ddcb16fb',
  '0037_passkeys.sql': '739b85e29a36cd84',
  '0038_transfer_statistics.sql': 'c84af484d742a569',
  '0039_agent_versions_and_failures.sql': 'e906aa7d9a6b962c',
};

test.each(Object.entries(landed))('the migration %s is as it landed', (name, hash) => {
  const file = readFileSync(`migrations/${name}`);
  expect(createHash('sha256').update(file).digest('hex').slice(0, 16)).toBe(hash);
});

test('every migration is listed', () => {
  expect(readdirSync('migrations').filter((name) => name.endsWith('.sql'))).toEqual(Object.keys(landed));
});

/** A database with the migrations before this one, and what applies it. */
function databaseBefore(name: string): { database: DatabaseSync; migrate: () => void } {
  const database = new DatabaseSync(':memory:');
  const apply = (one: string) => database.exec(readFileSync(`migrations/${one}`, 'utf8'));
  for (const earlier of Object.keys(landed).filter((one) => one < name)) apply(earlier);
  return { database, migrate: () => apply(name) };
}

test('stored numbers get the spelling that numbers are now read as; of two spellings, both records stay', () => {
  const { database, migrate } = databaseBefore('0028_one_spelling_of_phones.sql');
  const phones = ['+551187654321', '+541112345678', '+5511987654321', '+551132654321', '+4930901820', '+5491112345678'];
  const insert = (organization: number, phone: string) =>
    database
      .prepare("INSERT INTO contact (organization_id, phone, tags, custom_fields, created_at, updated_at) VALUES (?, ?, '[]', '{}', 0, 0)")
      .run(organization, phone);
  for (const [index, phone] of phones.entries()) insert(index, phone);
  insert(100, '+551187654321');
  insert(100, '+5511987654321');
  database.exec("INSERT INTO suppression (organization_id, phone, reason, created_at) VALUES (1, '+551187654321', 'asked', 0)");
  migrate();
  const all = (sql: string) =>
    database
      .prepare(sql)
      .all()
      .map(({ phone }) => phone);
  expect(all('SELECT phone FROM contact WHERE organization_id < 100 ORDER BY id')).toEqual([
    '+5511987654321',
    '+5491112345678',
    '+5511987654321',
    '+551132654321',
    '+4930901820',
    '+5491112345678',
  ]);
  expect(all('SELECT phone FROM contact WHERE organization_id = 100 ORDER BY id')).toEqual(['+551187654321', '+5511987654321']);
  expect(all('SELECT phone FROM suppression')).toEqual(['+5511987654321']);
});

test('chunks of before are found as before, and new ones by their further terms, too', () => {
  const { database, migrate } = databaseBefore('0029_search_terms.sql');
  const insert = (index: number, columns: string, values: string) =>
    database.exec(`INSERT INTO knowledge_chunk (organization_id, document_id, generation, chunk_index, chunk_text, contextualized_text, chunk_metadata${columns})
      VALUES (1, 1, 1, ${index}, 'kettle', 'kettle', '{}'${values})`);
  insert(0, '', '');
  migrate();
  insert(1, ', search_terms', ", 'k200'");
  const find = (word: string) => database.prepare('SELECT rowid FROM knowledge_chunk_search WHERE text MATCH ?').all(word).length;
  expect([find('kettle'), find('k200')]).toEqual([2, 1]);
});

test('a suppression that a call has added keeps its call, and another one is manual', () => {
  const { database, migrate } = databaseBefore('0030_suppression_evidence.sql');
  for (const [phone, reason] of [
    ['+12125550101', 'do_not_call: asked in call 4711'],
    ['+12125550102', 'do_not_call'],
    ['+12125550103', 'asked in call 12'],
  ])
    database.exec(`INSERT INTO suppression (organization_id, phone, reason, created_at) VALUES (1, '${phone}', '${reason}', 0)`);
  migrate();
  expect(database.prepare('SELECT source, call_run_id FROM suppression ORDER BY phone').all()).toEqual([
    { source: 'call', call_run_id: 4711 },
    { source: 'manual', call_run_id: null },
    { source: 'manual', call_run_id: null },
  ]);
});

test('earlier calls have their journey and their seconds of talk, and are to be found by their words', () => {
  const { database, migrate } = databaseBefore('0032_call_lists.sql');
  const insert = (columns: string, values: string) =>
    database.exec(`INSERT INTO voice_agent_run (organization_id, agent_id, definition_id, name, mode, call_type, attempt_key, initial_context, created_at, ${columns})
      VALUES (1, 1, 1, 'call', ${values})`);
  database.exec(
    "INSERT INTO automation_run (id, organization_id, workflow_id, workflow_version, state, dedup_key, source, created_at, is_test) VALUES (81, 1, 8, 1, 'completed', 'a', '', 0, 0)",
  );
  const result = `'{"cost_info":{"call_duration_seconds":42}}'`;
  insert(
    'automation_run_id, is_completed, outcome, has_transcript, result',
    `'twilio', 'outbound', 'a', '{}', 0, 81, 1, 'completed', 1, ${result}`,
  );
  insert('is_completed, outcome, has_transcript, result', `'twilio', 'outbound', 'b', '{}', 0, 1, 'voicemail', 1, ${result}`);
  insert('is_completed, outcome, has_transcript, result', `'textchat', 'inbound', 'c', '{}', 0, 1, 'completed', 1, ${result}`);
  migrate();
  const all = (sql: string) =>
    database
      .prepare(sql)
      .all()
      .map((row) => Object.values(row));
  expect(all('SELECT automation_workflow_id, talk_seconds FROM voice_agent_run ORDER BY id')).toEqual([
    [8, 42],
    [null, null],
    [null, null],
  ]);
  expect(all("SELECT value FROM progress WHERE name = 'calls_without_words'")).toEqual([[3]]);
  database.exec("INSERT INTO call_search (rowid, scope, text) VALUES (1, 'organization1', 'parcel')");
  database.exec('DELETE FROM voice_agent_run WHERE id = 1');
  expect(all("SELECT rowid FROM call_search WHERE call_search MATCH 'parcel'")).toEqual([]);
});

test('everybody who is a member becomes an owner, and a working key whose maker has left is that of a member', () => {
  const { database, migrate } = databaseBefore('0035_people_and_contact_policy.sql');
  const insertMember = (user: number, organization: number, at: number) =>
    database.prepare('INSERT INTO membership (user_id, organization_id, created_at) VALUES (?, ?, ?)').run(user, organization, at);
  insertMember(1, 10, 200);
  insertMember(2, 10, 100);
  insertMember(3, 20, 100);
  const insertKey = (organization: number, maker: number, archivedAt: number | null) =>
    database
      .prepare(
        `INSERT INTO api_key (organization_id, created_by, name, key_prefix, key_hash, scopes, created_at, archived_at)
         VALUES (?, ?, 'key', 'vaa_', lower(hex(randomblob(32))), '["admin"]', 0, ?)`,
      )
      .run(organization, maker, archivedAt);
  insertKey(10, 1, null);
  insertKey(10, 9, null);
  insertKey(10, 9, 5);
  insertKey(10, 3, null);
  insertKey(30, 9, null);
  migrate();
  expect(
    database
      .prepare('SELECT created_by FROM api_key ORDER BY id')
      .all()
      .map((row) => row['created_by']),
  ).toEqual([1, 2, 9, 2, 9]);
  expect(database.prepare("SELECT count(*) AS members FROM membership WHERE role = 'owner'").get()).toEqual({ members: 3 });
});
