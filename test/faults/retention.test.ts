import { env } from 'cloudflare:workers';
import { describe, expect, test, vi } from 'vitest';
import { applyRetention, retentionRules } from '../../src/cron/retention/apply-retention.ts';
import { tablesWithoutRetention } from '../../src/cron/retention/tables-without-retention.ts';
import { Database } from '../../src/database/client.ts';
import { globalTables, organizationTables } from '../../src/database/organization-tables.ts';
import { Logger } from '../../src/library/platform/log.ts';
import { getSettings } from '../../src/settings.ts';
import { insertRow } from '../support/insert-row.ts';
import { newOrganization } from '../support/organization.ts';

const dayMs = 86_400_000;
const log = new Logger('error', { source: 'test' });
const database = () => new Database(env.DB, true);
const keep = (bindings: Env = env) => applyRetention(bindings, database(), Date.now(), log);

const setProgress = (name: string, value: number) =>
  env.DB.prepare('INSERT OR REPLACE INTO progress (name, value) VALUES (?, ?)').bind(name, value).run();

/** Lets the walk over a table begin at this row. */
const walkFrom = (table: string, id: number) => setProgress(`${table}_retained`, id - 1);

async function archived(organizationId: number): Promise<{ key: string; rows: Record<string, unknown>[] }[]> {
  const { objects } = await env.FILES.list({ prefix: `archive/${organizationId}/` });
  return Promise.all(
    objects.map(async ({ key }) => ({
      key,
      rows: (await (await env.FILES.get(key))!.text()).split('\n').map((line) => JSON.parse(line) as Record<string, unknown>),
    })),
  );
}

test('every table has a retention rule, or a reason why its rows stay', () => {
  const tables = [...organizationTables.map(({ table }) => table), ...globalTables].toSorted();
  const named = [...retentionRules.map(({ table }) => table), ...Object.keys(tablesWithoutRetention)].toSorted();
  expect(named).toEqual(tables);
});

interface Case {
  /** Columns of an ended row that is older than its retention, and of a younger one. */
  old: (days: number) => Record<string, string | number | null>;
  /** The retention in days. */
  days: number;
  /** Old rows that stay, since they are not over. */
  notOver?: Record<string, string | number | null>;
  isArchived?: true;
  /** The table is read along its ids. */
  isWalked?: true;
  /** The table is read along the owners of its rows, of which a tick takes few. */
  owner?: string;
}

const ago = (days: number) => Date.now() - days * dayMs;
const archivedCase = (
  days: number,
  isOver: Record<string, string | number | null>,
  notOver?: Record<string, string | number | null>,
): Case => ({
  days,
  old: (age) => ({ created_at: ago(age), ...isOver }),
  isArchived: true,
  ...(notOver && { notOver: { created_at: ago(days + 1), ...notOver } }),
});
const deletedCase = (days: number, column: string, isOver: Record<string, string | number | null> = {}): Case => ({
  days,
  old: (age) => ({ [column]: ago(age), ...isOver }),
});

const cases: Record<string, Case> = {
  automation_run: archivedCase(90, { completed_at: 1, state: 'completed' }, { completed_at: null, state: 'waiting' }),
  event: archivedCase(90, { handled_at: 1, data: '{}' }, { handled_at: null, note: 'x' }),
  webhook_delivery: archivedCase(90, { handled_at: 1, payload: '{}' }, { handled_at: null }),
  message: archivedCase(90, { history: '[]' }),
  voice_agent_run: archivedCase(365, { is_completed: 1, initial_context: '{}' }, { is_completed: 0 }),
  test_session: archivedCase(90, { status: 'completed' }, { status: 'running' }),
  load_test: archivedCase(90, { status: 'stopped', config: '{}' }, { status: 'running' }),
  schedule_fire: {
    days: 7,
    old: (age) => ({ handled_at: ago(age), trigger_id: -ago(age) }),
    notOver: { created_at: ago(100), handled_at: null, trigger_id: 5 },
  },
  contact: { ...deletedCase(90, 'deleted_at'), notOver: { created_at: ago(1000), deleted_at: null } },
  contact_list: { ...deletedCase(90, 'deleted_at'), notOver: { created_at: ago(1000), deleted_at: null } },
  knowledge_document: { ...deletedCase(90, 'updated_at', { is_active: 0 }), notOver: { updated_at: ago(100), is_active: 1 } },
  suppression: { ...deletedCase(90, 'until'), notOver: { created_at: ago(1000), until: null } },
  suppression_proposal: { days: 365, old: (age) => ({ created_at: ago(age), call_run_id: -ago(age) }) },
  call_statistic: { days: 1095, old: (age) => ({ is_day: 1, period: ago(age) }), owner: 'organization_id' },
  journey_statistic: { days: 1095, old: (age) => ({ is_day: 1, period: ago(age), workflow_id: ago(age) }), owner: 'workflow_id' },
  usage_statistic: { days: 1095, old: (age) => ({ is_day: 1, period: ago(age) }), owner: 'organization_id' },
  contact_decision: { ...deletedCase(92, 'created_at'), isWalked: true },
  audit_entry: deletedCase(730, 'created_at'),
  account_audit_entry: deletedCase(730, 'created_at'),
  invitation: deletedCase(90, 'expires_at'),
  event_type: deletedCase(90, 'created_at'),
  upload: deletedCase(30, 'created_at'),
  cleanup: {
    ...deletedCase(90, 'created_at', { note: 'given up', kind: 'list_deleted' }),
    notOver: { created_at: ago(100), note: 'x', kind: 'contact_deleted' },
  },
  idempotency_key: deletedCase(1, 'created_at'),
  connection_request: deletedCase(1 / 24, 'expires_at'),
};

