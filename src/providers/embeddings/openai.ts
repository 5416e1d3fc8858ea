import { APIError, type OpenAI } from 'openai';
import { openAiClient } from '../language-model/openai-client.ts';
import { failureOf } from '../language-model/openai-failures.ts';
import { withRetries } from '../language-model/retries.ts';
import type { Outside } from '../outside.ts';
import { dimensions } from '../vector-index/check-vectors.ts';
import type { Embedded, EmbeddingFailure, EmbeddingPurpose, EmbeddingSettings } from './embeddings.ts';
import { toEmbeddingFailure } from './openai-failures.ts';
import { readVectors } from './openai-vectors.ts';
import { requestsFor } from './requests.ts';

const secondsFor: Record<EmbeddingPurpose, number> = { document: 60, question: 10 };
/** Models that can be asked for fewer numbers than are theirs. */
const shortenable = /^text-embedding-3-/;

interface Asking {
  settings: EmbeddingSettings;
  client: OpenAI;
  seconds: number;
  signal: AbortSignal | undefined;
  outside: Outside;
}

/** Asks `POST /embeddings`, which services that copy OpenAI's API have, too. One request after another. */
export async function embedByOpenAi(
  settings: EmbeddingSettings,
  texts: string[],
  { purpose, signal }: { purpose: EmbeddingPurpose; signal: AbortSignal | undefined },
  outside: Outside,
): Promise<Embedded | EmbeddingFailure> {
  const model = settings.EMBEDDING_MODEL;
  const empty = texts.indexOf('');
  if (empty >= 0) return { failure: 'invalid_request', message: `Text ${empty + 1} is empty, and has no vector`, retryable: false };
  const client = openAiClient({ ...settings, LANGUAGE_MODEL: model }, outside);
  const asking = { settings, client, seconds: secondsFor[purpose], signal, outside };
  const embedded: Embedded = { vectors: [], tokens: 0, model };
  const requests = requestsFor(texts);
  for (let request = requests.shift(); request; request = requests.shift()) {
    const answer = await ask(asking, request);
    if (answer === 'too_large') requests.unshift(...halves(request));
    else if ('failure' in answer) return answer;
    else {
      embedded.vectors.push(...answer.vectors);
      embedded.tokens += answer.tokens;
    }
  }
  return embedded;
}

type Answer = { vectors: Float32Array[]; tokens: number } | EmbeddingFailure | 'too_large';

async function ask({ settings, client, seconds, signal, outside }: Asking, texts: string[]): Promise<Answer> {
  const model = settings.EMBEDDING_MODEL;
  const body = { model, input: texts, encoding_format: 'base64' as const, ...(shortenable.test(model) && { dimensions }) };
  let refused: unknown;
  const outcome = await withRetries<{ answer: unknown }>(outside, outside.now() + seconds * 1000, async (timeout) => {
    try {
      return { answer: await client.embeddings.create(body, { timeout, signal }) };
    } catch (error) {
      refused = error;
      return failureOf(error, { model, key: settings.OPENAI_API_KEY, timeoutSeconds: seconds, now: outside.now() });
    }
  });
  if ('answer' in outcome) return readVectors(outcome.answer, texts.length, model);
  return texts.length > 1 && isTooLarge(refused) ? 'too_large' : toEmbeddingFailure(outcome, refused, model);
}

/** The tokens of a request were estimated; the provider has counted them. */
const isTooLarge = (error: unknown): boolean =>
  error instanceof APIError && (error.code === 'max_tokens_per_request' || error.status === 413);

function halves(texts: string[]): [string[], string[]] {
  const middle = texts.length >> 1;
  return [texts.slice(0, middle), texts.slice(middle)];
}
