import { toTimestamp } from '../../src/library/time/clock.ts';
import type { StoredMessage, TurnOutcome } from '../../src/voice-agents/conversation/contract.ts';
import type { ChatAnswer, ChatMessage, ChatRefusal, ChatState, ChatStreamEvent } from '../../src/calls/text-chat/contract.ts';
import type { CallRecord } from './call-record.ts';
import type { StoredConversation } from './stored-conversation.ts';
import type { LiveConversation } from './live-conversation.ts';

interface ChatParts {
  record: CallRecord;
  store: StoredConversation;
  conversation: LiveConversation;
}

const isVisible = ({ role, text }: StoredMessage): boolean => role !== 'tool' && text !== '';

const toChatLine = ({ id, role, text, at }: StoredMessage) => ({ id, role: role as 'user' | 'assistant', text, at: toTimestamp(at) });

/** A conversation by written messages. The agent opens it, and answers each message. */
export class Chat {
  readonly #parts: ChatParts;
  /** The turn that the agent answers at present. */
  #turn = 0;

  constructor(parts: ChatParts) {
    this.#parts = parts;
  }

  get state(): Omit<ChatState, 'messages'> {
    const { state } = this.#parts.conversation.conversation;
    return { revision: (state?.nextMessageId ?? 1) - 1, is_completed: state !== null && state.end !== null };
  }

  /** Has the agent begin, once. A repeat does nothing. */
  async open(): Promise<void> {
    const { conversation: live } = this.#parts;
    if (live.conversation.state === null) await live.trackTurn(live.conversation.start());
  }

  /** Why a message is refused, or null. A message that was accepted before is answered, even if others came later. */
  findRefusal({ key, expectedRevision }: ChatMessage): ChatRefusal | null {
    if (this.#parts.record.chatTurn(key) !== null) return null;
    const { revision, is_completed: isCompleted } = this.state;
    if (isCompleted) return { refused: 'completed', revision };
    return expectedRevision === null || expectedRevision === revision ? null : { refused: 'stale', revision };
  }

  /**
   * Answers a message. A message whose key is known is not said again; its first answer is returned again. A message that comes during an
   * answer cuts that answer short, and both messages are answered together.
   */
  async answer(message: ChatMessage, sendEvent: (event: ChatStreamEvent) => void = () => {}): Promise<ChatAnswer> {
    const refusal = this.findRefusal(message);
    if (refusal) return { refusal, state: null };
    const { record, store, conversation: live } = this.#parts;
    const known = record.chatTurn(message.key);
    const first = known ?? this.state.revision + 1;
    const turn = ++this.#turn;
    live.chatSink = (token) => {
      if (token !== '') sendEvent({ event: 'token', data: { text: token } });
    };
    let isMessageWritten = false;
    store.onMessage = (line) => {
      // With the message, the cut part of the answer before is written too.
      isMessageWritten ||= line.role === 'user';
      if (isMessageWritten && isVisible(line)) sendEvent({ event: 'message', data: toChatLine(line) });
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
    const fromMessage = said.slice(said.findIndex(({ role }) => role === 'user'));
    // Answers to a later message belong to that message.
    const next = fromMessage.findIndex(({ role }, index) => index > 0 && role === 'user');
    return { messages: (next < 0 ? fromMessage : fromMessage.slice(0, next)).map(toChatLine), ...this.state };
  }
}

const encoder = new TextEncoder();

/**
 * A stream of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). After the reader disconnects, events are
 * dropped.
 */
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
    sendEvent({ event, data }: ChatStreamEvent): void {
      controller?.enqueue(encoder.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`));
    },
    close(): void {
      controller?.close();
      controller = null;
    },
  };
}
