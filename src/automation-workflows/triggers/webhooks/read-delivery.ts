import { decodeContent } from './decode-content.ts';
import { applyMapping, extractDeliveryId, extractElementId, type MappedPayload } from './mapping.ts';
import { parseBody, type ParsedBody } from './parse-body.ts';
import type { WebhookConfig } from './config.ts';
import { listElements } from './split.ts';
import { normalizePhone } from '../../../library/phone/phone-numbers.ts';
import type { DeliveryPayload } from '../../runs/cause.ts';

/** A request to a webhook's address. */
export interface SentWebhook {
  headers: Headers;
  query: DeliveryPayload['query'];
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
 * looks into the element first, and then into the whole body. `defaultCountry` is the organization's. Throws 400, 413 and 415 for the encoding of the body, and 413.
 */
export async function readDeliveries(
  config: WebhookConfig,
  { headers, query, body: bytes }: SentWebhook,
  defaultCountry: string,
): Promise<[ReadDelivery, ...ReadDelivery[]]> {
  const parsed = await parseBody(headers.get('content-type'), await decodeContent(headers, bytes));
  const { body, raw = null } = parsed;
  const shown = { raw, headers: showableHeaders(headers, config), query };
  const map = (...bodies: unknown[]) => readMapped(applyMapping(config.mapping, ...bodies), defaultCountry);
  const bodyProblem = parsed.unread ?? findNothingToMap(config, parsed);
  const toWhole = (element?: DeliveryPayload['element']): ReadDelivery => {
    const { contact, variables, phoneProblem } = map(body);
    const isFound = Object.keys(contact).length + Object.keys(variables).length > 0;
    const listProblem = isFound || element || !Array.isArray(body) || Object.keys(config.mapping).length === 0 ? undefined : listNeedsSplit;
    return {
      payload: { body, ...shown, variables, ...(element && { element }), ...toUnread(bodyProblem, listProblem, phoneProblem) },
      contact,
      deliveryId: extractDeliveryId(config, headers, body),
    };
  };
  if (config.split === undefined) return [toWhole()];
  const [first, ...others] = listElements(body, config.split).map((element, index, { length: of }): ReadDelivery => {
    const number = index + 1;
    const { contact, variables, phoneProblem } = map(element, body);
    const payload = { body: element, ...shown, variables, element: { number, of }, ...toUnread(bodyProblem, phoneProblem) };
    return { payload, contact, deliveryId: extractElementId(config, headers, body, { element, number }) };
  });
  return first ? [first, ...others] : [toWhole({ number: 0, of: 0 })];
}

const toUnread = (...problems: (string | undefined)[]): Pick<DeliveryPayload, 'unread'> => {
  const known = problems.filter((problem) => problem !== undefined);
  return known.length === 0 ? {} : { unread: known.join('. ') };
};

const listNeedsSplit = 'The body is a list, in which the mapping finds nothing; set "split" to "$" to make a run of each item';

/** Why a mapping finds nothing in a body: it has no fields. */
function findNothingToMap({ mapping }: WebhookConfig, { body, raw }: ParsedBody): string | undefined {
  if (Object.keys(mapping).length === 0 || (typeof body !== 'string' && raw === undefined)) return undefined;
  return `The body is ${raw === undefined ? 'text' : 'neither text nor a form'}, in which the mapping finds nothing; send JSON or a form`;
}

/** `phoneProblem`: why it cannot be read, without the number. */
function readMapped({ contact, variables }: MappedPayload, defaultCountry: string): MappedPayload & { phoneProblem?: string } {
  const { phone: given } = contact;
  if (given === undefined) return { contact, variables };
  const reading = normalizePhone(given, defaultCountry);
  if ('phone' in reading) return { contact, variables };
  // The detail begins with the number in quotes.
  return { contact, variables, phoneProblem: `The phone of the contact ${reading.detail.slice(reading.detail.lastIndexOf('" ') + 2)}` };
}

const credentialHeader = /authorization|cookie|signature|hmac|token|secret|api[-_]?key/i;
const platformHeader = /^(cf-|x-forwarded|x-real-ip|true-client-ip|mf-)/i;

/** The headers that a journey may read: none with credentials. */
function showableHeaders(headers: Headers, config: WebhookConfig): Record<string, string> {
  const own = 'header' in config.auth ? config.auth.header.toLowerCase() : null;
  return Object.fromEntries([...headers].filter(([name]) => name !== own && !credentialHeader.test(name) && !platformHeader.test(name)));
}
