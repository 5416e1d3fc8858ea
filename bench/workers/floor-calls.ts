import { createHmac, timingSafeEqual } from 'node:crypto';
import { Hono } from 'hono';
import type { Bindings } from './floor-recipes.ts';

/** What signs a carrier's requests, and the origin that it believes to call. */
let carrier = { authToken: '', origin: '' };

/** The least that calls can be made of: rows, callbacks and talks without a service around them. */
export const callRoutes = new Hono<{ Bindings: Bindings }>();

callRoutes.put('/files/:name', async (c) => {
  await c.env.FILES.put(c.req.param('name'), await c.req.arrayBuffer());
  return c.body(null, 204);
});

callRoutes.post('/rows/:name', async (c) => {
  const name = c.req.param('name');
  return c.json({ rows: await c.env.ROWS.getByName(`${name} ${crypto.randomUUID()}`).importRows(name) });
});

callRoutes.put('/carrier', async (c) => {
  carrier = await c.req.json<typeof carrier>();
  return c.body(null, 204);
});

/** A signed status callback (https://www.twilio.com/docs/usage/security), at the path under which the service takes it. */
callRoutes.post('/api/v1/telephony/*', async (c) => {
  const { pathname, search } = new URL(c.req.url);
  const form = [...new URLSearchParams(await c.req.text())];
  const parameters = form
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => name + value)
    .join('');
  const expected = createHmac('sha1', carrier.authToken)
    .update(carrier.origin + pathname + search + parameters)
    .digest('base64');
  const signature = c.req.header('x-twilio-signature') ?? '';
  if (expected.length !== signature.length || !timingSafeEqual(Buffer.from(expected), Buffer.from(signature))) return c.body(null, 401);
  const { CallSid, CallStatus } = Object.fromEntries(form);
  await c.env.CALL_STATES.getByName('1').hear(CallSid!, CallStatus!);
  return c.json({ status: 'ok' });
});

callRoutes.get('/talk/:name', (c) => c.env.TALK.getByName(c.req.param('name')).fetch(c.req.raw));
