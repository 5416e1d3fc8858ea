// @module-tag soak
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { shards } from '../../src/database/shards.ts';
import { startDueSyncs } from '../../src/integrations/sync/start-due-syncs.ts';
import { dyingAt, type Moment } from '../knowledge-base/interrupted-bindings.ts';
import { labs, leadsMapping, syncService, everythingInbound, type SyncService } from './sync-service.ts';
import { realFetch } from '../support/real-fetch.ts';

afterEach(() => vi.restoreAllMocks());

const broker = (env as unknown as { COMPOSIO_BASE_URL: string }).COMPOSIO_BASE_URL;

/** Does `work` in an isolate that dies at its n-th call to database, queue or broker. Answers whether it came so far. */
async function dying(service: SyncService, n: number, moment: Moment, work: (using: Env) => Promise<unknown>): Promise<boolean> {
  const { bindings, watch, counted } = dyingAt(service.bindings, n, moment);
  const fetching = vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input as RequestInfo, init as RequestInit);
    return request.url.startsWith(broker) ? counted(() => realFetch(request)) : realFetch(request);
  });
  await work(bindings).catch(() => undefined);
  fetching.mockRestore();
  return watch.isDead;
}

/** What is left is lost or lapses, and the minute tick comes. */
async function comeBack(service: SyncService): Promise<void> {
  service.messages.length = 0;
  await env.DB.prepare(`UPDATE integration_sync SET lease_until = 1 WHERE organization_id = ? AND status = 'running'`)
    .bind(service.id)
    .run();
  await startDueSyncs(service.bindings, shards(service.bindings)[0]!, Date.now(), 2);
  const own = service.messages.filter(({ body }) => body.organization_id === service.id);
  service.messages.splice(0, service.messages.length, ...own);
  await service.work();
}

const moments: Moment[] = ['before', 'after'];

describe.each(moments)('a process that dies %s a call', (moment) => {
  test('goes on with books without loss or duplicate, whichever call it is', { timeout: 120_000 }, async () => {
    for (let n = 1; ; n++) {
      const service = await syncService();
      const id = await service.connectBooks();
      const isDead = await dying(service, n, moment, service.step);
      await comeBack(service);
      expect(await service.lastSync(id), `call ${n}`).toMatchObject({ status: 'completed', rows_seen: 450, created: 450, failed: 0 });
      expect([(await service.contacts()).length, (await service.links()).length]).toEqual([450, 450]);
      if (!isDead) {
        expect(n).toBeGreaterThan(12);
        return;
      }
    }
  });

  test('goes on with a sheet that has lost, gained and changed rows', { timeout: 120_000 }, async () => {
    for (let n = 1; ; n++) {
      const service = await syncService();
      const id = await service.connectSheet('Leads', leadsMapping);
      await service.work();
      await service.deleteRows(4, 30);
      await service.setCells('A2', [['Renamed']]);
      await service.setCells('A92', [
        ['New one', '+19175550001'],
        ['New two', '+19175550002'],
      ]);
      await service.client.post(`/integration/${id}/resync`);
      const isDead = await dying(service, n, moment, service.step);
      await comeBack(service);
      const counts = { rows_seen: 92, created: 2, updated: 1, unchanged: 89, failed: 0 };
      expect(await service.lastSync(id), `call ${n}`).toMatchObject({ status: 'completed', ...counts });
      expect([(await service.contacts()).length, (await service.members('Leads')).length, await service.listCount('Leads')]).toEqual([
        122, 92, 92,
      ]);
      if (!isDead) {
        expect(n).toBeGreaterThan(12);
        return;
      }
    }
  });

  test('pushes once, and a push again finds what was made', { timeout: 60_000 }, async () => {
    for (let n = 1; ; n++) {
      const service = await syncService();
      const id = await service.connectBooks({ ...everythingInbound, phone: { external_field: 'phone', direction: 'bidirectional' } }, labs);
      await service.work();
      const { body } = await service.client.post('/contacts', { phone: '+16465550001', first_name: 'Pushed' });
      const push = `/integration/${id}/contacts/${body.id}/push`;
      const isDead = await dying(service, n, moment, (using) => service.clientWith(using).post(push));
      const second = await service.client.post(push);
      expect(second, `call ${n}`).toMatchObject({ status: 200, body: { status: 'pushed', pushed_fields: ['phone'] } });
      const { contacts } = await service.atBooks('GET', '/contacts', undefined, labs);
      expect(contacts.filter((contact: any) => contact.phone === '+16465550001')).toHaveLength(1);
      expect(await service.resync(id)).toMatchObject({ created: 0, updated: 0, unchanged: 6 });
      if (!isDead) {
        expect(n).toBeGreaterThan(5);
        return;
      }
    }
  });
});

test('10,000 records come in without loss or duplicate, killed at many pages', { timeout: 120_000 }, async () => {
  const service = await syncService();
  await service.addToBooks(9_550);
  const id = await service.connectBooks();
  for (const n of [9, 22, 31, 40, 17, 26, 5]) {
    expect(await dying(service, n, n % 2 ? 'before' : 'after', service.step)).toBe(true);
    service.messages.length = 0;
    await env.DB.prepare(`UPDATE integration_sync SET lease_until = 1 WHERE organization_id = ? AND status = 'running'`)
      .bind(service.id)
      .run();
    service.messages.push({
      queue: 'syncs',
      body: { v: 1, kind: 'sync', organization_id: service.id, id: (await service.lastSync(id)).sync_id },
      tries: 0,
      delaySeconds: 0,
    });
  }
  expect(await service.lastSync(id)).toMatchObject({ status: 'running', failed: 0 });
  await service.work();
  expect(await service.lastSync(id)).toMatchObject({ status: 'completed', rows_seen: 10_000, created: 10_000, updated: 0, failed: 0 });
  const contacts = await service.contacts();
  expect(new Set(contacts.map(({ phone }) => phone)).size).toBe(10_000);
  expect(await service.links()).toHaveLength(10_000);
  expect(await service.resync(id)).toMatchObject({ rows_seen: 10_000, unchanged: 10_000 });
});
