import type { Runtime } from '../http/runtime.ts';
import type { Completion, CompletionFailure, CompletionRequest, LanguageModelSettings } from './contract.ts';
import { createOpenAiClient } from './openai-client.ts';
import { failureFromError } from './openai-errors.ts';
import { parseCompletion } from './parse-completion.ts';
import { isStrictSchema } from './strict-schema.ts';
import { withRetry } from './retry.ts';

const maxTimeoutSeconds = 60;

/** Calls chat completions of OpenAI or of a service with its API. */
export async function completeWithOpenAi(
  settings: LanguageModelSettings,
  request: CompletionRequest,
  runtime: Runtime,
): Promise<Completion | CompletionFailure> {
  const model = request.model ?? settings.LANGUAGE_MODEL;
  const timeoutSeconds = Math.min(request.timeout_seconds ?? maxTimeoutSeconds, maxTimeoutSeconds);
  const client = createOpenAiClient(settings, runtime);
  const body = toRequestBody(request, model);
  return withRetry(runtime, runtime.now() + timeoutSeconds * 1000, async (timeoutMs) => {
    try {
      return parseCompletion(await client.chat.completions.create(body, { timeout: timeoutMs }), request, model);
    } catch (error) {
      return failureFromError(error, { model, key: settings.OPENAI_API_KEY, timeoutSeconds, now: runtime.now() });
    }
  });
}

function toRequestBody({ system, messages, output, max_tokens: maxTokens, seed }: CompletionRequest, model: string) {
  return {
    model,
    messages: [...(system === undefined ? [] : [{ role: 'system' as const, content: system }]), ...messages],
    ...(maxTokens === undefined ? {} : { max_completion_tokens: maxTokens }),
    ...(seed !== undefined && { seed }),
    ...(output && {
      response_format: {
        type: 'json_schema' as const,
        json_schema: { name: 'answer', schema: output.schema, strict: isStrictSchema(output.schema) },
      },
    }),
  };
}
