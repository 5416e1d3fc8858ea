import type { Context as HonoContext } from 'hono';
import { backgroundContext } from '../../accounts/organizations.ts';
import type { Context } from '../../accounts/context.ts';
import { createArea } from '../../http/area.ts';
import type { HttpEnvironment } from '../../http/environment.ts';
import { readBytes } from '../../http/read-body.ts';
import { isSame } from '../../library/constant-time.ts';
import { forbidden, unauthorized } from '../../library/errors.ts';
import { fromUnreserved } from '../../library/unreserved.ts';
import { documentType } from '../../providers/telephony/call-document.ts';
import type { CarrierEvent } from '../../providers/telephony/carrier-events.ts';
import { carrierOf, type Carrier } from '../telephony-configs/carrier-of.ts';
import { relaySignature } from './callback-urls.ts';
import { hearCarrier, type Heard } from './hear-carrier.ts';
import { takeInbound } from './inbound.ts';
import { eventOf, isOfCall, isSignedBy } from './verify-callback.ts';

const bodyLimit = 256 * 1024;
const id = '[1-9][0-9]{0,15}';
const account = `/telephony/:organization_id{${id}}/:config_id{${id}}`;
const call = `${account}/calls/:run_id{${id}}`;

type Request = HonoContext<HttpEnvironment>;

/** What carriers call: open without credentials, since each request is verified by the carrier's signature or a token of ours. */
export const carrierRoutes = createArea();

carrierRoutes.post(`${call}/:purpose{status|answer|machine|recording|connect}`, async (c) => {
  const { context, carrier, event } = await verified(c);
  const attempt = c.req.query('attempt');
  const key = attempt === undefined ? event?.attemptKey : fromUnreserved(attempt);
  if (!event || !key) return c.json({ status: 'ignored' }, 200);
  const purpose = c.req.param('purpose');
  const wantsDocument = !carrier.telephony.commands && (purpose === 'answer' || purpose === 'connect');
  const address = { organizationId: context.organization.id, configId: carrier.id, runId: numberOf(c, 'run_id'), key };
  if (!(await isOfCall(context, carrier, event, address))) return c.json({ status: 'ignored' }, 200);
  return answer(c, await hearCarrier(context, carrier, address, event, wantsDocument));
});

carrierRoutes.post(`${account}/inbound`, async (c) => {
  const { context, carrier, event } = await verified(c);
  if (!event) return c.json({ status: 'ignored' }, 200);
  return answer(c, await takeInbound(context, carrier, event));
});

carrierRoutes.get(`${call}/relay/:nonce{[A-Za-z0-9_-]{1,64}}/:expires{[0-9]{1,12}}/:signature{[0-9a-f]{64}}`, async (c) => {
  const [organizationId, configId, runId] = [numberOf(c, 'organization_id'), numberOf(c, 'config_id'), numberOf(c, 'run_id')];
  const expires = numberOf(c, 'expires');
  const signature = await relaySignature(c.var.settings.SIGNING_KEY, { organizationId, configId, runId }, c.req.param('nonce'), expires);
  if (!isSame(signature, c.req.param('signature')) || expires * 1000 <= Date.now())
    throw forbidden('This address does not open the call: its token is wrong or has expired');
  if (c.req.header('upgrade')?.toLowerCase() !== 'websocket') return c.json({ detail: 'This address takes a WebSocket' }, 426);
  return c.env.CALL.getByName(`${organizationId}/${runId}`).fetch(c.req.raw);
});

const numberOf = (c: Request, name: string): number => Number(c.req.param(name));

const answer = (c: Request, heard: Heard) =>
  'document' in heard ? c.body(heard.document, 200, { 'Content-Type': documentType }) : c.json({ status: heard.status }, 200);

/** The carrier behind a request and what it tells; throws 401 for whoever cannot prove to be it. */
async function verified(c: Request): Promise<{ context: Context; carrier: Carrier; event: CarrierEvent | undefined }> {
  const body = new TextDecoder().decode(await readBytes(c.req.raw, bodyLimit));
  const defer = (work: Promise<unknown>) =>
    c.executionCtx.waitUntil(work.catch((error: unknown) => c.var.log.error('deferred work failed', error)));
  const context = await backgroundContext(c.env, numberOf(c, 'organization_id'), defer);
  const carrier = context && (await carrierOf(context, numberOf(c, 'config_id')));
  const { pathname, search } = new URL(c.req.url);
  const callback = { path: pathname + search, body, headers: c.req.raw.headers };
  const now = Date.now();
  if (!context || !carrier || !(await isSignedBy(carrier, callback, now)))
    throw unauthorized('This request is not signed by the carrier of this configuration');
  return { context, carrier, event: eventOf(carrier, callback, now) };
}
