import type { Settings } from '../../settings.ts';
import { systemRuntime, type Runtime } from '../http/runtime.ts';

export interface EmbeddingResult {
  /** One of 1536 numbers for each text, in the order of the texts. */
  vectors: Float32Array[];
  /** As the provider counted them. */
  tokens: number;
  /** EMBEDDING_MODEL. */
  model: string;
}

export type EmbeddingFailureType =
  | 'not_configured'
  | 'invalid_credentials'
  | 'insufficient_quota'
  | 'model_not_found'
  | 'invalid_request'
  | 'text_too_long'
  | 'rate_limited'
  | 'provider_failed'
  | 'invalid_answer';

/** Why there are no vectors. The message names the cause and what to do; it holds neither the key nor a text. */
export interface EmbeddingFailure {
  failure: EmbeddingFailureType;
  message: string;
  /** Whether the same texts may succeed later. */
  retryable: boolean;
  retryAfterSeconds?: number;
}

/** Somebody waits for the vector of a question: it has 10 s, tries included. Documents have 60 s a request. */
export type EmbeddingPurpose = 'document' | 'question';

export interface Embeddings {
  /**
   * The vectors of any number of texts, in as few requests as the provider's limits allow; `document` by default. All of them, or a failure.
   * Throws once `signal` is aborted: the request under way is given up, and no other is made.
   */
  embed(texts: string[], purpose?: EmbeddingPurpose, signal?: AbortSignal): Promise<EmbeddingResult | EmbeddingFailure>;
}

export type EmbeddingSettings = Pick<Settings, 'OPENAI_API_KEY' | 'OPENAI_BASE_URL' | 'EMBEDDING_MODEL'>;

const notConfigured: EmbeddingFailure = {
  failure: 'not_configured',
  message:
    'There is nothing that makes vectors: OPENAI_API_KEY is empty. Set it in .dev.vars locally, or with "wrangler secret put" when deployed',
  retryable: false,
};

export const embeddings = (settings: EmbeddingSettings, outside: Runtime = systemRuntime): Embeddings => ({
  async embed(texts, purpose = 'document', signal) {
    if (settings.OPENAI_API_KEY === '') return notConfigured;
    // The vendor's client is large: it is evaluated when the first text comes, not when the Worker starts.
    const { embedByOpenAi } = await import('./openai.ts');
    return embedByOpenAi(settings, texts, { purpose, signal }, outside);
  },
});
