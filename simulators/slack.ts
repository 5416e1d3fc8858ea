import { Hono, type Context } from 'hono';
import { hasAnyScope, parseAuthorization, createPerCustomer, readJsonObject, type Grant } from './grants.ts';
import { listConversations, missingScope } from './slack/conversations.ts';
import { SlackError } from './slack/errors.ts';
import { postMessage, type Message } from './slack/messages.ts';
import type { Vendor, VendorBindings } from './vendor.ts';

/** The chat Slack: its Web API under `/api`. Everything is answered with 200, failures with `ok: false`. */
export const slack: Vendor = {
  name: 'slack',
  createRoutes: () => {
    const messagesOf = createPerCustomer((): Message[] => []);
    const routes = new Hono<{ Bindings: VendorBindings }>();

    routes.on(['GET', 'POST'], '/api/conversations.list', async (c) => {
      const grant = grantOfRequest(c);
      const given = c.req.method === 'GET' ? c.req.query() : await readArguments(c.req.raw);
      return c.json({ ok: true, ...listConversations(given, (scope) => requireScope(grant, scope)) });
    });
    routes.post('/api/chat.postMessage', async (c) => {
      const grant = grantOfRequest(c);
      requireScope(grant, 'chat:write');
      const mayJoin = hasAnyScope(grant, 'chat:write.public');
      return c.json({ ok: true, ...postMessage(await readArguments(c.req.raw), messagesOf(grant.customer), mayJoin) });
    });
    /** The messages that a customer posted, for tests. */
    routes.get('/__sim/messages', (c) => c.json({ messages: messagesOf(c.req.query('customer') ?? '') }));
    routes.notFound((c) => c.json({ ok: false, error: 'unknown_method', req_method: c.req.path.replace('/api/', '') }));
    routes.onError((error, c) => {
      if (error instanceof SlackError) return c.json({ ok: false, error: error.code, ...error.more });
      throw error;
    });
    return routes;
  },
};

function grantOfRequest(c: Context): Grant {
  const grant = parseAuthorization(c.req.header('authorization'), 'Bearer');
  if (grant === 'missing') throw new SlackError('not_authed');
  if (grant === 'invalid') throw new SlackError('invalid_auth');
  return grant;
}

function requireScope(grant: Grant, scope: string): void {
  if (!hasAnyScope(grant, scope)) throw missingScope(scope, grant);
}

async function readArguments(request: Request): Promise<Record<string, unknown>> {
  const type = request.headers.get('content-type') ?? '';
  if (type.startsWith('application/x-www-form-urlencoded')) return Object.fromEntries(new URLSearchParams(await request.text()));
  const body = await readJsonObject(request);
  if (body === undefined) throw new SlackError(type.startsWith('application/json') ? 'invalid_json' : 'invalid_form_data');
  return body;
}
