import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { LeftWait, Progress } from '../../src/automation-workflows/runs/engine/progress.ts';
import { deleteWaiters } from '../../src/automation-workflows/runs/waits/store.ts';
import { markDeliveriesHandled } from '../../src/automation-workflows/triggers/webhooks/store.ts';
import { Database } from '../../src/database/client.ts';
import { runInvocation } from '../../src/database/query-budget.ts';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { tickAt } from '../support/background.ts';
import { createActiveWorkflow, chain, waitForRunState } from '../support/journeys.ts';
import { newOrganization } from '../support/organization.ts';
import { recordedDatabase, type Recording } from '../support/recorded-database.ts';
import { projectProgress } from '../../src/automation-workflows/runs/engine/run-row.ts';

afterEach(() => vi.restoreAllMocks());

const guarded = () => new Database(env.DB, true);
const recorded = () => {
  const recording: Recording = { statements: [], calls: 0 };
  return { recording, database: new Database(recordedDatabase(env.DB, recording), true) };
};

describe('what D1 refuses in production is refused here', () => {
  test('more than 100 parameters of a statement, written by hand or built', async () => {
    const many = Array.from({ length: 101 }, (_, index) => index);
    const database = guarded();
    expect(() => database.prepare(`SELECT ${many.map(() => '?').join(', ')}`, ...many)).toThrow(/101 parameters/);
    const built = () => database.orm.query.contact.findMany({ where: (contact, { inArray }) => inArray(contact.id, many) });
    await expect(database.run(built)).rejects.toThrow(/parameters/);
  });

  test('a statement of more than 100,000 bytes, counted as they travel', () => {
    expect(() => guarded().prepare(`SELECT '${'ä'.repeat(60_000)}'`)).toThrow(/a statement of/);
    expect(() => guarded().prepare(`SELECT '${'a'.repeat(60_000)}'`)).not.toThrow();
  });

  test('a value of more than 2,000,000 bytes', () => {
    expect(() => guarded().prepare('SELECT ?', 'ä'.repeat(1_000_001))).toThrow(/a value of/);
  });

  test('more than 1,000 queries of one invocation, alone and in batches; those of others are not counted in', async () => {
    const database = guarded();
    const ask = async (times: number) => {
      for (let left = times; left > 0; left -= 50) await database.batch(Array.from({ length: 50 }, () => database.prepare('SELECT 1')));
    };
    await runInvocation(() => ask(1000));
    await expect(runInvocation(() => ask(1050))).rejects.toThrow(/1050 queries in one invocation/);
    const oneMore = async () => {
      await ask(1000);
      await database.all(database.prepare('SELECT 1'));
    };
    await expect(runInvocation(oneMore)).rejects.toThrow(/1001 queries/);
    await ask(2000);
  });
});

