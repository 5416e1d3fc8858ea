import { ServiceError } from '../../library/errors.ts';
import type { EmbeddingFailure } from '../../providers/embeddings/embeddings.ts';

/** There is no vector of a query to be had; `failure` says why, and whether it may pass. */
export class QueryEmbeddingError extends ServiceError {
  readonly failure: EmbeddingFailure;

  constructor(failure: EmbeddingFailure) {
    const { message, retryAfterSeconds } = failure;
    super('provider_failed', `The query could not be embedded: ${message}`, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
    this.failure = failure;
  }
}
