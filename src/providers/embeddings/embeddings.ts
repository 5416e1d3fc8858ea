import { lazyModule } from '../../library/lazy-module.ts';
import { systemRuntime, type Runtime } from '../http/runtime.ts';
import type { EmbeddingFailure, Embeddings, EmbeddingSettings } from './contract.ts';

const notConfigured: EmbeddingFailure = {
  failure: 'not_configured',
  message:
    'There is nothing that makes vectors: OPENAI_API_KEY is empty. Set it in .dev.vars locally, or with "wrangler secret put" when deployed',
  retryable: false,
};

// The vendor's client is large, so it is evaluated with the first text and not when the Worker starts.
const openAi = lazyModule(() => import('./openai.ts'));

/** Embeddings by the provider of the settings. Without OPENAI_API_KEY every call fails with `not_configured`. */
export const embeddings = (settings: EmbeddingSettings, outside: Runtime = systemRuntime): Embeddings => ({
  async embed(texts, purpose = 'document', signal) {
    if (settings.OPENAI_API_KEY === '') return notConfigured;
    const { embedByOpenAi } = await openAi();
    return embedByOpenAi(settings, texts, { purpose, signal }, outside);
  },
});
