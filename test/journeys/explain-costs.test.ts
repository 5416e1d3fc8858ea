import { env } from 'cloudflare:workers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createActiveWorkflow } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { explainQueryPlans, recordedClient, rowsRead } from '../support/recorded-database.ts';

const size = 20_000;
const count = 'WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ?1)';

/** Rows as the service writes them, of a type and under keys that no test of another file has. */
const fillers = {
  events: `INSERT INTO event (organization_id, event_type, contact_id, data, created_at, handled_at)
    ${count} SELECT ?2, 'filled', ?3 + value % ?4, '{}', 1000000 + value, 1 FROM n`,
  members: `INSERT INTO contact_list_member (list_id, contact_id, added_at) ${count} SELECT ?2, ?3 + value % ?4, 1 FROM n WHERE true
    ON CONFLICT DO NOTHING`,
  runs: `INSERT INTO automation_run (organization_id, workflow_id, workflow_version, state, entry_key, dedup_key, source, revision, completed_at, created_at)
    ${count} SELECT ?2, ?3, 1, 'completed', 'k' || (value % ?4), 'filled:' || hex(randomblob(8)), 'run', 1, 1, 1 FROM n`,
  deliveries: `INSERT INTO webhook_delivery (organization_id, trigger_id, contact_id, payload, created_at, handled_at)
    ${count} SELECT ?2, ?3, ?4 + value, '{}', 1, 1 FROM n`,
};
const fill = (what: keyof typeof fillers, ...values: number[]) =>
  env.DB.prepare(fillers[what])
    .bind(size, ...values)
    .run();

/** Ids without a contact. */
const strangers = 7_000_000_000;

let key: string;
let client: Client;
let organization: number;
let contact: number;
let workflow: number;
let list: number;
let hook: number;

beforeAll(async () => {
  ({ key, client, id: organization } = await newOrganization());
  const phone = newPhone();
  contact = (await client.post('/contacts', { phone })).body.id;
  list = (await client.post('/contacts/lists', { name: 'Members' })).body.id;
  await client.post(`/contacts/lists/${list}/contacts`, { contact_ids: [contact] });
  const filter = { field: 'data.total', operator: 'gt', value: 100 };
  workflow = await createActiveWorkflow(client, {
    trigger: { type: 'contact_event', config: { event_types: ['order_placed', 'order_paid'], filter } },
    settings: { reentry: { mode: 'never' }, one_live_run_per_key: true, max_active_runs: 5 },
  });
  const add = async (type: string, config: unknown) =>
    (await client.post(`/automation-workflows/${workflow}/triggers`, { type, config })).body.id as number;
  await add('schedule', { cron: '0 * * * *', audience: { list_id: list } });
  hook = await add('webhook', {});
  await client.post('/events', { event_type: 'order_placed', phone, data: { total: 5 } });
});

afterAll(async () => {
  await env.DB.batch([
    env.DB.prepare("DELETE FROM event WHERE organization_id = ? AND event_type = 'filled'").bind(organization),
    env.DB.prepare('DELETE FROM contact_list_member WHERE list_id = ?').bind(list),
    env.DB.prepare("DELETE FROM automation_run WHERE dedup_key LIKE 'filled:%'"),
    env.DB.prepare('DELETE FROM webhook_delivery WHERE trigger_id = ?').bind(hook),
  ]);
});

async function explaining() {
  const { client: recorded, recording } = recordedClient(key);
  const answer = await recorded.get(`/automation-workflows/${workflow}/explain?contact_id=${contact}`);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  const ofDeliveries = recording.statements.filter(({ sql }) => sql.includes('webhook_delivery'));
  const others = { ...recording, statements: recording.statements.filter((one) => !ofDeliveries.includes(one)) };
  return { body: answer.body, recording, reads: rowsRead(others), ofDeliveries: rowsRead({ ...recording, statements: ofDeliveries }) };
}

test('explaining reads no more rows among 20,000 events, members and runs of others', async () => {
  const before = await explaining();
  expect(before.body.triggers[1].would_fire).toBe(true);
  await fill('events', organization, strangers, 1000);
  await fill('members', list, strangers, size);
  await fill('runs', organization, workflow, 1000);
  const after = await explaining();
  expect(after.reads).toBeLessThanOrEqual(before.reads * 1.5 + 10);
  expect(after.body.triggers).toEqual(before.body.triggers);
});

test("explaining reads only the newest thousand of a contact's 20,000 events", async () => {
  const { body } = await explaining();
  expect(body.triggers[0].when).toContain('the latest is event');
  await env.DB.prepare("UPDATE event SET contact_id = ? WHERE organization_id = ? AND event_type = 'filled'")
    .bind(contact, organization)
    .run();
  const older = await explaining();
  expect(older.reads).toBeLessThan(5000);
  expect(older.body.triggers[0]).toEqual(body.triggers[0]);
  await env.DB.prepare('UPDATE event SET created_at = created_at + ?3 WHERE organization_id = ?1 AND event_type = ?2')
    .bind(organization, 'filled', Date.now())
    .run();
  const newer = await explaining();
  expect(newer.reads).toBeLessThan(5000);
  expect(newer.body.triggers[0].when).toContain('no such event of this contact yet');
});

test("explaining finds the contact's latest delivery among 20,000 others, however old, and reads no other", async () => {
  await fill('deliveries', organization, hook, strangers);
  const before = await explaining();
  expect(before.body.triggers[2].when).not.toContain('the latest is delivery');
  await env.DB.prepare(
    'UPDATE webhook_delivery SET contact_id = ?1 WHERE id = (SELECT min(id) FROM webhook_delivery WHERE trigger_id = ?2)',
  )
    .bind(contact, hook)
    .run();
  const after = await explaining();
  expect(after.body.triggers[2].when).toContain('the latest is delivery');
  expect(after.ofDeliveries).toBeLessThanOrEqual(20);
});

test('explaining reads no whole table or index', async () => {
  const { recording } = await explaining();
  const plans = await explainQueryPlans(recording);
  const mayBeWhole = /^SCAN (CONSTANT ROW|\(subquery-\d+\)|(j|json_each) VIRTUAL TABLE.*|newest|top|earlier)$/;
  const ends = plans.flatMap(({ sql, plan }) =>
    plan.filter((step) => step.startsWith('SCAN') && !mayBeWhole.test(step)).map((step) => [step, sql]),
  );
  expect(ends).toEqual([]);
});
