import type { ConversationChange, ConversationEvent, ConversationState, ConversationStore, StoredMessage } from './contract.ts';

/** Keeps a conversation in memory. */
export class MemoryConversationStore implements ConversationStore {
  readonly events: ConversationEvent[] = [];
  readonly #messages = new Map<number, StoredMessage>();
  #state: ConversationState | null = null;

  state(): ConversationState | null {
    return this.#state;
  }

  messages(): StoredMessage[] {
    return [...this.#messages.values()].toSorted((one, other) => one.id - other.id);
  }

  commit({ state, messages = [], removed = [], events = [] }: ConversationChange): void {
    this.#state = state;
    for (const message of messages) this.#messages.set(message.id, message);
    for (const id of removed) this.#messages.delete(id);
    this.events.push(...events);
  }
}
