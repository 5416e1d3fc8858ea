import { z } from 'zod';

const text = z.string();
const TextBlock = z.strictObject({ type: z.literal('text'), text, cache_control: z.unknown().optional() });
const toolId = z.string().regex(/^[a-zA-Z0-9_-]+$/, "String should match pattern '^[a-zA-Z0-9_-]+$'");
const ToolUseBlock = z.strictObject({ type: z.literal('tool_use'), id: toolId, name: text, input: z.record(z.string(), z.unknown()) });
const ToolResultBlock = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: toolId,
  content: z.union([text, z.array(TextBlock)]).optional(),
  is_error: z.boolean().optional(),
});
const Block = z.discriminatedUnion('type', [TextBlock, ToolUseBlock, ToolResultBlock]);

const Tool = z.strictObject({
  type: z.literal('custom').optional(),
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/, "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
  description: text.optional(),
  input_schema: z.looseObject({ type: z.literal('object') }),
  strict: z.boolean().optional(),
});

/** What is simulated of a request; any other parameter is refused. */
export const MessagesBody = z.strictObject({
  model: text,
  max_tokens: z.int().min(1),
  messages: z.array(z.strictObject({ role: z.enum(['user', 'assistant']), content: z.union([text, z.array(Block)]) })).min(1),
  system: z.union([text, z.array(TextBlock)]).optional(),
  tools: z.array(Tool).optional(),
  tool_choice: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('auto'), disable_parallel_tool_use: z.boolean().optional() }),
      z.strictObject({ type: z.literal('any'), disable_parallel_tool_use: z.boolean().optional() }),
      z.strictObject({ type: z.literal('tool'), name: text, disable_parallel_tool_use: z.boolean().optional() }),
      z.strictObject({ type: z.literal('none') }),
    ])
    .optional(),
  thinking: z.strictObject({ type: z.enum(['adaptive', 'between_tools', 'disabled']) }).optional(),
  output_config: z
    .strictObject({
      effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).optional(),
      format: z.strictObject({ type: z.literal('json_schema'), schema: z.record(z.string(), z.unknown()) }).optional(),
    })
    .optional(),
  stream: z.boolean().optional(),
  stop_sequences: z.array(text).optional(),
  temperature: z.number().min(0).max(1).optional(),
  metadata: z.strictObject({ user_id: text.nullish() }).optional(),
});

export type MessagesRequest = z.infer<typeof MessagesBody>;
export type RequestBlock = z.infer<typeof Block>;
export type RequestMessage = MessagesRequest['messages'][number];

export const blocksOf = ({ content }: RequestMessage): RequestBlock[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

export const textOf = (content: string | { text: string }[] | undefined): string =>
  typeof content === 'string' ? content : (content ?? []).map((block) => block.text).join('\n');
