import type { Speaker } from '../../src/simtest/contract.ts';
import type { ConversationChange } from '../../src/voice-agents/conversation/contract.ts';
import type { SessionProgress } from './session-progress.ts';

/** `speaker` is empty in a row of several changes, whose `change` is a JSON `Entry`. A row of earlier versions is one change of its speaker. */
export const changeSchemaStep = 'CREATE TABLE change (id INTEGER PRIMARY KEY, speaker TEXT NOT NULL, change TEXT NOT NULL)';

interface Entry {
  changes: { speaker: Speaker; change: ConversationChange }[];
  /** Absent: it is as it was. */
  progress?: SessionProgress;
}

interface Row extends Record<string, SqlStorageValue> {
  speaker: Speaker | '';
  change: string;
}

/**
 * What has changed since the session began, in the SQLite of its object. Changes are gathered in memory and written as one row by `write`, before
 * the next thing is asked outside: a death repeats only the work under way.
 */
export class SessionJournal {
  readonly #sql: SqlStorage;
  #entries: Entry[] | undefined;
  #pending: Entry = { changes: [] };

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  changesOf(speaker: Speaker): ConversationChange[] {
    return this.#all.flatMap(({ changes }) => changes.filter((one) => one.speaker === speaker).map(({ change }) => change));
  }

  /** The progress that was last noted; undefined: none since the session began. */
  lastProgress(): SessionProgress | undefined {
    return this.#all.findLast(({ progress }) => progress)?.progress;
  }

  addChange(speaker: Speaker, change: ConversationChange): void {
    this.#pending.changes.push({ speaker, change });
  }

  setProgress(progress: SessionProgress): void {
    this.#pending.progress = progress;
  }

  write(): void {
    const entry = this.#pending;
    if (entry.changes.length === 0 && !entry.progress) return;
    this.#sql.exec("INSERT INTO change (speaker, change) VALUES ('', ?)", JSON.stringify(entry));
    this.#entries?.push(entry);
    this.#pending = { changes: [] };
  }

  /** Forgets what was read and what was not written, since the object was deleted. */
  clearCache(): void {
    this.#entries = undefined;
    this.#pending = { changes: [] };
  }

  get #all(): Entry[] {
    this.#entries ??= this.#sql.exec<Row>('SELECT speaker, change FROM change ORDER BY id').toArray().map(toEntry);
    return [...this.#entries, this.#pending];
  }
}

function toEntry({ speaker, change }: Row): Entry {
  return speaker === '' ? (JSON.parse(change) as Entry) : { changes: [{ speaker, change: JSON.parse(change) as ConversationChange }] };
}
