import { badRequest, modelNotFound } from './errors.ts';
import type { ChatRequest } from './chat-request.ts';

const chatModel = /^(?:gpt-|chatgpt-|o\d|ft:)/;
const embeddingModel = /^text-embedding-/;
/** Models that reason before they answer and take no sampling parameters. */
const reasoningModel = /^(?:o\d|gpt-[5-9])/;
/** Models that reason by default, and call tools over this endpoint only if reasoning is turned off. */
const toolsNeedNoReasoning = /^gpt-(?:5\.[56]|[6-9])/;

/** Models that always or never reason; a request cannot change it. */
const ownWay = /-(?:pro|codex|chat-latest|thinking)(?:-|$)/;

/** Checks the rules that depend on the model's name. Throws OpenAiError. */
export function checkModelRules(request: ChatRequest): void {
  const { model } = request;
  if (embeddingModel.test(model))
    throw badRequest(
      'This is not a chat model and thus not supported in the v1/chat/completions endpoint. Did you mean to use v1/embeddings?',
      { param: 'model' },
    );
  if (!chatModel.test(model)) throw modelNotFound(model);
  if (!reasoningModel.test(model)) return;
  if (typeof request.max_tokens === 'number')
    throw badRequest("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", {
      param: 'max_tokens',
      code: 'unsupported_parameter',
    });
  for (const param of ['temperature', 'top_p'] as const)
    if (typeof request[param] === 'number' && request[param] !== 1)
      throw badRequest(
        `Unsupported value: '${param}' does not support ${request[param]} with this model. Only the default (1) value is supported.`,
        { param, code: 'unsupported_value' },
      );
  if (ownWay.test(model)) {
    if (request.reasoning_effort === 'none')
      throw badRequest(`Unsupported value: 'reasoning_effort' does not support 'none' with the '${model}' model.`, {
        param: 'reasoning_effort',
        code: 'unsupported_value',
      });
    return;
  }
  if (toolsNeedNoReasoning.test(model) && request.tools && request.reasoning_effort !== 'none')
    throw badRequest(
      `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
      { param: 'reasoning_effort' },
    );
}
