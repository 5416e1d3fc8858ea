import { AnthropicError, badRequest } from './errors.ts';

const versions = new Set(['2023-01-01', '2023-06-01']);

/** Refuses a request without a key, or with one that contains `invalid`; any other key is good. The version of the API is required. */
export function requireHeaders(headers: Headers): void {
  const key = headers.get('x-api-key')?.trim() ?? '';
  if (key === '') throw new AnthropicError(401, 'authentication_error', 'x-api-key header is required');
  if (key.includes('invalid')) throw new AnthropicError(401, 'authentication_error', 'invalid x-api-key');
  const version = headers.get('anthropic-version');
  if (version === null) throw badRequest('anthropic-version: header is required');
  if (!versions.has(version)) throw badRequest(`anthropic-version: "${version}" is not a valid version`);
}
