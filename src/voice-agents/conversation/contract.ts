import type { Json } from '../../library/json/json.ts';
import type { GuardedRequest, GuardedResponse } from '../../providers/http/guarded-request.ts';
import type { LanguageModel, ToolCall } from '../../providers/language-model/contract.ts';
import type { AgentDefinition } from '../definition/definition.ts';
import type { Guards } from './guards.ts';
import type { Phrases } from './phrases.ts';
import type { SummaryMessage, SummarySending, TransferLeg } from './transfer-leg.ts';

/** Why a conversation ended. A later reason does not replace the first. */
export type EndReason =
  /** An endCall node was reached. */
  | 'end_node'
  /** The model called end_call. */
  | 'end_call'
  | 'max_call_duration'
  | 'user_idle'
  /** The caller was handed to a human. */
  | 'transferred'
  /** No human took the call, and the transfer node leads nowhere. */
  | 'transfer_failed'
  /** The language model failed. */
  | 'error'
  /** The other side hung up. */
  | 'hung_up'
  /** A person or the service stopped it, by the API for example. */
  | 'stopped';

/** The fixed properties of a conversation. */
export interface ConversationSetup {
  /** Unique among all conversations. With the id of a tool call it is the Idempotency-Key of that HTTP request. */
  key: string;
  definition: AgentDefinition;
  initialContext: Record<string, unknown>;
  organization: { timezone: string; default_country: string };
  /** Undefined: the first of the organization's models for talks, else the setting LANGUAGE_MODEL. */
  model?: string | undefined;
  /** The possible dispositions, `{ code: meaning }`; a meaning may be empty. Empty: `defaultDispositions`. */
  dispositionCodes: Record<string, string>;
  guards: Guards;
  phrases: Phrases;
  tools: { live: true } | { live: false; mocks: ToolMock[] };
  /** Passed to the language model, whose answers can then be repeated. */
  seed?: number | undefined;
  /** How long a character takes to speak, so that silence counts from the end of the agent's speech. 0: the answers are read, as in a text chat. */
  millisecondsPerCharacter: number;
  /** Whether there is a line that can be handed to a human. Otherwise a transfer is announced, and ends the talk. */
  hasLine?: boolean;
}

/** The answer of an HTTP tool in a test, instead of a request. */
export interface ToolMock {
  name: string;
  response?: Json | undefined;
  error?: string | undefined;
  delay_ms?: number | undefined;
}

/** The outside services and the clock of a conversation. */
export interface ConversationDependencies {
  model: LanguageModel;
  sendHttp(request: GuardedRequest): Promise<GuardedResponse>;
  /** Decrypts the secrets in a part of the definition. */
  openSecrets<T>(value: T): Promise<T>;
  /** Searches the given documents; null: all documents of the organization. Undefined: there is no knowledge base. */
  retrieve?: ((query: string, documentUuids: string[] | null, signal: AbortSignal) => Promise<Retrieved>) | undefined;
  /** Sends the summary of a talk to a human, once for each key. Undefined: there is no line, so no human. */
  sendSummary?: ((message: SummaryMessage) => Promise<SummarySending>) | undefined;
  /** Epoch ms. */
  now(): number;
  sleep(milliseconds: number): Promise<void>;
}

export interface Retrieved {
  /** The passages, as text for the model. */
  text: string;
  /** For the log: the ids of the chunks, with similarity and rank. */
  receipts: Json;
}
/**
 * Receives each piece of speech when the model has produced it; `last` ends an utterance, perhaps with an empty piece. `isInterruptible` is the
 * node's `allow_interrupt`. A sink writes to a carrier's socket, to a stream of server-sent events, or nowhere.
 */
export type SpeechSink = (token: string, last: boolean, speech: { nodeId: string; isInterruptible: boolean }) => void;

