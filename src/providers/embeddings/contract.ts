import type { Settings } from '../../settings.ts';

export interface EmbeddingResult {
  /** A vector of 1536 numbers for each text, in the order of the texts. */
  vectors: Float32Array[];
  /** The provider's count. */
  tokens: number;
  /** The model of the vectors: EMBEDDING_MODEL. */
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

/** The reason for missing vectors. `message` names the cause and the remedy and contains neither the key nor a text. */
export interface EmbeddingFailure {
  failure: EmbeddingFailureType;
  message: string;
  /** Whether the same texts may succeed later. */
  retryable: boolean;
  retryAfterSeconds?: number;
}

/** A caller waits for a `question`: its timeout is 10 s including retries. A request for a `document` has 60 s. */
export type EmbeddingPurpose = 'document' | 'question';

export interface Embeddings {
  /**
   * The vectors of any number of texts, in as few requests as the provider's limits allow, or one failure for all. `purpose` is `document`
   * by default. Throws when `signal` is aborted, which also cancels the current request.
   */
  embed(texts: string[], purpose?: EmbeddingPurpose, signal?: AbortSignal): Promise<EmbeddingResult | EmbeddingFailure>;
}

export type EmbeddingSettings = Pick<Settings, 'OPENAI_API_KEY' | 'OPENAI_BASE_URL' | 'EMBEDDING_MODEL'>;
