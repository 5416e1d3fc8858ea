import type { Clock } from '../../src/library/clock.ts';
import { toTimestamp } from '../../src/library/clock.ts';
import type { StoredMessage, TurnOutcome } from '../../src/voice-agents/conversation/contract.ts';
import type { ChatAnswer, ChatMessage, ChatState, ChatTold } from '../../src/voice-agents/text-chat/contract.ts';
import type { CallRecord } from './call-record.ts';
import type { StoredConversation } from './stored-conversation.ts';
import type { Talk } from './talk.ts';

interface ChatParts {
  record: CallRecord;
  store: StoredConversation;
  talk: Talk;
  storage: DurableObjectStorage;
  clock: Clock;
}

const isShown = ({ role, text }: StoredMessage): boolean => role !== 'tool' && text !== '';

const shown = ({ id, role, text, at }: StoredMessage) => ({ id, role: role as 'user' | 'assistant', text, at: toTimestamp(at) });

/** A talk by written messages: each is answered, or the agent opens the talk. */
export class Chat {
  readonly #parts: ChatParts;
  /** Which turn the words of the agent belong to. */
  #turn = 0;

  constructor(parts: ChatParts) {
    this.#parts = parts;
  }

  get state(): Omit<ChatState, 'messages'> {
    const { conversation } = this.#parts.talk;
    const { state } = conversation;
    return { revision: (state?.nextMessageId ?? 1) - 1, is_completed: state !== null && state.end !== null };
  }

  /** Has the agent begin, once; a repeat waits for what it owes. */
  async open(): Promise<void> {
    const { talk } = this.#parts;
    if (talk.conversation.state === null) await talk.track(talk.conversation.start());
  }

  /**
   * Answers a message. One that is known by its key is not said again, but what it was answered is told again. A message that comes while
   * another one is being answered ends that answer where it is, and both are answered together.
   */
  async answer({ key, text, expectedRevision }: ChatMessage, tell: (told: ChatTold) => void = () => {}): Promise<ChatAnswer> {
    const { record, store, talk, storage } = this.#parts;
    const { revision, is_completed: isCompleted } = this.state;
    const known = record.chatTurn(key);
    if (known === null && isCompleted) return { refused: 'completed' };
    if (known === null && expectedRevision !== null && expectedRevision !== revision) return { refused: 'stale', revision };
    const first = known ?? revision + 1;
    const turn = ++this.#turn;
    talk.say = (token) => {
      if (token !== '') tell({ event: 'token', data: { text: token } });
    };
    store.onMessage = (message) => {
      if (isShown(message)) tell({ event: 'message', data: shown(message) });
    };
    if (known === null) storage.transactionSync(() => record.beginChatTurn(key, first));
    const { conversation } = talk;
    const outcome = await talk.track(known === null ? conversation.userTurn(text) : conversation.resume());
    if (turn === this.#turn) {
      talk.say = null;
      store.onMessage = null;
    }
    return this.#told(first, outcome);
  }

  #told(first: number, outcome: TurnOutcome | null): ChatAnswer {
    if (outcome === null) throw new Error('the turn of a chat failed');
    const since = this.#parts.store.messages().filter((message) => message.id >= first && isShown(message));
    // What was said by a later message belongs to its own answer.
    const next = since.findIndex(({ id, role }) => role === 'user' && id !== first);
    return { messages: (next < 0 ? since : since.slice(0, next)).map(shown), ...this.state };
  }
}
