import { env, exports } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { deliver, tickAt } from '../support/background.ts';
import { createActiveWorkflow, chain, waitForRunState } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { explainQueryPlans, recordedClient, recordEverything, rowsRead } from '../support/recorded-database.ts';

afterEach(() => vi.restoreAllMocks());

const nap = chain({ id: 'nap', type: 'wait', data: { duration: 'P7D' } });
const acting = chain(
  { id: 'contact', type: 'update_contact', data: { set: { title: '{{ event.type }}' }, add_tags: ['seen'] } },
  { id: 'emit', type: 'emit_event', data: { event_type: 'emitted' } },
  { id: 'list', type: 'list_membership', data: { add: ['Listed'], remove: ['Other'] } },
);

/** Has the tick find rows to archive: the first of the organization in each table are old, and the walk has come to them. */
async function leaveOld(organizationId: number): Promise<void> {
  for (const table of ['event', 'webhook_delivery', 'automation_run']) {
    const first = `(SELECT min(id) FROM ${table} WHERE organization_id = ${organizationId})`;
    await env.DB.prepare(`UPDATE ${table} SET created_at = 1 WHERE id = ${first}`).run();
    await env.DB.prepare(`INSERT OR REPLACE INTO progress (name, value) SELECT '${table}_retained', ${first} - 1`).run();
  }
  await tickAt(Date.now());
}

/** Everything that these rooms do, once. */
async function doEverything(client: Client, organizationId: number): Promise<void> {
  await client.post('/events', { event_type: 'ignored' });
  const phone = newPhone();
  const contact = (await client.post('/contacts', { phone, first_name: 'Ada', email: 'ada@example.org' })).body;
  const list = (await client.post('/contacts/lists', { name: 'Members' })).body;
  await client.post(`/contacts/lists/${list.id}/contacts`, { contact_ids: [contact.id] });
  const workflow = await createActiveWorkflow(client, {
    definition: acting,
    trigger: { type: 'contact_event', config: { event_type: 'ordered' } },
  });
  const at = `/automation-workflows/${workflow}`;
  const create = async (type: string, config: unknown = {}) => (await client.post(`${at}/triggers`, { type, config })).body;
  const manual = await create('manual');
  const hook = await create('webhook', { delivery_id: '$.id', mapping: { phone: 'phone', email: 'email' } });
  const schedule = await create('schedule', { cron: '0 * * * *', audience: { list_id: list.id } });
  await create('data_condition', { condition: { field: 'contact.title', operator: 'exists' } });
  await create('event', { event: 'run.failed' });
  await client.patch(`/automation-workflows/triggers/${manual.id}`, { name: 'Button' });
  await client.patch(at, { trigger: { type: 'contact_event', config: { event_types: ['ordered', 'paid'] } } });
  await client.patch(at, { definition: { ...acting, nodes: acting.nodes.map((node) => ({ ...node, name: node.id })) }, description: 'x' });
  for (const path of [
    '',
    '/versions',
    '/triggers',
    '/triggers?status=archived&search=x',
    '/trigger-meta',
    '/runs',
    '/runs?state=waiting',
    '/runs?state=completed',
  ])
    await client.get(`${at}${path}`);
  for (const query of ['', '?search=j', '?status=active', '?limit=1&offset=1']) await client.get(`/automation-workflows${query}`);
  await client.post(`${at}/validate`);
  await client.post(`${at}/test`, { contact_id: contact.id });
  const { id: run } = (await client.post(`${at}/execute`, { contact_id: contact.id })).body;
  await client.post(`${at}/triggers/${manual.id}/fire`, { contact_ids: [contact.id] });
  for (const body of ['{"id":1,"email":"ada@example.org"}', '{"id":1}', `{"id":2,"phone":"${phone}"}`])
    await exports.default.fetch(new Request(hook.webhook_url, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } }));
  await client.post('/events', { event_type: 'ordered', phone, event_id: 'e-1', list_name: 'Shoppers' });
  await client.post('/events', { event_type: 'paid' });
  await client.put(`/contacts/${contact.id}`, { title: null });
  await client.put(`/contacts/${contact.id}`, { title: 'Dr' });
  await waitForRunState(client, run, 'completed');
  await client.get(`/automation-workflows/runs/${run}/history`);
  const dates = `created_after=2020-01-01T00:00:00Z&created_before=2100-01-01T00:00:00Z`;
  for (const query of [
    '',
    'state=failed',
    'state=completed',
    `contact_id=${contact.id}`,
    `trigger_id=${manual.id}`,
    `automation_workflow_id=${workflow}`,
    `automation_workflow_id=${workflow}&state=queued`,
    'is_test=true',
    dates,
  ])
    await client.get(`/automation-workflows/runs?${query}`);
  const day = 'start_date=2020-01-01&end_date=2100-01-01';
  for (const query of [
    '',
    'event_type=paid',
    day,
    `event_type=paid&${day}`,
    'search=ada',
    'search=paid',
    `search=${phone.slice(2)}`,
    'unique_by_phone=true',
    `unique_by_phone=true&event_type=ordered&${day}`,
    `unique_by_phone=true&search=ord&${day}`,
  ]) {
    const { body } = await client.get(`/events?limit=1&${query}`);
    if (body.next_cursor) await client.get(`/events?limit=1&${query}&cursor=${body.next_cursor}`);
  }
  await client.get(`/contacts/${contact.id}/events`);
  await env.DB.prepare('UPDATE automation_trigger SET next_fire_at = ? WHERE id = ?')
    .bind(Date.now() - 1000, schedule.id)
    .run();
  await tickAt(Date.now());
  await deliver('fanout', [
    { v: 1, kind: 'schedule_fire', organization_id: organizationId, trigger_id: schedule.id, scheduled_at: 1 },
    { v: 1, kind: 'contact_changes', organization_id: organizationId },
  ]);
  await deliver('events', [
    { v: 1, kind: 'event', organization_id: organizationId, id: 1 },
    { v: 1, kind: 'delivery', organization_id: organizationId, id: 1 },
  ]);
  await deliver('events-dead', [
    { v: 1, kind: 'event', organization_id: organizationId, id: 1 },
    { v: 1, kind: 'delivery', organization_id: organizationId, id: 1 },
  ]);
  await deliver('fanout-dead', [
    { v: 1, kind: 'contact_changes', organization_id: organizationId },
    { v: 1, kind: 'cleanup', organization_id: organizationId, id: 1e9 },
    { v: 1, kind: 'schedule_fire', organization_id: organizationId, trigger_id: schedule.id, scheduled_at: 1 },
  ]);
  await leaveOld(organizationId);
  const sleeping = await createActiveWorkflow(client, { definition: nap });
  const { id: asleep } = (await client.post(`/automation-workflows/${sleeping}/execute`, { contact_id: contact.id })).body;
  const { id: stopped } = (await client.post(`/automation-workflows/${sleeping}/execute`, {})).body;
  await client.post(`/automation-workflows/runs/${stopped}/stop`);
  await client.delete(`/contacts/${contact.id}`);
  await waitForRunState(client, asleep, 'cancelled');
  await client.delete(`/automation-workflows/triggers/${manual.id}`);
  await client.delete(`/automation-workflows/${sleeping}`);
  await env.DB.prepare('UPDATE archive SET created_at = 1 WHERE organization_id = ?').bind(organizationId).run();
  // The run that has just ended is erased once the work after its end is done.
  await vi.waitFor(
    async () => {
      await tickAt(Date.now() + 60_000);
      expect((await env.DB.prepare('SELECT id FROM cleanup WHERE organization_id = ?').bind(organizationId).all()).results).toEqual([]);
    },
    { timeout: 10_000, interval: 100 },
  );
}

