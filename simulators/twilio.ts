import { Hono } from 'hono';
import { z } from 'zod';
import { TemplateStore } from './messaging/catalogue.ts';
import { addMessagingRoutes } from './messaging/control.ts';
import { readMessagingSettings } from './messaging/settings.ts';
import { carrierControl } from './telephony/control.ts';
import { CallStore } from './telephony/call-store.ts';
import { CallSimulator } from './telephony/call-simulator.ts';
import { Outbox } from './telephony/outbox.ts';
import { readCallSettings, type GivenCallSettings } from './telephony/settings.ts';
import { accountRoutes } from './twilio/account-routes.ts';
import { callRoutes } from './twilio/call-routes.ts';
import { newSid, TwilioCarrier } from './twilio/carrier.ts';
import { notFound, TwilioError } from './twilio/errors.ts';
import { createMessageDelivery, messageRoutes } from './twilio/message-routes.ts';
import { contentRoutes } from './twilio/contents.ts';
import type { TwilioCallRequest } from './twilio/call-request.ts';
import type { Vendor, VendorBindings } from './vendor.ts';

const InboundCall = z.strictObject({
  account_sid: z.string().regex(/^AC[0-9a-f]{32}$/i),
  auth_token: z.string().min(1),
  from: z.string(),
  to: z.string(),
  voice_url: z.url(),
  status_callback: z.url().optional(),
});

/** Twilio: calls over its REST API, callbacks, TwiML and ConversationRelay, and messages; the Content API is under `/content`. The base URL is the mount. */
export const createTwilio = (given: GivenCallSettings = {}): Vendor => ({
  name: 'twilio',
  createRoutes: ({ ledgerFile, signal }) => {
    const settings = readCallSettings(process.env, given);
    const dependencies = { store: new CallStore(ledgerFile, Date.now()), outbox: new Outbox(settings, signal), settings, signal };
    const exchange = new CallSimulator<TwilioCallRequest>(dependencies, (own) => new TwilioCarrier(own));

    const { delivery_ms: deliveryMs } = readMessagingSettings(process.env);
    const courier = createMessageDelivery({ deliveryMs, signal, outbox: exchange.outbox });
    const catalogue = new TemplateStore({ createId: () => newSid('HX') });

    const control = carrierControl(exchange);
    addMessagingRoutes(control, { courier, catalogue });
    /** Somebody calls a number of the account whose voice URL and status callback are these. */
    control.post('/inbound', async (c) => {
      const { account_sid, auth_token, from, to, voice_url, status_callback } = InboundCall.parse(await c.req.json());
      const order: TwilioCallRequest = {
        accountSid: account_sid,
        authToken: auth_token,
        origin: new URL(c.req.url).origin,
        url: voice_url,
        method: 'POST',
        statusCallback: status_callback,
        statusMethod: 'POST',
        events: new Set(['completed']),
        isMachineDetectionAsync: false,
        isRecorded: false,
        recordingEvents: new Set(),
        ringSeconds: 60,
      };
      const { record } = exchange.ring({ sid: newSid('CA'), account: account_sid, attemptKey: null, from, to }, order);
      return c.json(record, 201);
    });

    const routes = new Hono<{ Bindings: VendorBindings }>();
    routes.route('/__sim', control);
    routes.route('/2010-04-01', accountRoutes());
    routes.route('/2010-04-01/Accounts/:account', callRoutes(exchange));
    routes.route('/2010-04-01/Accounts/:account', messageRoutes(courier, catalogue));
    routes.route('/content', contentRoutes(catalogue));
    routes.notFound((c) => notFound(c.req.path).response);
    routes.onError((error) => {
      if (error instanceof TwilioError) return error.response;
      throw error;
    });
    return routes;
  },
});
