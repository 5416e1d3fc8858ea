import type { Json } from '../../library/json/json.ts';
import type { Settings } from '../../settings.ts';

interface Message {
  role: 'user' | 'assistant';
  content: string;
}

/** The answer is to be JSON. */
export interface OutputFormat {
  /** JSON Schema whose root is an object. */
  schema: Record<string, unknown>;
  /** What of an answer does not fit, in words, or null. Asked of every answer: the provider may not hold to the schema. */
  validate(answer: Json): string | null;
}

export interface CompletionRequest {
  /** Absent: LANGUAGE_MODEL. */
  model?: string | undefined;
  system?: string | undefined;
  messages: Message[];
  output?: OutputFormat | undefined;
  max_tokens?: number | undefined;
  /** For everything, tries and waits between them included; at most 60, which is the default. */
  timeout_seconds?: number | undefined;
  /** With the same one the provider tries to answer the same request in the same way. */
  seed?: number | undefined;
}

export interface Completion {
  text: string;
  /** The parsed text when `output` was asked for. */
  json?: Json;
  /** As the provider names it. */
  model: string;
  usage: { prompt_tokens: number; completion_tokens: number };
}

export type FailureType =
  | 'not_configured'
  | 'invalid_credentials'
  | 'insufficient_quota'
  | 'model_not_found'
  | 'invalid_request'
  | 'context_length_exceeded'
  | 'rate_limited'
  | 'provider_failed'
  | 'refused'
  | 'content_filter'
  | 'output_truncated'
  | 'invalid_output';

/** Why there is no answer. The message names the cause and what to do; it holds neither the key nor the prompt. */
export interface CompletionFailure {
  failure: FailureType;
  message: string;
  /** Whether the same request may succeed later. */
  retryable: boolean;
  retry_after_seconds?: number;
}

/** A function that the model asks to have called. */
export interface ToolCall {
  id: string;
  name: string;
  /** JSON as the model wrote it: it may not parse, and may not fit the parameters. */
  arguments: string;
}

export type ConversationMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string | null; tool_calls?: ToolCall[] }
  | { role: 'tool'; tool_call_id: string; content: string };

export interface Tool {
  name: string;
  description: string;
  /** JSON Schema whose root is an object. */
  parameters: Record<string, unknown>;
}

export interface ConversationRequest {
  /** Absent: LANGUAGE_MODEL. */
  model?: string | undefined;
  system?: string | undefined;
  /** Every tool call of an assistant is answered by the tool messages that follow it. */
  messages: ConversationMessage[];
  tools?: Tool[] | undefined;
  /** `none`: the model must speak. Default `auto`. */
  tool_choice?: 'auto' | 'none' | undefined;
  max_tokens?: number | undefined;
  /** How long the provider may leave us without a word: before the first one, tries included, and between two. At most 60, 15 by default. */
  silence_seconds?: number | undefined;
  /** With the same one the provider tries to answer the same request in the same way. */
  seed?: number | undefined;
}

/** Text as it comes, then one `end` or one `failure`, which may come in the middle of the text. Neither comes once the signal is aborted. */
export type ConversationDelta =
  | { type: 'text'; text: string }
  | { type: 'end'; tool_calls: ToolCall[]; model: string; usage: Completion['usage'] }
  | ({ type: 'failure' } & CompletionFailure);

export interface LanguageModel {
  complete(request: CompletionRequest): Promise<Completion | CompletionFailure>;
  /** Asks for the next words of a conversation. What may pass is tried once more, but not after the first word. */
  converse(request: ConversationRequest, signal: AbortSignal): AsyncIterable<ConversationDelta>;
}

export type LanguageModelSettings = Pick<Settings, 'OPENAI_API_KEY' | 'OPENAI_BASE_URL' | 'LANGUAGE_MODEL'>;
