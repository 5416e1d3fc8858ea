import { Hono } from 'hono';
import { requireHeaders } from './anthropic/credentials.ts';
import { AnthropicError } from './anthropic/errors.ts';
import { createMessage } from './anthropic/messages.ts';
import { readJson } from './anthropic/request-rules.ts';
import type { Vendor, VendorBindings } from './vendor.ts';

/** The language model provider Anthropic: its Messages API with tools, output formats and streams. */
export const anthropic: Vendor = {
  name: 'anthropic',
  createRoutes: () => {
    const routes = new Hono<{ Bindings: VendorBindings }>();
    routes.use(async (c, next) => {
      await next();
      c.res.headers.set('request-id', `req_sim${c.env.record.id}`);
      c.res.headers.set('anthropic-organization-id', 'org-simulated');
    });
    routes.post('/v1/messages', async (c) => {
      requireHeaders(c.req.raw.headers);
      return createMessage(await readJson(c.req.raw), c.env.record);
    });
    routes.all('/v1/messages', () => {
      throw new AnthropicError(405, 'invalid_request_error', 'Method Not Allowed');
    });
    routes.notFound((c) => answer(new AnthropicError(404, 'not_found_error', 'Not Found'), c.env.record.id));
    routes.onError((error, c) => {
      if (error instanceof AnthropicError) return answer(error, c.env.record.id);
      throw error;
    });
    return routes;
  },
};

const answer = ({ status, body, headers }: AnthropicError, id: number): Response =>
  Response.json({ ...body, request_id: `req_sim${id}` }, { status, headers });
