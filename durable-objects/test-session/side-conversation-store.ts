import type {
  ConversationChange,
  ConversationState,
  ConversationStore,
  StoredMessage,
} from '../../src/voice-agents/conversation/contract.ts';
import { MemoryConversationStore } from '../../src/voice-agents/conversation/memory-store.ts';
import type { Speaker } from '../../src/simtest/contract.ts';
import type { Side } from '../../src/simtest/dialogue/turn-order.ts';
import type { SessionJournal } from './session-journal.ts';

/** The conversation of one side: its changes in the journal of the session, and the current state in memory. */
export class SideConversationStore implements ConversationStore {
  readonly #journal: SessionJournal;
  readonly #speaker: Speaker;
  #memory: MemoryConversationStore | undefined;

  constructor(journal: SessionJournal, speaker: Speaker) {
    this.#journal = journal;
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

  /** The journal writes it before anything else is asked. */
  commit(change: ConversationChange): void {
    this.#loaded.commit(change);
    this.#journal.addChange(this.#speaker, change);
  }

  /** Forgets what was read, since the object was deleted. */
  clearCache(): void {
    this.#memory = undefined;
  }

  get #loaded(): MemoryConversationStore {
    if (this.#memory) return this.#memory;
    const memory = new MemoryConversationStore();
    for (const change of this.#journal.changesOf(this.#speaker)) memory.commit(change);
    this.#memory = memory;
    return memory;
  }
}
