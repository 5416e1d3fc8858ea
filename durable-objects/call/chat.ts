import { toTimestamp } from '../../src/library/time/clock.ts';
import type { StoredMessage, TurnOutcome } from '../../src/voice-agents/conversation/contract.ts';
import type { ChatAnswer, ChatMessage, ChatRefusal, ChatState, ChatStreamEvent } from '../../src/calls/text-chat/contract.ts';
import type { CallRecord } from './call-record.ts';
import type { StoredConversation } from './stored-conversation.ts';
import type { LiveConversation } from './live-conversation.ts';

interface ChatParts {
  record: CallRecord;
  store: StoredConversation;
  talk: LiveConversation;
}

const isVisible = ({ role, text }: StoredMessage): boolean => role !== 'tool' && text !== '';

const toChatLine = ({ id, role, text, at }: StoredMessage) => ({ id, role: role as 'user' | 'assistant', text, at: toTimestamp(at) });

/** A talk by written messages: each is answered, or the agent opens the talk. */
export class Chat {
  readonly #parts: ChatParts;
  /** Which turn the words of the agent belong to. */
  #turn = 0;

  constructor(parts: ChatParts) {
    this.#parts = parts;
  }

  get state(): Omit<ChatState, 'messages'> {
    const { state } = this.#parts.talk.conversation;
    return { revision: (state?.nextMessageId ?? 1) - 1, is_completed: state !== null && state.end !== null };
  }

  /** Has the agent begin, once; a repeat waits for what it owes. */
  async open(): Promise<void> {
    const { talk: live } = this.#parts;
    if (live.conversation.state === null) await live.trackTurn(live.conversation.start());
  }

  /** Why a message is not answered, or null. One that was taken in before is answered, whatever came later. */
  findRefusal({ key, expectedRevision }: ChatMessage): ChatRefusal | null {
    if (this.#parts.record.chatTurn(key) !== null) return null;
    const { revision, is_completed: isCompleted } = this.state;
    if (isCompleted) return { refused: 'completed', revision };
    return expectedRevision === null || expectedRevision === revision ? null : { refused: 'stale', revision };
  }

  /**
   * Answers a message. One that is known by its key is not said again, but what it was answered is told again. A message that comes while
   * another one is being answered ends that answer where it is, and both are answered together.
   */
  async answer(message: ChatMessage, tell: (told: ChatStreamEvent) => void = () => {}): Promise<ChatAnswer> {
    const refusal = this.findRefusal(message);
    if (refusal) return { refusal, state: null };
    const { record, store, talk: live } = this.#parts;
    const known = record.chatTurn(message.key);
    const first = known ?? this.state.revision + 1;
    const turn = ++this.#turn;
    live.chatSink = (token) => {
      if (token !== '') tell({ event: 'token', data: { text: token } });
    };
    let isBegun = false;
    store.onMessage = (line) => {
      // With the message, what the agent had said of the answer before is written.
      isBegun ||= line.role === 'user';
      if (isBegun && isVisible(line)) tell({ event: 'message', data: toChatLine(line) });
    };
    if (known === null) record.beginChatTurn(message.key, first);
    const { conversation } = live;
    const outcome = await live.trackTurn(known === null ? conversation.userTurn(message.text) : conversation.resume());
    if (turn === this.#turn) {
      live.chatSink = null;
      store.onMessage = null;
    }
    return { refusal: null, state: this.#toState(first, outcome) };
  }

  #toState(first: number, outcome: TurnOutcome | null): ChatState {
    if (outcome === null) throw new Error('the turn of a chat failed');
    const said = this.#parts.store.messages().filter((message) => message.id >= first && isVisible(message));
    const own = said.slice(said.findIndex(({ role }) => role === 'user'));
    // What was said by a later message belongs to its own answer.
    const next = own.findIndex(({ role }, index) => index > 0 && role === 'user');
    return { messages: (next < 0 ? own : own.slice(0, next)).map(toChatLine), ...this.state };
  }
}

const encoder = new TextEncoder();

/** Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) for whoever reads the stream; once nobody does, for nobody. */
export function createEventStream() {
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  const stream = new ReadableStream<Uint8Array>({
    start(opened) {
      controller = opened;
    },
    cancel() {
      controller = null;
    },
  });
  return {
    stream,
    tell({ event, data }: ChatStreamEvent): void {
      controller?.enqueue(encoder.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`));
    },
    close(): void {
      controller?.close();
      controller = null;
    },
  };
}
