import { Hono } from 'hono';
import { completeChat } from './openai/chat-completions.ts';
import { requireKey } from './openai/credentials.ts';
import { createEmbeddings } from './openai/embeddings.ts';
import { OpenAiError } from './openai/errors.ts';
import { readJson } from './openai/request-rules.ts';
import type { Vendor, VendorBindings } from './vendor.ts';

/** What the vendor says of its limits; nothing is counted here. */
const limits = {
  'x-ratelimit-limit-requests': '10000',
  'x-ratelimit-limit-tokens': '2000000',
  'x-ratelimit-remaining-requests': '9999',
  'x-ratelimit-remaining-tokens': '1999000',
  'x-ratelimit-reset-requests': '6ms',
  'x-ratelimit-reset-tokens': '30ms',
};

/** The language model provider OpenAI: chat completions with tools, streams and JSON schemas, and embeddings. The base URL ends in `/v1`. */
export const openai: Vendor = {
  name: 'openai',
  createRoutes: () => {
    const routes = new Hono<{ Bindings: VendorBindings }>();
    routes.use(async (c, next) => {
      await next();
      const own = { 'x-request-id': `req_sim${c.env.record.id}`, 'openai-version': '2020-10-01', 'openai-organization': 'org-simulated' };
      for (const [name, value] of Object.entries({ ...limits, ...own })) if (!c.res.headers.has(name)) c.res.headers.set(name, value);
    });
    routes.use('/v1/*', async (c, next) => {
      requireKey(c.req.header('authorization'));
      await next();
    });
    routes.post('/v1/chat/completions', async (c) => completeChat(await readJson(c.req.raw), c.env.record));
    routes.post('/v1/embeddings', async (c) => c.json(await createEmbeddings(await readJson(c.req.raw))));
    for (const path of ['/v1/chat/completions', '/v1/embeddings'])
      routes.all(path, (c) => {
        const message = `Not allowed to ${c.req.method} on ${path}. (HINT: Perhaps you meant to use a different HTTP method?)`;
        throw new OpenAiError(405, message, { code: 'method_not_supported' });
      });
    routes.notFound((c) => {
      const { status, body } = new OpenAiError(404, `Invalid URL (${c.req.method} ${c.req.path})`);
      return Response.json(body, { status });
    });
    routes.onError((error) => {
      if (error instanceof OpenAiError) return Response.json(error.body, { status: error.status, headers: error.headers });
      throw error;
    });
    return routes;
  },
};
