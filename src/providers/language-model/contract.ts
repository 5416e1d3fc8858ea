import type { Json } from '../../library/json/json.ts';
import type { Settings } from '../../settings.ts';

interface Message {
  role: 'user' | 'assistant';
  content: string;
}

/** The format of a JSON answer. */
export interface OutputFormat {
  /** JSON Schema whose root is an object. */
  schema: Record<string, unknown>;
  /** What in an answer does not fit, in words; null: it fits. Called for every answer, because the provider may ignore the schema. */
  validate(answer: Json): string | null;
}

export interface CompletionRequest {
  /** Undefined: the setting LANGUAGE_MODEL. */
  model?: string | undefined;
  system?: string | undefined;
  messages: Message[];
  output?: OutputFormat | undefined;
  max_tokens?: number | undefined;
  /** The timeout of all tries with their waits; at most 60, which is the default. */
  timeout_seconds?: number | undefined;
  /** With the same seed the provider tries to give the same answer to the same request. */
  seed?: number | undefined;
}

export interface Completion {
  text: string;
  /** The parsed text, with `output`. */
  json?: Json;
  /** The provider's name of the model. */
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

/** Why there is no answer. `message` names the cause and the remedy, and has neither the key nor the prompt. */
export interface CompletionFailure {
  failure: FailureType;
  message: string;
  /** Whether the same request may succeed later. */
  retryable: boolean;
  retry_after_seconds?: number;
}

/** A function call by the model. */
export interface ToolCall {
  id: string;
  name: string;
  /** The JSON text of the model, which may be invalid or not fit the parameters. */
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
  /** Undefined: the setting LANGUAGE_MODEL. */
  model?: string | undefined;
  system?: string | undefined;
  /** Tool messages that answer all tool calls follow an assistant's message. */
  messages: ConversationMessage[];
  tools?: Tool[] | undefined;
  /** `none`: the model must speak. Default `auto`. */
  tool_choice?: 'auto' | 'none' | undefined;
  max_tokens?: number | undefined;
  /** The maximum silence of the provider, before the first word (with all tries) and between two chunks. At most 60, default 15. */
  silence_seconds?: number | undefined;
  /** With the same seed the provider tries to give the same answer to the same request. */
  seed?: number | undefined;
}

/** Pieces of text, then one `end` or one `failure`, which may also come after text. Nothing comes after the signal is aborted. */
export type ConversationDelta =
  | { type: 'text'; text: string }
  | { type: 'end'; tool_calls: ToolCall[]; model: string; usage: Completion['usage'] }
  | ({ type: 'failure' } & CompletionFailure);

export interface LanguageModel {
  /** Asks for a completion. Never throws for a failure of the provider. */
  complete(request: CompletionRequest): Promise<Completion | CompletionFailure>;
  /** Asks for the next turn of a conversation. A transient failure before the first word is retried once. */
  converse(request: ConversationRequest, signal: AbortSignal): AsyncIterable<ConversationDelta>;
}

export type LanguageModelSettings = Pick<Settings, 'OPENAI_API_KEY' | 'OPENAI_BASE_URL' | 'LANGUAGE_MODEL'>;
