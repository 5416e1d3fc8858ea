import { normalizeOwnNumber } from '../../library/phone/phone-numbers.ts';
import { blockedUrlReason } from '../../providers/http/ssrf-guard.ts';
import type { ProviderKey } from '../../providers/messaging/messaging.ts';
import { secretProblem } from '../../library/security/secret-problem.ts';
import { accountSidProblem } from '../../providers/telephony/twilio/account-sid.ts';

export const providerKeys = ['provider_a', 'provider_b', 'provider_c', 'provider_d'] as const satisfies ProviderKey[];

export const isProviderKey = (text: string): text is ProviderKey => (providerKeys as readonly string[]).includes(text);

/** The facts that values are validated with. */
export interface ValidationContext {
  defaultCountry: string;
  allowedPrivateOrigins: readonly string[];
}

export interface CredentialField {
  isSecret?: true;
  /** A message can be sent without the value. */
  isOptional?: true;
  isFlag?: true;
  /** The address to which the other secrets are sent. */
  isAddress?: true;
  /** Normalizes a value before it is stored. */
  clean?: (value: string, judgement: ValidationContext) => string;
  /** The problem of a value; null: it has none. */
  fault: (value: string, judgement: ValidationContext) => string | null;
}

const stripBearer = (value: string) => value.replace(/^Bearer\s+/i, '');

const validateEndpoint = (value: string, { allowedPrivateOrigins }: ValidationContext): string | null => {
  const example = 'give the address that WATI shows, such as https://live-mt-server.wati.io/12345';
  if (!URL.canParse(value)) return `Is not a URL; ${example}`;
  const refused = blockedUrlReason(new URL(value), allowedPrivateOrigins);
  return refused === null ? null : `May not be called: ${refused}; ${example}`;
};

const digitsValidator =
  (what: string) =>
  (value: string): string | null =>
    /^\d+$/.test(value) ? null : `Is no ${what}, which is digits alone; WhatsApp Manager shows it, and it is not the phone number itself`;

const validateSource = (value: string): string | null =>
  /^\+?[1-9]\d{6,14}$/.test(value) ? null : 'Is not the sending number; give it with its country code, such as 917834811114';

const validateLine = (value: string): string | null => (/[\p{Cc}]/u.test(value) ? 'Must be one line of text' : null);

const validateAppId = (value: string): string | null =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value) ? null : 'Is not the id of an app, a UUID, which the Gupshup console shows';

const isMessagingServiceSid = (value: string) => /^MG[0-9a-f]{32}$/i.test(value);

const validateSender = (value: string, { defaultCountry }: ValidationContext): string | null => {
  if (isMessagingServiceSid(value)) return null;
  const reading = normalizeOwnNumber(value, defaultCountry);
  return 'phone' in reading ? null : `${reading.detail}; or give the sid of a messaging service, which begins with MG`;
};

const normalizeSender = (value: string, { defaultCountry }: ValidationContext): string => {
  const reading = isMessagingServiceSid(value) ? undefined : normalizeOwnNumber(value, defaultCountry);
  return reading && 'phone' in reading ? reading.phone : value;
};

const validateContentSid = (value: string): string | null =>
  /^HX[0-9A-Za-z]+$/.test(value) ? null : 'Is no Content SID, which begins with HX; GET .../messaging-app-templates lists them as id';

const secretField = { isSecret: true, fault: secretProblem } as const;
const tokenField = { ...secretField, clean: stripBearer } as const;

/** The credentials of each provider. */
export const credentialFields: Record<ProviderKey, Record<string, CredentialField>> = {
  provider_a: { api_endpoint: { isAddress: true, fault: validateEndpoint }, api_token: tokenField },
  provider_b: {
    phone_number_id: { fault: digitsValidator('phone number id') },
    access_token: tokenField,
    waba_id: { fault: digitsValidator('id of a WhatsApp Business account') },
    app_secret: { ...secretField, isOptional: true },
  },
  provider_c: {
    api_key: secretField,
    source: { fault: validateSource },
    app_name: { fault: validateLine },
    app_id: { isOptional: true, fault: validateAppId },
  },
  provider_d: {
    account_sid: { fault: accountSidProblem },
    auth_token: secretField,
    from_number: { fault: validateSender, clean: normalizeSender },
    use_telephony_credentials: { isFlag: true, isOptional: true, fault: () => null },
    content_sid: { isOptional: true, fault: validateContentSid },
  },
};

/** With `use_telephony_credentials`, the default Twilio telephony configuration has these. */
export const telephonyCredentials: ReadonlySet<string> = new Set(['account_sid', 'auth_token']);
