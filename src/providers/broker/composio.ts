import type { z } from 'zod';
import { parseJson } from '../../library/json/json.ts';
import type { Settings } from '../../settings.ts';
import { systemRuntime, type Runtime } from '../http/runtime.ts';
import type { App } from '../../library/connectable-apps.ts';
import type { AppResponse, AppFailure, AppRequest, Broker } from './broker.ts';
import { createComposioExchange, type ComposioResponse } from './composio-exchange.ts';
import { relativeEndpoint, isOriginMismatch, isSiblingDomain } from './composio-endpoint.ts';
import { Account, AccountPage, toBrokerConnection, Link, ProxyResponse, Toolkit } from './composio-schemas.ts';
import { isBooksRegion, isTrackerSubdomain } from './connection-params.ts';
import { appFailure } from './app-failure.ts';
import { withRetry } from './retry.ts';
import { percentEncoded } from '../../library/text/clean-text.ts';

export type BrokerSettings = Pick<Settings, 'COMPOSIO_API_KEY' | 'COMPOSIO_BASE_URL' | 'COMPOSIO_AUTH_CONFIGS'>;

/** The timeout of one request to the broker itself, and of one that it forwards. */
const controlTimeoutMs = 10_000;
const proxyTimeoutMs = 25_000;

/** The broker Composio, API version 3.1. Without a key every call returns a failure that says so. */
export function createBroker(settings: BrokerSettings, runtime: Runtime = systemRuntime): Broker {
  const authConfigs = new Map(settings.COMPOSIO_AUTH_CONFIGS);
  const appOfConfig = new Map(settings.COMPOSIO_AUTH_CONFIGS.map(([app, id]) => [id, app]));
  const send = createComposioExchange(settings.COMPOSIO_BASE_URL, settings.COMPOSIO_API_KEY, runtime);
  const isConfigured = settings.COMPOSIO_API_KEY !== '';

  const read = <Data>(path: string, shape: z.ZodType<Data>) =>
    withRetry({ runtime }, async () => parseResponse(await send({ method: 'GET', path, timeoutMs: controlTimeoutMs }), shape));
  const change = (method: 'POST' | 'DELETE', path: string, body?: unknown) => send({ method, path, body, timeoutMs: controlTimeoutMs });

  return {
    async findActive(owner, app) {
      const configId = authConfigs.get(app);
      if (!isConfigured) return missingApiKey;
      if (configId === undefined) return missingAuthConfig(app);
      const query = new URLSearchParams({
        user_ids: owner,
        auth_config_ids: configId,
        statuses: 'ACTIVE',
        limit: '1',
        order_by: 'created_at',
        order_direction: 'desc',
      });
      const page = await read(`/connected_accounts?${query}`, AccountPage);
      if ('failure' in page) return page;
      // If the broker ignored the filter, an organization would get another one's connection.
      const found = page.data.items.map((account) => toBrokerConnection(account, appOfConfig));
      return { connection: found.find((one) => one.owner === owner && one.app === app && one.status === 'active') ?? null };
    },

    async start(owner, app, params = {}, callbackUrl) {
      const configId = authConfigs.get(app);
      if (!isConfigured) return missingApiKey;
      if (configId === undefined) return missingAuthConfig(app);
      const connectionData = toConnectionData(app, params);
      if (typeof connectionData === 'string') return appFailure('rejected', connectionData);
      const answer = await change('POST', '/connected_accounts/link', {
        auth_config_id: configId,
        user_id: owner,
        ...(callbackUrl !== undefined && { callback_url: callbackUrl }),
        ...(Object.keys(connectionData).length > 0 && { connection_data: connectionData }),
      });
      const link = parseResponse(answer, Link);
      if ('failure' in link) return link;
      const { connected_account_id: requestId, redirect_url: redirectUrl, expires_at: expiresAt } = link.data;
      return { requestId, redirectUrl, ...(expiresAt && { expiresAt }) };
    },

    async get(id) {
      if (!isConfigured) return missingApiKey;
      const account = await read(`/connected_accounts/${percentEncoded(id)}`, Account);
      if (!('failure' in account)) return { connection: toBrokerConnection(account.data, appOfConfig) };
      return account.failure === 'not_connected' ? { connection: null } : account;
    },

    async revoke(id) {
      if (!isConfigured) return missingApiKey;
      const path = `/connected_accounts/${percentEncoded(id)}`;
      const revoked = await change('POST', `${path}/revoke`, {});
      const isRevoked = !('failure' in revoked) || revoked.failure === 'not_connected';
      // Composio cannot revoke every kind of credentials; then the deletion is asked to revoke them.
      const deleted = await change('DELETE', isRevoked ? path : `${path}?revoke_on_delete=true`);
      return 'failure' in deleted && deleted.failure !== 'not_connected' ? deleted : { isRevoked };
    },

    async request(id, request) {
      if (!isConfigured) return missingApiKey;
      const ask = async (endpoint: string) => {
        const body = toProxyRequest(id, endpoint, request);
        return parseResponse(await send({ method: 'POST', path: '/tools/execute/proxy', body, timeoutMs: proxyTimeoutMs }), ProxyResponse);
      };
      const passed = await ask(request.url);
      if (!('failure' in passed)) return toAppResponse(passed.data);
      if (!isOriginMismatch(passed)) return passed;
      // The provider was not called: the connection has another base, below which the path is tried again.
      const base = await baseOf(id);
      if (base === null || !isSiblingDomain(base, request.url)) return passed;
      const again = await ask(relativeEndpoint(base, request.url));
      return 'failure' in again ? again : toAppResponse(again.data);
    },
  };

  /** The base address of a connection's toolkit; null: unknown. */
  async function baseOf(id: string): Promise<string | null> {
    const account = await read(`/connected_accounts/${percentEncoded(id)}`, Account);
    const slug = 'failure' in account ? undefined : account.data.toolkit?.slug;
    if (slug === undefined) return null;
    const toolkit = await read(`/toolkits/${percentEncoded(slug)}`, Toolkit);
    return 'failure' in toolkit ? null : (toolkit.data.base_url ?? toolkit.data.meta?.base_url ?? null);
  }
}

