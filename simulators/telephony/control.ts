import { Hono } from 'hono';
import { z } from 'zod';
import type { CallSimulator } from './call-simulator.ts';
import { addOutboxRoutes, readControl as read } from './outbox-control.ts';
import { CallSettingsSchema } from './settings.ts';

const Actions = {
  say: z.strictObject({ text: z.string().min(1) }),
  interrupt: z.strictObject({ text: z.string().min(1) }),
  press: z.strictObject({ digits: z.string().regex(/^[\d*#]+$/) }),
  drop: z.strictObject({}),
  hangup: z.strictObject({}),
} as const;

const Script = z.strictObject({ phone: z.string(), says: z.array(z.string().min(1)) });

/** `/__sim` of a carrier: the dialled calls, the due callbacks, and actions of the person on the phone. */
export function carrierControl<Order>(exchange: CallSimulator<Order>): Hono {
  const { store: book, outbox, settings } = exchange;
  const routes = new Hono();
  addOutboxRoutes(routes, outbox);

  /** All placed calls, and the maximum number of calls live at once. `?account=&to=&from=&attempt=` filter them. */
  routes.get('/ledger', (c) => {
    const calls = book.list(c.req.query());
    const counts = Object.entries(Object.groupBy(calls, ({ attempt_key: key }) => key ?? ''));
    return c.json({
      calls,
      total: calls.length,
      peak_concurrent: book.peak(c.req.query('account')),
      attempts_dialled_twice: counts.flatMap(([key, of]) => (key !== '' && of!.length > 1 ? [key] : [])),
    });
  });

  routes.get('/settings', (c) => c.json(settings));
  routes.patch('/settings', async (c) => {
    const given = await read(c.req.raw, z.record(z.string(), z.unknown()));
    const whole = CallSettingsSchema.parse(given);
    // A setting that is not given has its default in `whole`, and keeps its value.
    for (const [name, value] of Object.entries(whole)) if (name in given) Object.assign(settings, { [name]: value });
    return c.json(settings);
  });

  routes.post('/people', async (c) => {
    const { phone, says } = await read(c.req.raw, Script);
    exchange.setScript(phone, says);
    return c.json({ phone, says }, 201);
  });

  /** The person speaks, interrupts, presses keys or hangs up, or the socket drops: `POST /calls/{sid}/{say|interrupt|press|drop|hangup}`. */
  routes.post('/calls/:sid/:action', async (c) => {
    const { sid, action } = c.req.param();
    const line = exchange.line(sid);
    if (!line?.isLive) return c.json({ error: `No call ${sid} is live` }, 404);
    if (action === 'hangup') exchange.hangUp(line, 'person');
    else if (line.session === undefined) return c.json({ error: `Nobody talks on call ${sid}` }, 409);
    else if (action === 'drop') line.session.drop();
    else if (action === 'say') line.session.say((await read(c.req.raw, Actions.say)).text);
    else if (action === 'interrupt') line.session.interrupt((await read(c.req.raw, Actions.interrupt)).text);
    else if (action === 'press') line.session.press((await read(c.req.raw, Actions.press)).digits);
    else return c.json({ error: `There is no action "${action}". There are: ${Object.keys(Actions).join(', ')}` }, 404);
    return c.json({ done: action });
  });

  return routes;
}
