import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { findStaleFires } from '../../src/automation-workflows/triggers/schedules/store.ts';
import { fireSchedules } from '../../src/automation-workflows/triggers/schedules/fire-schedules.ts';
import { findOrganizationsWithChanges } from '../../src/automation-workflows/triggers/contact-changes/store.ts';
import { findOverdueRuns } from '../../src/automation-workflows/runs/store.ts';
import { findUnhandledAfter } from '../../src/cron/cursor-store.ts';
import { shards } from '../../src/database/shards.ts';
import { Logger } from '../../src/library/platform/log.ts';
import { deliver, dropQueueMessages } from '../support/background.ts';
import { createActiveWorkflow, chain } from '../support/journeys.ts';
import { newOrganization } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

const database = shards(env)[0]!;
const onOrder = { type: 'contact_event', config: { event_type: 'ordered' } };

/** An organization with much work, and an organization with little work that came later. */
const neighbours = async () => ({ busy: await newOrganization(), quiet: await newOrganization() });

test('lost events are sent again with a turn for each organization', async () => {
  const { busy, quiet } = await neighbours();
  const lost = dropQueueMessages();
  const before = (await env.DB.prepare('SELECT coalesce(max(id), 0) AS id FROM event').first<{ id: number }>())!.id;
  for (let sent = 0; sent < 20; sent++) await busy.client.post('/events', { event_type: 'ordered' });
  await quiet.client.post('/events', { event_type: 'ordered' });
  lost.restore();
  const taken = await findUnhandledAfter(database, 'event', before, Date.now() + 1, 2);
  expect(taken.map(({ organization_id }) => organization_id)).toEqual([busy.id, quiet.id]);
  await env.DB.prepare('UPDATE event SET handled_at = 1 WHERE organization_id IN (?, ?)').bind(busy.id, quiet.id).run();
});

test('overdue firings and runs are handled with a turn for each organization', async () => {
  const { busy, quiet } = await neighbours();
  for (const [organization, count] of [
    [busy.id, 20],
    [quiet.id, 1],
  ] as const) {
    for (let index = 0; index < count; index++) {
      const trigger = organization * 1000 + index;
      await env.DB.batch([
        env.DB.prepare('INSERT INTO schedule_fire (trigger_id, scheduled_at, organization_id, created_at) VALUES (?, 1, ?, ?)').bind(
          trigger,
          organization,
          organization,
        ),
        env.DB.prepare(
          `INSERT INTO automation_run (organization_id, workflow_id, workflow_version, state, dedup_key, source, wake_at, created_at)
           VALUES (?, 0, 1, 'waiting', ?, 'run', ?, 0)`,
        ).bind(organization, `turn:${trigger}`, organization - 1_000_000),
      ]);
    }
  }
  // Other tests leave rows as well, each of which has its turn.
  const firstOfOwn = (rows: { organization_id: number }[]) =>
    rows
      .map(({ organization_id }) => organization_id)
      .filter((id) => id === busy.id || id === quiet.id)
      .slice(0, 2);
  expect(firstOfOwn(await findStaleFires(database, 1_000_000, 200))).toEqual([busy.id, quiet.id]);
  expect(firstOfOwn(await findOverdueRuns(database, { before: 0, now: 0 }, 200))).toEqual([busy.id, quiet.id]);
  await env.DB.batch([
    env.DB.prepare('DELETE FROM schedule_fire WHERE organization_id IN (?, ?)').bind(busy.id, quiet.id),
    env.DB.prepare('DELETE FROM automation_run WHERE organization_id IN (?, ?)').bind(busy.id, quiet.id),
  ]);
});

test('many changes of contacts in one organization do not hide those of another', async () => {
  const { busy, quiet } = await neighbours();
  await env.DB.batch([
    env.DB.prepare(
      `INSERT INTO contact_change (organization_id, contact_id, created_at)
       WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000) SELECT ?, i, 1 FROM n`,
    ).bind(busy.id),
    env.DB.prepare('INSERT INTO contact_change (organization_id, contact_id, created_at) VALUES (?, 1, 1)').bind(quiet.id),
  ]);
  expect(await findOrganizationsWithChanges(database, 2, 500)).toEqual(expect.arrayContaining([busy.id, quiet.id]));
  await env.DB.prepare('DELETE FROM contact_change WHERE organization_id IN (?, ?)').bind(busy.id, quiet.id).run();
});

