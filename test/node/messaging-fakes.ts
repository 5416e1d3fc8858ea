import { onTestFinished } from 'vitest';
import { createGupshup } from '../../simulators/gupshup.ts';
import { listen } from '../../simulators/listen.ts';
import type { MessageRecord } from '../../simulators/messaging/message-store.ts';
import { createMeta } from '../../simulators/meta.ts';
import { createTwilio } from '../../simulators/twilio.ts';
import { createWati } from '../../simulators/wati.ts';
import { skipHostnameCheck } from '../../src/providers/http/hostname-check.ts';
import type { MessagingFailure } from '../../src/providers/messaging/failures.ts';
import type { MessageEvent, MessagingOptions, MessagingProvider, ProviderKey } from '../../src/providers/messaging/messaging.ts';
import { createMessagingProvider, type MessagingAccount } from '../../src/providers/messaging/registry.ts';
import type { Template } from '../../src/providers/messaging/templates.ts';
import type { Runtime } from '../../src/providers/http/runtime.ts';
import { Customer, type Received } from './carrier-customer.ts';

export const secret = 'secret-of-the-account-1234';
export const appSecret = 'secret-of-the-app';
export const providerKeys = ['provider_a', 'provider_b', 'provider_c', 'provider_d'] as const;

export const accountSid = 'AC00000000000000000000000000000001';
const accounts = (watiUrl: string, credential: string): Record<ProviderKey, MessagingAccount> => ({
  provider_a: { provider: 'provider_a', apiEndpoint: `${watiUrl}/1`, apiToken: credential },
  provider_b: { provider: 'provider_b', phoneNumberId: '1001', accessToken: credential, wabaId: '1001', appSecret },
  provider_c: { provider: 'provider_c', apiKey: credential, source: '917834811114', appName: 'DemoApp' },
  provider_d: { provider: 'provider_d', accountSid, authToken: credential, fromNumber: '+15005550006' },
});

/** Under which the simulators know the account of `accounts`, and the name of each vendor. */
export const simulated: Record<ProviderKey, { vendor: string; account: string }> = {
  provider_a: { vendor: 'wati', account: '1' },
  provider_b: { vendor: 'meta', account: '1001' },
  provider_c: { vendor: 'gupshup', account: 'DemoApp' },
  provider_d: { vendor: 'twilio', account: accountSid },
};

/** A world without waiting; the pauses that were asked for are in `slept`. */
export function impatient(fetchIt: Runtime['fetch'] = (input, init) => fetch(input, init)): Runtime & { slept: number[] } {
  const slept: number[] = [];
  return { slept, fetch: fetchIt, sleep: async (milliseconds) => void slept.push(milliseconds), random: () => 1, now: Date.now };
}

/** A customer with accounts at all simulated providers, who receives the callbacks about messages. */
export async function startMessaging({ credential = secret, ...more }: { credential?: string } & Partial<MessagingOptions> = {}) {
  const quick = { retry_delays_ms: [5], delivery_ms: 5 };
  const vendors = [createWati(quick), createMeta(quick), createGupshup(quick), createTwilio({ retry_delays_ms: [5] })];
  const { url, close } = await listen({ port: 0, vendors });
  onTestFinished(close);
  const customer = await Customer.start();
  const options: MessagingOptions = {
    metaBaseUrl: `${url}/meta/v25.0`,
    gupshupBaseUrl: `${url}/gupshup`,
    twilioBaseUrl: `${url}/twilio`,
    twilioContentBaseUrl: `${url}/twilio/content`,
    urlPolicy: { allowedOrigins: [url], checkHostname: skipHostnameCheck },
    runtime: impatient(),
    ...more,
  };
  const post = async (path: string, body: object) => {
    const answer = await fetch(url + path, { method: 'POST', body: JSON.stringify(body) });
    return { status: answer.status, body: (await answer.json()) as any };
  };
  const providerOf = (key: ProviderKey, with_ = credential) => createMessagingProvider(accounts(`${url}/wati`, with_)[key], options);
  /** Registers the customer's webhook address at the vendor, as its console would. */
  const register = async (key: ProviderKey) => {
    const { vendor, account } = simulated[key];
    if (vendor !== 'twilio') await post(`/${vendor}/__sim/webhook`, { url: `${customer.url}/${key}`, account, app_secret: appSecret });
  };
  const messages = async (key: ProviderKey) => {
    const answer = await fetch(`${url}/${simulated[key].vendor}/__sim/messages?account=${simulated[key].account}`);
    return ((await answer.json()) as { messages: MessageRecord[] }).messages;
  };
  const received = async (key: ProviderKey) =>
    ((await (await fetch(`${url}/__sim/requests?provider=${simulated[key].vendor}`)).json()) as { total: number }).total;
  return { url, customer, options, post, providerOf, register, messages, received };
}

export const eventsIn = (provider: MessagingProvider, { url, headers, body }: Received): MessageEvent[] => {
  const result = provider.readCallback({ url, headers: new Headers(headers), body });
  if ('isUnsigned' in result) throw new Error('A callback is not signed');
  return result.events;
};

export async function templatesOf(provider: MessagingProvider): Promise<Template[]> {
  const result = await provider.listTemplates();
  if ('failure' in result) throw new Error(result.message);
  return result.templates;
}

export async function templateNamed(provider: MessagingProvider, name: string): Promise<Template> {
  const found = (await templatesOf(provider)).find((template) => template.name === name);
  if (!found) throw new Error(`There is no template ${name}`);
  return found;
}

export function failureOf(result: object): MessagingFailure {
  if (!('failure' in result)) throw new Error(`It is no failure: ${JSON.stringify(result)}`);
  return result as MessagingFailure;
}

/** A provider in front of an outside world with the given answers. */
export function providerBefore(key: ProviderKey, runtime: Runtime, more: Partial<MessagingOptions> = {}): MessagingProvider {
  const options: MessagingOptions = {
    metaBaseUrl: 'https://meta.example.com/v25.0/',
    gupshupBaseUrl: 'https://gupshup.example.com',
    twilioBaseUrl: 'https://twilio.example.com',
    twilioContentBaseUrl: 'https://content.example.com',
    urlPolicy: { allowedOrigins: [], checkHostname: skipHostnameCheck },
    timeoutMs: 50,
    runtime,
    ...more,
  };
  return createMessagingProvider(accounts('https://wati.example.com', secret)[key], options);
}

export interface Asked {
  method: string;
  url: string;
  headers: Headers;
  body: string;
  redirect: RequestInit['redirect'];
}

/** A world in which every request is answered by `answer`, and remembered. */
export function answeringRuntime(answer: (asked: Asked) => Response | Promise<Response>): Runtime & { asked: Asked[]; slept: number[] } {
  const asked: Asked[] = [];
  const world = impatient(async (input, init = {}) => {
    const one = {
      method: init.method ?? 'GET',
      url: String(input),
      headers: new Headers(init.headers),
      body: String(init.body ?? ''),
      redirect: init.redirect,
    };
    asked.push(one);
    return answer(one);
  });
  return Object.assign(world, { asked });
}

export const textTemplate = (more: Partial<Template> = {}): Template => ({
  id: 'HX00000000000000000000000000000001',
  name: 'order_update',
  language: 'en',
  category: 'UTILITY',
  status: 'APPROVED',
  body: 'Hi {{1}}, your order {{2}} is on its way.',
  placeholders: 2,
  parameters: [
    { name: '1', place: 'body', kind: 'text' },
    { name: '2', place: 'body', kind: 'text' },
  ],
  isNamed: false,
  components: [],
  ...more,
});
