import { isRecord } from '../../library/json/json.ts';

type JsonObject = Record<string, unknown>;

/** Renames the fields of a webhook node that another service names differently (`ignored-keys.ts`). A field under its own name wins. */
export function normalizeWebhookFields(data: JsonObject): JsonObject {
  const {
    method = data['http_method'],
    url = data['endpoint_url'],
    headers = toHeaders(data['custom_headers']),
    body = data['payload_template'],
  } = data;
  return { ...data, ...nullToUndefined({ method, url, headers, body }) };
}

/** Editors write null for an empty field. */
const nullToUndefined = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value ?? undefined]));

/** `[{ key, value }]` as `{ key: value }`; undefined for anything but a list. */
const toHeaders = (list: unknown): unknown =>
  Array.isArray(list)
    ? Object.fromEntries(list.filter(isRecord).flatMap(({ key, value }) => (typeof key === 'string' ? [[key, value]] : [])))
    : undefined;
