import type { z } from 'zod';
import { badRequest, type AnthropicError } from './errors.ts';
import { checkModelRules } from './model-rules.ts';
import { blocksOf, MessagesBody, textOf, type MessagesRequest, type RequestMessage } from './request.ts';

/** The JSON object of a request; throws AnthropicError for another content type and for what is no JSON object. */
export async function readJson(request: Request): Promise<unknown> {
  const type = (request.headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase();
  if (type !== 'application/json') throw badRequest('Content-Type: must be application/json');
  const body: unknown = await request.json().catch(() => undefined);
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw badRequest('The request body is not valid JSON: expected value at line 1 column 1 (char 0)');
}

/** A request that the vendor would answer; throws AnthropicError for any other. */
export function readMessagesRequest(body: unknown): MessagesRequest {
  const parsed = MessagesBody.safeParse(body);
  if (!parsed.success) throw faultOf(parsed.error.issues[0]!, body);
  const request = parsed.data;
  checkModelRules(request);
  if (request.system !== undefined && textOf(request.system).trim() === '')
    throw badRequest('system: text content blocks must be non-empty');
  checkRoles(request.messages);
  checkTexts(request.messages);
  checkToolResults(request.messages);
  checkTools(request);
  return request;
}

function faultOf(issue: z.core.$ZodIssue, body: unknown): AnthropicError {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys')
    return badRequest(`${[path, issue.keys[0]].filter(Boolean).join('.')}: Extra inputs are not permitted`);
  const value = issue.path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], body);
  if (value === undefined) return badRequest(`${path}: Field required`);
  return badRequest(`${path}: ${issue.message}`);
}

function checkRoles(messages: RequestMessage[]): void {
  if (messages[0]!.role !== 'user') throw badRequest('messages: first message must use the "user" role');
}

function checkTexts(messages: RequestMessage[]): void {
  for (const [index, message] of messages.entries()) {
    const blocks = blocksOf(message);
    const isLastOfAssistant = index === messages.length - 1 && message.role === 'assistant';
    if (blocks.length === 0 && !isLastOfAssistant)
      throw badRequest(`messages.${index}: all messages must have non-empty content except for the optional final assistant message`);
    if (blocks.some((block) => block.type === 'text' && block.text.trim() === ''))
      throw badRequest('messages: text content blocks must contain non-whitespace text');
  }
}

/** Every call of a tool is answered at the beginning of the next message, and nothing else is answered. */
function checkToolResults(messages: RequestMessage[]): void {
  for (const [index, message] of messages.entries()) {
    const before = index > 0 ? blocksOf(messages[index - 1]!) : [];
    const called = new Set(before.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])));
    const blocks = blocksOf(message);
    for (const [position, block] of blocks.entries()) {
      if (block.type === 'tool_use' && message.role !== 'assistant')
        throw badRequest(`messages.${index}: \`tool_use\` blocks can only be in \`assistant\` messages`);
      if (block.type !== 'tool_result') continue;
      if (message.role !== 'user') throw badRequest(`messages.${index}: \`tool_result\` blocks can only be in \`user\` messages`);
      if (!called.delete(block.tool_use_id))
        throw badRequest(
          `messages.${index}.content.${position}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${block.tool_use_id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
        );
      if (blocks.slice(0, position).some(({ type }) => type === 'text'))
        throw badRequest(`messages.${index}.content: \`tool_result\` blocks must come first in the content`);
    }
    if (called.size > 0) throw unanswered(index - 1, called);
  }
  const open = blocksOf(messages.at(-1)!).flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
  if (open.length > 0) throw unanswered(messages.length - 1, new Set(open));
}

const unanswered = (index: number, ids: Set<string>): AnthropicError =>
  badRequest(
    `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${[...ids].join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  );

function checkTools({ tools = [], tool_choice: choice, messages }: MessagesRequest): void {
  const names = tools.map(({ name }) => name);
  if (new Set(names).size < names.length) throw badRequest('tools: Tool names must be unique.');
  if (choice !== undefined && tools.length === 0) throw badRequest('tool_choice: may only be specified while providing `tools`.');
  if (choice?.type === 'tool' && !names.includes(choice.name))
    throw badRequest(`tool_choice: Tool '${choice.name}' not found in provided tools`);
  const usesTools = messages.some((message) => blocksOf(message).some(({ type }) => type !== 'text'));
  if (usesTools && tools.length === 0)
    throw badRequest('tools: Requests which include `tool_use` or `tool_result` blocks must define tools');
}
