import { randomBytes, randomUUID } from 'node:crypto';
import { Hono, type Context, type Next } from 'hono';
import { z } from 'zod';
import { TemplateStore, namesOf } from './messaging/catalogue.ts';
import { messagingControl } from './messaging/control.ts';
import { DeliverySimulator, createDeliveryDependencies } from './messaging/delivery-simulator.ts';
import { toDeliveryOutcome, isPlainNumber } from './messaging/delivery-outcome.ts';
import type { GivenMessagingSettings } from './messaging/settings.ts';
import { Webhooks } from './messaging/webhooks.ts';
import type { Vendor, VendorBindings } from './vendor.ts';
import { readSend } from './wati/send-request.ts';
import { listTemplates } from './wati/templates.ts';
import { statusWebhooks } from './wati/webhooks.ts';

const NewerSend = z.strictObject({
  template_name: z.string().min(1),
  broadcast_name: z.string().min(1),
  recipients: z
    .array(
      z.strictObject({
        phone_number: z.string().regex(/^\d{7,15}$/),
        local_message_id: z.string().min(1),
        custom_params: z.array(z.strictObject({ name: z.string(), value: z.string() })),
      }),
    )
    .length(1),
});

const knownQuery: Record<string, string[]> = {
  template: ['whatsappNumber'],
  text: ['messageText', 'replyContextId', 'channelPhoneNumber', 'localMessageId'],
  list: ['pageSize', 'pageNumber'],
};

const malformed = (info: string) => Response.json({ result: false, info }, { status: 400 });
const unknownIn = (url: string, known: string[]) => [...new URL(url).searchParams.keys()].find((name) => !known.includes(name));

/** Refuses a bad token, without a body, as the vendor documents. A scoped token is for the newer API alone, any other for the older API. */
const requireToken = (isNewer: boolean) => async (c: Context, next: Next) => {
  const token = /^Bearer\s+(\S+)\s*$/i.exec(c.req.header('authorization') ?? '')?.[1];
  const isGood = token !== undefined && !token.includes('invalid') && token.includes('scoped') === isNewer;
  return isGood ? next() : new Response(null, { status: 401 });
};

