import { idempotencyArgument } from './input-schema.ts';
import type { Operation } from './operations.ts';
import type { ToolDescription } from './tools.ts';
import { cleanText, percentEncoded } from '../library/text/clean-text.ts';

export type Arguments = Record<string, unknown>;

/** The origin and the credentials for the operation's request. */
export interface ToolRequestContext {
  origin: string;
  /** The caller's credentials and network address, and the request id. */
  headers: Record<string, string>;
}

/** The HTTP request of a tool call, or a sentence that names a missing argument. */
export function toHttpRequest(
  operation: Operation,
  { fixed, defaults }: ToolDescription,
  given: Arguments,
  { origin, headers }: ToolRequestContext,
): Request | string {
  const rest = new Map(Object.entries(given));
  const take = (name: string) => {
    const value = rest.get(name);
    rest.delete(name);
    return value;
  };
  let path = operation.path;
  const query = new URLSearchParams();
  for (const { name, in: place, isRequired } of operation.parameters) {
    const value = take(name) ?? defaults?.[name];
    if (value === undefined || value === null) {
      if (isRequired) return `The argument ${name} is missing`;
    } else if (place === 'path') path = path.replace(`{${name}}`, percentEncoded(toText(value)));
    else query.append(name, toText(value));
  }
  const key = take(idempotencyArgument);
  const all = new Headers(headers);
  if (typeof key === 'string' && key && operation.method !== 'GET') all.set('Idempotency-Key', key);
  const url = `${origin}${path}${query.size ? `?${query}` : ''}`;
  if (operation.method === 'GET') return new Request(url, { headers: all });
  if (operation.body) all.set('Content-Type', 'application/json');
  const body = operation.body ? JSON.stringify({ ...Object.fromEntries(rest), ...fixed }) : null;
  return new Request(url, { method: operation.method, headers: all, body });
}

const toText = (value: unknown): string => cleanText(typeof value === 'string' ? value : JSON.stringify(value));
