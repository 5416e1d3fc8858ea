import type { Runtime } from '../http/runtime.ts';
import type { CompletionFailure, ConversationDelta, ConversationRequest } from './contract.ts';
import { IdleTimeout } from './idle-timeout.ts';
import { withRetry } from './retry.ts';

const maxSilenceSeconds = 60;
const defaultSilenceSeconds = 15;
/** Few tries, because a person is waiting on the line. */
const defaultMaxAttempts = 2;

/** How a provider streams one answer. */
export interface AnswerStream<Event> {
  /** Sends the request. The events of the answer follow. */
  open(signal: AbortSignal): Promise<AsyncIterator<Event>>;
  /** Makes the collector of one try. */
  collect(): AnswerCollector<Event>;
  /** The failure of an error of `open` or of the events. `seconds` is how long the provider had. */
  toFailure(error: unknown, seconds: number): CompletionFailure;
}

/** Puts the events of one answer together. */
export interface AnswerCollector<Event> {
  /** The text of an event, and whether it has a token: text, or a part of a tool call. A failure ends the answer. */
  add(event: Event): { text: string; hasToken: boolean } | CompletionFailure;
  /** The end of the answer, after the last event. */
  end(hasSpoken: boolean): ConversationDelta;
}

interface StreamLimits {
  firstTokenSeconds: number;
  silenceSeconds: number;
  signal: AbortSignal;
}

export const brokenOff = (): CompletionFailure => ({
  failure: 'provider_failed',
  message: 'The language model provider broke off in the middle of its answer',
  retryable: true,
});

/** Streams one answer. A transient failure before the first word is retried once, or as often as the request says. */
export async function* streamAnswer<Event>(
  stream: AnswerStream<Event>,
  request: Pick<ConversationRequest, 'silence_seconds' | 'first_token_seconds' | 'max_attempts'>,
  signal: AbortSignal,
  runtime: Runtime,
): AsyncGenerator<ConversationDelta> {
  const silenceSeconds = Math.min(request.silence_seconds ?? defaultSilenceSeconds, maxSilenceSeconds);
  const firstTokenSeconds = Math.min(request.first_token_seconds ?? silenceSeconds, silenceSeconds);
  const limits: StreamLimits = { firstTokenSeconds, silenceSeconds, signal };
  const deadline = runtime.now() + firstTokenSeconds * 1000;
  const attempt = (timeoutMs: number) => startStream(stream, limits, timeoutMs);
  const begun = await withRetry<StartedStream>(runtime, deadline, attempt, request.max_attempts ?? defaultMaxAttempts);
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

/** A stream whose first delta has arrived; none when it was aborted before. */
interface StartedStream {
  first: ConversationDelta[];
  rest: AsyncGenerator<ConversationDelta>;
}

async function startStream<Event>(
  stream: AnswerStream<Event>,
  limits: StreamLimits,
  timeoutMs: number,
): Promise<StartedStream | CompletionFailure> {
  const rest = streamDeltas(stream, limits, timeoutMs);
  const { value, done } = await rest.next();
  if (done) return { first: [], rest };
  if (value.type !== 'failure') return { first: [value], rest };
  const { type: _type, ...failure } = value;
  return failure;
}

async function* streamDeltas<Event>(
  stream: AnswerStream<Event>,
  { signal, silenceSeconds, firstTokenSeconds }: StreamLimits,
  timeoutMs: number,
): AsyncGenerator<ConversationDelta> {
  const watch = new IdleTimeout(signal);
  const collector = stream.collect();
  let hasBegun = false;
  let hasSpoken = false;
  const silence = (): ConversationDelta => toSilenceFailure(hasBegun ? silenceSeconds : firstTokenSeconds);
  try {
    // Signs of life, such as pings, do not extend the time until the first token.
    watch.start(timeoutMs);
    const events = await stream.open(watch.signal);
    for (;;) {
      if (hasBegun) watch.start(silenceSeconds * 1000);
      const { value, done } = await events.next();
      if (hasBegun) watch.pause();
      if (signal.aborted) return;
      if (done) break;
      const added = collector.add(value);
      if ('failure' in added) return yield { type: 'failure', ...added };
      if (added.hasToken && !hasBegun) watch.pause();
      hasBegun ||= added.hasToken;
      if (added.text === '') continue;
      hasSpoken = true;
      yield { type: 'text', text: added.text };
    }
  } catch (error) {
    if (signal.aborted) return;
    yield watch.isExpired ? silence() : { type: 'failure', ...stream.toFailure(error, hasBegun ? silenceSeconds : firstTokenSeconds) };
    return;
  } finally {
    watch.stop();
  }
  yield watch.isExpired ? silence() : collector.end(hasSpoken);
}

const toSilenceFailure = (seconds: number): ConversationDelta => ({
  type: 'failure',
  failure: 'provider_failed',
  message: `The language model provider was silent for ${seconds} seconds`,
  retryable: true,
});
