import type { Context as HonoContext } from 'hono';
import { backgroundContext } from '../../accounts/organizations/background-context.ts';
import type { Context } from '../../context.ts';
import { createRouter } from '../../http/router.ts';
import type { HttpEnvironment } from '../../http/environment.ts';
import { readBytes } from '../../http/middleware/read-body.ts';
import { isEqualConstantTime } from '../../library/security/hash.ts';
import { forbidden, unauthorized } from '../../library/errors.ts';
import { fromUnreserved } from '../../library/text/unreserved.ts';
import type { CarrierEvent } from '../../providers/telephony/carrier-events.ts';
import { loadCarrier, type Carrier } from '../../telephony-configs/load-carrier.ts';
import { signRelay } from './callback-urls.ts';
import { processCarrierEvent, type CarrierResponse } from './process-carrier-event.ts';
import { admitInbound } from '../inbound/admit-inbound.ts';
import { isForCall, isSignedBy } from './verify-callback.ts';
import { buildAnnouncementDocument } from './hand-over.ts';

const bodyLimit = 256 * 1024;
const idPattern = '[1-9][0-9]{0,15}';
const accountPath = `/telephony/:organization_id{${idPattern}}/:config_id{${idPattern}}`;
const callPath = `${accountPath}/calls/:run_id{${idPattern}}`;

type HttpContext = HonoContext<HttpEnvironment>;

/** The addresses that carriers call. They need no credentials: each request is verified by the carrier's signature or by a signed token. */
export const carrierRoutes = createRouter();

carrierRoutes.post(`${callPath}/:purpose{status|answer|machine|recording|connect|human|dialled|announcement}`, async (c) => {
  const { context, carrier, event } = await verifyRequest(c);
  const attempt = c.req.query('attempt');
  const key = attempt === undefined ? event?.attemptKey : fromUnreserved(attempt);
  const purpose = c.req.param('purpose');
  const leg = /^[1-9]\d{0,3}$/.test(c.req.query('leg') ?? '') ? Number(c.req.query('leg')) : undefined;
  if (purpose === 'announcement' && leg !== undefined && key && carrier.telephony.documents) {
    const address = { organizationId: context.organization.id, configId: carrier.id, runId: numericParameter(c, 'run_id'), key };
    return respond(c, carrier, { document: await buildAnnouncementDocument({ context, carrier, address }, leg) });
  }
  if (!event || !key) return c.json({ status: 'ignored' }, 200);
  const wantsDocument =
    carrier.telephony.documents !== undefined && (purpose === 'answer' || purpose === 'connect' || purpose === 'dialled');
  const address = { organizationId: context.organization.id, configId: carrier.id, runId: numericParameter(c, 'run_id'), key };
  if (!(await isForCall(context, carrier, event, address))) return c.json({ status: 'ignored' }, 200);
  return respond(c, carrier, await processCarrierEvent(context, carrier, address, event, wantsDocument, leg));
});

carrierRoutes.post(`${accountPath}/inbound`, async (c) => {
  const { context, carrier, event } = await verifyRequest(c);
  if (!event) return c.json({ status: 'ignored' }, 200);
  return respond(c, carrier, await admitInbound(context, carrier, event));
});

carrierRoutes.get(`${callPath}/relay/:nonce{[A-Za-z0-9_-]{1,64}}/:expires{[0-9]{1,12}}/:signature{[0-9a-f]{64}}`, async (c) => {
  const [organizationId, configId, runId] = [
    numericParameter(c, 'organization_id'),
    numericParameter(c, 'config_id'),
    numericParameter(c, 'run_id'),
  ];
  const expires = numericParameter(c, 'expires');
  const signature = await signRelay(c.var.settings.SIGNING_KEY, { organizationId, configId, runId }, c.req.param('nonce'), expires);
  if (!isEqualConstantTime(signature, c.req.param('signature')) || expires * 1000 <= Date.now())
    throw forbidden('This address does not open the call: its token is wrong or has expired');
  if (c.req.header('upgrade')?.toLowerCase() !== 'websocket') return c.json({ detail: 'This address takes a WebSocket' }, 426);
  return c.env.CALL.getByName(`${organizationId}/${runId}`).fetch(c.req.raw);
});

const numericParameter = (c: HttpContext, name: string): number => Number(c.req.param(name));

const respond = (c: HttpContext, { telephony }: Carrier, response: CarrierResponse) =>
  'document' in response
    ? c.body(response.document, 200, { 'Content-Type': telephony.documents!.contentType })
    : c.json({ status: response.status }, 200);

/** The carrier that signed a request, and its event. Throws 401 without a valid signature. */
async function verifyRequest(c: HttpContext): Promise<{ context: Context; carrier: Carrier; event: CarrierEvent | undefined }> {
  const body = new TextDecoder().decode(await readBytes(c.req.raw, bodyLimit));
  const defer = (work: Promise<unknown>) =>
    c.executionCtx.waitUntil(work.catch((error: unknown) => c.var.log.error('deferred work failed', error)));
  const context = await backgroundContext(c.env, numericParameter(c, 'organization_id'), defer);
  const carrier = context && (await loadCarrier(context, numericParameter(c, 'config_id')));
  const { pathname, search } = new URL(c.req.url);
  const callback = { path: pathname + search, body, headers: c.req.raw.headers };
  const now = Date.now();
  if (!context || !carrier || !(await isSignedBy(carrier, callback, now)))
    throw unauthorized('This request is not signed by the carrier of this configuration');
  return { context, carrier, event: carrier.telephony.readCallback(body, now) };
}
