import { isRecord, tryParseJson } from '../../../library/json/json.ts';
import type { ConversationMessage, ToolCall } from '../contract.ts';

type Block =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: Record<string, unknown> }
  | { type: 'tool_result'; tool_use_id: string; content?: string };

export interface WireMessage {
  role: 'user' | 'assistant';
  content: Block[];
}

/** Messages begin and end with the user, so these stand where nobody has spoken. */
const opening = '(The conversation begins.)';
const goOn = '(Go on.)';

/**
 * The messages in the form of the Messages API: roles alternate and begin with the user, no text is empty, the answers of tools stand in the
 * user's message after the calls, and the last message is the user's, because newer models continue no message of the assistant. An
 * instruction in the middle becomes a text of the user, since older models know no such instructions.
 */
export function toWireMessages(messages: readonly ConversationMessage[]): WireMessage[] {
  const wire: WireMessage[] = [];
  const add = (role: WireMessage['role'], content: Block[]) => {
    if (content.length === 0) return;
    const last = wire.at(-1);
    if (last?.role === role) last.content.push(...content);
    else wire.push({ role, content });
  };
  if (messages[0]?.role !== 'user' || messages[0].content.trim() === '') add('user', [{ type: 'text', text: opening }]);
  for (const message of messages) add(message.role === 'assistant' ? 'assistant' : 'user', toBlocks(message));
  if (wire.at(-1)!.role === 'assistant') add('user', [{ type: 'text', text: goOn }]);
  return wire;
}

function toBlocks(message: ConversationMessage): Block[] {
  if (message.role === 'tool')
    return [{ type: 'tool_result', tool_use_id: message.tool_call_id, ...(message.content !== '' && { content: message.content }) }];
  const { content } = message;
  const said = content === null || content.trim() === '' ? [] : [content];
  if (message.role === 'system') return said.map((text) => ({ type: 'text', text: `[Instruction: ${text}]` }));
  const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : [];
  return [...said.map((text) => ({ type: 'text' as const, text })), ...calls.map(toToolUse)];
}

const toToolUse = ({ id, name, arguments: text }: ToolCall): Block => {
  const input = tryParseJson(text);
  return { type: 'tool_use', id, name, input: isRecord(input) ? input : {} };
};

/** The messages with calls of tools, and their answers, as texts. */
export const toldInWords = (messages: readonly ConversationMessage[]): ConversationMessage[] =>
  messages.map((message): ConversationMessage => {
    if (message.role === 'tool') return { role: 'user', content: `[Answer of the tool: ${message.content}]` };
    if (message.role !== 'assistant' || !message.tool_calls) return message;
    const calls = message.tool_calls.map(({ name, arguments: text }) => `[Called the tool ${name} with ${text}]`);
    return { role: 'assistant', content: [message.content ?? '', ...calls].filter((text) => text !== '').join('\n') };
  });

/** The names of the tools that the assistant has called. */
export const calledToolNames = (messages: readonly ConversationMessage[]): string[] => [
  ...new Set(messages.flatMap((message) => (message.role === 'assistant' ? (message.tool_calls ?? []) : [])).map(({ name }) => name)),
];
