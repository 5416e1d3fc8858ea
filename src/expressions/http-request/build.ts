import { maskUrl } from '../../library/security/url-secrets.ts';
import { maskHeaders } from '../secrets/secrets.ts';
import { signStandardWebhook } from '../../library/security/standard-webhooks.ts';
import { render, renderDeep, renderText, type Scope } from '../templates/render.ts';
import type { OutboundRequest } from './request.ts';
import { isHttpUrl, type HttpRequestData } from './schema.ts';

/** The rendered request cannot be sent. The message names the wrong part. */
export class InvalidRequestError extends Error {}

/**
 * The request to send: templates are rendered, the query is part of the URL, a body that is no text is JSON. With a secret, the request is
 * signed by Standard Webhooks. `key` is the Idempotency-Key; the webhook-id is `key` without the attempt, so that receivers recognize a
 * retry. `now` in epoch ms. Throws InvalidRequestError and TemplateError.
 */
export async function buildHttpRequest(data: HttpRequestData, scope: Scope, key: string, now: number): Promise<OutboundRequest> {
  const headers: Record<string, string> = { 'idempotency-key': key };
  for (const [name, template] of Object.entries(data.headers))
    headers[name.toLowerCase()] = toHeaderValue(name, renderText(template, scope));
  const { text, type } = buildBody(data, scope);
  if (text !== null && type) headers['content-type'] ??= type;
  if (data.secret !== undefined) {
    const messageId = key.slice(0, key.lastIndexOf(':'));
    Object.assign(headers, await signStandardWebhook(data.secret, messageId, now, text ?? ''));
  }
  return { method: data.method, url: buildUrl(data, scope), headers, body: text, timeout_seconds: data.timeout_seconds };
}

function toHeaderValue(name: string, value: string): string {
  if (/[\r\n\0]/.test(value)) throw new InvalidRequestError(`header "${name}" renders to more than one line`);
  return value.trim();
}

function buildUrl(data: HttpRequestData, scope: Scope): string {
  const text = renderText(data.url, scope).trim();
  if (!isHttpUrl(text))
    throw new InvalidRequestError(
      `url renders to ${JSON.stringify(maskUrl(text).slice(0, 200))}, which is not an absolute http:// or https:// URL`,
    );
  const url = new URL(text);
  for (const [name, template] of Object.entries(data.query)) {
    const value = renderDeep(template, scope);
    for (const item of Array.isArray(value) ? value : [value])
      if (item !== null) url.searchParams.append(name, typeof item === 'object' ? JSON.stringify(item) : String(item));
  }
  return url.href;
}

function buildBody(data: HttpRequestData, scope: Scope): { text: string | null; type?: string } {
  if (data.body === undefined || data.method === 'GET' || data.method === 'HEAD') return { text: null };
  if (typeof data.body !== 'string') return { text: JSON.stringify(renderDeep(data.body, scope)), type: 'application/json' };
  const value = render(data.body, scope);
  if (typeof value !== 'string') return { text: JSON.stringify(value), type: 'application/json' };
  return { text: value, type: isJsonText(value) ? 'application/json' : 'text/plain; charset=utf-8' };
}

function isJsonText(text: string): boolean {
  try {
    return /^\s*[[{]/.test(text) && JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
}

/** The request for histories and dry runs, with every possible credential masked. */
export const redactRequest = (request: OutboundRequest): OutboundRequest => ({
  ...request,
  url: maskUrl(request.url),
  headers: maskHeaders(request.headers),
});
