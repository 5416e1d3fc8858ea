import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { urlPolicy } from '../../src/providers/http/url-policy.ts';
import type { MessagingOptions } from '../../src/providers/messaging/messaging.ts';
import { createMessagingProvider, type MessagingAccount } from '../../src/providers/messaging/registry.ts';
import { chooseTemplate } from '../../src/providers/messaging/templates.ts';
import { getSettings } from '../../src/settings.ts';

const { SIMULATORS_URL: simulators } = env as unknown as { SIMULATORS_URL: string };

// In Node they are tested at length; here, that the runtime's own fetch, streams and crypto do.
const accounts: MessagingAccount[] = [
  { provider: 'provider_a', apiEndpoint: `${simulators}/wati/1`, apiToken: 'token' },
  { provider: 'provider_b', phoneNumberId: '1001', accessToken: 'token', wabaId: '2002' },
  { provider: 'provider_c', apiKey: 'key', source: '917834811114', appName: 'DemoApp' },
  { provider: 'provider_d', accountSid: 'AC00000000000000000000000000000001', authToken: 'token', fromNumber: '+15005550006' },
];

test.each(accounts)('the runtime lists templates of $provider and sends one, as the settings have it', async (account) => {
  const settings = getSettings(env);
  const options: MessagingOptions = {
    metaBaseUrl: settings.META_BASE_URL,
    gupshupBaseUrl: settings.GUPSHUP_BASE_URL,
    twilioBaseUrl: settings.TWILIO_BASE_URL,
    twilioContentBaseUrl: settings.TWILIO_CONTENT_BASE_URL,
    urlPolicy: urlPolicy(settings),
  };
  const provider = createMessagingProvider(account, options);
  const listed = await provider.listTemplates();
  if ('failure' in listed) throw new Error(listed.message);
  const chosen = chooseTemplate(listed.templates, { name: 'order_update', language: 'en' });
  if ('failure' in chosen) throw new Error(chosen.message);
  const sent = await provider.send({ to: '+14155550123', template: chosen.template, params: { 1: 'Ada', 2: '1001' }, key: 'k1' });
  expect(sent).toEqual({ messageId: expect.any(String), status: expect.any(String) });
});
