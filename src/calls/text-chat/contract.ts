/** A line of a chat as callers see it. */
interface ChatLine {
  id: number;
  role: 'user' | 'assistant';
  text: string;
  /** ISO 8601 UTC. */
  at: string;
}

export interface ChatState {
  /** What a message has added: itself, and what the agent said to it. */
  messages: ChatLine[];
  /** Grows with everything that is said or looked up. */
  revision: number;
  is_completed: boolean;
}

/** `key` names the message, so that it is said once however often it is sent. `expectedRevision` null: whatever was said meanwhile. */
export interface ChatMessage {
  key: string;
  text: string;
  expectedRevision: number | null;
}

/** Why a message is not taken. `gone`: there is no such chat. `call`: it is one. `stale`: the chat has gone on, to this revision. */
export interface ChatRefusal {
  refused: 'gone' | 'call' | 'completed' | 'stale';
  revision: number;
}

/** One of the two; the other is null. */
export interface ChatAnswer {
  refusal: ChatRefusal | null;
  state: ChatState | null;
}

/** What a chat that is listened to tells, word by word. */
export type ChatStreamEvent =
  | { event: 'token'; data: { text: string } }
  | { event: 'message'; data: ChatLine }
  | { event: 'done'; data: ChatState }
  | { event: 'error'; data: { detail: string } };

/** A chat in which nobody has said anything for so long is over. */
export const chatIdleMs = 24 * 3_600_000;
