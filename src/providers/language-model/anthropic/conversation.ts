import type { Runtime } from '../../http/runtime.ts';
import type { ConversationDelta, ConversationRequest, ModelEndpoint, Tool } from '../contract.ts';
import { brokenOff, streamAnswer } from '../stream-answer.ts';
import { MessageCollector } from './answer-collector.ts';
import { AnthropicApiError, AnthropicConnectionError, postMessages } from './api.ts';
import { failureFromAnthropicError } from './errors.ts';
import { readEvents, type ServerSentEvent } from './event-stream.ts';
import { calledToolNames, toldInWords, toWireMessages } from './messages.ts';
import { lowestThinking, mayUse, thinkingTokens, withoutRefusedFeatures, type Feature } from './model-features.ts';

/** The API requires a maximum; every model takes this one. */
const defaultMaxTokens = 4_096;

/** Streams an answer of Anthropic's Messages API, or of a service with the same. A transient failure before the first word is retried once. */
export async function* converseWithAnthropic(
  endpoint: ModelEndpoint,
  request: ConversationRequest,
  signal: AbortSignal,
  runtime: Runtime,
): AsyncGenerator<ConversationDelta> {
  const model = request.model ?? endpoint.model;
  const features: Feature[] = calledToolNames(request.messages).length > 0 ? ['tool_history', 'thinking'] : ['thinking'];
  let hasAnswered = false;
  const stream = {
    async open(inner: AbortSignal): Promise<AsyncIterator<ServerSentEvent>> {
      hasAnswered = false;
      const usedFeatures = () => features.filter((feature) => mayUse(endpoint, model, feature));
      const response = await withoutRefusedFeatures(endpoint, model, usedFeatures, () =>
        postMessages(endpoint, toRequestBody(request, model, usedFeatures()), inner, runtime),
      );
      hasAnswered = true;
      return readEvents(response.body ?? new Response('').body!, inner);
    },
    collect: () => new MessageCollector(model),
    toFailure: (error: unknown) =>
      isOfStream(error, hasAnswered) ? brokenOff() : failureFromAnthropicError(error, { endpoint, model, now: runtime.now() }),
  };
  yield* streamAnswer(stream, request, signal, runtime);
}

/** Whether an error is one of a stream that had begun. */
const isOfStream = (error: unknown, hasAnswered: boolean): boolean =>
  hasAnswered &&
  !(
    error instanceof AnthropicApiError ||
    error instanceof AnthropicConnectionError ||
    error instanceof SyntaxError ||
    error instanceof RangeError
  );

function toRequestBody(request: ConversationRequest, model: string, features: readonly Feature[]) {
  const { system, tool_choice: choice, max_tokens: maxTokens } = request;
  const messages = features.includes('tool_history') ? request.messages : toldInWords(request.messages);
  const offered = request.tools ?? [];
  // Calls in the history need tools, also at a point where none is offered.
  const tools = offered.length > 0 ? offered : calledToolNames(messages).map(toUnavailableTool);
  const mustSpeak = choice === 'none' || offered.length === 0;
  return {
    model,
    max_tokens: (maxTokens ?? defaultMaxTokens) + thinkingTokens(model),
    stream: true,
    ...(system !== undefined && system.trim() !== '' && { system }),
    messages: toWireMessages(messages),
    ...(tools.length > 0 && { tools: tools.map(toWireTool), ...(mustSpeak && { tool_choice: { type: 'none' } }) }),
    ...(features.includes('thinking') && lowestThinking(model)),
  };
}

const toUnavailableTool = (name: string): Tool => ({ name, description: 'Not available now.', parameters: {} });

const toWireTool = ({ name, description, parameters }: Tool) => ({
  name,
  ...(description !== '' && { description }),
  input_schema: { ...parameters, type: 'object' },
});
