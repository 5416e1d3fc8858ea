import { APIConnectionError, APIError, type OpenAI } from 'openai';
import type { Runtime } from '../http/runtime.ts';
import type {
  CompletionFailure,
  ConversationDelta,
  ConversationMessage,
  ConversationRequest,
  FailureType,
  LanguageModelSettings,
} from './contract.ts';
import { Chunk, ChunkJoiner } from './chunk-joiner.ts';
import { createOpenAiClient } from './openai-client.ts';
import { failureFromError } from './openai-errors.ts';
import { withRetry } from './retry.ts';
import { IdleTimeout } from './idle-timeout.ts';

const maxSilenceSeconds = 60;
const defaultSilenceSeconds = 15;
/** Few tries, because a person is waiting on the line. */
const maxAttempts = 2;
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
  settings: LanguageModelSettings,
  request: ConversationRequest,
  signal: AbortSignal,
  runtime: Runtime,
): AsyncGenerator<ConversationDelta> {
  const asked: StreamRequest = {
    client: createOpenAiClient(settings, runtime),
    body: toRequestBody(request, request.model ?? settings.LANGUAGE_MODEL),
    silenceSeconds: Math.min(request.silence_seconds ?? defaultSilenceSeconds, maxSilenceSeconds),
    key: settings.OPENAI_API_KEY,
    now: runtime.now,
    signal,
  };
  const deadline = runtime.now() + asked.silenceSeconds * 1000;
  const begun = await withRetry<StartedStream>(runtime, deadline, (timeoutMs) => startStream(asked, timeoutMs), maxAttempts);
  if (signal.aborted) return;
  if ('failure' in begun) return yield { type: 'failure', ...begun };
  try {
    yield* begun.first;
    yield* begun.rest;
  } finally {
    // A consumer that stops at the first word has not begun `rest`, which holds the request.
    await begun.rest.return(undefined);
  }
}

interface StreamRequest {
  client: OpenAI;
  body: OpenAI.ChatCompletionCreateParamsStreaming;
  silenceSeconds: number;
  key: string;
  now: () => number;
  signal: AbortSignal;
}

/** A stream whose first delta has arrived; none when it was aborted before. */
interface StartedStream {
  first: ConversationDelta[];
  rest: AsyncGenerator<ConversationDelta>;
}

async function startStream(asked: StreamRequest, timeoutMs: number): Promise<StartedStream | CompletionFailure> {
  const rest = streamDeltas(asked, timeoutMs);
  const { value, done } = await rest.next();
  if (done) return { first: [], rest };
  if (value.type !== 'failure') return { first: [value], rest };
  const { type: _type, ...failure } = value;
  return failure;
}

const fail = (failure: FailureType, message: string, retryable: boolean): ConversationDelta => ({
  type: 'failure',
  failure,
  message,
  retryable,
});

async function* streamDeltas(asked: StreamRequest, timeoutMs: number): AsyncGenerator<ConversationDelta> {
  const { client, body, signal, silenceSeconds } = asked;
  const watch = new IdleTimeout(signal);
  const joiner = new ChunkJoiner();
  let hasSpoken = false;
  try {
    const stream = await watch.within(timeoutMs, createStream(client, body, watch.signal));
    const chunks = stream[Symbol.asyncIterator]();
    for (;;) {
      const { value, done } = await watch.within(hasSpoken ? silenceSeconds * 1000 : timeoutMs, chunks.next());
      if (signal.aborted) return;
      if (done) break;
      const chunk = Chunk.safeParse(value);
      if (!chunk.success)
        return yield fail('provider_failed', 'The language model provider answered something that is no chat completion', true);
      const text = joiner.add(chunk.data);
      if (text === '') continue;
      hasSpoken = true;
      yield { type: 'text', text };
    }
  } catch (error) {
    if (!signal.aborted) yield toFailureDelta(error, asked, watch.isExpired);
    return;
  } finally {
    watch.stop();
  }
  yield watch.isExpired ? silenceFailure(asked) : toEndDelta(joiner, hasSpoken, body.model);
}

function toEndDelta(joiner: ChunkJoiner, hasSpoken: boolean, model: string): ConversationDelta {
  if (joiner.finish === null) return fail('provider_failed', 'The language model provider broke off in the middle of its answer', true);
  if (joiner.finish === 'content_filter' && !hasSpoken)
    return fail('content_filter', "The provider's content filter held the answer back; change the prompt", false);
  return { type: 'end', tool_calls: joiner.calls(), model: joiner.model ?? model, usage: joiner.usage };
}

const silenceFailure = ({ silenceSeconds }: StreamRequest): ConversationDelta =>
  fail('provider_failed', `The language model provider was silent for ${silenceSeconds} seconds`, true);

function toFailureDelta(error: unknown, asked: StreamRequest, isSilent: boolean): ConversationDelta {
  if (isSilent) return silenceFailure(asked);
  const isOfStream = !(error instanceof APIError) && !(error instanceof SyntaxError);
  // An error inside of a stream has no status, because the stream began with 200.
  const isReported = error instanceof APIError && !(error instanceof APIConnectionError) && error.status === undefined;
  if (isOfStream || isReported) return fail('provider_failed', 'The language model provider broke off in the middle of its answer', true);
  const { body, key, silenceSeconds, now } = asked;
  return { type: 'failure', ...failureFromError(error, { model: body.model, key, timeoutSeconds: silenceSeconds, now: now() }) };
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
