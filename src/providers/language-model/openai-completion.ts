import type { Runtime } from '../http/runtime.ts';
import type { Completion, CompletionFailure, CompletionRequest, ModelEndpoint } from './contract.ts';
import { createOpenAiClient } from './openai-client.ts';
import { failureFromError } from './openai-errors.ts';
import { parseCompletion } from './parse-completion.ts';
import { isStrictSchema } from './strict-schema.ts';
import { withRetry } from './retry.ts';

const maxTimeoutSeconds = 60;

/** Calls chat completions of OpenAI or of a service with its API. */
export async function completeWithOpenAi(
  endpoint: ModelEndpoint,
  request: CompletionRequest,
  runtime: Runtime,
): Promise<Completion | CompletionFailure> {
  const model = request.model ?? endpoint.model;
  const timeoutSeconds = Math.min(request.timeout_seconds ?? maxTimeoutSeconds, maxTimeoutSeconds);
  const client = createOpenAiClient(endpoint, runtime);
  const body = toRequestBody(request, model);
  const attempt = async (timeoutMs: number) => {
    try {
      return parseCompletion(await client.chat.completions.create(body, { timeout: timeoutMs }), request, model);
    } catch (error) {
      return failureFromError(error, { endpoint, model, timeoutSeconds, now: runtime.now() });
    }
  };
  return withRetry(runtime, runtime.now() + timeoutSeconds * 1000, attempt, request.max_attempts);
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
