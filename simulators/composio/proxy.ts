import { Hono } from 'hono';
import { z } from 'zod';
import { readJsonObject, toToken } from '../grants.ts';
import type { VendorBindings, VendorContext } from '../vendor.ts';
import { toolkitOf, type Account, type AccountStore } from './accounts.ts';
import { projectOf, requireProxy } from './credentials.ts';
import { badRequest, ComposioError, noSuchAccount } from './errors.ts';

const ProxyBody = z.strictObject({
  connected_account_id: z.string(),
  endpoint: z.string(),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  body: z.record(z.string(), z.unknown()).optional(),
  parameters: z.array(z.strictObject({ name: z.string(), value: z.string(), type: z.enum(['query', 'header']) })).optional(),
});
type ProxyBody = z.output<typeof ProxyBody>;

/** `/api/v3.1/tools/execute/proxy`: calls the vendor with the token of the account, and returns its answer inside a successful one. */
export function proxyRoutes(
  book: AccountStore,
  ask: VendorContext['ask'],
  baseOf: (account: Account) => string,
): Hono<{ Bindings: VendorBindings }> {
  return new Hono<{ Bindings: VendorBindings }>().post('/', async (c) => {
    const key = c.req.header('x-api-key')!;
    requireProxy(key);
    const parsed = ProxyBody.safeParse(await readJsonObject(c.req.raw));
    if (!parsed.success) throw badRequest(`Invalid request data provided: ${z.prettifyError(parsed.error)}`);
    const id = parsed.data.connected_account_id;
    const account = book.find(id);
    if (account?.project !== projectOf(key)) throw noSuchAccount(id);
    if (account.status !== 'ACTIVE')
      throw new ComposioError(422, `Connected account "${id}" is in ${account.status} state`, {
        slug: 'ActionExecute_ConnectedAccountExpired',
        code: 1820,
      });
    const url = addressOf(parsed.data.endpoint, baseOf(account));
    const vendor = toolkitOf(account).vendors.find(({ host, path }) => host.test(url.hostname) && url.pathname.startsWith(path));
    if (vendor === undefined) throw new ComposioError(502, `Nobody answers at ${url.hostname}`, { slug: 'HTTP_BadGateway', code: 502 });
    const answer = await ask(vendor.name, requestFor(account, vendor.rewrite?.(url) ?? url, parsed.data));
    if (answer === undefined)
      throw new ComposioError(504, 'The upstream service did not respond', { slug: 'HTTP_GatewayTimeout', code: 504 });
    const text = await answer.text();
    return c.json({ data: parse(text), status: answer.status, headers: Object.fromEntries(answer.headers) });
  });
}

/** The resolved address: a relative one is below the base; an absolute one must have the base's scheme and registrable domain. */
function addressOf(endpoint: string, base: string): URL {
  const isAbsolute = /^[a-z][a-z0-9+.-]*:\/\//i.test(endpoint);
  const url = new URL(isAbsolute ? endpoint : `${base.replace(/\/+$/, '')}/${endpoint.replace(/^\/+/, '')}`);
  const ours = new URL(base);
  if (url.protocol === ours.protocol && registrable(url.hostname) === registrable(ours.hostname)) return url;
  throw new ComposioError(400, `The endpoint ${endpoint} is not on the domain of the connection's base URL`, {
    slug: 'OriginMismatch',
    code: 400,
  });
}

/** The part of a host's name that somebody has registered. */
function registrable(hostname: string): string {
  const labels = hostname.split('.');
  return labels.slice(/^(?:com?|net|org)$/.test(labels.at(-2) ?? '') ? -3 : -2).join('.');
}

function requestFor(account: Account, url: URL, { method, body, parameters = [] }: ProxyBody): Request {
  const headers = new Headers();
  // A header that is given twice arrives once; the vendor does not document whether it forwards both.
  for (const { name, value, type } of parameters)
    if (type === 'query') url.searchParams.set(name, value);
    else headers.set(name, value);
  const token = toToken({ customer: account.user_id, scopes: account.scopes, params: account.connection_data });
  headers.set('authorization', `${toolkitOf(account).scheme} ${token}`);
  if (body !== undefined) headers.set('content-type', 'application/json');
  return new Request(url, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
