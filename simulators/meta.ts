import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import { TemplateStore } from './messaging/catalogue.ts';
import { messagingControl } from './messaging/control.ts';
import { DeliverySimulator, createDeliveryDependencies } from './messaging/delivery-simulator.ts';
import { toDeliveryOutcome } from './messaging/delivery-outcome.ts';
import type { GivenMessagingSettings } from './messaging/settings.ts';
import { Webhooks } from './messaging/webhooks.ts';
import { badParameter, MetaError, requireToken } from './meta/errors.ts';
import { readMessage } from './meta/message-request.ts';
import { listTemplates } from './meta/templates.ts';
import { signatureHeaders, statusWebhook, verify } from './meta/webhooks.ts';
import type { Vendor, VendorBindings } from './vendor.ts';

const version = '/:version{v\\d+\\.\\d+}';
let lastTemplate = 1_000_000;

/** The WhatsApp Cloud API of Meta: messages, templates and signed webhooks. The base URL ends in a version such as `/v25.0`. */
export const createMeta = (given: GivenMessagingSettings = {}): Vendor => ({
  name: 'meta',
  createRoutes: ({ signal }) => {
    const catalogue = new TemplateStore({ languages: ['en_US'], createId: () => String((lastTemplate += 1)) });
    const webhooks = new Webhooks();
    const courier = new DeliverySimulator(createDeliveryDependencies(given, signal), {
      faults: {
        not_on_channel: { code: '131026', words: 'Message undeliverable' },
        window_closed: { code: '131047', words: 'Re-engagement message' },
        opted_out: {
          code: '131050',
          words: 'Unable to deliver the message: the recipient has chosen to stop receiving marketing messages',
        },
      },
      callbacksOf: (message, status, fault) => {
        if (status === 'accepted') return [];
        const about = { account: message.account, id: message.id, event: status };
        return webhooks.callback(about, statusWebhook(message, status, fault), signatureHeaders);
      },
    });

    const routes = new Hono<{ Bindings: VendorBindings }>();
    routes.route('/__sim', messagingControl({ courier, catalogue, webhooks, verify }));
    routes.use(`${version}/*`, async (c, next) => {
      requireToken(c.req.header('authorization'));
      await next();
    });

    routes.post(`${version}/:phone{\\d+}/messages`, async (c) => {
      const type = c.req.header('content-type') ?? '';
      if (!/^application\/json\b/i.test(type)) throw badParameter('The parameter messaging_product is required.');
      const account = c.req.param('phone');
      const ordered = readMessage(await c.req.json().catch(() => undefined), catalogue.of(account));
      if (toDeliveryOutcome(ordered.to) === 'rate_limited') {
        const details = 'Message failed to send because there were too many messages sent from this phone number in a short period of time';
        throw new MetaError(429, 130429, '(#130429) Rate limit hit', { details });
      }
      const { id } = courier.take({
        id: `wamid.${randomBytes(24).toString('base64')}`,
        account,
        to: `+${ordered.to}`,
        kind: ordered.template ? 'template' : 'text',
        template: ordered.template?.name ?? null,
        language: ordered.template?.language ?? null,
        params: ordered.params,
        text: ordered.text,
        reference: ordered.reference,
      });
      return c.json({
        messaging_product: 'whatsapp',
        contacts: [{ input: ordered.to, wa_id: ordered.to }],
        messages: [{ id, ...(ordered.template && { message_status: 'accepted' }) }],
      });
    });

    routes.get(`${version}/:waba{\\d+}/message_templates`, (c) => {
      const url = new URL(c.req.url);
      // As the caller knows it, with the mount.
      url.pathname = `/meta${url.pathname}`;
      return c.json(listTemplates(catalogue.of(c.req.param('waba')), url));
    });

    routes.get(`${version}/:phone{\\d+}`, (c) =>
      c.json({ id: c.req.param('phone'), display_phone_number: '+1 415-555-0100', verified_name: 'Acme', quality_rating: 'GREEN' }),
    );

    routes.notFound((c) => new MetaError(400, 2500, `Unknown path components: ${c.req.path}`).response);
    routes.onError((error) => {
      if (error instanceof MetaError) return error.response;
      throw error;
    });
    return routes;
  },
});
