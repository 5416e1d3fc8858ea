import { AnthropicError, badRequest } from './errors.ts';
import { blocksOf, type MessagesRequest } from './request.ts';

const knownModel = /^claude-(?:opus|sonnet|haiku|fable|mythos|3)-[\w-]+$/;
/** Models that think, and refuse a forced tool. */
const refusesForcedTool = /^claude-(?:(?:opus|sonnet|haiku)-5-5|fable|mythos)/;
const alwaysThinks = /^claude-(?:opus-5-5|fable|mythos)/;
const thinksBetweenTools = /^claude-(?:sonnet|haiku)-5-5/;
const mayThink = /^claude-(?:opus|sonnet|haiku)-5/;
/** The output format came with Claude 4.5; Opus 4.1 has it, too. */
const lacksOutputFormat = /^claude-(?:3|(?:opus|sonnet|haiku)-4(?:-\d{8})?$)/;
/** These models continue no message of the assistant. */
const refusesPrefill = /^claude-(?:(?:opus|sonnet|haiku)-(?:4-[6-9]|5)|fable|mythos)/;

/** Checks the rules that depend on the model's name. Throws AnthropicError. */
export function checkModelRules(request: MessagesRequest): void {
  const { model, thinking, tool_choice: choice, output_config: config, messages } = request;
  if (!knownModel.test(model)) throw new AnthropicError(404, 'not_found_error', `model: ${model}`);
  if ((choice?.type === 'tool' || choice?.type === 'any') && refusesForcedTool.test(model))
    throw badRequest(`tool_choice: forced tool use is not supported on ${model}. Use "auto" or "none".`);
  checkThinking(model, thinking?.type);
  if (config?.format && lacksOutputFormat.test(model)) throw badRequest(`output_config.format: '${model}' does not support output format.`);
  if (config?.effort && lacksOutputFormat.test(model))
    throw badRequest(`output_config.effort: '${model}' does not support the effort parameter.`);
  if (config?.format) checkFormat(config.format.schema);
  const last = messages.at(-1)!;
  if (last.role !== 'assistant') return;
  if (refusesPrefill.test(model))
    throw badRequest('This model does not support assistant message prefill. The conversation must end with a user message.');
  const lastText = blocksOf(last).at(-1);
  if (lastText?.type === 'text' && /\s$/.test(lastText.text))
    throw badRequest('messages: final assistant content cannot end with trailing whitespace');
}

function checkThinking(model: string, type: string | undefined): void {
  if (type === undefined || type === 'adaptive') return;
  if (type === 'between_tools' && thinksBetweenTools.test(model)) return;
  if (type === 'disabled' && !alwaysThinks.test(model) && !thinksBetweenTools.test(model)) return;
  const advice = thinksBetweenTools.test(model) ? ' Use "between_tools" instead.' : '';
  throw badRequest(`thinking.type: "${type}" is not supported on ${model}.${mayThink.test(model) ? advice : ''}`);
}

const bounds = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength', 'maxItems'];

/** The rules of output formats: every object closed, and neither numbers nor texts bounded. */
function checkFormat(node: unknown): void {
  if (Array.isArray(node)) return node.forEach(checkFormat);
  if (typeof node !== 'object' || node === null) return;
  const schema = node as Record<string, unknown>;
  const isObject = [schema['type']].flat().includes('object');
  if (isObject && schema['additionalProperties'] !== false)
    throw badRequest("output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false");
  const bound = bounds.find((keyword) => keyword in schema && typeof schema[keyword] === 'number');
  if (bound) throw badRequest(`output_config.format.schema: For '${String(schema['type'])}' type, property '${bound}' is not supported`);
  Object.values(schema).forEach(checkFormat);
}
