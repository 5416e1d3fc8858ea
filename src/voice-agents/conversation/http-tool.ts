import { InvalidRequestError, buildHttpRequest } from '../../expressions/http-request/build.ts';
import { HttpRequestData, isHttpUrl } from '../../expressions/http-request/schema.ts';
import { findTemplateRoots, renderText, TemplateError, type Scope } from '../../expressions/templates/render.ts';
import { isRecord, parseJson, type Json } from '../../library/json/json.ts';
import type { GuardedRequest, GuardedResponse } from '../../providers/http/guarded-request.ts';
import type { AgentTool } from '../definition/schemas.ts';
import { percentEncoded } from '../../library/text/clean-text.ts';

/** The longest answer that the model is given. */
const maxAnswerCharacters = 8 * 1024;

/** Whether a repeated request changes nothing more. */
export const isRepeatable = ({ method }: NonNullable<AgentTool['http']>): boolean => method === 'GET' || method === 'HEAD';

/**
 * Builds the request of a tool call. Without a `body` the request carries the arguments: as JSON, or in the query for GET and HEAD when the URL has
 * no place for them. Throws InvalidRequestError or TemplateError.
 */
export async function buildToolRequest(
  http: NonNullable<AgentTool['http']>,
  values: Record<string, Json>,
  scope: Scope,
  key: string,
  now: number,
): Promise<GuardedRequest> {
  const url = buildToolUrl(http, values, scope);
  // A template inserts the arguments, so that nothing in them is read as a template.
  const body = isRepeatable(http) ? undefined : (http.body ?? '{{ arguments }}');
  const data = HttpRequestData.parse({ ...http, url: placeholderUrl, body });
  return { ...(await buildHttpRequest(data, { ...scope, arguments: values }, key, now)), url };
}

const placeholderUrl = 'https://example.com/';

function buildToolUrl(http: NonNullable<AgentTool['http']>, values: Record<string, Json>, scope: Scope): string {
  const text = renderText(http.url, { ...scope, arguments: encodeForUrl(values) }).trim();
  if (!isHttpUrl(text))
    throw new InvalidRequestError('the address of the tool is no absolute http:// or https:// URL once it is filled in');
  const url = new URL(text);
  if (isRepeatable(http) && !findTemplateRoots(http.url).includes('arguments'))
    for (const [name, value] of Object.entries(values))
      if (value !== null) url.searchParams.append(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
  return url.href;
}

/** Percent-encodes arguments. The model repeats what people say, and nobody may talk a request to another path or host. */
function encodeForUrl(value: Json): Json {
  if (typeof value === 'string') {
    if (/^\.{1,2}$/.test(value)) throw new InvalidRequestError(`"${value}" cannot be a part of an address`);
    return percentEncoded(value);
  }
  if (Array.isArray(value)) return value.map(encodeForUrl);
  return isRecord(value) ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, encodeForUrl(item)])) : value;
}

/** Why a tool call cannot be sent, for the model; null for any other error. */
export const requestErrorMessage = (error: unknown): string | null =>
  error instanceof InvalidRequestError || error instanceof TemplateError ? error.message : null;

/** The answer as the model and the log get it. */
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
