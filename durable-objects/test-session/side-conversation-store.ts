import type {
  ConversationChange,
  ConversationState,
  ConversationStore,
  StoredMessage,
} from '../../src/voice-agents/conversation/contract.ts';
import { MemoryConversationStore } from '../../src/voice-agents/conversation/memory-store.ts';
import type { Speaker } from '../../src/simtest/contract.ts';
import type { Side } from '../../src/simtest/dialogue/turn-order.ts';

export const changeSchemaStep = 'CREATE TABLE change (id INTEGER PRIMARY KEY, speaker TEXT NOT NULL, change TEXT NOT NULL)';

/** The conversation of one side: one row a change in the SQLite of its object, and the current state in memory. */
export class SideConversationStore implements ConversationStore {
  readonly #sql: SqlStorage;
  readonly #speaker: Speaker;
  #memory: MemoryConversationStore | undefined;

  constructor(sql: SqlStorage, speaker: Speaker) {
    this.#sql = sql;
    this.#speaker = speaker;
  }

  get side(): Side {
    const { events } = this.#loaded;
    return { state: this.state(), messages: this.messages(), events };
  }

  state(): ConversationState | null {
    return this.#loaded.state();
  }

  messages(): StoredMessage[] {
    return this.#loaded.messages();
  }

  commit(change: ConversationChange): void {
    const memory = this.#loaded;
    this.#sql.exec('INSERT INTO change (speaker, change) VALUES (?, ?)', this.#speaker, JSON.stringify(change));
    memory.commit(change);
  }

  /** Forgets what was read, since the object was deleted. */
  clearCache(): void {
    this.#memory = undefined;
  }

  get #loaded(): MemoryConversationStore {
    if (this.#memory) return this.#memory;
    const memory = new MemoryConversationStore();
    for (const { change } of this.#sql.exec<{ change: string }>('SELECT change FROM change WHERE speaker = ? ORDER BY id', this.#speaker))
      memory.commit(JSON.parse(change) as ConversationChange);
    this.#memory = memory;
    return memory;
  }
}
