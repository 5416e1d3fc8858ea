import type { LanguageModelSettings, ModelEndpoint } from './contract.ts';

/** The service's own model, which answers for organizations without models of their own. */
export const serviceEndpoint = (settings: LanguageModelSettings): ModelEndpoint => ({
  provider: 'openai',
  model: settings.LANGUAGE_MODEL,
  apiKey: settings.OPENAI_API_KEY,
  baseUrl: settings.OPENAI_BASE_URL,
  names: { key: 'OPENAI_API_KEY', address: 'OPENAI_BASE_URL', model: 'the request or in LANGUAGE_MODEL' },
});
