import { toTimestamp } from '../../src/library/time/clock.ts';
import type {
  ConversationChange,
  ConversationEvent,
  ConversationState,
  ConversationStore,
  StoredMessage,
} from '../../src/voice-agents/conversation/contract.ts';
import { truncateValue } from '../../src/library/json/truncate-value.ts';

export const conversationSchemaStep = `
  CREATE TABLE conversation (only INTEGER PRIMARY KEY CHECK (only = 1), state TEXT NOT NULL);
  CREATE TABLE message (id INTEGER PRIMARY KEY, message TEXT NOT NULL);
  CREATE TABLE event (id INTEGER PRIMARY KEY, event TEXT NOT NULL);`;

/** A conversation in its object's SQLite. Rows that were read or written stay in memory, since each turn reads the history. */
export class StoredConversation implements ConversationStore {
  /** Called with each message that is written. */
  onMessage: ((message: StoredMessage) => void) | null = null;
  readonly #storage: DurableObjectStorage;
  #state: ConversationState | null | undefined;
  #messages: StoredMessage[] | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  state(): ConversationState | null {
    if (this.#state === undefined) {
      const [row] = this.#storage.sql.exec<{ state: string }>('SELECT state FROM conversation').toArray();
      this.#state = row ? (JSON.parse(row.state) as ConversationState) : null;
    }
    return this.#state;
  }

  messages(): StoredMessage[] {
    this.#messages ??= this.#storage.sql
      .exec<{ message: string }>('SELECT message FROM message ORDER BY id')
      .toArray()
      .map(({ message }) => JSON.parse(message) as StoredMessage);
    return this.#messages;
  }

  commit({ state, messages = [], removed = [], events = [] }: ConversationChange): void {
    const before = this.messages();
    this.#storage.transactionSync(() => {
      this.#exec('INSERT OR REPLACE INTO conversation (only, state) VALUES (1, ?)', JSON.stringify(state));
      for (const message of messages)
        this.#exec('INSERT OR REPLACE INTO message (id, message) VALUES (?, ?)', message.id, JSON.stringify(message));
      for (const id of removed) this.#exec('DELETE FROM message WHERE id = ?', id);
      for (const event of events) this.#insert(event);
    });
    this.#state = state;
    if (messages.length > 0 || removed.length > 0) this.#messages = mergeMessages(before, messages, removed);
    for (const message of messages) this.onMessage?.(message);
  }

  /** Logs an event of the call that is not a message. `at` in epoch ms. */
  log(type: string, payload: Record<string, unknown>, at: number): void {
    const bounded = truncateValue(payload) as Record<string, unknown>;
    this.#insert({ type, at: toTimestamp(at), node_id: this.state()?.nodeId ?? '', payload: bounded });
  }

  /** Drops what was read, after the object was deleted. */
  clearCache(): void {
    this.#state = undefined;
    this.#messages = undefined;
    this.onMessage = null;
  }

  events(): ConversationEvent[] {
    return this.#storage.sql
      .exec<{ event: string }>('SELECT event FROM event ORDER BY id')
      .toArray()
      .map(({ event }) => JSON.parse(event) as ConversationEvent);
  }

  countEvents(type?: string): number {
    const { sql } = this.#storage;
    const counted =
      type === undefined
        ? sql.exec<{ total: number }>('SELECT count(*) AS total FROM event')
        : sql.exec<{ total: number }>("SELECT count(*) AS total FROM event WHERE event->>'type' = ?", type);
    return counted.one().total;
  }

  #insert(event: ConversationEvent): void {
    this.#exec('INSERT INTO event (event) VALUES (?)', JSON.stringify(event));
  }

  #exec(statement: string, ...parameters: (string | number)[]): void {
    this.#storage.sql.exec(statement, ...parameters);
  }
}

function mergeMessages(before: StoredMessage[], written: StoredMessage[], removed: number[]): StoredMessage[] {
  const byId = new Map(before.map((message) => [message.id, message]));
  for (const message of written) byId.set(message.id, message);
  for (const id of removed) byId.delete(id);
  return [...byId.values()].toSorted((one, other) => one.id - other.id);
}