/** WATI: template messages, messages in an open session, templates and webhooks. The customer's endpoint is the mount and a tenant. */
export const createWati = (given: GivenMessagingSettings = {}): Vendor => ({
  name: 'wati',
  createRoutes: ({ signal }) => {
    const catalogue = new TemplateStore({ createId: () => randomBytes(12).toString('hex') });
    const webhooks = new Webhooks();
    const courier = new DeliverySimulator(createDeliveryDependencies(given, signal), {
      faults: {
        window_closed: { code: '131047', words: 'Re-engagement message' },
        opted_out: { code: '131050', words: 'User has stopped marketing messages' },
      },
      callbacksOf: (message, status, fault) =>
        statusWebhooks(message, status, fault).flatMap((webhook) =>
          webhooks.callback({ account: message.account, id: message.id, event: webhook.eventType }, webhook),
        ),
    });

    const routes = new Hono<{ Bindings: VendorBindings }>();
    routes.route('/__sim', messagingControl({ courier, catalogue, webhooks }));
    routes.use('/api/ext/v3/*', requireToken(true));
    const scopedTenant = 'scoped';
    routes.get('/api/ext/v3/messageTemplates', (c) => {
      const [page, size] = [Number(c.req.query('page_number') ?? 1), Number(c.req.query('page_size') ?? 20)];
      const templates = catalogue.of(scopedTenant).map((one) => ({
        id: one.id,
        name: one.name,
        status: one.status.toUpperCase(),
        category: one.category,
        language: one.language,
        body: one.body,
        custom_params: namesOf(one).map((name) => ({ name, value: '' })),
      }));
      return c.json({ message_templates: templates.slice((page - 1) * size, page * size), page_number: page, page_size: size });
    });
    routes.post('/api/ext/v3/messageTemplates/send', async (c) => {
      const parsed = NewerSend.safeParse(await c.req.json().catch(() => undefined));
      if (!parsed.success) return c.json({ success: false, error: z.prettifyError(parsed.error) }, 400);
      const { template_name, broadcast_name, recipients } = parsed.data;
      const [recipient] = recipients;
      const reading = readSend({ template_name, broadcast_name, parameters: recipient!.custom_params }, catalogue.of(scopedTenant));
      if (!('template' in reading)) return c.json({ success: false, error: 'refused' in reading ? reading.refused : reading.malformed });
      const { template, params, broadcast } = reading;
      const to = `+${recipient!.phone_number}`;
      courier.take({
        id: recipient!.local_message_id,
        account: scopedTenant,
        to,
        kind: 'template',
        template: template.name,
        language: template.language,
        params,
        reference: broadcast,
      });
      return c.json({ success: true, error: null, broadcast_id: randomBytes(12).toString('hex'), recipients: [recipient] });
    });
    routes.use('/:tenant/api/*', requireToken(false));

    routes.post('/:tenant/api/v2/sendTemplateMessage', async (c) => {
      const unknown = unknownIn(c.req.url, knownQuery['template']!);
      if (unknown !== undefined) return malformed(`Unknown query parameter ${unknown}`);
      if (!/^application\/json\b/i.test(c.req.header('content-type') ?? '')) return malformed('The content type must be application/json');
      const [tenant, number] = [c.req.param('tenant'), c.req.query('whatsappNumber') ?? ''];
      if (!isPlainNumber(number)) return malformed('whatsappNumber must be digits with the country code');
      const reading = readSend(await c.req.json().catch(() => undefined), catalogue.of(tenant));
      if ('malformed' in reading) return malformed(reading.malformed);
      if ('refused' in reading) return c.json({ result: false, info: reading.refused, error: null });
      const fate = toDeliveryOutcome(number);
      if (fate === 'rate_limited') return c.json({ result: false, info: 'Too many requests' }, 429);
      const { template, params, broadcast } = reading;
      const isThere = fate !== 'not_on_channel';
      const id = isThere ? randomUUID() : null;
      if (id !== null)
        courier.take({
          id,
          account: tenant,
          to: `+${number}`,
          kind: 'template',
          template: template.name,
          language: template.language,
          params,
          reference: broadcast,
        });
      const errors = isThere ? [] : [{ code: '131026', message: 'The number is not a WhatsApp number' }];
      return c.json({
        result: isThere,
        error: null,
        templateName: template.name,
        receivers: [{ localMessageId: id, waId: number, isValidWhatsAppNumber: isThere, errors }],
        parameters: [],
      });
    });

    routes.post('/:tenant/api/v1/sendSessionMessage/:number', (c) => {
      const unknown = unknownIn(c.req.url, knownQuery['text']!);
      const { tenant, number } = c.req.param();
      const text = c.req.query('messageText') ?? '';
      if (unknown !== undefined) return malformed(`Unknown query parameter ${unknown}`);
      if (!isPlainNumber(number) || text === '') return malformed('whatsappNumber and messageText are required');
      const fate = toDeliveryOutcome(number);
      if (fate === 'rate_limited') return c.json({ result: false, info: 'Too many requests' }, 429);
      if (fate === 'window_closed') return c.json({ result: false, message: 'Ticket has been expired.' });
      if (fate === 'not_on_channel') return c.json({ result: false, info: 'Invalid WhatsApp number' });
      const { id } = courier.take({ id: randomUUID(), account: tenant, to: `+${number}`, kind: 'text', text });
      const message = {
        whatsappMessageId: null,
        localMessageId: id,
        id: randomBytes(12).toString('hex'),
        text,
        type: 'text',
        statusString: 'SENDING',
      };
      return c.json({ result: true, message });
    });

    routes.get('/:tenant/api/v1/getMessageTemplates', (c) => {
      const url = new URL(c.req.url);
      const unknown = unknownIn(c.req.url, knownQuery['list']!);
      if (unknown !== undefined) return malformed(`Unknown query parameter ${unknown}`);
      const page = listTemplates(catalogue.of(c.req.param('tenant')), url);
      return 'malformed' in page ? malformed(page.malformed as string) : c.json(page);
    });

    routes.notFound(() => new Response(null, { status: 404 }));
    return routes;
  },
});
