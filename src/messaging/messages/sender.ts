import type { Context } from '../../context.ts';
import { urlPolicy } from '../../providers/http/url-policy.ts';
import { type FailureClass, localFailure, type MessagingFailure } from '../../providers/messaging/failures.ts';
import type { MessagingOptions, MessagingProvider, ProviderKey } from '../../providers/messaging/messaging.ts';
import { createMessagingProvider, type MessagingAccount } from '../../providers/messaging/registry.ts';
import type { Settings } from '../../settings.ts';
import { loadTwilioAccount } from '../../telephony-configs/load-carrier.ts';
import { callbackUrl } from '../callbacks/callback-url.ts';
import type { ConfigRow } from '../config/store.ts';
import { isProviderKey } from '../config/credential-fields.ts';
import { openCredentials, type StoredCredentials } from '../config/credentials.ts';

/** Why a message is not sent: a failure at the provider, or a reason of this service. */
export type SendFailure = Omit<MessagingFailure, 'failure'> & {
  failure: FailureClass | 'not_configured' | 'suppressed' | 'quiet_hours' | 'contact_policy' | 'contact_policy_hold';
  /** When the contact policy allows the message, epoch ms. */
  until?: number;
};

/** A provider with opened credentials, which must not be shown or logged. */
export interface Sender {
  key: ProviderKey;
  provider: MessagingProvider;
  /** The template of messages that name none. */
  defaultTemplateId?: string;
  callbackUrl: string;
  /** Changes when the account changes, which may have other templates. */
  templatesOf: string;
}

/** The organization's account at `provider` or at the selected provider, or why there is none. */
export async function resolveSender(context: Context, config: ConfigRow | null, provider?: ProviderKey): Promise<Sender | SendFailure> {
  const key = provider ?? config?.provider ?? '';
  if (!isProviderKey(key)) return notConfigured('no messaging provider is selected; choose one at /organizations/messaging-config');
  const stored = config?.credentials[key];
  if (!config || !stored) return notConfigured(`${key} has no credentials; give them at /organizations/messaging-config`);
  const account = await openAccount(context, key, stored);
  if ('failure' in account) return account;
  const contentSid = stored['content_sid'];
  return {
    key,
    provider: createMessagingProvider(account, toMessagingOptions(context.settings)),
    callbackUrl: await callbackUrl(context, key, config.callbackOrigin),
    templatesOf: `${config.revision}:${account.provider === 'provider_d' ? account.accountSid : ''}`,
    ...(typeof contentSid === 'string' && { defaultTemplateId: contentSid }),
  };
}

const notConfigured = (why: string): SendFailure => ({
  ...localFailure('unknown', `messaging_not_configured: ${why}`),
  failure: 'not_configured',
});

async function openAccount(context: Context, provider: ProviderKey, stored: StoredCredentials): Promise<MessagingAccount | SendFailure> {
  const { settings, organization } = context;
  const opened = await openCredentials({ encryptionKey: settings.ENCRYPTION_KEY, organizationId: organization.id }, provider, stored);
  const value = (name: string) => opened[name] ?? '';
  switch (provider) {
    case 'provider_a':
      return { provider, apiEndpoint: value('api_endpoint'), apiToken: value('api_token') };
    case 'provider_b': {
      const appSecret = value('app_secret');
      const account = { provider, phoneNumberId: value('phone_number_id'), accessToken: value('access_token'), wabaId: value('waba_id') };
      return appSecret ? { ...account, appSecret } : account;
    }
    case 'provider_c': {
      const account = { provider, apiKey: value('api_key'), source: value('source'), appName: value('app_name') };
      return value('app_id') ? { ...account, appId: value('app_id') } : account;
    }
    case 'provider_d': {
      const own = { accountSid: value('account_sid'), authToken: value('auth_token') };
      const account = stored['use_telephony_credentials'] === true ? await loadTwilioAccount(context) : own;
      if (!account)
        return notConfigured('use_telephony_credentials is true, and there is no Twilio configuration at /organizations/telephony-configs');
      return { provider, ...account, fromNumber: value('from_number') };
    }
  }
}

const toMessagingOptions = (settings: Settings): MessagingOptions => ({
  metaBaseUrl: settings.META_BASE_URL,
  gupshupBaseUrl: settings.GUPSHUP_BASE_URL,
  twilioBaseUrl: settings.TWILIO_BASE_URL,
  twilioContentBaseUrl: settings.TWILIO_CONTENT_BASE_URL,
  urlPolicy: urlPolicy(settings),
});
