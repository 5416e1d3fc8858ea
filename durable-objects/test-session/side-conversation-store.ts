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

/** The conversation of one side in its object's SQLite, change by change: one row a change, and what it came to in memory. */
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
    const kept = this.#loaded;
    this.#sql.exec('INSERT INTO change (speaker, change) VALUES (?, ?)', this.#speaker, JSON.stringify(change));
    kept.commit(change);
  }

  /** The object is gone, and with it what was read. */
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
