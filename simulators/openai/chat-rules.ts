import { ChatBody, textOf, type ChatMessage, type ChatRequest } from './chat-request.ts';
import { badRequest } from './errors.ts';
import { checkModelRules } from './model-rules.ts';
import { parseBody } from './request-rules.ts';
import { functionSchemaFault, responseSchemaFault } from './strict-schema.ts';

/** A request that the vendor would answer; throws OpenAiError for any other. */
export function readChatRequest(body: unknown): ChatRequest {
  const request = parseBody(ChatBody, body);
  checkModelRules(request);
  for (const [index, message] of request.messages.entries()) checkContent(message, index);
  checkToolAnswers(request.messages);
  checkTools(request);
  checkFormat(request);
  if (request.stream_options && !request.stream)
    throw badRequest("The 'stream_options' parameter is only allowed when 'stream' is enabled.", { param: 'stream_options' });
  return request;
}

function checkContent(message: ChatMessage, index: number): void {
  const param = `messages.[${index}].content`;
  const mayLackContent = message.role === 'assistant' && (message.tool_calls !== undefined || typeof message.refusal === 'string');
  if (!mayLackContent && (message.content === undefined || message.content === null))
    throw badRequest("Invalid value for 'content': expected a string, got null.", { param });
  if (message.role === 'tool' && message.tool_call_id === undefined)
    throw badRequest("Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.", {
      param: `messages.[${index}].tool_call_id`,
    });
}

/** Every tool call is answered before the talk goes on, and nothing else is answered. */
function checkToolAnswers(messages: ChatMessage[]): void {
  let open = new Set<string>();
  const unanswered = (index: number) =>
    badRequest(
      `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(', ')}`,
      { param: `messages.[${index}].role` },
    );
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id ?? ''))
        throw badRequest("Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.", {
          param: `messages.[${index}].role`,
        });
      continue;
    }
    if (open.size > 0) throw unanswered(index);
    open = new Set(message.tool_calls?.map((call) => call.id));
  }
  if (open.size > 0) throw unanswered(messages.length - 1);
}

function checkTools({ tools, tool_choice: choice }: ChatRequest): void {
  for (const [index, tool] of (tools ?? []).entries()) {
    const fault = functionSchemaFault(tool.function);
    if (fault) throw badRequest(fault, { param: `tools[${index}].function.parameters`, code: 'invalid_function_parameters' });
  }
  if (choice === undefined) return;
  if (tools === undefined) throw badRequest("'tool_choice' is only allowed when 'tools' are specified.", { param: 'tool_choice' });
  if (typeof choice === 'object' && !tools.some((tool) => tool.function.name === choice.function.name))
    throw badRequest(
      `Invalid value for 'tool_choice': no function named '${choice.function.name}' was specified in the 'tools' parameter.`,
      {
        param: 'tool_choice',
      },
    );
}

function checkFormat({ response_format: format, messages }: ChatRequest): void {
  if (format?.type === 'json_object' && !messages.some((message) => /json/i.test(textOf(message))))
    throw badRequest("'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.", {
      param: 'messages',
    });
  const fault = format?.type === 'json_schema' ? responseSchemaFault(format.json_schema) : null;
  if (fault) throw badRequest(fault, { param: 'response_format' });
}
