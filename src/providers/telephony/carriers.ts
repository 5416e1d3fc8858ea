import type { Telephony, TelephonyOptions } from './telephony.ts';
import { telnyxTelephony, type TelnyxAccount } from './telnyx.ts';
import { twilioTelephony, type TwilioAccount } from './twilio.ts';

export type CarrierAccount = ({ provider: 'twilio' } & TwilioAccount) | ({ provider: 'telnyx' } & TelnyxAccount);

export const telephonyOf = (account: CarrierAccount, options: TelephonyOptions): Telephony =>
  account.provider === 'twilio' ? twilioTelephony(account, options) : telnyxTelephony(account, options);
