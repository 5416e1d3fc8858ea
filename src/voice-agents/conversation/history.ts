import type { ConversationMessage, ToolCall } from '../../providers/language-model/language-model.ts';
import type { StoredMessage } from './contract.ts';

/** About 50,000 tokens. A talk of twenty minutes has a tenth of it. */
const maximumCharacters = 200_000;
const unanswered = JSON.stringify({ status: 'unknown', note: 'Not finished when the talk went on' });

/**
 * The newest part of the history as the model takes it: every tool call is followed by its answer, wherever the answer stands, and by a
 * stand-in when there is none.
 */
export function historyFor(messages: readonly StoredMessage[]): ConversationMessage[] {
  const answers = new Map(messages.flatMap(({ toolCallId, text }) => (toolCallId === undefined ? [] : [[toolCallId, text]])));
  const groups = messages.filter(({ role }) => role !== 'tool').map((message) => groupOf(message, answers));
  const kept: ConversationMessage[][] = [];
  let length = 0;
  for (const group of groups.toReversed()) {
    length += JSON.stringify(group).length;
    if (length > maximumCharacters && kept.length > 0) break;
    kept.unshift(group);
  }
  return kept.flat();
}

function groupOf({ role, text, toolCalls = [] }: StoredMessage, answers: ReadonlyMap<string, string>): ConversationMessage[] {
  if (role === 'user') return [{ role, content: text }];
  if (toolCalls.length === 0) return text === '' ? [] : [{ role: 'assistant', content: text }];
  return [
    { role: 'assistant', content: text === '' ? null : text, tool_calls: toolCalls.map(readable) },
    ...toolCalls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: answers.get(id) ?? unanswered })),
  ];
}

/** Services that copy OpenAI's API fail on arguments that are no JSON when they read them again. */
function readable(call: ToolCall): ToolCall {
  try {
    JSON.parse(call.arguments);
    return call;
  } catch {
    return { ...call, arguments: '{}' };
  }
}

/** Where the newest turn begins: behind what the other side said last. */
const turnStart = (messages: readonly StoredMessage[]): number => messages.findLastIndex(({ role }) => role === 'user') + 1;

/** How often the model has called tools since the other side spoke. */
export const toolRounds = (messages: readonly StoredMessage[]): number =>
  messages.slice(turnStart(messages)).filter(({ toolCalls }) => toolCalls !== undefined).length;

/** Where the model last called tools in the newest turn. */
export const lastCalling = (messages: readonly StoredMessage[]): StoredMessage | undefined =>
  messages.slice(turnStart(messages)).findLast(({ toolCalls }) => toolCalls !== undefined);

/** The tool calls of the newest turn that were begun and have no answer, as after a crash. */
export function openCalls(messages: readonly StoredMessage[]): { message: StoredMessage; calls: ToolCall[] } | null {
  const message = lastCalling(messages);
  const answered = new Set(messages.map(({ toolCallId }) => toolCallId));
  const calls = message?.toolCalls?.filter(({ id }) => !answered.has(id)) ?? [];
  return message && calls.length > 0 ? { message, calls } : null;
}