describe.each(Object.entries(cases))('%s', (table, { old, days, notOver, isArchived, isWalked = isArchived, owner }) => {
  test('leaves after its retention, and not before', async () => {
    const { id: organizationId } = await newOrganization();
    const keyOf = (row: Record<string, unknown>) => JSON.stringify(row);
    const own = async () =>
      (await env.DB.prepare(`SELECT * FROM ${table} WHERE organization_id = ?`).bind(organizationId).all()).results.map(keyOf);
    const add = async (values: Record<string, string | number | null>) => {
      const before = new Set(await own());
      const id = await insertRow(table, { organization_id: organizationId, ...values });
      return { id, key: (await own()).find((row) => !before.has(row))! };
    };
    const over = await add(old(days * 1.1));
    const stays = notOver && (await add(notOver));
    const young = await add(old(days * 0.9));
    // The newest row of a table stays.
    await insertRow(table, { organization_id: organizationId, ...old(0) });
    if (isWalked) await walkFrom(table, over.id);
    if (owner) await setProgress(`${table}_folded`, Number(JSON.parse(over.key)[owner]) - 1);
    await keep();
    const left = await own();
    expect(left).not.toContain(over.key);
    expect(left).toEqual(expect.arrayContaining([young.key, ...(stays ? [stays.key] : [])]));
    const files = await archived(organizationId);
    expect(files.flatMap(({ rows }) => rows.map(keyOf))).toEqual(isArchived ? [over.key] : []);
    await env.DB.prepare(`DELETE FROM ${table} WHERE organization_id = ?`).bind(organizationId).run();
  });
});

test('every retention rule is tested', () => {
  // A campaign stays, and its rows are its object's (archived-campaigns.test.ts).
  const ofNobody = new Set([...globalTables, 'session', 'password_reset', 'archive', 'archive_contact', 'campaign']);
  const tables = retentionRules.map(({ table }) => table).filter((table) => !ofNobody.has(table));
  expect(Object.keys(cases).toSorted()).toEqual(tables.toSorted());
});

test('receipts, sessions, password resets and failed sign-ins leave when they are over', async () => {
  await insertRow('write_receipt', { key: '000000001-old' });
  await insertRow('session', { token_hash: 'old', expires_at: 1 });
  await insertRow('password_reset', { user_id: 2 ** 40, expires_at: 1 });
  await insertRow('login_failure', { subject: 'email:old', window_ends_at: 1 });
  await insertRow('used_challenge', { hash: 'old', expires_at: 1 });
  await keep();
  for (const [table, condition] of [
    ['used_challenge', "hash = 'old'"],
    ['write_receipt', "key = '000000001-old'"],
    ['session', "token_hash = 'old'"],
    ['password_reset', `user_id = ${2 ** 40}`],
    ['login_failure', "subject = 'email:old'"],
  ])
    expect(await env.DB.prepare(`SELECT 1 FROM ${table} WHERE ${condition}`).first()).toBeNull();
});

