import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { messageEvent } from './gupshup/events.ts';
import { readSend } from './gupshup/send-request.ts';
import { toGupshupTemplate } from './gupshup/templates.ts';
import { TemplateStore } from './messaging/catalogue.ts';
import { messagingControl } from './messaging/control.ts';
import { DeliverySimulator, createDeliveryDependencies } from './messaging/delivery-simulator.ts';
import { toDeliveryOutcome } from './messaging/delivery-outcome.ts';
import type { GivenMessagingSettings } from './messaging/settings.ts';
import { Webhooks } from './messaging/webhooks.ts';
import type { Vendor, VendorBindings } from './vendor.ts';

const refuse = (status: number, message: string) => Response.json({ status: 'error', message }, { status });
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Gupshup: messages, both template lists and events. The base URL is the mount. */
export const createGupshup = (given: GivenMessagingSettings = {}): Vendor => ({
  name: 'gupshup',
  createRoutes: ({ signal }) => {
    const catalogue = new TemplateStore();
    const webhooks = new Webhooks();
    const courier = new DeliverySimulator(createDeliveryDependencies(given, signal), {
      faults: {
        not_on_channel: { code: '1002', words: 'Number Does Not Exist On WhatsApp' },
        window_closed: {
          code: '1004',
          words: 'Message sending failed as user is inactive for session message and template messaging is disabled',
        },
        opted_out: { code: '1012', words: 'Message sending failed as the phone number is opted out' },
      },
      callbacksOf: (message, status, fault) =>
        webhooks.callback({ account: message.account, id: message.id, event: status }, messageEvent(message, status, fault)),
    });

    const routes = new Hono<{ Bindings: VendorBindings }>();
    routes.route('/__sim', messagingControl({ courier, catalogue, webhooks }));
    routes.use('*', async (c, next) => {
      const key = c.req.header('apikey') ?? '';
      return key === '' || key.includes('invalid') ? refuse(401, 'Portal User Not Found With APIKey') : next();
    });

    for (const [path, kind] of [
      ['/wa/api/v1/template/msg', 'template'],
      ['/wa/api/v1/msg', 'text'],
    ] as const)
      routes.post(path, async (c) => {
        if (!/^application\/x-www-form-urlencoded\b/i.test(c.req.header('content-type') ?? ''))
          return refuse(415, 'Unsupported Media Type');
        const ordered = readSend(new URLSearchParams(await c.req.text()), kind, (app) => catalogue.of(app));
        if ('malformed' in ordered) return refuse(400, ordered.malformed);
        if (toDeliveryOutcome(ordered.to) === 'rate_limited') return refuse(429, 'Too Many Requests');
        const { id } = courier.take({
          id: randomUUID(),
          account: ordered.app,
          to: `+${ordered.to}`,
          kind,
          template: ordered.template?.name ?? null,
          language: ordered.template?.language ?? null,
          params: ordered.params,
          text: ordered.text,
        });
        return c.json({ status: 'submitted', messageId: id }, 202);
      });

    // By the id of the app, not by its name.
    routes.get('/wa/app/:app/template', (c) => {
      const app = c.req.param('app');
      if (!uuid.test(app)) return refuse(400, 'Invalid App Details');
      const [number, size] = [Number(c.req.query('pageNo') ?? 0), Number(c.req.query('pageSize') ?? 100)];
      if (![number, size].every((one) => Number.isInteger(one) && one >= 0)) return refuse(400, 'Invalid pagination');
      return c.json({
        status: 'success',
        templates: catalogue
          .of(app)
          .slice(number * size, (number + 1) * size)
          .map(toGupshupTemplate(app)),
      });
    });
    routes.get('/sm/api/v1/template/list/:app', (c) => {
      const app = c.req.param('app');
      return c.json({ status: 'success', templates: catalogue.of(app).map(toGupshupTemplate(app)) });
    });

    routes.notFound(() => refuse(404, 'Not Found'));
    return routes;
  },
});