test('1,600 schedules that are due in one minute all fire in it, and those of others are announced in turn', async () => {
  const { busy, quiet } = await neighbours();
  const minute = Math.floor(Date.now() / 60_000) * 60_000 + 60_000;
  const trigger = { type: 'schedule', config: { cron: '* * * * *' } };
  for (const { client } of [busy, quiet]) await createActiveWorkflow(client, { trigger });
  await env.DB.prepare(
    `INSERT INTO automation_trigger (uuid, organization_id, workflow_id, type, name, config, state, next_fire_at, created_at, updated_at)
     WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1599)
     SELECT 'turn-' || t.id || '-' || i, t.organization_id, t.workflow_id, t.type, t.name, t.config, 'active', ?2 - 1, 1, 1
     FROM automation_trigger t, n WHERE t.organization_id = ?1`,
  )
    .bind(busy.id, minute)
    .run();
  await env.DB.prepare('UPDATE automation_trigger SET next_fire_at = ? WHERE organization_id IN (?, ?)')
    .bind(minute, busy.id, quiet.id)
    .run();
  const announced: number[] = [];
  vi.spyOn(env.FANOUT_QUEUE, 'sendBatch').mockImplementation((async (messages: { body: { organization_id: number } }[]) => {
    announced.push(...messages.map(({ body }) => body.organization_id));
  }) as never);
  const deferred: Promise<unknown>[] = [];
  await fireSchedules(env, database, minute, { log: new Logger('error'), defer: (work) => void deferred.push(work) });
  await Promise.all(deferred);
  const firesOf = async (id: number) =>
    (await env.DB.prepare('SELECT count(*) AS n FROM schedule_fire WHERE organization_id = ? AND scheduled_at = ?')
      .bind(id, minute)
      .first<{ n: number }>())!.n;
  expect([await firesOf(busy.id), await firesOf(quiet.id)]).toEqual([1600, 1]);
  expect(announced.filter((id) => id === busy.id)).toHaveLength(1600);
  const mine = announced.filter((id) => id === busy.id || id === quiet.id);
  // The quiet organization has its turn at the beginning of a page.
  expect(mine.indexOf(quiet.id) % 500).toBeLessThanOrEqual(1);
  await env.DB.batch([
    env.DB.prepare("UPDATE automation_trigger SET state = 'archived', next_fire_at = NULL WHERE organization_id IN (?, ?)").bind(
      busy.id,
      quiet.id,
    ),
    env.DB.prepare('DELETE FROM schedule_fire WHERE organization_id IN (?, ?)').bind(busy.id, quiet.id),
  ]);
}, 60_000);

test('events whose runs start slowly delay no other organization: those beyond a page go to the bulk queue', async () => {
  const { busy, quiet } = await neighbours();
  for (const { client } of [busy, quiet]) await createActiveWorkflow(client, { trigger: onOrder, definition: chain() });
  const lost = dropQueueMessages();
  const accept = async ({ client, id }: typeof busy) => ({
    v: 1,
    kind: 'event',
    organization_id: id,
    id: (await client.post('/events', { event_type: 'ordered' })).body.event_id,
  });
  const messages: Awaited<ReturnType<typeof accept>>[] = [];
  for (let sent = 0; sent < 60; sent++) messages.push(await accept(busy));
  messages.push(await accept(quiet));
  lost.restore();
  const given: unknown[] = [];
  vi.spyOn(env.BULK_EVENTS_QUEUE, 'sendBatch').mockImplementation((async (batch: unknown[]) => void given.push(...batch)) as never);
  const real = env.AUTOMATION_RUN.getByName.bind(env.AUTOMATION_RUN);
  const started = Promise.withResolvers<string>();
  vi.spyOn(env.AUTOMATION_RUN, 'getByName').mockImplementation((name) => {
    if (!String(name).startsWith(`${busy.id}/`)) return real(name as string);
    return { start: () => started.promise } as never;
  });
  const delivered = deliver('events', messages);
  await vi.waitFor(async () => {
    const row = await env.DB.prepare('SELECT handled_at FROM event WHERE id = ?')
      .bind(messages.at(-1)!.id)
      .first<{ handled_at: number | null }>();
    expect(row!.handled_at).not.toBeNull();
  });
  started.resolve('started');
  const result = await delivered;
  expect(given).toHaveLength(50);
  expect(result.retryMessages).toEqual([]);
  expect(result.explicitAcks).toHaveLength(61);
});