/** Old messages of an organization; answers the id of the first. */
async function oldMessages(organizationId: number, count: number): Promise<number> {
  const { results } = await env.DB.prepare(
    `INSERT INTO message (organization_id, send_key, provider, kind, recipient, contact_id, status, status_rank, history, created_at, updated_at)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
     SELECT ?1, 'old:' || i, 'provider_b', 'text', '+12125550000', NULL, 'sent', 3, '[]', ?3, 1 FROM n RETURNING id`,
  )
    .bind(organizationId, count, ago(91))
    .all<{ id: number }>();
  return Math.min(...results.map(({ id }) => id));
}

const messagesOf = async (organizationId: number) =>
  (await env.DB.prepare('SELECT count(*) AS total FROM message WHERE organization_id = ?').bind(organizationId).first<{ total: number }>())!
    .total;

test('thousands of old rows of one organization do not delay another', async () => {
  const [crowd, few, newest] = [await newOrganization(), await newOrganization(), await newOrganization()];
  const first = await oldMessages(crowd.id, 3000);
  await oldMessages(few.id, 3);
  await insertRow('message', { organization_id: newest.id, created_at: Date.now(), history: '[]' });
  await walkFrom('message', first);
  const rule = retentionRules.find(({ table }) => table === 'message')!;
  await rule.removePage({ bindings: env, database: database(), settings: getSettings(env), now: Date.now() });
  expect(await messagesOf(few.id)).toBe(0);
  expect(await messagesOf(crowd.id)).toBeGreaterThan(2000);
  await keep();
  expect(await messagesOf(crowd.id)).toBe(0);
  expect((await archived(crowd.id)).flatMap(({ rows }) => rows)).toHaveLength(3000);
});

test('rows whose file cannot be written stay, and no other table is delayed', async () => {
  const [own, newest] = [await newOrganization(), await newOrganization()];
  const first = await oldMessages(own.id, 2);
  await insertRow('message', { organization_id: newest.id, created_at: Date.now(), history: '[]' });
  await insertRow('idempotency_key', { organization_id: own.id, created_at: 1 });
  await walkFrom('message', first);
  const error = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const files = { put: () => Promise.reject(new Error('R2 is away')) } as unknown as R2Bucket;
  await keep({ ...env, FILES: files });
  error.mockRestore();
  expect(await messagesOf(own.id)).toBe(2);
  expect(await env.DB.prepare('SELECT 1 FROM idempotency_key WHERE organization_id = ?').bind(own.id).first()).toBeNull();
  await keep();
  expect(await messagesOf(own.id)).toBe(0);
  expect((await archived(own.id)).flatMap(({ rows }) => rows)).toHaveLength(2);
  const known = await env.DB.prepare('SELECT name FROM archive WHERE organization_id = ?').bind(own.id).all<{ name: string }>();
  expect(known.results.map(({ name }) => name)).toEqual((await archived(own.id)).map(({ key }) => key));
});

test('an archive file is deleted together with the files of its rows in the bucket', async () => {
  const { id } = await newOrganization();
  const files = [
    `payloads/${id}/events/a.json`,
    `payloads/${id}/contexts/b.json`,
    `runs/${id}/7/history-0.json`,
    `runs/${id}/7/history-1.json`,
  ];
  const [events, runs] = [`archive/${id}/event/1-1.ndjson`, `archive/${id}/automation_run/7-7.ndjson`];
  for (const name of files) await env.FILES.put(name, '{}');
  await env.FILES.put(events, JSON.stringify({ id: 1, organization_id: id, data: `@r2:70000:${files[0]}` }));
  await env.FILES.put(runs, JSON.stringify({ id: 7, organization_id: id, initial_context: `@r2:70000:${files[1]}` }));
  const add = (kind: string, name: string, days: number) =>
    insertRow('archive', { organization_id: id, kind, name, created_at: ago(days) });
  const eventArchive = await add('event', events, 1096);
  await insertRow('archive_contact', { contact_id: 900_000_000 + id, archive_id: eventArchive });
  await add('automation_run', runs, 1096);
  const young = `archive/${id}/event/2-2.ndjson`;
  await env.FILES.put(young, JSON.stringify({ id: 2, organization_id: id, data: '{}' }));
  await add('event', young, 1094);
  await keep();
  for (const name of [...files, events, runs]) expect([name, await env.FILES.head(name)]).toEqual([name, null]);
  expect(await env.FILES.head(young)).not.toBeNull();
  const { results } = await env.DB.prepare('SELECT name FROM archive WHERE organization_id = ?').bind(id).all();
  expect(results).toEqual([{ name: young }]);
  expect(await env.DB.prepare('SELECT 1 FROM archive_contact WHERE archive_id = ?').bind(eventArchive).first()).toBeNull();
});

