import { isMask, mask, open, seal } from '../library/security/encryption.ts';
import type { Issue } from '../library/errors.ts';
import { carrierAdapter } from '../providers/telephony/registry.ts';
import type { CredentialField } from '../providers/telephony/telephony.ts';

/** The credentials of one carrier as stored, with sealed secrets. */
type StoredCredentials = Record<string, string>;

const maxCredentialLength = 500;

export type CredentialsInput = Record<string, string | null | undefined> | null | undefined;
type ReadResult = { value: string } | { problem: string; type: string };

/**
 * Reads the provider's credentials of a request into their stored form, with every problem as an issue below `body`. Absent values, and
 * secrets given as their masks, stay as in `before`.
 */
export async function readCredentials(
  { ENCRYPTION_KEY }: { ENCRYPTION_KEY: string },
  organizationId: number,
  provider: string,
  input: CredentialsInput,
  before: StoredCredentials | null,
): Promise<{ credentials: StoredCredentials; issues: Issue[] }> {
  const credentials: StoredCredentials = {};
  const issues: Issue[] = [];
  for (const [name, field] of Object.entries(carrierAdapter(provider).credentials)) {
    const sent = input === null ? null : input?.[name];
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

function readField({ isSecret, findProblem }: CredentialField, sent: string | null | undefined): ReadResult {
  const value = sent?.trim() ?? '';
  if (value === '') return { problem: 'Is missing; a call cannot be placed without it', type: 'missing' };
  if (isSecret && isMask(value))
    return { problem: 'Is a mask, and there is no secret that it stands for; give the secret itself', type: 'mask' };
  if (value.length > maxCredentialLength) return { problem: `Must have ${maxCredentialLength} characters or fewer`, type: 'too_long' };
  const problem = findProblem(value);
  return problem === null ? { value } : { problem, type: 'value_error' };
}

/** Opens the secrets of stored credentials, which must never be shown or logged. Absent values are empty. */
export async function openCredentials(
  { ENCRYPTION_KEY }: { ENCRYPTION_KEY: string },
  organizationId: number,
  provider: string,
  stored: StoredCredentials,
): Promise<Record<string, string>> {
  const opened: Record<string, string> = {};
  for (const [name, { isSecret }] of Object.entries(carrierAdapter(provider).credentials)) {
    const value = stored[name] ?? '';
    opened[name] = isSecret ? await open(ENCRYPTION_KEY, organizationId, value) : value;
  }
  return opened;
}

/** Stored credentials for a caller, with masked secrets. */
export async function maskCredentials(
  settings: { ENCRYPTION_KEY: string },
  organizationId: number,
  provider: string,
  stored: StoredCredentials,
): Promise<Record<string, string>> {
  const opened = await openCredentials(settings, organizationId, provider, stored);
  const { credentials } = carrierAdapter(provider);
  return Object.fromEntries(Object.entries(opened).map(([name, value]) => [name, credentials[name]!.isSecret ? mask(value) : value]));
}
