import type { Context as HonoContext } from 'hono';
import type { Context } from '../../context.ts';
import { backgroundContext } from '../../accounts/organizations/background-context.ts';
import { createRouter } from '../../http/router.ts';
import type { HttpEnvironment } from '../../http/environment.ts';
import { readBytes } from '../../http/middleware/read-body.ts';
import { forbidden, notFound, unauthorized } from '../../library/errors.ts';
import type { ProviderKey } from '../../providers/messaging/messaging.ts';
import { verifyWebhookChallenge } from '../../providers/messaging/meta/signature.ts';
import { organizationFromToken } from './callback-url.ts';
import { isProviderKey } from '../config/credential-fields.ts';
import { processCallback } from './process-callback.ts';

/** Meta tells of up to 1,000 messages at once. */
const maxBodyBytes = 4 * 1024 * 1024;
const callbackPath = '/organizations/messaging-config/callbacks/:provider/:token';

type Request = HonoContext<HttpEnvironment>;

/** What messaging providers call: open without credentials, since the address holds a token of ours, and what is signed is verified. */
export const messagingCallbackRoutes = createRouter();

messagingCallbackRoutes.post(callbackPath, async (c) => {
  const { context, provider } = await resolveCallback(c);
  const body = new TextDecoder().decode(await readBytes(c.req.raw, maxBodyBytes));
  const { pathname, search } = new URL(c.req.url);
  const status = await processCallback(context, provider, { path: pathname + search, headers: c.req.raw.headers, body });
  if (status === 'unsigned') throw unauthorized(`This request is not signed by the account of ${provider}`);
  return c.json({ status }, 200);
});

/** Meta verifies the webhook's address; the verify token is the token of the address. */
messagingCallbackRoutes.get(callbackPath, async (c) => {
  const { provider } = await resolveCallback(c);
  const challenge = provider === 'provider_b' ? verifyWebhookChallenge(c.req.url, c.req.param('token')!) : null;
  if (challenge === null) throw forbidden('The verify token is wrong; it is the last part of this address');
  return c.text(challenge, 200);
});

/** Throws 404 for an address that is not ours. */
async function resolveCallback(c: Request): Promise<{ context: Context; provider: ProviderKey }> {
  const [provider, token] = [c.req.param('provider')!, c.req.param('token')!];
  const organizationId = isProviderKey(provider) ? await organizationFromToken(c.var.settings, provider, token) : null;
  const defer = (work: Promise<unknown>) =>
    c.executionCtx.waitUntil(work.catch((error: unknown) => c.var.log.error('deferred work failed', error)));
  const context = organizationId === null ? null : await backgroundContext(c.env, organizationId, defer);
  if (!context || !isProviderKey(provider)) throw notFound('Callback address');
  return { context, provider };
}
