import { expect, onTestFinished } from 'vitest';
import { simulatedAuthConfigs } from '../../scripts/local/settings.ts';
import { listen } from '../../simulators/listen.ts';
import type { RequestRecord } from '../../simulators/request-record.ts';
import type { AppConnection } from '../../src/providers/apps/app-client.ts';
import type { App } from '../../src/library/connectable-apps.ts';
import type { AppResponse, AppFailure, AppRequest, Broker } from '../../src/providers/broker/broker.ts';
import { createBroker, type BrokerSettings } from '../../src/providers/broker/composio.ts';
import type { Runtime } from '../../src/providers/http/runtime.ts';
import { getSettings } from '../../src/settings.ts';

export const apiKey = 'canary-key-of-the-broker';
export const owner = 'org_42';

export const brokerSettings = (baseUrl: string, key = apiKey, authConfigs = simulatedAuthConfigs): BrokerSettings => {
  const needed = { ENCRYPTION_KEY: btoa('test-encryption-key-of-32-bytes!'), SIGNING_KEY: btoa('test-signing-key-of-32-bytes....') };
  return getSettings({
    ...needed,
    COMPOSIO_API_KEY: key,
    COMPOSIO_BASE_URL: baseUrl,
    COMPOSIO_AUTH_CONFIGS: authConfigs,
  } as unknown as Env);
};

/** The success of an outcome; a failure fails the test by its message. */
export async function success<Outcome extends object>(outcome: Promise<Outcome | AppFailure>): Promise<Exclude<Outcome, AppFailure>> {
  const answer = await outcome;
  if ('failure' in answer) throw new Error(`${answer.failure}: ${(answer as AppFailure).message}`);
  return answer as Exclude<Outcome, AppFailure>;
}

/** The simulators, and the adapter of the broker against them, with a clock that only its own waits move. */
export async function startWorld({ key = apiKey } = {}) {
  const { url, close } = await listen({ port: 0 });
  onTestFinished(close);
  const waits: number[] = [];
  const runtime: Runtime = {
    fetch,
    sleep: async (milliseconds) => void waits.push(milliseconds),
    random: () => 0,
    now: Date.now,
  };
  const broker = createBroker(brokerSettings(`${url}/composio/api/v3.1`, key), runtime);
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(url + path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });
  const consent = (redirectUrl: string, query: string) => fetch(`${redirectUrl}?${query}`, { redirect: 'manual' });

  return {
    url,
    waits,
    runtime,
    broker,
    post,
    consent,
    /** A connection to which somebody has consented; `scopes`: to no more than these. */
    async connect(app: App, { scopes, params }: { scopes?: string; params?: Record<string, string> } = {}): Promise<AppConnection> {
      const standard: Record<string, string> = app === 'tracker' ? { subdomain: 'acme' } : {};
      const { requestId, redirectUrl } = await success(broker.start(owner, app, params ?? standard));
      await consent(redirectUrl, `decision=approve${scopes === undefined ? '' : `&scopes=${encodeURIComponent(scopes)}`}`);
      return { broker, id: requestId, runtime };
    },
    async plan(fault: object) {
      expect((await post('/__sim/faults', fault)).status).toBe(201);
    },
    /** What a vendor has received, without faults. */
    async received(provider: string, path = '*') {
      const query = new URLSearchParams({ provider, path });
      const { requests } = (await (await fetch(`${url}/__sim/requests?${query}`)).json()) as {
        requests: (RequestRecord & { body: any })[];
      };
      return requests;
    },
    /** The world of the owner at a vendor, without the broker. */
    at: (path: string, init: RequestInit = {}, scheme = 'Bearer') =>
      fetch(url + path, {
        ...init,
        headers: { authorization: `${scheme} ${owner}`, ...(init.body !== undefined && { 'content-type': 'application/json' }) },
      }),
  };
}

/** A connection whose provider answers by `answer`; what was asked is kept. */
export function fakeConnection(answer: (request: AppRequest, index: number) => Partial<AppResponse> | AppFailure) {
  const asked: AppRequest[] = [];
  const waits: number[] = [];
  const broker: Pick<Broker, 'request'> = {
    request: async (_id, request) => {
      asked.push(request);
      const given = answer(request, asked.length - 1);
      return 'failure' in given ? (given as AppFailure) : { status: 200, headers: {}, data: undefined, ...given };
    },
  };
  const runtime = { sleep: async (milliseconds: number) => void waits.push(milliseconds), random: () => 0, now: () => 1_700_000_000_000 };
  return { connection: { broker, id: 'ca_1', runtime }, asked, waits };
}
