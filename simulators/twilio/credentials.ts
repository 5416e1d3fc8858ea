import { TwilioError } from './errors.ts';

export interface TwilioAccount {
  accountSid: string;
  /** The key that signs requests to the customer. */
  authToken: string;
}

const accountForm = /^AC[0-9a-f]{32}$/i;

/** The account that a request is made for; any token is good that does not contain `invalid`. Throws TwilioError. */
export function accountOf(authorization: string | undefined): TwilioAccount {
  const encoded = /^Basic\s+(\S+)\s*$/i.exec(authorization ?? '')?.[1];
  const [, user, authToken] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded ?? '', 'base64').toString()) ?? [];
  if (!user || !authToken || authToken.includes('invalid') || !accountForm.test(user)) throw new TwilioError(401, 20003, 'Authenticate');
  return { accountSid: user, authToken };
}

/** The account of a request to its own path. Throws TwilioError. */
export function requireAccount(authorization: string | undefined, accountSid: string): TwilioAccount {
  const account = accountOf(authorization);
  if (account.accountSid.toLowerCase() !== accountSid.toLowerCase()) throw new TwilioError(401, 20003, 'Authenticate');
  return { ...account, accountSid };
}
