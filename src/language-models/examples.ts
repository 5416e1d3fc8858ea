import type { ExamplesByOperation } from '../http/operation-examples.ts';

/** Example requests that work in the order of the OpenAPI document. */
export const languageModelExamples: ExamplesByOperation = {
  'languageModels.create': [
    {
      name: 'anthropic',
      summary: 'A model of Anthropic that talks and extracts',
      body: {
        name: 'Fast talker',
        provider: 'anthropic',
        model: 'claude-haiku-4-5',
        api_key: 'sk-ant-api03-0123456789abcdef',
        purposes: { talk: 1, extraction: 1 },
        first_token_seconds: 3,
      },
    },
    {
      name: 'openai',
      summary: "A model with OpenAI's API that stands in for it, and judges",
      body: {
        name: 'Stand-in',
        provider: 'openai',
        model: 'gpt-6-luna',
        api_key: 'sk-proj-0123456789abcdef',
        purposes: { talk: 2, extraction: 2, judge: 1 },
        prompt_usd_per_million: 0.1,
        completion_usd_per_million: 0.5,
      },
    },
  ],
  'languageModels.list': {},
  'languageModels.get': { path: { language_model_id: 1 } },
  'languageModels.update': {
    path: { language_model_id: 1 },
    body: {
      name: 'Fast talker',
      provider: 'anthropic',
      model: 'claude-haiku-4-5',
      api_key: '****cdef',
      purposes: { talk: 2, extraction: 1, judge: 1 },
      first_token_seconds: 3,
    },
  },
  'languageModels.test': { path: { language_model_id: 2 } },
  'languageModels.delete': { path: { language_model_id: 1 } },
};
