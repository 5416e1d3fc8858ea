import type { Telephony, TelephonyOptions } from './telephony.ts';
import { telnyxTelephony, type TelnyxAccount } from './telnyx/adapter.ts';
import { twilioTelephony, type TwilioAccount } from './twilio/adapter.ts';

export type CarrierAccount = ({ provider: 'twilio' } & TwilioAccount) | ({ provider: 'telnyx' } & TelnyxAccount);

export const createTelephony = (account: CarrierAccount, options: TelephonyOptions): Telephony =>
  account.provider === 'twilio' ? twilioTelephony(account, options) : telnyxTelephony(account, options);
