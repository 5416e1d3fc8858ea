import { OpenAI } from 'openai';
import type { Runtime } from '../http/runtime.ts';
import type { LanguageModelSettings } from './language-model.ts';

/** The client's own retries are off: they repeat what cannot succeed. */
export const createOpenAiClient = (settings: LanguageModelSettings, outside: Pick<Runtime, 'fetch'>): OpenAI =>
  new OpenAI({
    apiKey: settings.OPENAI_API_KEY,
    baseURL: settings.OPENAI_BASE_URL,
    organization: null,
    project: null,
    maxRetries: 0,
    logLevel: 'off',
    fetch: outside.fetch,
    // A redirect would carry the key to another address.
    fetchOptions: { redirect: 'manual' },
  });
