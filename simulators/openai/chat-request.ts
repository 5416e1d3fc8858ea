import { z } from 'zod';

const text = z.string();
const identifier = /^[a-zA-Z0-9_-]+$/;
const name = z
  .string()
  .max(64)
  .regex(identifier, "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.");
const schemaObject = z.record(z.string(), z.unknown());

const Message = z.strictObject({
  role: z.enum(['system', 'assistant', 'user', 'tool', 'developer']),
  content: z.union([text, z.array(z.strictObject({ type: z.literal('text'), text })).min(1)]).nullish(),
  name: text.optional(),
  refusal: text.nullish(),
  tool_calls: z
    .array(z.strictObject({ id: text, type: z.literal('function'), function: z.strictObject({ name: text, arguments: text }) }))
    .min(1)
    .optional(),
  tool_call_id: text.optional(),
});

const Tool = z.strictObject({
  type: z.literal('function'),
  function: z.strictObject({
    name,
    description: text.optional(),
    parameters: schemaObject.optional(),
    strict: z.boolean().nullish(),
  }),
});

/** What is simulated of a request; any other parameter is refused as unknown. */
export const ChatBody = z.strictObject({
  model: text,
  messages: z.array(Message).min(1),
  tools: z.array(Tool).min(1).max(128).optional(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      z.strictObject({ type: z.literal('function'), function: z.strictObject({ name: text }) }),
    ])
    .optional(),
  parallel_tool_calls: z.boolean().optional(),
  response_format: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('text') }),
      z.strictObject({ type: z.literal('json_object') }),
      z.strictObject({
        type: z.literal('json_schema'),
        json_schema: z.strictObject({ name, description: text.optional(), schema: schemaObject.optional(), strict: z.boolean().nullish() }),
      }),
    ])
    .optional(),
  max_completion_tokens: z.int().min(1).nullish(),
  max_tokens: z.int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  verbosity: z.enum(['low', 'medium', 'high']).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.strictObject({ include_usage: z.boolean().optional(), include_obfuscation: z.boolean().optional() }).nullish(),
  seed: z.int().nullish(),
  store: z.boolean().nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  safety_identifier: text.optional(),
  user: text.optional(),
});

export type ChatRequest = z.infer<typeof ChatBody>;
export type ChatMessage = ChatRequest['messages'][number];
export type FunctionTool = NonNullable<ChatRequest['tools']>[number]['function'];

export const textOf = ({ content }: ChatMessage): string =>
  typeof content === 'string' ? content : (content ?? []).map((part) => part.text).join('\n');
