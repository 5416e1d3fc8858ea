import type { Json } from '../../library/json/json.ts';
import type { GuardedRequest, GuardedResponse } from '../../providers/http/guarded-request.ts';
import type { LanguageModel, ToolCall } from '../../providers/language-model/contract.ts';
import type { AgentDefinition } from '../definition/definition.ts';
import type { Guards } from './guards.ts';
import type { Phrases } from './phrases.ts';

/** Why a conversation ended. The first reason counts. */
export type EndReason =
  /** An endCall node was reached. */
  | 'end_node'
  /** The model called end_call. */
  | 'end_call'
  | 'max_call_duration'
  | 'user_idle'
  /** The language model failed. */
  | 'error'
  /** The other side hung up. */
  | 'hung_up'
  /** Somebody stopped it from outside. */
  | 'stopped';

/** What a conversation is, fixed when it begins. */
export interface ConversationSetup {
  /** Unique among all conversations: HTTP tools send it, with the number of the call, as their Idempotency-Key. */
  key: string;
  definition: AgentDefinition;
  initialContext: Record<string, unknown>;
  organization: { timezone: string; default_country: string };
  /** Absent: LANGUAGE_MODEL. */
  model?: string | undefined;
  /** What the talk may have led to, each with its meaning in words for the model (may be empty). Without any, the usual ones. */
  dispositionCodes: Record<string, string>;
  guards: Guards;
  phrases: Phrases;
  tools: { live: true } | { live: false; mocks: ToolMock[] };
  /** The language model may then answer the same again. */
  seed?: number | undefined;
  /** How long it takes to say a character, so that silence counts from when the agent has finished speaking. 0: it is read, not said. */
  millisecondsPerCharacter: number;
}

/** What an HTTP tool answers instead of being called. */
export interface ToolMock {
  name: string;
  response?: Json | undefined;
  error?: string | undefined;
  delay_ms?: number | undefined;
}

/** What a conversation needs of the world. */
export interface ConversationDependencies {
  model: LanguageModel;
  sendHttp(request: GuardedRequest): Promise<GuardedResponse>;
  /** Opens the secrets in a part of the definition. */
  openSecrets<T>(value: T): Promise<T>;
  /** Looks things up in the given documents, null: in all of the organization. Absent: there is nothing to look up in. */
  retrieve?: ((query: string, documentUuids: string[] | null, signal: AbortSignal) => Promise<Retrieved>) | undefined;
  /** Epoch ms. */
  now(): number;
  sleep(milliseconds: number): Promise<void>;
}

export interface Retrieved {
  /** For the model. */
  text: string;
  /** For the log: which chunks, how similar, at which rank. */
  receipts: Json;
}

/**
 * Called with each piece of speech as it comes; `last` ends an utterance, perhaps with an empty piece. `isInterruptible` is what the node
 * says. A carrier's socket, a stream of server-sent events or nothing at all may be behind it.
 */
export type SpeechSink = (token: string, last: boolean, speech: { nodeId: string; isInterruptible: boolean }) => void;

/** A line of the history, kept in the order of `id`. */
export interface StoredMessage {
  id: number;
  /** Epoch ms. */
  at: number;
  nodeId: string;
  role: 'user' | 'assistant' | 'tool';
  /** What was said or, of a tool, its answer; empty when an assistant only called tools. */
  text: string;
  toolCalls?: ToolCall[];
  /** Of a tool: which call it answers. It may stand later than what was said meanwhile. */
  toolCallId?: string;
  /** The agent was not heard to the end. */
  isCut?: true;
  /** The model had nothing to say, and the agent said this instead. */
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
  /** Raised by whatever comes from outside, such as a turn, an interrupt or an end: what began before says and decides nothing more. */
  epoch: number;
  /** The agent has to speak: the other side said something, or the node has just been entered, and it has not finished. */
  owesAnswer: boolean;
  /** The agent says its goodbye, and then the conversation ends for this reason. */
  closing: EndReason | null;
  /** `at` in epoch ms. */
  end: { reason: EndReason; at: number } | null;
  /** Ids, in the order of their first visit. */
  nodesVisited: string[];
  extracted: Record<string, Json>;
  usage: { prompt_tokens: number; completion_tokens: number };
  nextMessageId: number;
  /** Epoch ms. */
  startedAt: number;
  /** Epoch ms from which the other side's silence counts; null while it is not its turn. */
  quietSince: number | null;
  isIdlePrompted: boolean;
  conclusion: Conclusion | null;
}

/** What the talk led to; null: nobody can say. */
export interface Conclusion {
  disposition: string | null;
  tags: string[];
  summary: string | null;
  sentiment: 'positive' | 'neutral' | 'negative' | null;
}

/** Where a conversation is kept: an object's SQLite, or memory. Reads see what was committed before. */
export interface ConversationStore {
  /** Null before the conversation was started. */
  state(): ConversationState | null;
  /** In the order of their ids. */
  messages(): StoredMessage[];
  /** Writes all of it in one transaction. */
  commit(change: ConversationChange): void;
}

export interface ConversationChange {
  state: ConversationState;
  /** New ones, and ones that replace that of their id. */
  messages?: StoredMessage[];
  /** Ids of messages that are gone: what was never heard. */
  removed?: number[];
  events?: ConversationEvent[];
}

export interface TurnOutcome {
  /**
   * `answered`: the agent has spoken. `superseded`: a later turn, an interrupt or an end came before it had finished. `ignored`: there was
   * nothing to answer, or the conversation had ended.
   */
  status: 'answered' | 'superseded' | 'ignored';
  /** What this turn said, utterance by utterance. */
  said: string[];
  /** Epoch ms when all of it has been spoken, as far as its length tells. */
  speaksUntil: number;
  /** Set once the conversation has ended, in this turn or before. */
  end: EndReason | null;
}
