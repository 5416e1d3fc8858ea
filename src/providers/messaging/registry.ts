import { gupshupMessaging, type GupshupAccount } from './gupshup/adapter.ts';
import { metaMessaging, type MetaAccount } from './meta/adapter.ts';
import type { MessagingOptions, MessagingProvider } from './messaging.ts';
import { twilioMessaging, type TwilioMessagingAccount } from './twilio/adapter.ts';
import { watiMessaging, type WatiAccount } from './wati/adapter.ts';

export type MessagingAccount =
  | ({ provider: 'provider_a' } & WatiAccount)
  | ({ provider: 'provider_b' } & MetaAccount)
  | ({ provider: 'provider_c' } & GupshupAccount)
  | ({ provider: 'provider_d' } & TwilioMessagingAccount);

export function createMessagingProvider(account: MessagingAccount, options: MessagingOptions): MessagingProvider {
  switch (account.provider) {
    case 'provider_a':
      return watiMessaging(account, options);
    case 'provider_b':
      return metaMessaging(account, options);
    case 'provider_c':
      return gupshupMessaging(account, options);
    case 'provider_d':
      return twilioMessaging(account, options);
  }
}
