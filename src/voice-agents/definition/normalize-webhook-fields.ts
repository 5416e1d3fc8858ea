import { isRecord } from '../../library/json/json.ts';

type JsonObject = Record<string, unknown>;

/** The data of a webhook node with our names for what another service calls otherwise (see `other-keys.ts`); our own go first. */
export function normalizeWebhookFields(data: JsonObject): JsonObject {
  const {
    method = data['http_method'],
    url = data['endpoint_url'],
    headers = toHeaders(data['custom_headers']),
    body = data['payload_template'],
  } = data;
  return { ...data, ...nullToUndefined({ method, url, headers, body }) };
}

/** Null is what an editor writes for what nobody has filled in. */
const nullToUndefined = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value ?? undefined]));

/** `[{ key, value }]` as `{ key: value }`; anything else is no headers. */
const toHeaders = (list: unknown): unknown =>
  Array.isArray(list)
    ? Object.fromEntries(list.filter(isRecord).flatMap(({ key, value }) => (typeof key === 'string' ? [[key, value]] : [])))
    : undefined;
