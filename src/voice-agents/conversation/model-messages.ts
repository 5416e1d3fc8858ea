import type { ConversationMessage, ToolCall } from '../../providers/language-model/contract.ts';
import type { StoredMessage } from './contract.ts';

/** About 50,000 tokens; a talk of twenty minutes has a tenth of that. */
const maxCharacters = 200_000;
const unansweredResult = JSON.stringify({ status: 'unknown', note: 'Not finished when the talk went on' });

/**
 * The newest part of the history in the form that the model takes: each tool call is followed directly by its answer, or by a placeholder while it
 * has none.
 */
export function toModelMessages(messages: readonly StoredMessage[]): ConversationMessage[] {
  const answers = new Map(messages.flatMap(({ toolCallId, text }) => (toolCallId === undefined ? [] : [[toolCallId, text]])));
  const groups = messages.filter(({ role }) => role !== 'tool').map((message) => toMessageGroup(message, answers));
  const kept: ConversationMessage[][] = [];
  let length = 0;
  for (const group of groups.toReversed()) {
    length += JSON.stringify(group).length;
    if (length > maxCharacters && kept.length > 0) break;
    kept.unshift(group);
  }
  return kept.flat();
}

function toMessageGroup({ role, text, toolCalls = [] }: StoredMessage, answers: ReadonlyMap<string, string>): ConversationMessage[] {
  if (role === 'user') return [{ role, content: text }];
  if (toolCalls.length === 0) return text === '' ? [] : [{ role: 'assistant', content: text }];
  return [
    { role: 'assistant', content: text === '' ? null : text, tool_calls: toolCalls.map(withParsableArguments) },
    ...toolCalls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: answers.get(id) ?? unansweredResult })),
  ];
}

/** Some services with OpenAI's API fail on earlier arguments that are no JSON. */
function withParsableArguments(call: ToolCall): ToolCall {
  try {
    JSON.parse(call.arguments);
    return call;
  } catch {
    return { ...call, arguments: '{}' };
  }
}

/** The index at which the newest turn begins: after the person's last words. */
const turnStartIndex = (messages: readonly StoredMessage[]): number => messages.findLastIndex(({ role }) => role === 'user') + 1;

/** How often the model has called tools since the person last spoke. */
export const countToolRounds = (messages: readonly StoredMessage[]): number =>
  messages.slice(turnStartIndex(messages)).filter(({ toolCalls }) => toolCalls !== undefined).length;

/** The last message of the newest turn in which the model called tools. */
export const findLastToolCallMessage = (messages: readonly StoredMessage[]): StoredMessage | undefined =>
  messages.slice(turnStartIndex(messages)).findLast(({ toolCalls }) => toolCalls !== undefined);

/** The tool calls of the newest turn without an answer, as after a crash. */
export function findOpenToolCalls(messages: readonly StoredMessage[]): { message: StoredMessage; calls: ToolCall[] } | null {
  const message = findLastToolCallMessage(messages);
  const answered = new Set(messages.map(({ toolCallId }) => toolCallId));
  const calls = message?.toolCalls?.filter(({ id }) => !answered.has(id)) ?? [];
  return message && calls.length > 0 ? { message, calls } : null;
}
