import { isRecord } from '../../library/json.ts';

type JsonObject = Record<string, unknown>;

/** The data of a webhook node with our names for what another service calls otherwise (see `other-keys.ts`); our own go first. */
export function webhookFields(data: JsonObject): JsonObject {
  const {
    method = data['http_method'],
    url = data['endpoint_url'],
    headers = headersFrom(data['custom_headers']),
    body = data['payload_template'],
  } = data;
  return { ...data, ...without({ method, url, headers, body }) };
}

/** Null is what an editor writes for what nobody has filled in. */
const without = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value ?? undefined]));

/** `[{ key, value }]` as `{ key: value }`; anything else is no headers. */
const headersFrom = (list: unknown): unknown =>
  Array.isArray(list)
    ? Object.fromEntries(list.filter(isRecord).flatMap(({ key, value }) => (typeof key === 'string' ? [[key, value]] : [])))
    : undefined;
