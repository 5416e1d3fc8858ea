import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Service } from './service.ts';

let service: Service;

beforeAll(async () => {
  service = await Service.create();
  await service.start();
});
afterAll(() => service.remove());

const events = 120;

test('events accepted while the service is killed with -9 three times each start one run, and each run acts', async () => {
  const created = await service.call('POST', '/automation-workflows/', {
    name: 'Tell the shop',
    definition: {
      nodes: [
        { id: 'in', type: 'trigger', data: {} },
        { id: 'rest', type: 'wait', data: { duration: 'PT1S' } },
        {
          id: 'tell',
          type: 'http_request',
          data: { method: 'POST', url: `${service.simulators}/receiver/hook`, body: { order: '{{ order }}' } },
        },
        { id: 'out', type: 'exit', data: { outcome: 'told' } },
      ],
      edges: [
        { id: 'a', source: 'in', target: 'rest' },
        { id: 'b', source: 'rest', target: 'tell' },
        { id: 'c', source: 'tell', target: 'out' },
      ],
    },
    trigger: { type: 'contact_event', config: { event_types: ['ordered'] } },
  });
  const { id } = created.body;
  expect((await service.call('PATCH', `/automation-workflows/${id}`, { status: 'active' })).status).toBe(200);

  const accepted = new Set<number>();
  for (let kill = 0; kill < 3; kill++) {
    const first = (kill * events) / 3;
    const killAt = first + 10 + Math.floor(Math.random() * 20);
    for (let order = first; order < first + events / 3; order++) {
      // A sender that gets no answer sends again under the same id.
      for (;;) {
        try {
          const answer = await service.call('POST', '/events', { event_type: 'ordered', event_id: `order-${order}`, data: { order } });
          expect(answer.status).toBe(201);
          accepted.add(answer.body.event_id);
          break;
        } catch {
          await service.start();
        }
      }
      if (order === killAt) await service.kill();
    }
  }
  expect(accepted.size).toBe(events);

  await vi.waitFor(
    async () => {
      await service.tick();
      const { body } = await service.call('GET', `/automation-workflows/${id}/runs?state=completed&limit=500`);
      expect(body.total).toBe(events);
    },
    { timeout: 200_000, interval: 5000 },
  );
  const { body } = await service.call('GET', `/automation-workflows/${id}/runs?limit=500`);
  expect(body.total).toBe(events);
  const orders = body.runs.map((run: { initial_context: { order: number } }) => run.initial_context.order);
  expect(new Set(orders).size).toBe(events);
  const received = await fetch(`${service.simulators}/__sim/requests?provider=receiver`).then(
    (response) => response.json() as Promise<any>,
  );
  const keys = new Map<string, Set<number>>();
  for (const request of received.requests) {
    const key = request.headers['idempotency-key'];
    keys.set(key, (keys.get(key) ?? new Set()).add(request.body.order));
  }
  // One key for each order: whoever heeds it acts once, however often a crash made us ask.
  expect(keys.size).toBe(events);
  for (const ordersOfKey of keys.values()) expect(ordersOfKey.size).toBe(1);
}, 400_000);
