import type { Context } from '../context.ts';
import { invalid, type Issue } from '../library/errors.ts';
import { isMask, open, seal } from '../library/security/encryption.ts';
import { blockedUrlReason } from '../providers/http/ssrf-guard.ts';
import type { ModelEndpoint } from '../providers/language-model/contract.ts';
import { toEndpoint } from './endpoint.ts';
import { purposeNames, type PurposeOrder } from './purposes.ts';
import { defaultFirstTokenSeconds, type LanguageModelInput } from './schemas.ts';
import type { LanguageModelRow, LanguageModelValues } from './store.ts';
import { fieldNames } from './test-issues.ts';

export interface PreparedModel {
  values: LanguageModelValues;
  /** With the opened key, which must never be shown or logged. */
  endpoint: ModelEndpoint;
}

/** Validates a model and seals its key. `before` is the model that it replaces. Throws 422 with every problem. `now` becomes `updatedAt`. */
export async function prepareModel(
  { organization, settings }: Context,
  input: LanguageModelInput,
  before: LanguageModelRow | null,
  now: number,
): Promise<PreparedModel> {
  const baseUrl = input.base_url || null;
  const addressProblem = baseUrl === null ? null : findAddressProblem(baseUrl, settings.ALLOWED_PRIVATE_ORIGINS);
  const keeps = before !== null && isKept(input.api_key);
  const keyProblem = findKeyProblem(input, baseUrl, before, keeps);
  const issues: Issue[] = [
    ...(addressProblem === null ? [] : [{ loc: ['body', 'base_url'], msg: addressProblem, type: 'value_error' }]),
    ...(keyProblem === null ? [] : [{ loc: ['body', 'api_key'], ...keyProblem }]),
  ];
  if (issues.length > 0) throw invalid(issues);
  const { ENCRYPTION_KEY: encryptionKey } = settings;
  const key = keeps ? await open(encryptionKey, organization.id, before.apiKey) : input.api_key!.trim();
  return {
    values: {
      name: input.name,
      provider: input.provider,
      baseUrl,
      model: input.model,
      apiKey: keeps ? before.apiKey : await seal(encryptionKey, organization.id, key),
      purposes: toPurposeOrder(input.purposes),
      firstTokenSeconds: input.first_token_seconds ?? defaultFirstTokenSeconds,
      promptUsdPerMillion: input.prompt_usd_per_million ?? null,
      completionUsdPerMillion: input.completion_usd_per_million ?? null,
      updatedAt: now,
    },
    endpoint: toEndpoint(settings, { provider: input.provider, baseUrl, model: input.model }, key, fieldNames),
  };
}

/** Whether the stored key stays: none was sent, or its mask. */
const isKept = (sent: string | null | undefined): boolean => sent === undefined || sent === null || isMask(sent.trim());

function findKeyProblem(
  { api_key: sent, provider }: LanguageModelInput,
  baseUrl: string | null,
  before: LanguageModelRow | null,
  keeps: boolean,
): Omit<Issue, 'loc'> | null {
  if (keeps) {
    // Else whoever may change a model could have its key sent to an address of their own.
    if (before!.provider === provider && before!.baseUrl === baseUrl) return null;
    return { msg: 'The key was given for another provider or address; give the key itself for this one', type: 'missing' };
  }
  const key = sent?.trim() ?? '';
  if (key === '') return { msg: 'Must not be empty; a local server without keys takes any text', type: 'missing' };
  if (isMask(key)) return { msg: 'Is a mask, and there is no secret that it stands for; give the secret itself', type: 'mask' };
  if (/[^\x21-\x7e]/.test(key)) return { msg: 'Must have no spaces, line breaks or characters outside of ASCII', type: 'value_error' };
  return null;
}

/** Why a model may not be asked at an address; null: it may. The key goes there, so the address must be encrypted and public. */
function findAddressProblem(baseUrl: string, allowedOrigins: readonly string[]): string | null {
  const url = URL.parse(baseUrl);
  if (!url) return 'Must be an address such as https://api.openai.com/v1';
  const blocked = blockedUrlReason(url, allowedOrigins);
  if (blocked !== null) return `May not be called: ${blocked}`;
  if (url.protocol !== 'https:' && !allowedOrigins.includes(url.origin)) return 'Must begin with https://, because the key is sent there';
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(baseUrl)) return 'Must have neither a query nor a fragment';
  return null;
}

function toPurposeOrder(purposes: LanguageModelInput['purposes']): PurposeOrder {
  return Object.fromEntries(purposeNames.flatMap((purpose) => (purposes[purpose] ? [[purpose, purposes[purpose]]] : [])));
}
