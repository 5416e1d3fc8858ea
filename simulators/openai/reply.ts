import { textOf, type ChatRequest, type FunctionTool } from './chat-request.ts';
import { plainSentence } from './plain-sentence.ts';
import { answerSchema } from './schema-answer.ts';
import { chooseTool, mustChooseTool } from './transitions.ts';

export type Reply = { content: string } | { tool: string; arguments: string };

/** What the model answers; the same request gets the same answer. */
export function replyTo(request: ChatRequest): Reply {
  const tool = toolFor(request);
  if (tool) return { tool: tool.name, arguments: JSON.stringify(answerSchema(tool.parameters ?? { type: 'object' }, userTexts(request))) };
  const format = request.response_format;
  if (format?.type === 'json_schema') {
    const texts = userTexts(request);
    const answered = answerSchema(format.json_schema.schema ?? { type: 'object' }, texts.length > 0 ? texts : [instructionsOf(request)]);
    return { content: JSON.stringify(answered) };
  }
  const sentence = plainSentence(instructionsOf(request), userTexts(request)[0] ?? '', foundBy(request));
  return { content: format?.type === 'json_object' ? JSON.stringify({ answer: sentence }) : sentence };
}

/** Once a tool has answered, the model speaks, unless it must call one: else the same words would call the next tool, and the next. */
function toolFor({ tools, tool_choice: choice = 'auto', messages }: ChatRequest): FunctionTool | null {
  const functions = (tools ?? []).map((tool) => tool.function);
  if (functions.length === 0 || choice === 'none') return null;
  if (typeof choice === 'object') return functions.find(({ name }) => name === choice.function.name) ?? null;
  const last = messages.findLast((message) => message.role === 'user' || message.role === 'tool');
  const said = messages.findLast((message) => message.role === 'user');
  const text = said ? textOf(said) : '';
  if (choice === 'required') return mustChooseTool(functions, text);
  return last?.role === 'user' ? chooseTool(functions, text) : null;
}

/** The newest first. */
const userTexts = ({ messages }: ChatRequest): string[] =>
  messages
    .filter(({ role }) => role === 'user')
    .map(textOf)
    .toReversed();

const instructionsOf = ({ messages }: ChatRequest): string =>
  messages
    .filter(({ role }) => role === 'system' || role === 'developer')
    .map(textOf)
    .join('\n');

/** What a tool answered last, when it is prose: a status is not read out. */
function foundBy({ messages }: ChatRequest): string {
  const last = messages.at(-1);
  if (last?.role !== 'tool') return '';
  const text = textOf(last);
  const prose = text.replace(/"(?:[^"\\]|\\.)*"\s*:/g, ' ').match(/"(?:[^"\\]|\\.)*"/g);
  if (!/^\s*[[{]/.test(text)) return text.trim().split(/\s+/).length > 3 ? text : '';
  return (prose ?? [])
    .map((quoted) => String(JSON.parse(quoted)))
    .filter((value) => value.trim().split(/\s+/).length > 3)
    .join('\n');
}
