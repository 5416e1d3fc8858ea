import { APIError, type OpenAI } from 'openai';
import { createOpenAiClient } from '../language-model/openai-client.ts';
import { failureFromError } from '../language-model/openai-errors.ts';
import { serviceEndpoint } from '../language-model/service-endpoint.ts';
import type { ModelEndpoint } from '../language-model/contract.ts';
import { withRetry } from '../language-model/retry.ts';
import type { Runtime } from '../http/runtime.ts';
import { dimensions } from '../vector-index/vector-limits.ts';
import type { EmbeddingResult, EmbeddingFailure, EmbeddingPurpose, EmbeddingSettings } from './contract.ts';
import { toEmbeddingFailure } from './openai-failures.ts';
import { readVectors } from './openai-vectors.ts';
import { splitIntoRequests } from './split-requests.ts';

const timeoutSecondsByPurpose: Record<EmbeddingPurpose, number> = { document: 60, question: 10 };
/** Models that can answer shorter vectors. */
const shortenableModel = /^text-embedding-3-/;

interface EmbeddingRequestContext {
  settings: EmbeddingSettings;
  endpoint: ModelEndpoint;
  client: OpenAI;
  seconds: number;
  signal: AbortSignal | undefined;
  outside: Runtime;
}

/** Calls `POST /embeddings` of OpenAI or a service with its API, one request after another. */
export async function embedByOpenAi(
  settings: EmbeddingSettings,
  texts: string[],
  { purpose, signal }: { purpose: EmbeddingPurpose; signal: AbortSignal | undefined },
  outside: Runtime,
): Promise<EmbeddingResult | EmbeddingFailure> {
  const model = settings.EMBEDDING_MODEL;
  const empty = texts.indexOf('');
  if (empty >= 0) return { failure: 'invalid_request', message: `Text ${empty + 1} is empty, and has no vector`, retryable: false };
  const endpoint = serviceEndpoint({ ...settings, LANGUAGE_MODEL: model });
  const requestContext = {
    settings,
    endpoint,
    client: createOpenAiClient(endpoint, outside),
    seconds: timeoutSecondsByPurpose[purpose],
    signal,
    outside,
  };
  const embedded: EmbeddingResult = { vectors: [], tokens: 0, model };
  const requests = splitIntoRequests(texts);
  for (let request = requests.shift(); request; request = requests.shift()) {
    const answer = await requestEmbeddings(requestContext, request);
    if (answer === 'too_large') requests.unshift(...splitInHalf(request));
    else if ('failure' in answer) return answer;
    else {
      embedded.vectors.push(...answer.vectors);
      embedded.tokens += answer.tokens;
    }
  }
  return embedded;
}

type EmbeddingRequestOutcome = { vectors: Float32Array[]; tokens: number } | EmbeddingFailure | 'too_large';

async function requestEmbeddings(
  { settings, endpoint, client, seconds, signal, outside }: EmbeddingRequestContext,
  texts: string[],
): Promise<EmbeddingRequestOutcome> {
  const model = settings.EMBEDDING_MODEL;
  const body = { model, input: texts, encoding_format: 'base64' as const, ...(shortenableModel.test(model) && { dimensions }) };
  let refusal: unknown;
  const outcome = await withRetry<{ answer: unknown }>(outside, outside.now() + seconds * 1000, async (timeout) => {
    try {
      return { answer: await client.embeddings.create(body, { timeout, signal }) };
    } catch (error) {
      refusal = error;
      return failureFromError(error, { endpoint, model, timeoutSeconds: seconds, now: outside.now() });
    }
  });
  if ('answer' in outcome) return readVectors(outcome.answer, texts.length, model);
  return texts.length > 1 && isTooLarge(refusal) ? 'too_large' : toEmbeddingFailure(outcome, refusal, model);
}

/** Whether the provider counted more tokens than a request may have; they were only estimated before. */
const isTooLarge = (error: unknown): boolean =>
  error instanceof APIError && (error.code === 'max_tokens_per_request' || error.status === 413);

function splitInHalf(texts: string[]): [string[], string[]] {
  const middle = texts.length >> 1;
  return [texts.slice(0, middle), texts.slice(middle)];
}
