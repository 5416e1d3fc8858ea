import { toTimestamp } from '../../src/library/time/clock.ts';
import type {
  ConversationChange,
  ConversationEvent,
  ConversationState,
  ConversationStore,
  StoredMessage,
} from '../../src/voice-agents/conversation/contract.ts';
import { truncateValue } from '../../src/library/json/truncate-value.ts';

/** A conversation in its object's SQLite. State and messages stay in memory, since each turn reads them. */
export class StoredConversation implements ConversationStore {
  /** Called with each message that is written. */
  onMessage: ((message: StoredMessage) => void) | null = null;
  readonly #storage: DurableObjectStorage;
  #state: ConversationState | null | undefined;
  #messages: StoredMessage[] | undefined;
  /** Events that are written with the next change. */
  #pendingEvents: ConversationEvent[] = [];

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  state(): ConversationState | null {
    if (this.#state === undefined) {
      const [row] = this.#storage.sql
        .exec<{ state: string }>('SELECT state FROM change WHERE state IS NOT NULL ORDER BY id DESC LIMIT 1')
        .toArray();
      this.#state = row ? (JSON.parse(row.state) as ConversationState) : null;
    }
    return this.#state;
  }

  messages(): StoredMessage[] {
    this.#messages ??= this.#readMessages();
    return this.#messages;
  }

  #readMessages(): StoredMessage[] {
    const { sql } = this.#storage;
    const byId = new Map<number, StoredMessage>();
    const write = (message: StoredMessage) => byId.set(message.id, message);
    const changes = sql.exec<{ messages: string; removed: string }>(
      "SELECT messages, removed FROM change WHERE messages <> '[]' OR removed <> '[]' ORDER BY id",
    );
    for (const { messages, removed } of changes) {
      for (const message of JSON.parse(messages) as StoredMessage[]) write(message);
      for (const id of JSON.parse(removed) as number[]) byId.delete(id);
    }
    return [...byId.values()].toSorted((one, other) => one.id - other.id);
  }

  commit({ state, messages = [], removed = [], events = [] }: ConversationChange): void {
    const before = this.messages();
    this.#insert({ state, messages, removed, events });
    this.#state = state;
    if (messages.length > 0 || removed.length > 0) this.#messages = mergeMessages(before, messages, removed);
    for (const message of messages) this.onMessage?.(message);
  }

  /** Logs an event of the call that is not a message. `at` in epoch ms. */
  log(type: string, payload: Record<string, unknown>, at: number): void {
    this.logWithNext(type, payload, at);
    this.flush();
  }

  /** As `log`, in the row of the change that follows at once; `flush` writes the event if there is none. */
  logWithNext(type: string, payload: Record<string, unknown>, at: number): void {
    const bounded = truncateValue(payload) as Record<string, unknown>;
    this.#pendingEvents.push({ type, at: toTimestamp(at), node_id: this.state()?.nodeId ?? '', payload: bounded });
  }

  flush(): void {
    if (this.#pendingEvents.length > 0) this.#insert({});
  }

  /** Drops what was read, after the object was deleted. */
  clearCache(): void {
    this.#state = undefined;
    this.#messages = undefined;
    this.onMessage = null;
    this.#pendingEvents = [];
  }

  events(): ConversationEvent[] {
    this.flush();
    return this.#storage.sql
      .exec<{ event: string }>(`SELECT event FROM (${eventsSql}) ORDER BY id, place`)
      .toArray()
      .map(({ event }) => JSON.parse(event) as ConversationEvent);
  }

  countEvents(type?: string): number {
    this.flush();
    const { sql } = this.#storage;
    const counted =
      type === undefined
        ? sql.exec<{ total: number }>(`SELECT count(*) AS total FROM (${eventsSql})`)
        : sql.exec<{ total: number }>(`SELECT count(*) AS total FROM (${eventsSql}) WHERE event ->> 'type' = ?`, type);
    return counted.one().total;
  }

  #insert({ state, messages = [], removed = [], events = [] }: Partial<ConversationChange>): void {
    this.#storage.sql.exec(
      'INSERT INTO change (state, messages, removed, events) VALUES (?, ?, ?, ?)',
      state === undefined ? null : JSON.stringify(state),
      JSON.stringify(messages),
      JSON.stringify(removed),
      JSON.stringify([...this.#pendingEvents, ...events]),
    );
    this.#pendingEvents = [];
  }
}

/** All events; `id` and `place` are their order. */
const eventsSql = 'SELECT c.id, e.key AS place, e.value AS event FROM change c CROSS JOIN json_each(c.events) e';

function mergeMessages(before: StoredMessage[], written: StoredMessage[], removed: number[]): StoredMessage[] {
  const byId = new Map(before.map((message) => [message.id, message]));
  for (const message of written) byId.set(message.id, message);
  for (const id of removed) byId.delete(id);
  return [...byId.values()].toSorted((one, other) => one.id - other.id);
}
