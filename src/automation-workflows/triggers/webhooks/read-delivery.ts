import { applyMapping, extractDeliveryId, type MappedPayload } from './mapping.ts';
import { parseBody } from './parse-body.ts';
import type { WebhookConfig } from './config.ts';
import type { DeliveryPayload } from '../../runs/cause.ts';

/** A request to a webhook's address. */
export interface SentWebhook {
  headers: Headers;
  query: Record<string, string>;
  body: Uint8Array;
}

/** What a request says: the payload for runs, the fields of the contact, and the sender's id of the delivery. */
export interface ReadDelivery {
  payload: DeliveryPayload;
  contact: MappedPayload['contact'];
  deliveryId: string | null;
}

/** Reads a request by the trigger's config. */
export async function readDelivery(config: WebhookConfig, { headers, query, body: bytes }: SentWebhook): Promise<ReadDelivery> {
  const { body, raw = null } = await parseBody(headers.get('content-type'), bytes);
  const { contact, variables } = applyMapping(config.mapping, body);
  const payload = { body, raw, headers: showableHeaders(headers, config), query, variables };
  return { payload, contact, deliveryId: extractDeliveryId(config, headers, body) };
}

const credentialHeader = /authorization|cookie|signature|hmac|token|secret|api[-_]?key/i;
const platformHeader = /^(cf-|x-forwarded|x-real-ip|true-client-ip|mf-)/i;

/** The headers that a journey may read: none with credentials. */
function showableHeaders(headers: Headers, config: WebhookConfig): Record<string, string> {
  const own = 'header' in config.auth ? config.auth.header.toLowerCase() : null;
  return Object.fromEntries([...headers].filter(([name]) => name !== own && !credentialHeader.test(name) && !platformHeader.test(name)));
}
