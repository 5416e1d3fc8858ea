import { originOf } from '../../library/security/url-secrets.ts';
import { isMask, mask, open, seal } from '../../library/security/encryption.ts';
import type { Issue } from '../../library/errors.ts';
import type { ProviderKey } from '../../providers/messaging/messaging.ts';
import { credentialFields, telephonyCredentials, type CredentialField, type ValidationContext } from './credential-fields.ts';

/** The stored credentials of one provider, with sealed secrets. */
export type StoredCredentials = Record<string, unknown>;
export type CredentialsInput = Record<string, string | boolean | null | undefined>;

const maxLength = 2000;

interface SealingContext {
  encryptionKey: string;
  organizationId: number;
}

type FieldResult = { value: string | boolean | undefined } | { problem: string; type: string };

/**
 * The credentials of a provider to store, and all problems of the given ones. An absent value keeps that of `before`, and so does a secret
 * that is given as its mask, unless the address to which it is sent has another origin now. Null removes a value.
 */
export async function parseCredentials(
  { encryptionKey, organizationId }: SealingContext,
  provider: ProviderKey,
  given: CredentialsInput,
  before: StoredCredentials | null,
  judgement: ValidationContext,
): Promise<{ block: StoredCredentials; issues: Issue[] }> {
  const block: StoredCredentials = {};
  const issues: Issue[] = [];
  const usesTelephony = (given['use_telephony_credentials'] ?? before?.['use_telephony_credentials']) === true;
  const isMoved = isOriginChanged(provider, given, before);
  for (const [name, field] of Object.entries(credentialFields[provider])) {
    const sent = given[name];
    const kept = before?.[name];
    const isKept = sent === undefined || (field.isSecret && typeof sent === 'string' && isMask(sent.trim()));
    if (kept !== undefined && isKept) {
      if (field.isSecret && isMoved) issues.push({ loc: ['body', 'messaging_app', provider, name], msg: movedOriginMessage, type: 'mask' });
      else block[name] = kept;
      continue;
    }
    const isOptional = field.isOptional ?? (usesTelephony && telephonyCredentials.has(name));
    const reading = parseField(field, sent, isOptional, judgement);
    if ('problem' in reading) issues.push({ loc: ['body', 'messaging_app', provider, name], msg: reading.problem, type: reading.type });
    else if (reading.value !== undefined)
      block[name] = field.isSecret ? await seal(encryptionKey, organizationId, String(reading.value)) : reading.value;
  }
  return { block, issues };
}

const movedOriginMessage = 'Was given for another address, to which alone it is sent; with a new address give the secret itself once more';

/** Whether a changed address would send stored secrets to another origin. */
const isOriginChanged = (provider: ProviderKey, given: CredentialsInput, before: StoredCredentials | null): boolean =>
  Object.entries(credentialFields[provider]).some(([name, { isAddress }]) => {
    const [sent, kept] = [given[name], before?.[name]];
    return isAddress === true && typeof sent === 'string' && typeof kept === 'string' && originOf(sent) !== originOf(kept);
  });

function parseField(
  field: CredentialField,
  sent: CredentialsInput[string],
  isOptional: boolean,
  judgement: ValidationContext,
): FieldResult {
  if (field.isFlag) {
    if (sent == null || typeof sent === 'boolean') return { value: sent === true };
    return { problem: 'Must be true or false', type: 'value_error' };
  }
  if (typeof sent === 'boolean') return { problem: 'Must be text', type: 'value_error' };
  const given = sent?.trim() ?? '';
  if (given === '')
    return isOptional
      ? { value: undefined }
      : { problem: 'Is missing; nothing can be sent through this provider without it', type: 'missing' };
  if (field.isSecret && isMask(given))
    return { problem: 'Is a mask, and there is no secret that it stands for; give the secret itself', type: 'mask' };
  if (given.length > maxLength) return { problem: `Must have ${maxLength} characters or fewer`, type: 'too_long' };
  const value = field.clean?.(given, judgement) ?? given;
  const problem = field.fault(value, judgement);
  return problem === null ? { value } : { problem, type: 'value_error' };
}

/** Stored credentials with opened secrets, which must not be shown or logged. Absent values are empty. */
export async function openCredentials(
  { encryptionKey, organizationId }: SealingContext,
  provider: ProviderKey,
  stored: StoredCredentials,
): Promise<Record<string, string>> {
  const opened: Record<string, string> = {};
  for (const [name, { isSecret, isFlag }] of Object.entries(credentialFields[provider])) {
    const value = stored[name];
    if (isFlag) continue;
    opened[name] = typeof value !== 'string' ? '' : isSecret ? await open(encryptionKey, organizationId, value) : value;
  }
  return opened;
}

/** Stored credentials for a caller: every field, with masked secrets. */
export async function maskCredentials(
  keeper: SealingContext,
  provider: ProviderKey,
  stored: StoredCredentials,
): Promise<Record<string, string | boolean | null>> {
  const opened = await openCredentials(keeper, provider, stored);
  const shown = (name: string, { isSecret, isFlag }: CredentialField) => {
    if (isFlag) return stored[name] === true;
    const value = opened[name]!;
    if (value === '') return null;
    return isSecret ? mask(value) : value;
  };
  return Object.fromEntries(Object.entries(credentialFields[provider]).map(([name, field]) => [name, shown(name, field)]));
}
