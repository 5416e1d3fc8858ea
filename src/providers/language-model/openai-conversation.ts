import { APIConnectionError, APIError, type OpenAI } from 'openai';
import type { Runtime } from '../http/runtime.ts';
import type { CompletionFailure, ConversationDelta, ConversationMessage, ConversationRequest, ModelEndpoint } from './contract.ts';
import { Chunk, ChunkJoiner } from './chunk-joiner.ts';
import { createOpenAiClient } from './openai-client.ts';
import { failureFromError } from './openai-errors.ts';
import { brokenOff, streamAnswer, type AnswerCollector } from './stream-answer.ts';

/**
 * Models that reason unless `reasoning_effort` is `none`; the newest accept tools at this endpoint only then. Other models refuse the
 * parameter.
 */
const reasoningCanBeDisabled = /(?:^|\/)gpt-(?:5\.[1-9]|[6-9]|\d\d)/;
/** Variants of these models that always or never reason, and accept no other value. */
const reasoningIsFixed = /-(?:pro|codex|chat-latest)(?:-|$)/;
/** Models that have refused the parameter in this isolate. */
const modelsWithoutReasoningEffort = new Set<string>();
const maxRememberedModels = 100;

/** Streams chat completions. A transient failure before the first word is retried once. */
export async function* converseWithOpenAi(
  endpoint: ModelEndpoint,
  request: ConversationRequest,
  signal: AbortSignal,
  runtime: Runtime,
): AsyncGenerator<ConversationDelta> {
  const client = createOpenAiClient(endpoint, runtime);
  const body = toRequestBody(request, request.model ?? endpoint.model);
  const stream = {
    open: async (inner: AbortSignal) => (await createStream(client, body, inner))[Symbol.asyncIterator]() as AsyncIterator<unknown>,
    collect: () => new ChunkCollector(body.model),
    toFailure: (error: unknown, timeoutSeconds: number) =>
      toStreamFailure(error) ?? failureFromError(error, { endpoint, model: body.model, timeoutSeconds, now: runtime.now() }),
  };
  yield* streamAnswer(stream, request, signal, runtime);
}

class ChunkCollector implements AnswerCollector<unknown> {
  readonly #joiner = new ChunkJoiner();
  readonly #model: string;

  constructor(model: string) {
    this.#model = model;
  }

  add(event: unknown): { text: string; hasToken: boolean } | CompletionFailure {
    const chunk = Chunk.safeParse(event);
    if (!chunk.success) return fail('provider_failed', 'The language model provider answered something that is no chat completion', true);
    const text = this.#joiner.add(chunk.data);
    return { text, hasToken: text !== '' || (chunk.data.choices?.[0]?.delta?.tool_calls?.length ?? 0) > 0 };
  }

  end(hasSpoken: boolean): ConversationDelta {
    const { finish, usage, model } = this.#joiner;
    if (finish === null) return { type: 'failure', ...brokenOff() };
    if (finish === 'content_filter' && !hasSpoken)
      return {
        type: 'failure',
        ...fail('content_filter', "The provider's content filter held the answer back; change the prompt", false),
      };
    return { type: 'end', tool_calls: this.#joiner.calls(), model: model ?? this.#model, usage };
  }
}

const fail = (failure: CompletionFailure['failure'], message: string, retryable: boolean): CompletionFailure => ({
  failure,
  message,
  retryable,
});

/** The failure of an error inside of a stream; null: an error of the request. */
function toStreamFailure(error: unknown): CompletionFailure | null {
  const isOfStream = !(error instanceof APIError) && !(error instanceof SyntaxError);
  // An error inside of a stream has no status, because the stream began with 200.
  const isReported = error instanceof APIError && !(error instanceof APIConnectionError) && error.status === undefined;
  return isOfStream || isReported ? brokenOff() : null;
}

function toRequestBody(request: ConversationRequest, model: string): OpenAI.ChatCompletionCreateParamsStreaming {
  const { system, messages, tools = [], tool_choice: choice, max_tokens: maxTokens, seed } = request;
  return {
    model,
    stream: true,
    stream_options: { include_usage: true },
    messages: [...(system === undefined ? [] : [{ role: 'system' as const, content: system }]), ...messages.map(toWireMessage)],
    ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: 'function' as const, function: { ...tool } })) }),
    ...(tools.length > 0 && choice !== undefined && { tool_choice: choice }),
    ...(maxTokens !== undefined && { max_completion_tokens: maxTokens }),
    ...(seed !== undefined && { seed }),
    ...(disablesReasoning(model) && { reasoning_effort: 'none' as const }),
  };
}

const disablesReasoning = (model: string): boolean =>
  reasoningCanBeDisabled.test(model) && !reasoningIsFixed.test(model) && !modelsWithoutReasoningEffort.has(model);

/** Creates the stream. A model that refuses `reasoning_effort` is asked again without it, now and later. */
async function createStream(client: OpenAI, body: OpenAI.ChatCompletionCreateParamsStreaming, signal: AbortSignal) {
  try {
    return await client.chat.completions.create(body, { signal });
  } catch (error) {
    const isRefusal = error instanceof APIError && error.status === 400 && error.param === 'reasoning_effort';
    if (!isRefusal || body.reasoning_effort === undefined) throw error;
    if (modelsWithoutReasoningEffort.size >= maxRememberedModels) modelsWithoutReasoningEffort.clear();
    modelsWithoutReasoningEffort.add(body.model);
    const { reasoning_effort: _refused, ...plain } = body;
    return client.chat.completions.create(plain, { signal });
  }
}

function toWireMessage(message: ConversationMessage): OpenAI.ChatCompletionMessageParam {
  if (message.role !== 'assistant') return message;
  const calls = message.tool_calls ?? [];
  if (calls.length === 0) return { role: 'assistant', content: message.content ?? '' };
  const toolCalls = calls.map(({ id, name, arguments: text }) => ({ id, type: 'function' as const, function: { name, arguments: text } }));
  return { role: 'assistant', content: message.content, tool_calls: toolCalls };
}