/** A message of the history. Messages are ordered by `id`. */
export interface StoredMessage {
  id: number;
  /** Epoch ms. */
  at: number;
  nodeId: string;
  role: 'user' | 'assistant' | 'tool';
  /** The words of a speaker, or the answer of a tool. Empty when the assistant only called tools. */
  text: string;
  toolCalls?: ToolCall[];
  /** The call that a tool message answers. The answer may stand after later utterances. */
  toolCallId?: string;
  /** The agent was interrupted at the end of this text. */
  isCut?: true;
  /** The model answered with nothing, and the agent said this phrase instead. */
  fillsSilence?: true;
}

export interface ConversationEvent {
  type: string;
  /** ISO 8601 UTC. */
  at: string;
  node_id: string;
  payload: Record<string, unknown>;
}

export interface ConversationState {
  nodeId: string;
  /** Raised by each turn, interrupt and end. Work that began under an older epoch says and decides nothing more. */
  epoch: number;
  /** The agent has to speak: the person has said something, or the agent has entered a node and has not finished its answer. */
  owesAnswer: boolean;
  /** The agent is saying goodbye; afterwards the conversation ends for this reason. */
  closing: EndReason | null;
  /** `at` in epoch ms. */
  end: { reason: EndReason; at: number } | null;
  /** Node ids, in the order of their first visit. */
  nodesVisited: string[];
  extracted: Record<string, Json>;
  usage: { prompt_tokens: number; completion_tokens: number };
  /** The same by the model that answered; undefined: nothing was asked, or the conversation began under an earlier version. */
  usageByModel?: ModelUsage[];
  nextMessageId: number;
  /** Epoch ms. */
  startedAt: number;
  /** Epoch ms since when the person is silent; null while the agent has the turn. */
  quietSince: number | null;
  isIdlePrompted: boolean;
  conclusion: Conclusion | null;
  /** The tries to hand the caller to a human, in order; absent: there was none. */
  transfers?: TransferLeg[];
  /** A fixed text that the agent has to say next, after a transfer that nobody took; absent or null: none. */
  notice?: string | null;
}

/** What one model was asked and has answered. */
export interface ModelUsage {
  /** The provider's name of the model. */
  model: string;
  /** The organization's language model; null: the service's own. */
  languageModelId: number | null;
  prompt_tokens: number;
  completion_tokens: number;
}

/** The result of a conversation. Null: the model could not say. */
export interface Conclusion {
  disposition: string | null;
  tags: string[];
  summary: string | null;
  sentiment: 'positive' | 'neutral' | 'negative' | null;
  /** With which words the person asked not to be called again, as the model quotes them; absent: it quotes none. */
  doNotCallRequest?: DoNotCallRequest;
}

/** `sentence`: what the person said; null: the quoted words are in nothing that the person said. */
export interface DoNotCallRequest {
  quote: string;
  sentence: string | null;
}

/** Stores a conversation, in an object's SQLite or in memory. Reads return what was committed before. */
export interface ConversationStore {
  /** Null before the conversation has started. */
  state(): ConversationState | null;
  /** All messages, ordered by id. */
  messages(): StoredMessage[];
  /** Writes the whole change in one transaction. */
  commit(change: ConversationChange): void;
}

export interface ConversationChange {
  state: ConversationState;
  /** New messages, and messages that replace the stored one of the same id. */
  messages?: StoredMessage[];
  /** Ids of messages to delete: utterances that an interrupt cut before their first word. */
  removed?: number[];
  events?: ConversationEvent[];
}

export interface TurnOutcome {
  /**
   * `answered`: the agent has spoken. `superseded`: a later turn, an interrupt or an end came first. `ignored`: nothing needed an answer, or the
   * conversation had ended.
   */
  status: 'answered' | 'superseded' | 'ignored';
  /** The utterances of this turn. */
  said: string[];
  /** Epoch ms at which the last utterance has been spoken, estimated from its length. */
  speaksUntil: number;
  /** Why the conversation has ended, in this turn or before; null: it goes on. */
  end: EndReason | null;
}
