import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ownRows } from '../support/own-rows.ts';
import { deliveriesOf, messagesOf, newEndpoint, recordEvent, suppressNumber, waitForDelivery, type Endpoint } from './endpoints.ts';

afterEach(() => vi.restoreAllMocks());

const stubOf = ({ organizationId, id }: Endpoint) => env.WEBHOOK_ENDPOINT.getByName(`${organizationId}/${id}`);
const wake = (endpoint: Endpoint) => stubOf(endpoint).wake(endpoint.organizationId, endpoint.id);

const storageOf = (endpoint: Endpoint) =>
  runInDurableObject(stubOf(endpoint), async (_object, { storage }) => ({
    alarm: await storage.getAlarm(),
    entries: (await storage.list()).size,
  }));

describe('the object of an endpoint', () => {
  test('is woken at the retry of a message that failed, also after it was evicted', async () => {
    const endpoint = await newEndpoint();
    endpoint.receiver.answer = () => new Response(null, { status: 500 });
    await suppressNumber(endpoint.client);
    const pending = await waitForAttempts(endpoint, 1);
    const { alarm } = await storageOf(endpoint);
    expect(alarm).toBe(Date.parse(pending.next_attempt_at));
    await evictDurableObject(stubOf(endpoint));
    endpoint.receiver.answer = () => new Response(null);
    await ownRows
      .prepare('UPDATE webhook_message SET due_at = 1 WHERE organization_id = ? AND due_at IS NOT NULL')
      .bind(endpoint.organizationId)
      .run();
    await wake(endpoint);
    expect((await waitForDelivery(endpoint)).attempts).toHaveLength(2);
  });

  test('tries again soon when D1 is in trouble, and sends nothing twice', async () => {
    const endpoint = await newEndpoint();
    await runInDurableObject(stubOf(endpoint), (instance) => {
      const object = instance as unknown as { env: Env };
      const real = object.env;
      let troubles = 3;
      const DB = new Proxy(real.DB, {
        get: (target, name) => {
          if (name === 'batch' && troubles > 0)
            return async () => {
              troubles -= 1;
              throw new Error('D1_ERROR: D1 DB is overloaded. Requests queued for too long.');
            };
          const value = Reflect.get(target, name) as unknown;
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
      object.env = new Proxy(real, { get: (target, name) => (name === 'DB' ? DB : Reflect.get(target, name)) });
    });
    await recordEvent(endpoint.organizationId, 'a', 0);
    await wake(endpoint);
    await waitForDelivery(endpoint);
    expect(endpoint.receiver.received).toHaveLength(1);
  }, 30_000);

  test('sends again what an object that died had sent and not written down', async () => {
    const endpoint = await newEndpoint();
    const stop = await abortOf(endpoint);
    let deaths = 0;
    endpoint.receiver.answer = async () => {
      // The test runner would have everybody wait for ever for a module that dies with the object that loads it.
      await vi.dynamicImportSettled();
      if (deaths++ === 0) stop();
      return new Response(null);
    };
    await recordEvent(endpoint.organizationId, 'a', 0);
    await wake(endpoint);
    await vi.waitFor(() => expect(endpoint.receiver.received).toHaveLength(1), { timeout: 10_000, interval: 20 });
    // The tick wakes it, if the platform does not repeat the alarm.
    await wake(endpoint).catch(() => wake(endpoint));
    await waitForDelivery(endpoint);
    const ids = endpoint.receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(ids.length).toBeGreaterThan(1);
    expect(new Set(ids).size).toBe(1);
  });

  test('keeps nothing once there is nothing to wait for', async () => {
    const endpoint = await newEndpoint();
    await recordEvent(endpoint.organizationId, 'a', 0);
    await wake(endpoint);
    await waitForDelivery(endpoint);
    expect(await storageOf(endpoint)).toMatchObject({ alarm: expect.any(Number) });
    await ownRows.prepare('DELETE FROM webhook_message WHERE organization_id = ?').bind(endpoint.organizationId).run();
    await wake(endpoint);
    await vi.waitFor(async () => expect(await storageOf(endpoint)).toEqual({ alarm: null, entries: 0 }), { timeout: 10_000, interval: 20 });
  });

  test('goes with its organization', async () => {
    const endpoint = await newEndpoint();
    await recordEvent(endpoint.organizationId, 'a', 0);
    await wake(endpoint);
    await waitForDelivery(endpoint);
    await stubOf(endpoint).deleteAllData();
    expect(await storageOf(endpoint)).toEqual({ alarm: null, entries: 0 });
    expect(await messagesOf(endpoint.organizationId)).toHaveLength(1);
  });
});

/** What ends the object as it is now, with all that it has in memory. */
async function abortOf(endpoint: Endpoint): Promise<() => void> {
  let abort = () => {};
  await runInDurableObject(stubOf(endpoint), (_object, state) => {
    abort = () => state.abort('the object dies here');
  });
  return abort;
}

const waitForAttempts = (endpoint: Endpoint, count: number): Promise<any> =>
  vi.waitFor(
    async () => {
      const [delivery] = await deliveriesOf(endpoint);
      expect(delivery?.attempts).toHaveLength(count);
      return delivery;
    },
    { timeout: 10_000, interval: 20 },
  );
