import { decodeContent } from './decode-content.ts';
import { applyMapping, extractDeliveryId, extractElementId, type MappedPayload } from './mapping.ts';
import { parseBody } from './parse-body.ts';
import type { WebhookConfig } from './config.ts';
import { listElements } from './split.ts';
import type { DeliveryPayload } from '../../runs/cause.ts';

/** A request to a webhook's address. */
export interface SentWebhook {
  headers: Headers;
  query: Record<string, string>;
  /** As it was sent, perhaps compressed. */
  body: Uint8Array;
}

/** What a request says: the payload for runs, the fields of the contact, and the sender's id of the delivery. */
export interface ReadDelivery {
  payload: DeliveryPayload;
  contact: MappedPayload['contact'];
  deliveryId: string | null;
}

/**
 * Reads a request by the trigger's config: its only delivery, or with `split` one of each element, at least one. The mapping of an element
 * looks into the element first, and then into the whole body. Throws 400, 413 and 415 for the encoding of the body, and 413.
 */
export async function readDeliveries(
  config: WebhookConfig,
  { headers, query, body: bytes }: SentWebhook,
): Promise<[ReadDelivery, ...ReadDelivery[]]> {
  const { body, raw = null } = await parseBody(headers.get('content-type'), await decodeContent(headers, bytes));
  const shown = { raw, headers: showableHeaders(headers, config), query };
  const toWhole = (element?: DeliveryPayload['element']): ReadDelivery => {
    const { contact, variables } = applyMapping(config.mapping, body);
    return {
      payload: { body, ...shown, variables, ...(element && { element }) },
      contact,
      deliveryId: extractDeliveryId(config, headers, body),
    };
  };
  if (config.split === undefined) return [toWhole()];
  const [first, ...others] = listElements(body, config.split).map((element, index, { length: of }): ReadDelivery => {
    const number = index + 1;
    const { contact, variables } = applyMapping(config.mapping, element, body);
    const payload = { body: element, ...shown, variables, element: { number, of } };
    return { payload, contact, deliveryId: extractElementId(config, headers, body, { element, number }) };
  });
  return first ? [first, ...others] : [toWhole({ number: 0, of: 0 })];
}

const credentialHeader = /authorization|cookie|signature|hmac|token|secret|api[-_]?key/i;
const platformHeader = /^(cf-|x-forwarded|x-real-ip|true-client-ip|mf-)/i;

/** The headers that a journey may read: none with credentials. */
function showableHeaders(headers: Headers, config: WebhookConfig): Record<string, string> {
  const own = 'header' in config.auth ? config.auth.header.toLowerCase() : null;
  return Object.fromEntries([...headers].filter(([name]) => name !== own && !credentialHeader.test(name) && !platformHeader.test(name)));
}
