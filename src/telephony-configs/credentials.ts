import { isMask, mask, open, seal } from '../library/security/encryption.ts';
import type { Issue } from '../library/errors.ts';
import { isTelnyxPublicKey } from '../providers/telephony/telnyx/signature.ts';

export type Provider = 'twilio' | 'telnyx';
/** Of one provider, as stored: its secrets sealed. */
type StoredCredentials = Record<string, string>;

interface Field {
  isSecret: boolean;
  /** What is wrong with a value; null: nothing. */
  findProblem: (value: string) => string | null;
}

const maxCredentialLength = 500;

// They travel in headers, where nothing else may stand.
export const secretProblem = (value: string): string | null =>
  /^[\x21-\x7e]+$/.test(value) ? null : 'Holds a character that no credential has; copy it again from the console of the provider';

export const accountSidProblem = (value: string): string | null => {
  if (/^AC[0-9A-Za-z]+$/.test(value)) return null;
  return value.startsWith('SK')
    ? 'Is the SID of an API key; give the Account SID, which begins with AC, and its auth token'
    : 'Is no Account SID, which is AC and 32 hexadecimal digits; it stands beside the auth token in the Twilio console';
};

const publicKeyProblem = (value: string): string | null =>
  isTelnyxPublicKey(value) ? null : 'Is no public key, which is 32 bytes in base64; Telnyx shows it under Keys & Credentials, Public Key';

const connectionProblem = (value: string): string | null =>
  /^[\w-]+$/.test(value) ? null : 'Is no id of a connection; Telnyx shows it beside the Voice API application';

const credentialFields: Record<Provider, Record<string, Field>> = {
  twilio: { account_sid: { isSecret: false, findProblem: accountSidProblem }, auth_token: { isSecret: true, findProblem: secretProblem } },
  telnyx: {
    api_key: { isSecret: true, findProblem: secretProblem },
    connection_id: { isSecret: false, findProblem: connectionProblem },
    public_key: { isSecret: false, findProblem: publicKeyProblem },
  },
};

type GivenCredentials = Record<string, string | null | undefined> | null | undefined;
type ReadResult = { value: string } | { problem: string; type: string };

/**
 * The provider's block as it is to be stored, and every problem of it below `body`. What is absent stays as it is in `before`, as does a
 * secret that is given as its mask.
 */
export async function readCredentials(
  { ENCRYPTION_KEY }: { ENCRYPTION_KEY: string },
  organizationId: number,
  provider: Provider,
  given: GivenCredentials,
  before: StoredCredentials | null,
): Promise<{ credentials: StoredCredentials; issues: Issue[] }> {
  const credentials: StoredCredentials = {};
  const issues: Issue[] = [];
  for (const [name, field] of Object.entries(credentialFields[provider])) {
    const sent = given === null ? null : given?.[name];
    const kept = before?.[name];
    if (kept !== undefined && (sent === undefined || (field.isSecret && sent !== null && isMask(sent)))) {
      credentials[name] = kept;
      continue;
    }
    const reading = readField(field, sent);
    if ('problem' in reading) issues.push({ loc: ['body', provider, name], msg: reading.problem, type: reading.type });
    else credentials[name] = field.isSecret ? await seal(ENCRYPTION_KEY, organizationId, reading.value) : reading.value;
  }
  return { credentials, issues };
}

function readField({ isSecret, findProblem: fault }: Field, sent: string | null | undefined): ReadResult {
  const value = sent?.trim() ?? '';
  if (value === '') return { problem: 'Is missing; a call cannot be placed without it', type: 'missing' };
  if (isSecret && isMask(value))
    return { problem: 'Is a mask, and there is no secret that it stands for; give the secret itself', type: 'mask' };
  if (value.length > maxCredentialLength) return { problem: `Must have ${maxCredentialLength} characters or fewer`, type: 'too_long' };
  const problem = fault(value);
  return problem === null ? { value } : { problem, type: 'value_error' };
}

/** A stored block for a caller to see. */
export async function maskCredentials(
  { ENCRYPTION_KEY }: { ENCRYPTION_KEY: string },
  organizationId: number,
  provider: Provider,
  stored: StoredCredentials,
): Promise<Record<string, string>> {
  const shown: Record<string, string> = {};
  for (const [name, { isSecret }] of Object.entries(credentialFields[provider])) {
    const value = stored[name] ?? '';
    shown[name] = isSecret ? mask(await open(ENCRYPTION_KEY, organizationId, value)) : value;
  }
  return shown;
}
