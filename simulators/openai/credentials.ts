import { OpenAiError } from './errors.ts';

const where = 'You can find your API key at https://platform.openai.com/account/api-keys.';

/** Refuses a request without a key, or with one that contains `invalid`; any other key is good. */
export function requireKey(authorization: string | undefined): void {
  const key = /^Bearer\s+(\S+)\s*$/i.exec(authorization ?? '')?.[1];
  if (key === undefined)
    throw new OpenAiError(
      401,
      `You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY). ${where}`,
    );
  if (!key.includes('invalid')) return;
  const shown = key.length > 12 ? `${key.slice(0, 4)}${'*'.repeat(key.length - 8)}${key.slice(-4)}` : '*'.repeat(key.length);
  throw new OpenAiError(401, `Incorrect API key provided: ${shown}. ${where}`, { code: 'invalid_api_key' });
}
