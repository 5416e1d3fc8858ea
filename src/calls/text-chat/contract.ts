/** A message of a chat, as the API shows it. */
interface ChatLine {
  id: number;
  role: 'user' | 'assistant';
  text: string;
  /** ISO 8601 UTC. */
  at: string;
}

export interface ChatState {
  /** The messages that a message has added: itself and the agent's answer. */
  messages: ChatLine[];
  /** Grows with each message and each look-up. */
  revision: number;
  is_completed: boolean;
}

/**
 * A message to the agent. `key` names it, so that it is said once even if it is sent again. `expectedRevision` null: it is said after any
 * revision.
 */
export interface ChatMessage {
  key: string;
  text: string;
  expectedRevision: number | null;
}

/** Why a message is refused. `gone`: there is no such chat. `call`: the run is a call. `stale`: the chat has gone on to `revision`. */
export interface ChatRefusal {
  refused: 'gone' | 'call' | 'completed' | 'stale';
  revision: number;
}

/** A refusal or the state of the chat; the other is null. */
export interface ChatAnswer {
  refusal: ChatRefusal | null;
  state: ChatState | null;
}

/** An event of a streamed answer. */
export type ChatStreamEvent =
  | { event: 'token'; data: { text: string } }
  | { event: 'message'; data: ChatLine }
  | { event: 'done'; data: ChatState }
  | { event: 'error'; data: { detail: string } };

/** A chat without a message for this long ends. */
export const chatIdleMs = 24 * 3_600_000;
