import type { SessionJournal } from './session-journal.ts';
import type { SessionProgress } from './session-progress.ts';
import type { PinnedAgent, SessionFacts } from '../../src/simtest/contract.ts';

export const sessionSchemaStep = `
  CREATE TABLE session (id INTEGER PRIMARY KEY, facts TEXT NOT NULL, actor TEXT NOT NULL, adversary TEXT NOT NULL, progress TEXT NOT NULL);`;

interface SessionRow extends Record<string, SqlStorageValue> {
  facts: string;
  actor: string;
  adversary: string;
  progress: string;
}

/** A session in the SQLite of its object, without the two conversations: how it began, and its progress, which the journal notes. */
export class SessionStore {
  readonly #sql: SqlStorage;
  readonly #journal: SessionJournal;
  #facts: SessionFacts | undefined;
  #progress: SessionProgress | undefined;

  constructor(sql: SqlStorage, journal: SessionJournal) {
    this.#sql = sql;
    this.#journal = journal;
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

  /** The journal writes it before anything else is asked. */
  change(change: Partial<SessionProgress>): void {
    this.#progress = { ...this.progress, ...change };
    this.#journal.setProgress(this.#progress);
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
    this.#progress = this.#journal.lastProgress() ?? (JSON.parse(row.progress) as SessionProgress);
    this.#facts = { ...facts, actor: JSON.parse(row.actor) as PinnedAgent, adversary: JSON.parse(row.adversary) as PinnedAgent };
  }
}