test('a call and a test session leave with their recordings, transcripts and conversations', async () => {
  const { id } = await newOrganization();
  const call = await insertRow('voice_agent_run', {
    organization_id: id,
    is_completed: 1,
    initial_context: '{}',
    created_at: ago(366),
    agent_id: 0,
  });
  const session = await insertRow('test_session', { organization_id: id, status: 'failed', created_at: ago(91) });
  for (const table of ['voice_agent_run', 'test_session']) await insertRow(table, { organization_id: id, created_at: Date.now() });
  const files = ['recording', 'transcript.txt', 'transcript.json', 'logs.json'].map((name) => `calls/${id}/${call}/${name}`);
  files.push(`simtest/${id}/${session}/conversation.json`);
  for (const name of files) await env.FILES.put(name, 'x');
  await walkFrom('voice_agent_run', call);
  await walkFrom('test_session', session);
  await keep();
  for (const name of files) expect([name, await env.FILES.head(name)]).toEqual([name, null]);
  expect((await archived(id)).flatMap(({ rows }) => rows.map((row) => row['id']))).toEqual([session, call]);
});

test('an event type stays as long as an event of that type', async () => {
  const { id } = await newOrganization();
  await insertRow('event', { organization_id: id, event_type: 'seen', data: '{}', created_at: Date.now() });
  for (const event_type of ['seen', 'forgotten']) await insertRow('event_type', { organization_id: id, event_type, created_at: ago(91) });
  await keep();
  const { results } = await env.DB.prepare('SELECT event_type FROM event_type WHERE organization_id = ?').bind(id).all();
  expect(results).toEqual([{ event_type: 'seen' }]);
});

test('an uploaded file goes when nothing was made of it, and stays while a draft, a campaign or a document needs it', async () => {
  const { client, id } = await newOrganization();
  const upload = async (path: string, body: Record<string, unknown>) => (await client.post(path, body)).body;
  const csv = await Promise.all([1, 2, 3].map(() => upload('/campaign/upload-url', { filename: 'people.csv' })));
  const documents = await Promise.all(
    [1, 2].map(() => upload('/knowledge-base/upload-url', { filename: 'handbook.md', mime_type: 'text/markdown' })),
  );
  const files = [
    ...csv.map(({ source_id }) => `campaign_sources/${id}/${source_id}`),
    ...documents.map(({ storage_key }) => storage_key as string),
  ];
  for (const name of files) await env.FILES.put(name, 'phone');
  const rowsOfWorkbooks = csv.map(({ source_id }) => `campaign_sources/${id}/${source_id}/etag/first.jsonl`);
  for (const name of rowsOfWorkbooks) await env.FILES.put(name, '[]');
  await insertRow('campaign', { organization_id: id, source_id: csv[0]!.source_id, state: 'draft' });
  await insertRow('campaign', { organization_id: id, source_id: csv[1]!.source_id, state: 'completed', archive: '{}' });
  await insertRow('knowledge_document', { organization_id: id, uuid: documents[0]!.document_uuid, is_active: 1 });
  const known = async () =>
    (await env.DB.prepare('SELECT count(*) AS total FROM upload WHERE organization_id = ?').bind(id).first<{ total: number }>())!.total;
  const there = async () => (await Promise.all(files.map((name) => env.FILES.head(name)))).map((file) => file !== null);
  await keep();
  expect([await known(), await there()]).toEqual([5, [true, true, true, true, true]]);
  await env.DB.prepare('UPDATE upload SET created_at = ? WHERE organization_id = ?').bind(ago(31), id).run();
  await keep();
  expect(await there()).toEqual([true, false, false, true, false]);
  const stored = await Promise.all(rowsOfWorkbooks.map((name) => env.FILES.head(name)));
  expect(stored.map((file) => file !== null)).toEqual([true, false, false]);
  expect(await known()).toBe(1);
  const meta = await Promise.all(
    documents.map(({ document_uuid }) => env.FILES.head(`knowledge_base_uploads/${id}/${document_uuid}.json`)),
  );
  expect(meta.map((file) => file !== null)).toEqual([true, false]);
  await env.DB.prepare('DELETE FROM campaign WHERE organization_id = ?').bind(id).run();
  await env.DB.prepare('DELETE FROM knowledge_document WHERE organization_id = ?').bind(id).run();
});
