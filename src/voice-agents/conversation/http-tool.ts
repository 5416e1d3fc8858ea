import { InvalidRequestError, buildHttpRequest } from '../../expressions/http-request/build.ts';
import { HttpRequestData, isHttpUrl } from '../../expressions/http-request/schema.ts';
import { findTemplateRoots, renderText, TemplateError, type Scope } from '../../expressions/templates/render.ts';
import { isRecord, parseJson, type Json } from '../../library/json/json.ts';
import type { GuardedRequest, GuardedResponse } from '../../providers/http/guarded-request.ts';
import type { AgentTool } from '../definition/schemas.ts';
import { percentEncoded } from '../../library/text/clean-text.ts';

/** What the model reads of an answer. */
const maxAnswerCharacters = 8 * 1024;

/** Whether calling twice does no harm. */
export const isRepeatable = ({ method }: AgentTool['http']): boolean => method === 'GET' || method === 'HEAD';

/**
 * The request of a tool call. Without a body of its own it carries the arguments: as JSON, or in the query when it has no body and the URL
 * does not place them itself. Throws InvalidRequestError or TemplateError.
 */
export async function buildToolRequest(
  http: AgentTool['http'],
  values: Record<string, Json>,
  scope: Scope,
  key: string,
  now: number,
): Promise<GuardedRequest> {
  const url = buildToolUrl(http, values, scope);
  // The arguments come in by a template, so that nothing in them is taken for one.
  const body = isRepeatable(http) ? undefined : (http.body ?? '{{ arguments }}');
  const data = HttpRequestData.parse({ ...http, url: placeholderUrl, body });
  return { ...(await buildHttpRequest(data, { ...scope, arguments: values }, key, now)), url };
}

const placeholderUrl = 'https://example.com/';

function buildToolUrl(http: AgentTool['http'], values: Record<string, Json>, scope: Scope): string {
  const text = renderText(http.url, { ...scope, arguments: encodeForUrl(values) }).trim();
  if (!isHttpUrl(text))
    throw new InvalidRequestError('the address of the tool is no absolute http:// or https:// URL once it is filled in');
  const url = new URL(text);
  if (isRepeatable(http) && !findTemplateRoots(http.url).includes('arguments'))
    for (const [name, value] of Object.entries(values))
      if (value !== null) url.searchParams.append(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
  return url.href;
}

/** Encoded, because the model repeats what people say: nobody is to talk his way to another path or host. */
function encodeForUrl(value: Json): Json {
  if (typeof value === 'string') {
    if (/^\.{1,2}$/.test(value)) throw new InvalidRequestError(`"${value}" cannot be a part of an address`);
    return percentEncoded(value);
  }
  if (Array.isArray(value)) return value.map(encodeForUrl);
  return isRecord(value) ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, encodeForUrl(item)])) : value;
}

/** Why a tool call cannot be sent, for the model; null when `error` is another one. */
export const requestErrorMessage = (error: unknown): string | null =>
  error instanceof InvalidRequestError || error instanceof TemplateError ? error.message : null;

/** What the model and the log are told of an answer. */
export function toToolAnswer(response: GuardedResponse): Record<string, Json> {
  if ('failure' in response) return { error: response.message };
  const { status, body, headers, is_cut: isCut } = response;
  if (isCut || body.length > maxAnswerCharacters) return { status, body: body.slice(0, maxAnswerCharacters), is_cut: true };
  const isJson = /\bjson\b/i.test(headers['content-type'] ?? '') || /^\s*[[{]/.test(body);
  return { status, body: isJson ? parseJsonOrText(body) : body };
}

function parseJsonOrText(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