test('no statement of these areas reads a whole table or index', async () => {
  const { client, id } = await newOrganization();
  const recording = recordEverything();
  await doEverything(client, id);
  vi.restoreAllMocks();
  const plans = await explainQueryPlans(recording);
  const texts = plans.map(({ sql }) => sql.replaceAll(/\s+/g, ' ')).join('\n');
  for (const part of [
    'INTO automation_run',
    'schedule_fire',
    'webhook_delivery',
    'contact_change',
    'FROM cleanup',
    'automation_version',
    'wake_at <',
    'events_counted',
    'old WHERE created_at',
    'DELETE FROM automation_run',
    'DELETE FROM event',
  ])
    expect(texts.includes(part), part).toBe(true);
  const ends = plans.flatMap(({ sql, plan }) => plan.filter(isFromEndToEnd).map((step) => `${step} <- ${sql}`));
  expect(ends).toEqual([]);
  const wide = plans
    .filter(({ sql }) => /^(UPDATE|DELETE)/i.test(sql) && !sql.endsWith('LIMIT 1)'))
    .flatMap(({ sql, plan }) => plan.filter(isOfOrganization).map((step) => `${step} <- ${sql}`));
  expect(wide).toEqual([]);
});

/**
 * Sources that a statement may scan: its own values, also those that a recursion of a bounded number of steps has found (`o`), the one actor of
 * the transaction, tables that contain only unfinished work, and one row of a full-text index by its number (`0:=`).
 */
const mayBeWhole =
  /^SCAN (CONSTANT ROW|\(subquery-\d+\)|(j|e|found|json_each|contact_search|p|c) VIRTUAL TABLE.*|\w+ VIRTUAL TABLE INDEX 0:=|found|phones|actor|begin|o|p|newest|half|lane|page|seen|top|old|gone|known|step|earlier|contact_change|cleanup|automation_workflow USING INDEX automation_workflow_held|organization USING INDEX organization_statistics_rebuild)$/;
const isFromEndToEnd = (step: string) => step.startsWith('SCAN') && !mayBeWhole.test(step);
/** A change that is found along an organization's index reads all that the organization has. */
const isOfOrganization = (step: string) =>
  /^SEARCH (event|automation_run|webhook_delivery|contact|contact_change) USING .*\(organization_id=\?\)/.test(step);