describe('few statements are enough for', () => {
  test('thousands of stale waiters, which are deleted while all others stay', async () => {
    const { id } = await newOrganization();
    const row = (run_id: number, wait_id: number) => ({ event_type: 'paid', field: '', value: String(run_id % 7), run_id, wait_id });
    const stale = Array.from({ length: 1500 }, (_, index) => row(index, 1));
    const kept = [row(3, 2), { ...row(3, 1), field: 'order_id' }];
    const all = [...stale, ...kept];
    await env.DB.prepare(
      `INSERT INTO run_waiter SELECT ?, j.value ->> 'event_type', j.value ->> 'field', j.value ->> 'value', j.value ->> 'run_id', j.value ->> 'wait_id'
       FROM json_each(?) j`,
    )
      .bind(id, JSON.stringify(all))
      .run();
    const { recording, database } = recorded();
    await deleteWaiters(database, id, stale);
    expect(recording.statements).toHaveLength(1);
    expect(recording.statements[0]!.rowsRead).toBeLessThan(10_000);
    const { results } = await env.DB.prepare('SELECT event_type, field, value, run_id, wait_id FROM run_waiter WHERE organization_id = ?')
      .bind(id)
      .all();
    expect(results).toHaveLength(2);
    expect(results).toEqual(expect.arrayContaining(kept));
    await deleteWaiters(database, id, kept);
  });

  test('hundreds of waits that a run left since its row was last written', async () => {
    const { client, id } = await newOrganization();
    const workflow = await createActiveWorkflow(client, { definition: chain({ id: 'nap', type: 'wait', data: { duration: 'P1D' } }) });
    const run = (await client.post(`/automation-workflows/${workflow}/execute`, { context: {} })).body.id;
    await waitForRunState(client, run, 'waiting');
    const leftWaits: LeftWait[] = Array.from({ length: 400 }, (_, waitId) => ({
      waitId,
      events: { types: ['paid', 'cancelled'], field: null, value: '7' },
    }));
    const progress: Progress = {
      state: 'waiting',
      nodeId: 'nap',
      visits: { nap: 401 },
      attempt: 1,
      stepCount: 400,
      wait: null,
      retryAt: null,
      assigned: {},
      outputs: {},
      outcome: null,
      error: null,
      startedAt: Date.now(),
      endedAt: null,
      leftWaits,
    };
    const context = (await backgroundContext(env, id, () => {}))!;
    await expect(projectProgress(context, run, progress, { revision: 1000, wakeAt: Date.now() + 60_000 })).resolves.toMatchObject({
      isAccepted: true,
    });
  });

  test('deliveries that end with a note each', async () => {
    const { id } = await newOrganization();
    const { results } = await env.DB.prepare(
      `INSERT INTO webhook_delivery (organization_id, trigger_id, payload, created_at)
       SELECT ?, 0, '{}', ? FROM json_each(?) RETURNING id`,
    )
      .bind(id, Date.now(), JSON.stringify(Array.from({ length: 300 }, () => 0)))
      .all<{ id: number }>();
    const { recording, database } = recorded();
    const handled = results.map((row, index) => ({ id: row.id, note: index % 2 ? `why not: ${index}` : null }));
    await markDeliveriesHandled(database, id, handled, Date.now());
    expect(recording.statements).toHaveLength(1);
    const marked = await env.DB.prepare(
      'SELECT id, note FROM webhook_delivery WHERE organization_id = ? AND handled_at IS NOT NULL ORDER BY id',
    )
      .bind(id)
      .all<{ id: number; note: string | null }>();
    expect(marked.results).toEqual(handled.toSorted((one, other) => one.id - other.id));
  });

  test('1,200 schedules that are due in one minute fire in one tick, each once', async () => {
    const { client, id } = await newOrganization();
    const workflow = await createActiveWorkflow(client, {});
    const { body } = await client.post(`/automation-workflows/${workflow}/triggers`, {
      type: 'schedule',
      name: 'Hourly',
      config: { cron: '0 * * * *', timezone: 'UTC' },
    });
    const due = Math.floor(Date.now() / 60_000) * 60_000;
    await env.DB.prepare(
      `INSERT INTO automation_trigger (uuid, organization_id, workflow_id, type, name, config, state, is_primary, next_fire_at, created_at, updated_at)
       SELECT 'many-' || t.organization_id || '-' || j.value, t.organization_id, t.workflow_id, t.type, t.name, t.config, t.state, 0, ?, t.created_at, t.updated_at
       FROM json_each(?) j CROSS JOIN automation_trigger t WHERE t.id = ?`,
    )
      .bind(due, JSON.stringify(Array.from({ length: 1200 }, (_, index) => index)), body.id)
      .run();
    // Nothing handles the firings here, so that this measures only the tick's queries to D1.
    vi.spyOn(env.FANOUT_QUEUE, 'sendBatch').mockResolvedValue(undefined as never);
    await tickAt(due + 1000);
    const fires = await env.DB.prepare(
      'SELECT count(*) AS total, count(DISTINCT trigger_id) AS triggers FROM schedule_fire WHERE organization_id = ?',
    )
      .bind(id)
      .first();
    expect(fires).toEqual({ total: 1200, triggers: 1200 });
    await tickAt(due + 1000);
    expect(await env.DB.prepare('SELECT count(*) AS total FROM schedule_fire WHERE organization_id = ?').bind(id).first()).toEqual({
      total: 1200,
    });
    await env.DB.prepare('UPDATE schedule_fire SET handled_at = ? WHERE organization_id = ?').bind(due, id).run();
    await env.DB.prepare(`UPDATE automation_trigger SET state = 'archived', next_fire_at = NULL WHERE organization_id = ?`).bind(id).run();
  });
});
