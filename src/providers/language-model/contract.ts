import type { Json } from '../../library/json/json.ts';
import type { Settings } from '../../settings.ts';
import type { UrlPolicy } from '../http/url-policy.ts';

/** The APIs that language models are asked over: OpenAI's chat completions, which many services speak, and Anthropic's Messages. */
export const modelProviders = ['openai', 'anthropic'] as const;
export type ModelProvider = (typeof modelProviders)[number];

/** One model at one address, with an opened key, which must never be shown or logged. */
export interface ModelEndpoint {
  provider: ModelProvider;
  /** The model of requests that name none. */
  model: string;
  apiKey: string;
  baseUrl: string;
  /** For the address of a customer: which addresses may be called. Undefined: the operator's address, which may be private. */
  urlPolicy?: UrlPolicy | undefined;
  /** What messages call the settings to change, such as `OPENAI_API_KEY`. */
  names: SettingNames;
}

export interface SettingNames {
  key: string;
  address: string;
  model: string;
}

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
  /** Undefined: the model of the endpoint, or the first one of an order. */
  model?: string | undefined;
  system?: string | undefined;
  messages: Message[];
  output?: OutputFormat | undefined;
  max_tokens?: number | undefined;
  /** The timeout of all tries with their waits; at most 60, which is the default. */
  timeout_seconds?: number | undefined;
  /** How often a transient failure is tried in all. Default 3. */
  max_attempts?: number | undefined;
  /** With the same seed the provider tries to give the same answer to the same request. Anthropic has no seeds. */
  seed?: number | undefined;
}

export interface Completion {
  text: string;
  /** The parsed text, with `output`. */
  json?: Json;
  /** The provider's name of the model. */
  model: string;
  usage: { prompt_tokens: number; completion_tokens: number };
  /** The organization's language model that answered; absent: the service's own. */
  language_model_id?: number | undefined;
  /** The models that were asked before and failed, in their order. */
  fallbacks?: ModelFallback[] | undefined;
}

/** A model that failed, so that the next one in the order was asked. */
export interface ModelFallback {
  /** Its name for people. */
  model: string;
  failure: FailureType;
  message: string;
}

export type FailureType =
  | 'not_configured'
  | 'invalid_credentials'
  | 'insufficient_quota'
  | 'model_not_found'
  | 'address_not_allowed'
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
  /** Undefined: the model of the endpoint, or the first one of an order. */
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
  /** The maximum time until the first token, a word or a part of a tool call, with all tries. Default: `silence_seconds`. */
  first_token_seconds?: number | undefined;
  /** How often a transient failure before the first word is tried in all. Default 2. */
  max_attempts?: number | undefined;
  /** With the same seed the provider tries to give the same answer to the same request. */
  seed?: number | undefined;
}

/**
 * Pieces of text, then one `end` or one `failure`, which may also come after text. Nothing comes after the signal is aborted. A `fallback`
 * stands before the first piece of text: a model has failed, and the next one is asked.
 */
export type ConversationDelta =
  | { type: 'text'; text: string }
  | ({ type: 'fallback' } & ModelFallback)
  | { type: 'end'; tool_calls: ToolCall[]; model: string; usage: Completion['usage']; language_model_id?: number | undefined }
  | ({ type: 'failure' } & CompletionFailure);

export interface LanguageModel {
  /** Asks for a completion. Never throws for a failure of the provider. */
  complete(request: CompletionRequest): Promise<Completion | CompletionFailure>;
  /** Asks for the next turn of a conversation. A transient failure before the first word is retried once. */
  converse(request: ConversationRequest, signal: AbortSignal): AsyncIterable<ConversationDelta>;
}

export type LanguageModelSettings = Pick<Settings, 'OPENAI_API_KEY' | 'OPENAI_BASE_URL' | 'LANGUAGE_MODEL'>;
