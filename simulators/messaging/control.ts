import { Hono } from 'hono';
import { z } from 'zod';
import { addOutboxRoutes, readControl } from '../telephony/outbox-control.ts';
import { SimulatedTemplateSchema, type TemplateStore } from './catalogue.ts';
import type { DeliverySimulator } from './delivery-simulator.ts';
import { RegistrationSchema, type Registration, type Webhooks } from './webhooks.ts';

const Added = z.strictObject({ account: z.string().min(1), templates: z.array(SimulatedTemplateSchema).min(1) });

export interface MessagingControl {
  courier: DeliverySimulator;
  catalogue: TemplateStore;
  /** Absent at a vendor that gets an address with each message. */
  webhooks?: Webhooks;
  /** Verifies the address with a request. Returns the reason of a refusal, or undefined. */
  verify?: (registration: Registration) => Promise<string | undefined>;
}

/** The routes of every messaging vendor under `/__sim`: sent messages, templates, and reading a message. */
export function addMessagingRoutes(routes: Hono, { courier, catalogue }: Pick<MessagingControl, 'courier' | 'catalogue'>): void {
  /** Each message that was taken. `?account=&to=&reference=` narrow it. */
  routes.get('/messages', (c) => {
    const messages = courier.store.list(c.req.query());
    return c.json({ messages, total: messages.length });
  });

  /** The person reads it. */
  routes.post('/messages/:id/read', (c) => {
    const message = courier.store.find(c.req.param('id'));
    if (message?.status !== 'delivered') return c.json({ error: 'No message of this id is delivered and unread' }, 404);
    courier.read(message);
    return c.json(message);
  });

  /** Gives an account more templates than the seeded ones. */
  routes.post('/templates', async (c) => {
    const { account, templates } = await readControl(c.req.raw, Added);
    return c.json({ templates: catalogue.add(account, templates) }, 201);
  });
}

/** `/__sim` of a messaging vendor. */
export function messagingControl({ courier, catalogue, webhooks, verify }: MessagingControl): Hono {
  const routes = new Hono();
  addOutboxRoutes(routes, courier.outbox);
  addMessagingRoutes(routes, { courier, catalogue });

  /** Registers an address, as the customer does at the vendor. */
  routes.post('/webhook', async (c) => {
    const registration = await readControl(c.req.raw, RegistrationSchema);
    const objection = await verify?.(registration);
    if (objection !== undefined) return c.json({ error: objection }, 422);
    webhooks?.register(registration);
    return c.json({ url: registration.url, account: registration.account }, 201);
  });
  return routes;
}
