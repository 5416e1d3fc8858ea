import { readPath } from '../../../library/json/paths.ts';
import type { WebhookConfig, WebhookMapping } from './config.ts';

const mappedContactFields = ['phone', 'email', 'first_name', 'last_name', 'external_id'] as const;
type MappedContactField = (typeof mappedContactFields)[number];

export interface MappedPayload {
  /** Trimmed, not empty. */
  contact: Partial<Record<MappedContactField, string>>;
  /** The values of other mapping keys, as top-level variables. */
  variables: Record<string, unknown>;
}

const isContactField = (key: string): key is MappedContactField => (mappedContactFields as readonly string[]).includes(key);

const isEmpty = (value: unknown): boolean => value === undefined || value === null || (typeof value === 'string' && value.trim() === '');

/** The contact fields and variables that `mapping` finds in a webhook's body, or in the first of `bodies` where its paths find something. */
export function applyMapping(mapping: WebhookMapping, ...bodies: unknown[]): MappedPayload {
  const mapped: MappedPayload = { contact: {}, variables: {} };
  for (const [key, paths] of Object.entries(mapping)) {
    const value = firstValue(Array.isArray(paths) ? paths : [paths], bodies, isContactField(key));
    if (value === undefined) continue;
    if (isContactField(key)) mapped.contact[key] = String(value).trim();
    else mapped.variables[key] = value;
  }
  return mapped;
}

/** The first value that is not empty. For a contact field, an array counts as its first item, since some forms send arrays of one answer. */
function firstValue(paths: readonly string[], bodies: unknown[], mustBeScalar: boolean): unknown {
  for (const path of paths)
    for (const body of bodies) {
      const found = readPath(body, path);
      const value = mustBeScalar && Array.isArray(found) ? found[0] : found;
      if (!isEmpty(value) && !(mustBeScalar && typeof value === 'object')) return value;
    }
  return undefined;
}

const maxDeliveryIdLength = 255;
/** Room for the number of an element. */
const maxRequestIdLength = 248;

/**
 * The sender's id of a delivery, by which repeats are recognized; null: the delivery has none. Shopify, Stripe and Standard Webhooks have fixed
 * places for the id (https://shopify.dev/docs/apps/build/webhooks/verify-deliveries); for others the config says where the id is.
 */
export function extractDeliveryId({ auth, delivery_id }: WebhookConfig, headers: Headers, body: unknown): string | null {
  if (delivery_id !== undefined) return toDeliveryId(delivery_id.startsWith('$.') ? readPath(body, delivery_id) : headers.get(delivery_id));
  if (auth.type === 'stripe') return toDeliveryId(readPath(body, 'id'));
  if (auth.type === 'standard_webhooks') return toDeliveryId(headers.get('webhook-id') ?? headers.get('svix-id'));
  if (auth.type !== 'shopify') return null;
  const eventId = headers.get('x-shopify-event-id');
  // One action in the shop sends deliveries of several topics under one event id.
  return toDeliveryId(headers.get('x-shopify-webhook-id') ?? (eventId && `${headers.get('x-shopify-topic') ?? ''}:${eventId}`));
}

/**
 * The id of one element of a body that is split: what `delivery_id` finds in the element; else the id of the whole request and the element's
 * number, from 1. Null: repeats cannot be recognized.
 */
export function extractElementId(
  config: WebhookConfig,
  headers: Headers,
  body: unknown,
  { element, number }: { element: unknown; number: number },
): string | null {
  const own = config.delivery_id?.startsWith('$.') ? toDeliveryId(readPath(element, config.delivery_id)) : null;
  if (own !== null) return own;
  const request = extractDeliveryId(config, headers, body);
  return request === null ? null : `${request.slice(0, maxRequestIdLength)}#${number}`;
}

function toDeliveryId(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const text = String(value).trim();
  return text === '' || text.length > maxDeliveryIdLength ? null : text;
}
