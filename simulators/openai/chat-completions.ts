import type { RequestRecord } from '../request-record.ts';
import { textOf, type ChatRequest } from './chat-request.ts';
import { readChatRequest } from './chat-rules.ts';
import { streamCompletion } from './chat-stream.ts';
import { wholeCompletion, type Completion } from './completion.ts';
import { badRequest } from './errors.ts';
import { applyTestMarkers } from './test-markers.ts';
import { replyTo, type Reply } from './reply.ts';
import { countTokens, firstTokens } from './tokens.ts';

const contextTokens = 128_000;
const tokensPerMessage = 4;
const tokensOfPriming = 3;

/** The answer of `POST /v1/chat/completions`, whole or as a stream; throws OpenAiError. */
export async function completeChat(body: unknown, record: RequestRecord): Promise<Response> {
  const request = readChatRequest(body);
  await applyTestMarkers(request.messages.map(textOf), request.model);
  const completion = complete(request, record);
  return request.stream ? streamCompletion(completion, request.stream_options ?? {}) : Response.json(wholeCompletion(completion));
}

function complete(request: ChatRequest, record: RequestRecord): Completion {
  const promptTokens = countPrompt(request);
  if (promptTokens > contextTokens)
    throw badRequest(
      `This model's maximum context length is ${contextTokens} tokens. However, your messages resulted in ${promptTokens} tokens. Please reduce the length of the messages.`,
      { param: 'messages', code: 'context_length_exceeded' },
    );
  const limit = request.max_completion_tokens ?? request.max_tokens ?? Infinity;
  const whole = replyTo(request);
  const text = 'tool' in whole ? whole.arguments : whole.content;
  const isCut = countTokens(text) > limit;
  const said = isCut ? firstTokens(text, limit) : text;
  const completionTokens = countTokens(said) + ('tool' in whole ? countTokens(whole.tool) : 0);
  const isCall = 'tool' in whole;
  return {
    id: `chatcmpl-sim${record.id}`,
    created: Math.floor(Date.parse(record.received_at) / 1000),
    model: request.model,
    message: {
      content: isCall ? null : said,
      toolCall: isCall ? { id: `call_sim${record.id}`, name: whole.tool, arguments: said } : null,
    },
    finishReason: isCut ? 'length' : finishReasonOf(whole, request),
    usage: { prompt_tokens: promptTokens, completion_tokens: completionTokens, total_tokens: promptTokens + completionTokens },
  };
}

/** A call of the one function that was asked for by name ends with `stop`, as at the vendor. */
const finishReasonOf = (reply: Reply, request: ChatRequest): 'stop' | 'tool_calls' =>
  'tool' in reply && typeof request.tool_choice !== 'object' ? 'tool_calls' : 'stop';

const countPrompt = ({ messages, tools, response_format: format }: ChatRequest): number => {
  const calls = messages.flatMap((message) => message.tool_calls ?? []);
  const said = messages.reduce((sum, message) => sum + tokensPerMessage + countTokens(textOf(message)), tokensOfPriming);
  return said + [...calls, ...(tools ?? []), ...(format ? [format] : [])].reduce((sum, part) => sum + countTokens(JSON.stringify(part)), 0);
};
