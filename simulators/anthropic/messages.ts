import { setTimeout as sleep } from 'node:timers/promises';
import { replyTo, type Reply } from '../openai/reply.ts';
import type { ChatRequest } from '../openai/chat-request.ts';
import { countTokens, firstTokens } from '../openai/tokens.ts';
import type { RequestRecord } from '../request-record.ts';
import { AnthropicError, badRequest } from './errors.ts';
import { readMessagesRequest } from './request-rules.ts';
import { blocksOf, textOf, type MessagesRequest, type RequestMessage } from './request.ts';
import { streamMessage } from './stream.ts';

const contextTokens = 200_000;
const standardSlowMs = 3_000;

export interface SimulatedMessage {
  id: string;
  model: string;
  content: { type: 'text'; text: string } | { type: 'tool_use'; id: string; name: string; input: unknown };
  stopReason: 'end_turn' | 'tool_use' | 'max_tokens' | 'refusal';
  usage: { input_tokens: number; output_tokens: number };
}

/** The answer of `POST /v1/messages`, whole or as a stream; throws AnthropicError. */
export async function createMessage(body: unknown, record: RequestRecord): Promise<Response> {
  const request = readMessagesRequest(body);
  const texts = [textOf(request.system), ...request.messages.flatMap(textsOf)].join('\n');
  await applyTestMarkers(texts);
  const message = answer(request, record);
  if (request.stream) return streamMessage(message, { breaksOff: texts.includes('SIM_ERROR_MIDWAY') });
  const { content, stopReason, usage, id, model } = message;
  return Response.json({
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: content.type === 'text' && content.text === '' ? [] : [content],
    stop_reason: stopReason,
    stop_sequence: null,
    usage: { cache_creation_input_tokens: 0, cache_read_input_tokens: 0, ...usage },
  });
}

/**
 * Does what a mark in the texts orders: `SIM_ERROR_429` (rate limit), `SIM_ERROR_429_QUOTA` (no credit left), `SIM_ERROR_500`,
 * `SIM_ERROR_529` (overloaded), `SIM_SLOW` (3 s) or `SIM_SLOW_{milliseconds}`.
 */
async function applyTestMarkers(text: string): Promise<void> {
  const slow = /SIM_SLOW(?:_(\d{1,6}))?/.exec(text);
  if (slow) await sleep(slow[1] === undefined ? standardSlowMs : Number(slow[1]));
  if (text.includes('SIM_ERROR_429_QUOTA'))
    throw badRequest(
      'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
    );
  if (text.includes('SIM_ERROR_429'))
    throw new AnthropicError(
      429,
      'rate_limit_error',
      "This request would exceed your organization's rate limit of 50 requests per minute.",
      {
        'retry-after': '1',
      },
    );
  if (text.includes('SIM_ERROR_500')) throw new AnthropicError(500, 'api_error', 'Internal server error');
  if (text.includes('SIM_ERROR_529')) throw new AnthropicError(529, 'overloaded_error', 'Overloaded');
}

const textsOf = (message: RequestMessage): string[] =>
  blocksOf(message).map((block) => {
    if (block.type === 'text') return block.text;
    return block.type === 'tool_result' ? textOf(block.content) : JSON.stringify(block.input);
  });

function answer(request: MessagesRequest, record: RequestRecord): SimulatedMessage {
  const inputTokens = countTokens(
    JSON.stringify([request.system ?? '', request.messages, request.tools ?? [], request.output_config ?? '']),
  );
  if (inputTokens > contextTokens) throw badRequest(`prompt is too long: ${inputTokens} tokens > ${contextTokens} maximum`);
  const reply = replyTo(toChatRequest(request));
  const said = 'tool' in reply ? reply.arguments : reply.content;
  const isCut = countTokens(said) > request.max_tokens;
  return {
    id: `msg_sim${record.id}`,
    model: request.model,
    content: toContent(reply, isCut ? firstTokens(said, request.max_tokens) : said, isCut, record.id),
    stopReason: isCut ? 'max_tokens' : 'tool' in reply ? 'tool_use' : 'end_turn',
    usage: { input_tokens: inputTokens, output_tokens: countTokens(said) + ('tool' in reply ? countTokens(reply.tool) : 0) },
  };
}

const toContent = (reply: Reply, said: string, isCut: boolean, id: number): SimulatedMessage['content'] =>
  'tool' in reply
    ? { type: 'tool_use', id: `toolu_sim${id}`, name: reply.tool, input: isCut ? {} : (JSON.parse(said) as unknown) }
    : { type: 'text', text: said };

/** The request in the form that the common rules of the simulated models answer. */
function toChatRequest({ model, system, messages, tools, tool_choice: choice, output_config: config }: MessagesRequest): ChatRequest {
  const chosen = { auto: 'auto', any: 'required', none: 'none' } as const;
  return {
    model,
    messages: [
      ...(system === undefined ? [] : [{ role: 'system' as const, content: textOf(system) }]),
      ...messages.flatMap(toChatMessages),
    ],
    ...(tools && {
      tools: tools.map(({ name, description, input_schema: parameters }) => ({
        type: 'function' as const,
        function: { name, ...(description !== undefined && { description }), parameters },
      })),
    }),
    ...(choice && {
      tool_choice: choice.type === 'tool' ? { type: 'function' as const, function: { name: choice.name } } : chosen[choice.type],
    }),
    ...(config?.format && {
      response_format: { type: 'json_schema' as const, json_schema: { name: 'answer', schema: config.format.schema } },
    }),
  };
}

function toChatMessages(message: RequestMessage): ChatRequest['messages'] {
  const blocks = blocksOf(message);
  const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  if (message.role === 'assistant') {
    const calls = blocks.flatMap((block) =>
      block.type === 'tool_use'
        ? [{ id: block.id, type: 'function' as const, function: { name: block.name, arguments: JSON.stringify(block.input) } }]
        : [],
    );
    return [{ role: 'assistant', content: text, ...(calls.length > 0 && { tool_calls: calls }) }];
  }
  const results = blocks.flatMap((block) =>
    block.type === 'tool_result' ? [{ role: 'tool' as const, tool_call_id: block.tool_use_id, content: textOf(block.content) }] : [],
  );
  return [...results, ...(text === '' ? [] : [{ role: 'user' as const, content: text }])];
}
