import type { Hono } from 'hono';
import { z } from 'zod';
import type { Outbox } from './outbox.ts';

const Emission = z
  .object({
    call_sid: z.string().optional(),
    message_id: z.string().optional(),
    event: z.string().optional(),
    index: z.int().min(0).optional(),
  })
  .transform((emission, context) => {
    const id = emission.call_sid ?? emission.message_id;
    if (id !== undefined) return { ...emission, id };
    context.addIssue({ code: 'custom', message: 'Name the call_sid or the message_id whose callback is to be sent again' });
    return z.NEVER;
  });
const DueAnswer = z.strictObject({ status: z.int().min(100).max(599).default(200), body: z.string().default('') });

export const readControl = async <Value>(request: Request, schema: z.ZodType<Value>): Promise<Value> =>
  schema.parse(await request.json().catch(() => ({})));

/** The routes under a vendor's `/__sim` that fetch due callbacks and send callbacks again. */
export function addOutboxRoutes(routes: Hono, outbox: Outbox): void {
  routes.onError((error, c) => {
    if (error instanceof z.ZodError) return c.json({ error: z.prettifyError(error) }, 422);
    throw error;
  });

  /** With `callbacks: hold`, the callbacks that are due. `?wait_ms=` waits for one, `?account=` filters by account. */
  routes.get('/due', async (c) => {
    const taken = await outbox.takeDue(c.req.query('account'), Number(c.req.query('wait_ms') ?? 0));
    return c.json({ due: taken.map(({ id, callback }) => Object.assign({ id }, callback, { headers: callback.headers() })) });
  });
  routes.post('/due/:id', async (c) => {
    const isKnown = outbox.settle(c.req.param('id'), await readControl(c.req.raw, DueAnswer));
    return isKnown ? c.json({ settled: true }) : c.json({ error: 'Nothing of this id was handed out and is unanswered' }, 404);
  });

  /** Sends a callback of a call or message again: the last one, the last of an `event`, or the one at `index`. The response has the customer's answer. */
  routes.post('/emit', async (c) => {
    const { id, event, index } = await readControl(c.req.raw, Emission);
    const sent = outbox.listSent(id);
    const callback = index === undefined ? sent.findLast((one) => event === undefined || one.event === event) : sent[index];
    if (callback === undefined) return c.json({ error: `No such callback of ${id}`, events: sent.map((one) => one.event) }, 404);
    return c.json({ event: callback.event, answer: await outbox.sendOnce(callback) });
  });
}
