import { Hono } from 'hono';
import type { VendorBindings } from '../vendor.ts';
import type { TemplateStore } from '../messaging/catalogue.ts';
import { DeliverySimulator, type DeliveryDependencies, type Fault } from '../messaging/delivery-simulator.ts';
import { toDeliveryOutcome } from '../messaging/delivery-outcome.ts';
import type { DeliveryStatus, MessageRecord } from '../messaging/message-store.ts';
import type { Callback } from '../telephony/outbox.ts';
import { newSid } from './carrier.ts';
import { readForm } from './call-routes.ts';
import { requireAccount, type TwilioAccount } from './credentials.ts';
import { notFound, TwilioError } from './errors.ts';
import { readMessageRequest, type MessageRequest } from './message-request.ts';
import { wireDate } from './resource.ts';
import { sign } from './signature.ts';

type Ordered = MessageRequest & TwilioAccount;

/** The fields of a message in the API that its record does not have. */
const orders = new WeakMap<MessageRecord, Ordered>();

const wireStatus: Record<DeliveryStatus, string> = {
  accepted: 'queued',
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  failed: 'undelivered',
};

export const createMessageDelivery = (dependencies: DeliveryDependencies): DeliverySimulator =>
  new DeliverySimulator(dependencies, {
    faults: {
      not_on_channel: { code: '63024', words: 'Invalid message recipient' },
      window_closed: { code: '63016', words: 'Failed to send freeform message because you are outside the allowed window' },
      opted_out: { code: '63014', words: 'Channel message blocked by user action' },
    },
    callbacksOf: (message, status, fault) => statusCallbacks(message, status, fault),
  });

/** Messages, under `/2010-04-01/Accounts/{AccountSid}`. */
export function messageRoutes(courier: DeliverySimulator, catalogue: TemplateStore): Hono<{ Bindings: VendorBindings }> {
  const routes = new Hono<{ Bindings: VendorBindings }>();

  routes.post('/Messages.json', async (c) => {
    const account = requireAccount(c.req.header('authorization'), c.req.param('account')!);
    const order = readMessageRequest(await readForm(c.req.raw), catalogue.of(account.accountSid));
    if (toDeliveryOutcome(order.to) === 'rate_limited') throw new TwilioError(429, 20429, 'Too Many Requests');
    const message = courier.take({
      id: newSid('SM'),
      account: account.accountSid,
      to: order.to,
      kind: order.template ? 'template' : 'text',
      template: order.template?.name ?? null,
      language: order.template?.language ?? null,
      params: order.params,
      text: order.body,
      reference: order.statusCallback,
    });
    orders.set(message, { ...order, ...account });
    return c.json(messageResource(message), 201);
  });

  routes.get('/Messages/:file{SM[0-9a-f]{32}\\.json}', (c) => {
    const { accountSid } = requireAccount(c.req.header('authorization'), c.req.param('account')!);
    const message = courier.store.find(c.req.param('file').slice(0, -5));
    if (message?.account !== accountSid) throw notFound(c.req.path);
    return c.json(messageResource(message));
  });

  return routes;
}

function messageResource(message: MessageRecord): object {
  const { from = null, messagingServiceSid = null } = orders.get(message) ?? {};
  const date = wireDate(message.created_at);
  return {
    sid: message.id,
    account_sid: message.account,
    to: `whatsapp:${message.to}`,
    from,
    messaging_service_sid: messagingServiceSid,
    body: message.text ?? '',
    status: wireStatus[message.status],
    direction: 'outbound-api',
    error_code: message.error === null ? null : Number(message.error),
    error_message: null,
    num_segments: '1',
    num_media: '0',
    price: null,
    price_unit: null,
    api_version: '2010-04-01',
    date_created: date,
    date_updated: date,
    date_sent: message.status === 'accepted' ? null : date,
    uri: `/2010-04-01/Accounts/${message.account}/Messages/${message.id}.json`,
    subresource_uris: { media: `/2010-04-01/Accounts/${message.account}/Messages/${message.id}/Media.json` },
  };
}

function statusCallbacks(message: MessageRecord, status: DeliveryStatus, fault: Fault | undefined): Callback[] {
  const order = orders.get(message);
  // The answer to the request already had this status.
  if (!order?.statusCallback || status === 'accepted') return [];
  const word = wireStatus[status];
  const form = new URLSearchParams({
    MessageSid: message.id,
    SmsSid: message.id,
    SmsStatus: word,
    MessageStatus: word,
    To: `whatsapp:${message.to}`,
    ...(order.from && { From: order.from }),
    ChannelToAddress: message.to,
    AccountSid: message.account,
    ApiVersion: '2010-04-01',
    ...(status === 'read' && { EventType: 'READ' }),
    ...(fault && { ErrorCode: fault.code, ErrorMessage: fault.words }),
  });
  const url = order.statusCallback;
  const headers = () => ({
    'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
    'x-twilio-signature': sign(order.authToken, url, form),
    'user-agent': 'TwilioProxy/1.1',
  });
  return [{ event: word, account: message.account, sid: message.id, method: 'POST', url, body: form.toString(), headers }];
}
