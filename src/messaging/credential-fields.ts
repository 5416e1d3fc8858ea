import { normalizePhone } from '../contacts/phone-numbers.ts';
import { refusal } from '../providers/http/guard.ts';
import type { ProviderKey } from '../providers/messaging/messaging.ts';
import { accountSidFault, secretFault } from '../voice-agents/telephony-configs/credentials.ts';

export const providerKeys = ['provider_a', 'provider_b', 'provider_c', 'provider_d'] as const satisfies ProviderKey[];

export const isProviderKey = (text: string): text is ProviderKey => (providerKeys as readonly string[]).includes(text);

/** What a value is judged by. */
export interface Judgement {
  defaultCountry: string;
  allowedPrivateOrigins: readonly string[];
}

export interface CredentialField {
  isSecret?: true;
  /** Not needed to send. */
  isOptional?: true;
  isFlag?: true;
  /** Where the secrets beside it are sent. */
  isAddress?: true;
  /** The value as it is kept. */
  clean?: (value: string, judgement: Judgement) => string;
  /** What is wrong with a value; null: nothing. */
  fault: (value: string, judgement: Judgement) => string | null;
}

const withoutBearer = (value: string) => value.replace(/^Bearer\s+/i, '');

const endpointFault = (value: string, { allowedPrivateOrigins }: Judgement): string | null => {
  const example = 'give the address that WATI shows, such as https://live-mt-server.wati.io/12345';
  if (!URL.canParse(value)) return `Is not a URL; ${example}`;
  const refused = refusal(new URL(value), allowedPrivateOrigins);
  return refused === null ? null : `May not be called: ${refused}; ${example}`;
};

const digitsFault =
  (what: string) =>
  (value: string): string | null =>
    /^\d+$/.test(value) ? null : `Is no ${what}, which is digits alone; WhatsApp Manager shows it, and it is not the phone number itself`;

const sourceFault = (value: string): string | null =>
  /^\+?[1-9]\d{6,14}$/.test(value) ? null : 'Is not the sending number; give it with its country code, such as 917834811114';

const lineFault = (value: string): string | null => (/[\p{Cc}]/u.test(value) ? 'Must be one line of text' : null);

const appIdFault = (value: string): string | null =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value) ? null : 'Is not the id of an app, a UUID, which the Gupshup console shows';

const isServiceSid = (value: string) => /^MG[0-9a-f]{32}$/i.test(value);

const senderFault = (value: string, { defaultCountry }: Judgement): string | null => {
  if (isServiceSid(value)) return null;
  const reading = normalizePhone(value, defaultCountry);
  return 'phone' in reading ? null : `${reading.detail}; or give the sid of a messaging service, which begins with MG`;
};

const cleanSender = (value: string, { defaultCountry }: Judgement): string => {
  const reading = isServiceSid(value) ? undefined : normalizePhone(value, defaultCountry);
  return reading && 'phone' in reading ? reading.phone : value;
};

const contentFault = (value: string): string | null =>
  /^HX[0-9A-Za-z]+$/.test(value) ? null : 'Is no Content SID, which begins with HX; GET .../messaging-app-templates lists them as id';

const secret = { isSecret: true, fault: secretFault } as const;
const token = { ...secret, clean: withoutBearer } as const;

/** What each provider needs to be asked anything. */
export const credentialFields: Record<ProviderKey, Record<string, CredentialField>> = {
  provider_a: { api_endpoint: { isAddress: true, fault: endpointFault }, api_token: token },
  provider_b: {
    phone_number_id: { fault: digitsFault('phone number id') },
    access_token: token,
    waba_id: { fault: digitsFault('id of a WhatsApp Business account') },
    app_secret: { ...secret, isOptional: true },
  },
  provider_c: {
    api_key: secret,
    source: { fault: sourceFault },
    app_name: { fault: lineFault },
    app_id: { isOptional: true, fault: appIdFault },
  },
  provider_d: {
    account_sid: { fault: accountSidFault },
    auth_token: secret,
    from_number: { fault: senderFault, clean: cleanSender },
    use_telephony_credentials: { isFlag: true, isOptional: true, fault: () => null },
    content_sid: { isOptional: true, fault: contentFault },
  },
};

/** Those of the default Twilio telephony configuration stand in for them. */
export const telephonyCredentials: ReadonlySet<string> = new Set(['account_sid', 'auth_token']);
