import { APIConnectionError, APIError, type OpenAI } from 'openai';
import type { Outside } from '../outside.ts';
import type {
  CompletionFailure,
  ConversationDelta,
  ConversationMessage,
  ConversationRequest,
  FailureType,
  ModelSettings,
} from './language-model.ts';
import { Chunk, ChunkJoiner } from './openai-chunks.ts';
import { openAiClient } from './openai-client.ts';
import { failureOf } from './openai-failures.ts';
import { withRetries } from './retries.ts';
import { SilenceWatch } from './silence-watch.ts';

const longestSeconds = 60;
const usualSeconds = 15;
/** A person waits on the line. */
const mostTries = 2;
/** Models that think first unless told not to; the newest take tools at this endpoint only then. Others refuse the parameter. */
const canSkipThinking = /(?:^|\/)gpt-(?:5\.[1-9]|[6-9]|\d\d)/;
/** Kinds of them that always think, or never, and take no other value. */
const thinksItsOwnWay = /-(?:pro|codex|chat-latest)(?:-|$)/;
/** Models that have refused the parameter, as long as this isolate lives. */
const refusers = new Set<string>();
const mostRefusers = 100;

/** Asks chat completions for a stream. */
export async function* converseByOpenAi(
  settings: ModelSettings,
  request: ConversationRequest,
  signal: AbortSignal,
  outside: Outside,
): AsyncGenerator<ConversationDelta> {
  const asked: Asked = {
    client: openAiClient(settings, outside),
    body: bodyOf(request, request.model ?? settings.LANGUAGE_MODEL),
    silenceSeconds: Math.min(request.silence_seconds ?? usualSeconds, longestSeconds),
    key: settings.OPENAI_API_KEY,
    now: outside.now,
    signal,
  };
  const deadline = outside.now() + asked.silenceSeconds * 1000;
  const begun = await withRetries<Begun>(outside, deadline, (timeoutMs) => begin(asked, timeoutMs), mostTries);
  if (signal.aborted) return;
  if ('failure' in begun) return yield { type: 'failure', ...begun };
  try {
    yield* begun.first;
    yield* begun.rest;
  } finally {
    // Whoever leaves at the first word has not come to the rest yet, which holds the request.
    await begun.rest.return(undefined);
  }
}

interface Asked {
  client: OpenAI;
  body: OpenAI.ChatCompletionCreateParamsStreaming;
  silenceSeconds: number;
  key: string;
  now: () => number;
  signal: AbortSignal;
}

/** A stream of which the first delta is there; none when it was aborted before. */
interface Begun {
  first: ConversationDelta[];
  rest: AsyncGenerator<ConversationDelta>;
}

async function begin(asked: Asked, timeoutMs: number): Promise<Begun | CompletionFailure> {
  const rest = deltasOf(asked, timeoutMs);
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

async function* deltasOf(asked: Asked, timeoutMs: number): AsyncGenerator<ConversationDelta> {
  const { client, body, signal, silenceSeconds } = asked;
  const watch = new SilenceWatch(signal);
  const joiner = new ChunkJoiner();
  let hasSpoken = false;
  try {
    const stream = await watch.within(timeoutMs, streamOf(client, body, watch.signal));
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
    if (!signal.aborted) yield meaningOf(error, asked, watch.isSilent);
    return;
  } finally {
    watch.stop();
  }
  yield watch.isSilent ? silence(asked) : endOf(joiner, hasSpoken, body.model);
}

function endOf(joiner: ChunkJoiner, hasSpoken: boolean, model: string): ConversationDelta {
  if (joiner.finish === null) return fail('provider_failed', 'The language model provider broke off in the middle of its answer', true);
  if (joiner.finish === 'content_filter' && !hasSpoken)
    return fail('content_filter', "The provider's content filter held the answer back; change the prompt", false);
  return { type: 'end', tool_calls: joiner.calls(), model: joiner.model ?? model, usage: joiner.usage };
}

const silence = ({ silenceSeconds }: Asked): ConversationDelta =>
  fail('provider_failed', `The language model provider was silent for ${silenceSeconds} seconds`, true);

function meaningOf(error: unknown, asked: Asked, isSilent: boolean): ConversationDelta {
  if (isSilent) return silence(asked);
  const isOfStream = !(error instanceof APIError) && !(error instanceof SyntaxError);
  // A stream that ends in an error has the status 200 behind it.
  const isReported = error instanceof APIError && !(error instanceof APIConnectionError) && error.status === undefined;
  if (isOfStream || isReported) return fail('provider_failed', 'The language model provider broke off in the middle of its answer', true);
  const { body, key, silenceSeconds, now } = asked;
  return { type: 'failure', ...failureOf(error, { model: body.model, key, timeoutSeconds: silenceSeconds, now: now() }) };
}

function bodyOf(request: ConversationRequest, model: string): OpenAI.ChatCompletionCreateParamsStreaming {
  const { system, messages, tools = [], tool_choice: choice, max_tokens: maximum, seed } = request;
  return {
    model,
    stream: true,
    stream_options: { include_usage: true },
    messages: [...(system === undefined ? [] : [{ role: 'system' as const, content: system }]), ...messages.map(wireMessage)],
    ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: 'function' as const, function: { ...tool } })) }),
    ...(tools.length > 0 && choice !== undefined && { tool_choice: choice }),
    ...(maximum !== undefined && { max_completion_tokens: maximum }),
    ...(seed !== undefined && { seed }),
    ...(skipsThinking(model) && { reasoning_effort: 'none' as const }),
  };
}

const skipsThinking = (model: string): boolean => canSkipThinking.test(model) && !thinksItsOwnWay.test(model) && !refusers.has(model);

/** A model that does not take `reasoning_effort` is asked once more without, and without from then on. */
async function streamOf(client: OpenAI, body: OpenAI.ChatCompletionCreateParamsStreaming, signal: AbortSignal) {
  try {
    return await client.chat.completions.create(body, { signal });
  } catch (error) {
    const isRefusal = error instanceof APIError && error.status === 400 && error.param === 'reasoning_effort';
    if (!isRefusal || body.reasoning_effort === undefined) throw error;
    if (refusers.size >= mostRefusers) refusers.clear();
    refusers.add(body.model);
    const { reasoning_effort: _refused, ...plain } = body;
    return client.chat.completions.create(plain, { signal });
  }
}

function wireMessage(message: ConversationMessage): OpenAI.ChatCompletionMessageParam {
  if (message.role !== 'assistant') return message;
  const calls = message.tool_calls ?? [];
  if (calls.length === 0) return { role: 'assistant', content: message.content ?? '' };
  const toolCalls = calls.map(({ id, name, arguments: text }) => ({ id, type: 'function' as const, function: { name, arguments: text } }));
  return { role: 'assistant', content: message.content, tool_calls: toolCalls };
}