test(
  'events and deliveries that are costly to evaluate go to a queue apart after a turn, and none is lost',
  { tags: 'soak', timeout: 60_000 },
  async () => {
    const { busy, quiet } = await neighbours();
    const value = '{% for a in (1..1000) %}{% for b in (1..1000) %}x{% endfor %}{% endfor %}';
    const filter = { field: 'event.type', operator: 'eq', value };
    await createActiveWorkflow(busy.client, { trigger: { type: 'contact_event', config: { event_type: 'ordered', filter } } });
    const hook = { type: 'webhook', config: { auth: { type: 'none' }, filter } };
    const hooked = await createActiveWorkflow(busy.client, { trigger: hook });
    await createActiveWorkflow(quiet.client, { trigger: onOrder, definition: chain() });
    const lost = dropQueueMessages();
    const ids: number[] = [];
    for (let sent = 0; sent < 30; sent++) ids.push((await busy.client.post('/events', { event_type: 'ordered' })).body.event_id);
    const { triggers } = (await busy.client.get(`/automation-workflows/${hooked}/triggers`)).body;
    for (let sent = 0; sent < 30; sent++)
      await busy.client.post(new URL(triggers[0].webhook_url).pathname.replace('/api/v1', ''), { sent });
    const mine = (await quiet.client.post('/events', { event_type: 'ordered' })).body.event_id;
    lost.restore();
    const deliveries = await env.DB.prepare('SELECT id FROM webhook_delivery WHERE organization_id = ?')
      .bind(busy.id)
      .all<{ id: number }>();
    expect(deliveries.results).toHaveLength(30);
    const given: unknown[] = [];
    for (const queue of [env.EVENTS_QUEUE, env.BULK_EVENTS_QUEUE])
      vi.spyOn(queue, 'sendBatch').mockImplementation((async (batch: { body: unknown }[]) => {
        given.push(...batch.map(({ body }) => ({ queue: queue === env.EVENTS_QUEUE ? 'events' : 'events-bulk', body })));
      }) as never);
    const handled = async () => {
      const count = async (table: string) =>
        (await env.DB.prepare(`SELECT count(*) AS n FROM ${table} WHERE organization_id IN (?, ?) AND handled_at IS NOT NULL`)
          .bind(busy.id, quiet.id)
          .first<{ n: number }>())!.n;
      return { events: await count('event'), deliveries: await count('webhook_delivery') };
    };
    const messages = [
      ...ids.map((id) => ({ v: 1, kind: 'event', organization_id: busy.id, id })),
      ...deliveries.results.map(({ id }) => ({ v: 1, kind: 'delivery', organization_id: busy.id, id })),
    ];
    const result = await deliver('events', [...messages, { v: 1, kind: 'event', organization_id: quiet.id, id: mine }]);
    expect(result.retryMessages).toEqual([]);
    expect(result.explicitAcks).toHaveLength(61);
    const first = await handled();
    for (const count of [first.events, first.deliveries]) {
      expect(count).toBeGreaterThan(0);
      expect(count).toBeLessThan(6);
    }
    expect(given).toHaveLength(61 - first.events - first.deliveries);
    // The next message of this organization goes to the bulk queue unread.
    const [next] = given as { body: unknown }[];
    await deliver('events', [next!.body]);
    expect(await handled()).toEqual(first);
    // A retried message stays in its queue, since a new message would count its tries anew.
    const moved = given.length;
    await deliver('events', [next!.body], env, 2);
    expect(await handled()).toEqual({ ...first, events: first.events + 1 });
    expect(given).toHaveLength(moved);
    for (let turns = 0; given.length > 0 && turns < 50; turns++) {
      const batch = given.splice(0, 10) as { queue: string; body: unknown }[];
      expect(new Set(batch.map(({ queue }) => queue))).toEqual(new Set(['events-bulk']));
      await deliver(
        'events-bulk',
        batch.map(({ body }) => body),
      );
    }
    expect(await handled()).toEqual({ events: 31, deliveries: 30 });
  },
);
