import { Hono } from 'hono';
import { z } from 'zod';
import { readJsonObject, tokenOf } from '../grants.ts';
import type { VendorBindings, World } from '../vendor.ts';
import { toolkitOf, type Account, type AccountBook } from './accounts.ts';
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

/** `/api/v3.1/tools/execute/proxy`: asks the vendor with the token of the account, and hands its answer back inside one of success. */
export function proxyRoutes(book: AccountBook, ask: World['ask']): Hono<{ Bindings: VendorBindings }> {
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
    const answer = await ask(vendorOf(account, parsed.data), requestFor(account, parsed.data));
    if (answer === undefined)
      throw new ComposioError(504, 'The upstream service did not respond', { slug: 'HTTP_GatewayTimeout', code: 504 });
    const text = await answer.text();
    return c.json({ data: parse(text), status: answer.status, headers: Object.fromEntries(answer.headers) });
  });
}

/** Only the vendor that the account is of may see its token. */
function vendorOf(account: Account, { endpoint }: ProxyBody): string {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  const vendor =
    url?.protocol === 'https:'
      ? toolkitOf(account).vendors.find(({ host, path }) => host.test(url.hostname) && url.pathname.startsWith(path))
      : undefined;
  if (vendor === undefined)
    throw new ComposioError(400, `The endpoint ${endpoint} is not on the domain of the connection`, { slug: 'OriginMismatch', code: 400 });
  return vendor.name;
}

function requestFor(account: Account, { endpoint, method, body, parameters = [] }: ProxyBody): Request {
  const url = new URL(endpoint);
  const headers = new Headers();
  for (const { name, value, type } of parameters)
    if (type === 'query') url.searchParams.append(name, value);
    else headers.set(name, value);
  const token = tokenOf({ customer: account.user_id, scopes: account.scopes, params: account.connection_data });
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
