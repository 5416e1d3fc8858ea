import { APIError } from 'openai';
import type { CompletionFailure } from '../language-model/contract.ts';
import type { EmbeddingFailure, EmbeddingFailureType } from './contract.ts';

/** Tokens of one text. */
const maxTokens = '8,192';

/** The failure of a refused request for vectors. `said`: what the error means for any request to the provider. */
export function toEmbeddingFailure(said: CompletionFailure, error: unknown, model: string): EmbeddingFailure {
  const [failure, message] = describeFailure(said, error, model);
  const seconds = said.retry_after_seconds;
  return { failure, message, retryable: said.retryable, ...(seconds !== undefined && { retryAfterSeconds: seconds }) };
}

function describeFailure(said: CompletionFailure, error: unknown, model: string): [EmbeddingFailureType, string] {
  const { status, message = '' } = error instanceof APIError ? error : {};
  switch (said.failure) {
    case 'invalid_credentials':
    case 'insufficient_quota':
    case 'rate_limited':
    case 'provider_failed':
      return [said.failure, said.message];
    case 'model_not_found':
      return ['model_not_found', `There is no model "${model}" for this key; set EMBEDDING_MODEL to another one`];
    default: {
      if (/maximum (?:input|context) length/.test(message)) {
        const [, position] = /input\[(\d+)\]/.exec(message) ?? [];
        const text = position === undefined ? 'A text' : `Text ${Number(position) + 1} of a request`;
        return ['text_too_long', `${text} is longer than the ${maxTokens} tokens that ${model} takes; shorten it`];
      }
      if (status === 404 || status === 405) return ['invalid_request', `There are no embeddings at OPENAI_BASE_URL: status ${status}`];
      return [
        'invalid_request',
        `The provider of ${model} refuses the request with status ${status}; look at EMBEDDING_MODEL and OPENAI_BASE_URL`,
      ];
    }
  }
}
