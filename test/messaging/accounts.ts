import { env } from 'cloudflare:workers';
import { vi } from 'vitest';
import type { ProviderKey } from '../../src/providers/messaging/messaging.ts';
import { newOrganization, type Client, type NewOrganization } from '../support/organization.ts';

export const { SIMULATORS_URL: simulators } = env as unknown as { SIMULATORS_URL: string };
export const configPath = '/organizations/messaging-config';
export const messagesPath = '/organizations/messages';

/** Every secret of these accounts holds this word. */
export const canary = 'canary8302';

let serial = 1_000_000 + Math.floor(Math.random() * 8_000_000);

/** Credentials that the simulators take, of an account that no other test has. */
export function newCredentials() {
  const number = String((serial += 1));
  return {
    provider_a: { api_endpoint: `${simulators}/wati/${number}`, api_token: `${canary}-wati-${number}` },
    provider_b: {
      phone_number_id: `1${number}`,
      access_token: `${canary}-meta-${number}`,
      waba_id: `2${number}`,
      app_secret: `${canary}-app-${number}`,
    },
    provider_c: { api_key: `${canary}-gupshup-${number}`, source: '917834811114', app_name: `App${number}` },
    provider_d: {
      account_sid: `AC${number.padStart(32, '0')}`,
      auth_token: `${canary}-twilio-${number}`,
      from_number: '+15005550006',
    },
  };
}

export const providerKeys = ['provider_a', 'provider_b', 'provider_c', 'provider_d'] as const;

/** An organization that sends through `provider`. */
export async function messagingOrganization(provider: ProviderKey = 'provider_b', options: NewOrganization = {}) {
  const organization = await newOrganization(options);
  const credentials = newCredentials();
  const saved = await organization.client.post(configPath, { messaging_app: { provider, [provider]: credentials[provider] } });
  if (saved.status !== 200) throw new Error(JSON.stringify(saved.body));
  return { ...organization, credentials, callbackUrl: saved.body.callback_urls[provider] as string };
}

const vendorOf = { provider_a: 'wati', provider_b: 'meta', provider_c: 'gupshup', provider_d: 'twilio' };

/** What a simulated provider has taken for a number. */
export async function takenFor(provider: ProviderKey, to: string): Promise<any[]> {
  const answer = await fetch(`${simulators}/${vendorOf[provider]}/__sim/messages?to=${encodeURIComponent(to)}`);
  return ((await answer.json()) as { messages: any[] }).messages;
}

export const testMessage = (to: string, more: object = {}) => ({
  to,
  kind: 'template',
  template_name: 'order_update',
  language: 'en',
  template_params: { 1: 'Ada', 2: '1001' },
  ...more,
});

export const logOf = async (client: Client, query = ''): Promise<any[]> => (await client.get(`${messagesPath}${query}`)).body.messages;

/** The newest message once it has this status. */
export const messageIn = (client: Client, status: string): Promise<any> =>
  vi.waitFor(
    async () => {
      const [message] = await logOf(client);
      if (message?.status !== status) throw new Error(`it is ${message?.status}: ${message?.error}`);
      return message;
    },
    { timeout: 10_000, interval: 20 },
  );
