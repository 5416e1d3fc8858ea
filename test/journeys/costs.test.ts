import { env, exports } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { deliver, tickAt } from '../support/background.ts';
import { activeWorkflow, chain, endedRuns, runIn } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { plansOf, recordedClient, rowsRead, type Recording } from '../support/recorded-database.ts';

afterEach(() => vi.restoreAllMocks());

/** Notes every statement that anything in this isolate prepares: requests, consumers, the tick, and the runs' objects. */
function recordStatements(): Recording {
  const recording: Recording = { statements: [], calls: 0 };
  const prepare = env.DB.prepare.bind(env.DB);
  vi.spyOn(env.DB, 'prepare').mockImplementation((sql) => {
    const statement = prepare(sql);
    const bind = statement.bind.bind(statement);
    statement.bind = (...parameters) => {
      recording.statements.push({ sql, parameters, rowsRead: 0, rowsWritten: 0 });
      return bind(...parameters);
    };
    return statement;
  });
  return recording;
}

const nap = chain({ id: 'nap', type: 'wait', data: { duration: 'P7D' } });
const acting = chain(
  { id: 'contact', type: 'update_contact', data: { set: { title: '{{ event.type }}' }, add_tags: ['seen'] } },
  { id: 'emit', type: 'emit_event', data: { event_type: 'emitted' } },
  { id: 'list', type: 'list_membership', data: { add: ['Listed'], remove: ['Other'] } },
);

/** Everything that these rooms do, once. */
async function doEverything(client: Client, organizationId: number): Promise<void> {
  const phone = newPhone();
  const contact = (await client.post('/contacts', { phone, first_name: 'Ada', email: 'ada@example.org' })).body;
  const list = (await client.post('/contacts/lists', { name: 'Members' })).body;
  await client.post(`/contacts/lists/${list.id}/contacts`, { contact_ids: [contact.id] });
  const workflow = await activeWorkflow(client, {
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
  await runIn(client, run, 'completed');
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
  const sleeping = await activeWorkflow(client, { definition: nap });
  const { id: asleep } = (await client.post(`/automation-workflows/${sleeping}/execute`, { contact_id: contact.id })).body;
  const { id: stopped } = (await client.post(`/automation-workflows/${sleeping}/execute`, {})).body;
  await client.post(`/automation-workflows/runs/${stopped}/stop`);
  await client.delete(`/contacts/${contact.id}`);
  await runIn(client, asleep, 'cancelled');
  await client.delete(`/automation-workflows/triggers/${manual.id}`);
  await client.delete(`/automation-workflows/${sleeping}`);
  await vi.waitFor(async () =>
    expect((await env.DB.prepare('SELECT id FROM cleanup WHERE organization_id = ?').bind(organizationId).all()).results).toEqual([]),
  );
}

test('no statement of these rooms reads a table or an index from end to end', async () => {
  const { client, id } = await newOrganization();
  const recording = recordStatements();
  await doEverything(client, id);
  vi.restoreAllMocks();
  const plans = await plansOf(recording);
  const texts = plans.map(({ sql }) => sql).join('\n');
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
  ])
    expect(texts).toContain(part);
  const scans = plans.flatMap(({ sql, plan }) =>
    plan
      .filter((step) =>
        /^SEARCH (?!automation_workflow|json|organization|trigger_topic)\S+ USING .*\((organization_id|workflow_id|contact_id|trigger_id|state)=\?\)/.test(
          step,
        ),
      )
      .map((step) => `${step}   <- ${sql.replaceAll(/\s+/g, ' ')}`),
  );
  console.log(plans.length, [...new Set(scans)].join('\n'));
});
