import type { CallEnd } from '../../src/calls/contract.ts';
import type { CallSetup } from '../../src/calls/live-call/call-setup.ts';

export const callSchemaStep = `
  CREATE TABLE call (run_id INTEGER PRIMARY KEY, facts TEXT NOT NULL, definition TEXT NOT NULL, initial_context TEXT NOT NULL, line TEXT NOT NULL);
  CREATE TABLE recording (config_id INTEGER NOT NULL, url TEXT NOT NULL);
  CREATE TABLE tries (subject TEXT PRIMARY KEY, made INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE chat_turn (key TEXT PRIMARY KEY, first_message_id INTEGER NOT NULL) WITHOUT ROWID;`;

/** What the line of a call has come to. Of a text chat only the last two count. */
export interface LineState {
  /** The carrier's name of the call; null: not known yet. */
  callId: string | null;
  /** What opened a socket, and opens none again. */
  usedTokens: string[];
  /** Relay sessions that were lost, and made good by another one. */
  lostSessions: string[];
  reconnects: number;
  /** Keys that were pressed and not followed by another one yet. */
  keys: string;
  /** A machine has answered: nobody is talked to. */
  isStopped: boolean;
  /** Null while it is live. */
  end: CallEnd | null;
  /** How many events the log in R2 has; null: there is none yet. */
  loggedEvents: number | null;
}

const initialLineState: LineState = {
  callId: null,
  usedTokens: [],
  lostSessions: [],
  reconnects: 0,
  keys: '',
  isStopped: false,
  end: null,
  loggedEvents: null,
};

interface CallRow extends Record<string, SqlStorageValue> {
  facts: string;
  definition: string;
  initial_context: string;
  line: string;
}

/** What an object knows of its call beside the talk. */
export class CallRecord {
  readonly #storage: DurableObjectStorage;
  #setup: CallSetup | undefined;
  #line: LineState | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  init({ definition, initialContext, ...setup }: CallSetup): void {
    this.#storage.sql.exec(
      'INSERT INTO call (run_id, facts, definition, initial_context, line) VALUES (?, ?, ?, ?, ?)',
      setup.runId,
      JSON.stringify(setup),
      JSON.stringify(definition),
      JSON.stringify(initialContext),
      JSON.stringify(initialLineState),
    );
  }

  /** False in an object that was only made to keep a recording. */
  get hasCall(): boolean {
    return this.#setup !== undefined || this.#row() !== undefined;
  }

  get setup(): CallSetup {
    this.#read();
    return this.#setup!;
  }

  get line(): LineState {
    this.#read();
    return this.#line!;
  }

  /** The object is gone, and with it what was read. */
  clearCache(): void {
    this.#setup = undefined;
    this.#line = undefined;
  }

  /** There is no call here any more, though the object stays. */
  deleteCall(): void {
    this.#storage.sql.exec('DELETE FROM call');
    this.clearCache();
  }

  updateLine(change: Partial<LineState>): void {
    const line = { ...this.line, ...change };
    this.#storage.sql.exec('UPDATE call SET line = ?', JSON.stringify(line));
    this.#line = line;
  }

  /** Counts a try before it is made, so that one that the object dies of counts too. Answers which one it is, from 1. */
  countTry(subject: string): number {
    return this.#storage.sql
      .exec<{ made: number }>(
        'INSERT INTO tries (subject, made) VALUES (?, 1) ON CONFLICT (subject) DO UPDATE SET made = made + 1 RETURNING made',
        subject,
      )
      .one().made;
  }

  /** How many tries were counted. */
  countTries(subject: string): number {
    const [row] = this.#storage.sql.exec<{ made: number }>('SELECT made FROM tries WHERE subject = ?', subject).toArray();
    return row?.made ?? 0;
  }

  pendingRecording(): { configId: number; location: string } | null {
    const [row] = this.#storage.sql.exec<{ config_id: number; url: string }>('SELECT config_id, url FROM recording').toArray();
    return row ? { configId: row.config_id, location: row.url } : null;
  }

  insertPendingRecording(configId: number, location: string): void {
    this.#storage.sql.exec('INSERT INTO recording (config_id, url) VALUES (?, ?)', configId, location);
  }

  /** Where the turn of a chat began that is known by this key; null: it has not been there yet. */
  chatTurn(key: string): number | null {
    const [row] = this.#storage.sql
      .exec<{ first_message_id: number }>('SELECT first_message_id FROM chat_turn WHERE key = ?', key)
      .toArray();
    return row?.first_message_id ?? null;
  }

  beginChatTurn(key: string, firstMessageId: number): void {
    this.#storage.sql.exec('INSERT INTO chat_turn (key, first_message_id) VALUES (?, ?)', key, firstMessageId);
  }

  hasTimer(kind: string): boolean {
    return this.#storage.sql.exec('SELECT 1 FROM timer WHERE kind = ? LIMIT 1', kind).toArray().length > 0;
  }

  #row(): CallRow | undefined {
    return this.#storage.sql.exec<CallRow>('SELECT facts, definition, initial_context, line FROM call').toArray()[0];
  }

  #read(): void {
    if (this.#setup) return;
    const row = this.#row();
    if (!row) throw new Error('there is no call');
    const setup = JSON.parse(row.facts) as Omit<CallSetup, 'definition' | 'initialContext'>;
    this.#line = { ...initialLineState, ...(JSON.parse(row.line) as Partial<LineState>) };
    this.#setup = {
      ...setup,
      definition: JSON.parse(row.definition) as Record<string, unknown>,
      initialContext: JSON.parse(row.initial_context) as Record<string, unknown>,
    };
  }
}
