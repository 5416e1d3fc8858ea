import type { Outside } from '../outside.ts';
import type { Completion, CompletionFailure, CompletionRequest, ModelSettings } from './language-model.ts';
import { openAiClient } from './openai-client.ts';
import { failureOf } from './openai-failures.ts';
import { readAnswer } from './openai-answer.ts';
import { isStrictSchema } from './strict-schema.ts';
import { withRetries } from './retries.ts';

const longestSeconds = 60;

/** Asks chat completions, which services that copy OpenAI's API have, too. */
export async function completeByOpenAi(
  settings: ModelSettings,
  request: CompletionRequest,
  outside: Outside,
): Promise<Completion | CompletionFailure> {
  const model = request.model ?? settings.LANGUAGE_MODEL;
  const timeoutSeconds = Math.min(request.timeout_seconds ?? longestSeconds, longestSeconds);
  const client = openAiClient(settings, outside);
  const body = bodyOf(request, model);
  return withRetries(outside, outside.now() + timeoutSeconds * 1000, async (timeoutMs) => {
    try {
      return readAnswer(await client.chat.completions.create(body, { timeout: timeoutMs }), request, model);
    } catch (error) {
      return failureOf(error, { model, key: settings.OPENAI_API_KEY, timeoutSeconds, now: outside.now() });
    }
  });
}

function bodyOf({ system, messages, output, max_tokens: maximum, seed }: CompletionRequest, model: string) {
  return {
    model,
    messages: [...(system === undefined ? [] : [{ role: 'system' as const, content: system }]), ...messages],
    ...(maximum === undefined ? {} : { max_completion_tokens: maximum }),
    ...(seed !== undefined && { seed }),
    ...(output && {
      response_format: {
        type: 'json_schema' as const,
        json_schema: { name: 'answer', schema: output.schema, strict: isStrictSchema(output.schema) },
      },
    }),
  };
}