const missingApiKey = appFailure(
  'rejected',
  'There is no connection broker: COMPOSIO_API_KEY is empty. Set it in .dev.vars locally, or with "wrangler secret put" when deployed',
);
const missingAuthConfig = (app: App) => appFailure('rejected', `COMPOSIO_AUTH_CONFIGS has no entry for ${app}; add ${app}=ac_... to it`);

function parseResponse<Data>(answer: ComposioResponse, shape: z.ZodType<Data>): { data: Data } | AppFailure {
  if ('failure' in answer) return answer;
  const result = shape.safeParse(answer.body);
  return result.success ? { data: result.data } : appFailure('unavailable', 'The connection broker answered something that it should not');
}

/**
 * The fields that a toolkit needs. Their names have changed over time, so each value is sent under all of them. A string is the problem.
 */
function toConnectionData(app: App, params: Record<string, string>): Record<string, string> | string {
  if (app === 'tracker') {
    const { subdomain = '' } = params;
    if (isTrackerSubdomain(subdomain)) return { subdomain, 'your-domain': subdomain };
    return `"${subdomain}" is no tracker subdomain; give the part of the address before ".atlassian.net"`;
  }
  if (app === 'books') {
    const { region = 'com' } = params;
    return isBooksRegion(region) ? { extension: region, 'suffix.one': region } : `"${region}" is no region of books`;
  }
  return {};
}

function toProxyRequest(id: string, endpoint: string, { method, query = {}, headers = {}, body }: AppRequest): object {
  const parameters = [...toParameters(Object.entries(query), 'query'), ...toParameters(Object.entries(headers), 'header')];
  return {
    connected_account_id: id,
    endpoint,
    method,
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { body }),
  };
}

const toParameters = (pairs: [string, string | string[]][], type: 'query' | 'header') =>
  pairs.flatMap(([name, values]) => [values].flat().map((value) => ({ name, value, type })));

function toAppResponse({ status, headers, data }: z.output<typeof ProxyResponse>): AppResponse {
  const pairs = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)] as const);
  return { status, headers: Object.fromEntries(pairs), data: typeof data === 'string' ? parseIfJson(data) : data };
}

/** A provider's JSON with another content type arrives as text. */
function parseIfJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