const size = 20_000;

/** Ended runs without their objects, of one workflow, an hour apart, the last of them a day ago. */
const fill = (organizationId: number, workflowId: number, count: number) =>
  env.DB.batch([
    env.DB.prepare(
      `INSERT INTO automation_run (organization_id, workflow_id, workflow_version, state, dedup_key, source, initial_context, revision, completed_at, created_at)
       WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ?3)
       SELECT ?1, ?2, 1, 'completed', 'filled:' || hex(randomblob(8)), 'run', '{}', 1, 1, ?4 - 86400000 - 3600000 * (?3 - value) FROM n`,
    ).bind(organizationId, workflowId, count, Date.now()),
  ]);

/** Makes each request about runs and triggers once. Returns how many rows each read. */
async function readsOfEverything({ key, client: plain }: { key: string; client: Client }, filled: number): Promise<Record<string, number>> {
  const { client, recording } = recordedClient(key);
  const reads: Record<string, number> = {};
  const measure = async (name: string, call: () => ReturnType<typeof client.get>) => {
    const before = rowsRead(recording);
    const answer = await call();
    expect([name, answer.status]).toEqual([name, expect.toSatisfy((status: number) => status < 300)]);
    reads[name] = rowsRead(recording) - before;
    return answer.body;
  };
  const contact = (await plain.post('/contacts', { phone: newPhone() })).body.id;
  const workflow = await createActiveWorkflow(plain, { trigger: { type: 'manual', config: {} }, definition: nap });
  const at = `/automation-workflows/${workflow}`;
  const trigger = (await plain.get(`${at}/triggers`)).body.triggers[0].id;
  const hook = (await plain.post(`${at}/triggers`, { type: 'webhook', config: { delivery_id: '$.id' } })).body;
  await client.get('/automation-workflows');
  const run = (await measure('execute', () => client.post(`${at}/execute`, { contact_id: contact }))).id;
  await measure('fire', () => client.post(`${at}/triggers/${trigger}/fire`, { contact_ids: [contact] }));
  await measure('webhook', () => client.post(`/automation-workflows/webhook/${hook.uuid}`, { id: 1 }));
  await measure('repeated webhook', () => client.post(`/automation-workflows/webhook/${hook.uuid}`, { id: 1 }));
  await measure('dry run', () => client.post(`${at}/test`, {}));
  await waitForRunState(plain, run, 'waiting');
  await measure('read a run', () => client.get(`/automation-workflows/runs/${run}`));
  const lists = {
    'all runs': '',
    'a page far down': '?limit=5&offset=20',
    'waiting runs': '?state=waiting',
    'failed runs': '?state=failed',
    'runs of a contact': `?contact_id=${contact}`,
    'runs of a trigger': `?trigger_id=${trigger}`,
    'runs of the last hour': `?created_after=${new Date(Date.now() - 3_600_000).toISOString()}`,
    'runs of an hour of yesterday': `?created_after=${new Date(Date.now() - 90_000_000).toISOString()}&created_before=${new Date(Date.now() - 88_000_000).toISOString()}`,
    'runs of long ago': '?created_before=2020-01-01T00:00:00Z',
    'test runs': '?is_test=true',
  };
  for (const [name, query] of Object.entries(lists)) await measure(name, () => client.get(`/automation-workflows/runs${query}`));
  await measure('runs of the large workflow', () => client.get(`/automation-workflows/${filled}/runs`));
  await measure('recent runs of the large workflow', () =>
    client.get(`/automation-workflows/${filled}/runs${lists['runs of the last hour']}`),
  );
  await measure('workflows', () => client.get('/automation-workflows'));
  await measure('a workflow', () => client.get(`/automation-workflows/${filled}`));
  await measure('stop', () => client.post(`/automation-workflows/runs/${run}/stop`));
  await measure('archive', () => client.delete(at));
  return reads;
}

test('reading and starting runs reads no more rows among 20,000 than among 100, in the organization and beside it', async () => {
  const small = await newOrganization();
  const large = await newOrganization();
  const workflows = [await createActiveWorkflow(small.client, {}), await createActiveWorkflow(large.client, {})] as const;
  await fill(small.id, workflows[0], 100);
  await fill(large.id, workflows[1], 100);
  const before = await readsOfEverything(small, workflows[0]);
  await fill(large.id, workflows[1], size);
  const beside = await readsOfEverything(small, workflows[0]);
  const within = await readsOfEverything(large, workflows[1]);
  const shown = Object.fromEntries(Object.keys(before).map((name) => [name, `${before[name]} / ${beside[name]} / ${within[name]}`]));
  for (const name of Object.keys(before)) {
    expect(beside[name], `${name} beside: ${shown[name]}`).toBeLessThanOrEqual(before[name]! * 1.5 + 50);
    expect(within[name], `${name} within: ${shown[name]}`).toBeLessThanOrEqual(before[name]! * 1.5 + 50);
  }
  await env.DB.prepare("DELETE FROM automation_run WHERE dedup_key LIKE 'filled:%'").run();
}, 30_000);
