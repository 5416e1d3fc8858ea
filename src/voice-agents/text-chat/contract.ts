/** A line of a chat as callers see it. */
export interface ChatLine {
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

export type ChatRefusal =
  /** There is no such chat, or no longer. */
  | { refused: 'gone' }
  /** It is a call. */
  | { refused: 'call' }
  | { refused: 'completed' }
  | { refused: 'stale'; revision: number };

export type ChatAnswer = ChatState | ChatRefusal;

/** What a chat that is listened to tells, word by word. */
export type ChatTold =
  | { event: 'token'; data: { text: string } }
  | { event: 'message'; data: ChatLine }
  | { event: 'done'; data: ChatState }
  | { event: 'error'; data: { detail: string } };

/** A chat in which nobody has said anything for so long is over. */
export const chatIdleMs = 24 * 3_600_000;
