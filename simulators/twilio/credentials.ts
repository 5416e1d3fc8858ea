import { TwilioError } from './errors.ts';

export interface TwilioAccount {
  accountSid: string;
  /** Signs what is sent to the customer. */
  authToken: string;
}

const accountForm = /^AC[0-9a-f]{32}$/i;

/** The account of a request to its own path; any token is good that does not contain `invalid`. Throws TwilioError. */
export function requireAccount(authorization: string | undefined, accountSid: string): TwilioAccount {
  const encoded = /^Basic\s+(\S+)\s*$/i.exec(authorization ?? '')?.[1];
  const [, user, authToken] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded ?? '', 'base64').toString()) ?? [];
  if (!user || !authToken || authToken.includes('invalid') || user.includes('invalid')) throw new TwilioError(401, 20003, 'Authenticate');
  if (!accountForm.test(accountSid) || user.toLowerCase() !== accountSid.toLowerCase()) throw new TwilioError(401, 20003, 'Authenticate');
  return { accountSid, authToken };
}
