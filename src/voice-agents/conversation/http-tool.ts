import { BadRequestError, buildRequest } from '../../automation-workflows/nodes/http-request-build.ts';
import { HttpRequestData, isHttpUrl } from '../../automation-workflows/nodes/http-request-data.ts';
import { rootsReadBy } from '../../automation-workflows/template-roots.ts';
import { renderText, TemplateError, type Scope } from '../../automation-workflows/templates.ts';
import { isRecord, parseJson, type Json } from '../../library/json.ts';
import type { OutsideRequest, OutsideResponse } from '../../providers/http/send.ts';
import type { AgentTool } from '../definition/schemas.ts';
import { percentEncoded } from '../../library/clean-text.ts';

/** What the model reads of an answer. */
const keptCharacters = 8 * 1024;

/** Whether calling twice does no harm. */
export const isRepeatable = ({ method }: AgentTool['http']): boolean => method === 'GET' || method === 'HEAD';

/**
 * The request of a tool call. Without a body of its own it carries the arguments: as JSON, or in the query when it has no body and the URL
 * does not place them itself. Throws BadRequestError or TemplateError.
 */
export async function toolRequest(
  http: AgentTool['http'],
  values: Record<string, Json>,
  scope: Scope,
  key: string,
  now: number,
): Promise<OutsideRequest> {
  const url = toolUrl(http, values, scope);
  // The arguments come in by a template, so that nothing in them is taken for one.
  const body = isRepeatable(http) ? undefined : (http.body ?? '{{ arguments }}');
  const data = HttpRequestData.parse({ ...http, url: standIn, body });
  return { ...(await buildRequest(data, { ...scope, arguments: values }, key, now)), url };
}

const standIn = 'https://example.com/';

function toolUrl(http: AgentTool['http'], values: Record<string, Json>, scope: Scope): string {
  const text = renderText(http.url, { ...scope, arguments: inAddress(values) }).trim();
  if (!isHttpUrl(text)) throw new BadRequestError('the address of the tool is no absolute http:// or https:// URL once it is filled in');
  const url = new URL(text);
  if (isRepeatable(http) && !rootsReadBy(http.url).includes('arguments'))
    for (const [name, value] of Object.entries(values))
      if (value !== null) url.searchParams.append(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
  return url.href;
}

/** Encoded, because the model repeats what people say: nobody is to talk his way to another path or host. */
function inAddress(value: Json): Json {
  if (typeof value === 'string') {
    if (/^\.{1,2}$/.test(value)) throw new BadRequestError(`"${value}" cannot be a part of an address`);
    return percentEncoded(value);
  }
  if (Array.isArray(value)) return value.map(inAddress);
  return isRecord(value) ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, inAddress(item)])) : value;
}

/** Why a tool call cannot be sent, for the model; null when `error` is another one. */
export const requestFault = (error: unknown): string | null =>
  error instanceof BadRequestError || error instanceof TemplateError ? error.message : null;

/** What the model and the log are told of an answer. */
export function toolAnswer(response: OutsideResponse): Record<string, Json> {
  if ('failure' in response) return { error: response.message };
  const { status, body, headers, is_cut: isCut } = response;
  if (isCut || body.length > keptCharacters) return { status, body: body.slice(0, keptCharacters), is_cut: true };
  const isJson = /\bjson\b/i.test(headers['content-type'] ?? '') || /^\s*[[{]/.test(body);
  return { status, body: isJson ? jsonOr(body) : body };
}

function jsonOr(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
