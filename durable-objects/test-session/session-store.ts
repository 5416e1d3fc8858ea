import type { CheckResult, LiveSession, PinnedAgent, SessionFacts, StopReason } from '../../src/simtest/contract.ts';

export const sessionSchemaStep = `
  CREATE TABLE session (id INTEGER PRIMARY KEY, facts TEXT NOT NULL, actor TEXT NOT NULL, adversary TEXT NOT NULL, progress TEXT NOT NULL);`;

/** The progress of a session. Moments in epoch ms. */
export interface SessionProgress extends LiveSession {
  /** Why the conversation is over; null: the two talk. */
  stopReason: StopReason | null;
  talkEndedAt: number | null;
  /** How often the conversations were tried to be concluded. */
  conclusions: number;
  /** The statements that the language model has judged, and the tokens used. */
  judged: CheckResult[];
  judgeUsage: { prompt_tokens: number; completion_tokens: number };
  /** The last request of a person, by which its repetition is known. */
  lastAct: string;
}

export const newSessionProgress = (startedAt: number, lastAct: string): SessionProgress => ({
  status: 'running',
  results: null,
  error: null,
  startedAt,
  completedAt: null,
  stopReason: null,
  talkEndedAt: null,
  conclusions: 0,
  judged: [],
  judgeUsage: { prompt_tokens: 0, completion_tokens: 0 },
  lastAct,
});

interface SessionRow extends Record<string, SqlStorageValue> {
  facts: string;
  actor: string;
  adversary: string;
  progress: string;
}

/** A session in the SQLite of its object, without the two conversations. */
export class SessionStore {
  readonly #sql: SqlStorage;
  #facts: SessionFacts | undefined;
  #progress: SessionProgress | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  init({ actor, adversary, ...facts }: SessionFacts, progress: SessionProgress): void {
    this.#sql.exec(
      'INSERT INTO session (id, facts, actor, adversary, progress) VALUES (?, ?, ?, ?, ?)',
      facts.sessionId,
      ...[facts, actor, adversary, progress].map((part) => JSON.stringify(part)),
    );
  }

  get facts(): SessionFacts {
    this.#read();
    return this.#facts!;
  }

  get progress(): SessionProgress {
    this.#read();
    return this.#progress!;
  }

  change(change: Partial<SessionProgress>): void {
    const progress = { ...this.progress, ...change };
    this.#sql.exec('UPDATE session SET progress = ?', JSON.stringify(progress));
    this.#progress = progress;
  }

  /** Forgets what was read, since the object was deleted. */
  clearCache(): void {
    this.#facts = undefined;
    this.#progress = undefined;
  }

  #read(): void {
    if (this.#facts) return;
    const row = this.#sql.exec<SessionRow>('SELECT facts, actor, adversary, progress FROM session').one();
    const facts = JSON.parse(row.facts) as Omit<SessionFacts, 'actor' | 'adversary'>;
    this.#progress = JSON.parse(row.progress) as SessionProgress;
    this.#facts = { ...facts, actor: JSON.parse(row.actor) as PinnedAgent, adversary: JSON.parse(row.adversary) as PinnedAgent };
  }
}
