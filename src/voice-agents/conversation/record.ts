import { toTimestamp } from '../../library/time/clock.ts';
import type { Completion, ModelFallback } from '../../providers/language-model/contract.ts';
import type { ConversationState, ConversationStore, ModelUsage, StoredMessage } from './contract.ts';
import { truncateValue } from '../../library/json/truncate-value.ts';

export type NewMessage = Omit<StoredMessage, 'id' | 'at' | 'nodeId'>;

export interface NewEvent {
  type: string;
  payload?: Record<string, unknown>;
  /** Undefined: the node before this change. */
  nodeId?: string;
}

interface RecordedItems {
  messages?: NewMessage[] | undefined;
  replaced?: StoredMessage[] | undefined;
  removed?: number[] | undefined;
  events?: NewEvent[] | undefined;
}

/** Writes state, messages and events of a conversation in one commit. */
export class ConversationRecord {
  readonly #store: ConversationStore;
  readonly #now: () => number;

  constructor(store: ConversationStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  get isStarted(): boolean {
    return this.#store.state() !== null;
  }

  get state(): ConversationState {
    const state = this.#store.state();
    if (!state) throw new Error('the conversation was not started');
    return state;
  }

  get messages(): StoredMessage[] {
    return this.#store.messages();
  }

  begin(state: ConversationState, written: RecordedItems = {}): void {
    this.#commit(state, state, written);
  }

  write(change: Partial<ConversationState>, written: RecordedItems = {}): void {
    const before = this.state;
    this.#commit(before, { ...before, ...change }, written);
  }

  #commit(
    before: ConversationState,
    after: ConversationState,
    { messages = [], replaced = [], removed = [], events = [] }: RecordedItems,
  ): void {
    const at = this.#now();
    this.#store.commit({
      state: { ...after, nextMessageId: before.nextMessageId + messages.length },
      messages: [
        ...replaced,
        ...messages.map((message, index) => ({ ...message, id: before.nextMessageId + index, at, nodeId: before.nodeId })),
      ],
      removed,
      events: events.map(({ type, payload = {}, nodeId = before.nodeId }) => ({
        type,
        at: toTimestamp(at),
        node_id: nodeId,
        payload: truncateValue(payload) as Record<string, unknown>,
      })),
    });
  }
}

/** An answer of a model, added to the counts of the conversation. */
export function countUsage(
  { usage, usageByModel = [] }: ConversationState,
  { model, usage: used, language_model_id }: Pick<Completion, 'model' | 'usage' | 'language_model_id'>,
): Pick<ConversationState, 'usage' | 'usageByModel'> {
  const id = language_model_id ?? null;
  const isSame = (one: ModelUsage) => one.model === model && one.languageModelId === id;
  const before = usageByModel.find(isSame);
  const counted: ModelUsage = { model, languageModelId: id, ...addUsage(before ?? { prompt_tokens: 0, completion_tokens: 0 }, used) };
  return { usage: addUsage(usage, used), usageByModel: [...usageByModel.filter((one) => !isSame(one)), counted] };
}

/** The event of a model that failed, so that the next one of the organization's models was asked. */
export const toFallbackEvent = ({ model, failure, message }: ModelFallback): NewEvent => ({
  type: 'model_fallback',
  payload: { model, failure, message },
});

export const addUsage = (one: ConversationState['usage'], other: ConversationState['usage']): ConversationState['usage'] => ({
  prompt_tokens: one.prompt_tokens + other.prompt_tokens,
  completion_tokens: one.completion_tokens + other.completion_tokens,
});
