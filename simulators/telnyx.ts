import { Hono } from 'hono';
import { z } from 'zod';
import { carrierControl } from './telephony/control.ts';
import { CallStore } from './telephony/call-store.ts';
import { CallSimulator } from './telephony/call-simulator.ts';
import { Outbox } from './telephony/outbox.ts';
import { readCallSettings, type GivenCallSettings } from './telephony/settings.ts';
import { callRoutes, newOrder } from './telnyx/call-routes.ts';
import { newCallId, TelnyxCarrier } from './telnyx/carrier.ts';
import { notFound, TelnyxError } from './telnyx/errors.ts';
import type { TelnyxCallRequest } from './telnyx/call-request.ts';
import { recordingStore } from './telnyx/recordings.ts';
import type { Vendor, VendorBindings } from './vendor.ts';

const InboundCall = z.strictObject({ connection_id: z.string().min(1), from: z.string(), to: z.string(), webhook_url: z.url() });

/** The carrier Telnyx: calls by commands and webhooks, and its conversation relay. The base URL ends in `/v2`. */
export const createTelnyx = (given: GivenCallSettings = {}): Vendor => ({
  name: 'telnyx',
  createRoutes: ({ ledgerFile, signal }) => {
    const settings = readCallSettings(process.env, given);
    const dependencies = { store: new CallStore(ledgerFile, Date.now()), outbox: new Outbox(settings, signal), settings, signal };
    const exchange = new CallSimulator<TelnyxCallRequest>(dependencies, (own) => new TelnyxCarrier(own));

    const control = carrierControl(exchange);
    /** Somebody calls a number of the connection whose webhooks go to this address. */
    control.post('/inbound', async (c) => {
      const { connection_id: connection, from, to, webhook_url: webhookUrl } = InboundCall.parse(await c.req.json());
      const order = newOrder(connection, new URL(c.req.url).origin, { webhookUrl });
      const { record } = exchange.ring({ sid: newCallId(), account: connection, attemptKey: null, from, to }, order);
      return c.json(record, 201);
    });

    const routes = new Hono<{ Bindings: VendorBindings }>();
    routes.route('/__sim', control);
    routes.route('/v2', callRoutes(exchange));
    routes.route('/recordings', recordingStore(exchange));
    routes.notFound(() => notFound().response);
    routes.onError((error) => {
      if (error instanceof TelnyxError) return error.response;
      throw error;
    });
    return routes;
  },
});
