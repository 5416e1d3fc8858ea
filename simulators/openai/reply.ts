import { textOf, type ChatRequest, type FunctionTool } from './chat-request.ts';
import { composeSentence, type SpeechContext } from './compose-sentence.ts';
import { answerSchema } from './schema-answer.ts';
import { chooseTool, mustChooseTool } from './transitions.ts';

const apology = 'I am sorry, I cannot find that out at the moment.';

export type Reply = { content: string } | { tool: string; arguments: string };

/** The model's answer; the same request gets the same answer. */
export function replyTo(request: ChatRequest): Reply {
  const tool = toolFor(request);
  if (tool) return { tool: tool.name, arguments: JSON.stringify(answerSchema(tool.parameters ?? { type: 'object' }, userTexts(request))) };
  const format = request.response_format;
  if (format?.type === 'json_schema') {
    const texts = userTexts(request);
    const answered = answerSchema(format.json_schema.schema ?? { type: 'object' }, texts.length > 0 ? texts : [instructionsOf(request)]);
    return { content: JSON.stringify(answered) };
  }
  const sentence = hasFailed(request) ? apology : composeSentence(spokenOf(request));
  return { content: format?.type === 'json_object' ? JSON.stringify({ answer: sentence }) : sentence };
}

/** After a tool's answer the model speaks, unless it must call a tool. Otherwise the same words would call tool after tool. */
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

const goodbye = /\b(?:good ?bye|bye)\b/i;

function spokenOf(request: ChatRequest): SpeechContext {
  const { messages } = request;
  const said = userTexts(request)[0] ?? '';
  const calls = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1).flatMap(({ tool_calls: made }) => made ?? []);
  return {
    instructions: instructionsOf(request),
    said,
    found: foundBy(request),
    before: messages.filter(({ role }) => role === 'assistant').flatMap((message) => textOf(message) || []),
    isOver: goodbye.test(said) || calls.some(({ function: { name } }) => name === 'end_call'),
  };
}

const toolAnswer = ({ messages }: ChatRequest): string => {
  const last = messages.at(-1);
  return last?.role === 'tool' ? textOf(last) : '';
};

const hasFailed = (request: ChatRequest): boolean => /^\s*\{\s*"error"\s*:/.test(toolAnswer(request));

/** The last answer of a tool, if it is prose: a status is not read out, and tags are removed. */
function foundBy(request: ChatRequest): string {
  const text = toolAnswer(request);
  const texts = /^\s*[[{]/.test(text) ? quotedIn(text) : taggedIn(text);
  return texts.filter((value) => value.trim().split(/\s+/).length > 3).join('\n');
}

const quotedIn = (json: string): string[] =>
  (json.replace(/"(?:[^"\\]|\\.)*"\s*:/g, ' ').match(/"(?:[^"\\]|\\.)*"/g) ?? []).map((quoted) => String(JSON.parse(quoted)));

function taggedIn(text: string): string[] {
  const tagged = [...text.matchAll(/<(\w+)[^>]*>(.*?)<\/\1>/gs)].map(([, , inner]) => inner!);
  return tagged.length > 0 ? tagged : [text];
}
