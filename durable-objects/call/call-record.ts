import type { CallEnd } from '../../src/calls/contract.ts';
import type { CallSetup } from '../../src/calls/live-call/call-setup.ts';

/** The kinds of a call's timers, as the `timer` table stores them. */
export const callTimers = {
  /** Acts on a silence, on the call's length, or on an unfinished answer. */
  guard: 'look',
  /** Ends the relay session after the goodbye. */
  endSession: 'end',
  /** Takes the pressed keys as complete. */
  keys: 'keys',
  /** Ends an idle chat. */
  idle: 'idle',
  finalize: 'settle',
  /** One for each receiver of the call's end. */
  followUp: 'follow',
  /** Deletes the object. */
  finish: 'leave',
  recording: 'recording',
  /** Gives the caller back to the agent when the carrier reports nothing of the human. */
  transfer: 'transfer',
  /** Settles a doubtful verdict of machine detection, or leaves the message. */
  machine: 'machine',
  /** Tells the call slots that a verdict was false. */
  correction: 'correction',
} as const;

/** The state of a call's line. A text chat uses only the last two fields. */
export interface LineState {
  /** The carrier's id of the call; null: not known yet. */
  callId: string | null;
  /** Tokens that have opened a socket. Each opens only one. */
  usedTokens: string[];
  /** Lost relay sessions that another session has replaced. */
  lostSessions: string[];
  reconnects: number;
  /** Pressed keys that wait for the next key. */
  keys: string;
  /** The telephony configuration of a call that is handed to a human, and whether its carrier takes commands; null: none is. */
  handOver: { configId: number; takesCommands: boolean } | null;
  /**
   * What follows from the verdict that a machine has answered. `doubtful`: nothing was said yet. `waiting`: for the end of the greeting.
   * `left`: the message was left. `corrected`: a person talks. Null: there is no verdict, or nothing more follows.
   */
  verdict: 'doubtful' | 'waiting' | 'left' | 'corrected' | null;
  /** A machine has answered, so the agent has stopped. */
  isStopped: boolean;
  /** Null while the line is live. */
  end: CallEnd | null;
  /** How many events the log in R2 has; null: it is not written yet, or the object has forgotten. */
  loggedEvents: number | null;
}

const initialLineState: LineState = {
  callId: null,
  usedTokens: [],
  lostSessions: [],
  reconnects: 0,
  keys: '',
  handOver: null,
  verdict: null,
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

/** The stored data of a call, besides its conversation. */
export class CallRecord {
  readonly #storage: DurableObjectStorage;
  #setup: CallSetup | undefined;
  #line: LineState | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** `callId` is the carrier's id of the call; null: it is not known yet. */
  init({ definition, initialContext, ...setup }: CallSetup, callId: string | null): void {
    this.#storage.sql.exec(
      'INSERT INTO call (run_id, facts, definition, initial_context, line) VALUES (?, ?, ?, ?, ?)',
      setup.runId,
      JSON.stringify(setup),
      JSON.stringify(definition),
      JSON.stringify(initialContext),
      JSON.stringify({ ...initialLineState, callId }),
    );
  }

  /** False in an object that exists only for a recording. */
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

  /** Drops what was read, after the object was deleted. */
  clearCache(): void {
    this.#setup = undefined;
    this.#line = undefined;
  }

  /** Deletes the call; the object stays. */
  deleteCall(): void {
    this.#storage.sql.exec('DELETE FROM call');
    this.clearCache();
  }

  updateLine(change: Partial<LineState>): void {
    const line = { ...this.line, ...change };
    this.#storage.sql.exec('UPDATE call SET line = ?', JSON.stringify(line));
    this.#line = line;
  }

  /** As `updateLine`, for what may be forgotten with the memory of the object. */
  noteLine(change: Partial<LineState>): void {
    this.#line = { ...this.line, ...change };
  }

  /** Counts a try before it is made, so that a try during which the object dies counts too. Answers its number, from 1. */
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

  /** The id of the first message of a chat's turn, by the key of the message that began it; null: no such turn. */
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
