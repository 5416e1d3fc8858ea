import type { StatusCallback } from '../../src/calls/contract.ts';
import { isOpen, type StoredAttempt } from './stored-attempt.ts';

const columns = {
  key: 'key',
  seq: 'seq',
  owner: 'owner',
  lane: 'lane',
  epoch: 'epoch',
  phone: 'phone',
  state: 'state',
  notBefore: 'not_before',
  notAfter: 'not_after',
  agentId: 'agent_id',
  contactId: 'contact_id',
  name: 'name',
  initialContext: 'initial_context',
  runId: 'run_id',
  configId: 'config_id',
  ownNumber: 'own_number',
  callId: 'call_id',
  status: 'status',
  answeredBy: 'answered_by',
  awaitsVerdict: 'awaits_verdict',
  isAgentConnected: 'has_talk',
  grantedAt: 'granted_at',
  submittedAt: 'submitted_at',
  answeredAt: 'answered_at',
  endedAt: 'ended_at',
  durationSeconds: 'duration_seconds',
  sipCode: 'sip_code',
  submission: 'submission',
  requeues: 'requeues',
  hasRow: 'has_row',
  dialledBefore: 'dialled_before',
  previousKey: 'previous',
  failedLookUps: 'looks',
  checkAt: 'check_at',
  outcome: 'outcome',
  returned: 'returned',
  returnedUntil: 'returned_until',
  detail: 'detail',
  retryAfterSeconds: 'retry_after_seconds',
  callbacks: 'callbacks',
  followUp: 'settling',
  reportLevel: 'level',
  reportedLevel: 'told',
} as const satisfies Partial<Record<keyof StoredAttempt, string>>;

type Field = keyof typeof columns;
const fields = Object.keys(columns) as Field[];

/** The stored form of a field. */
const toSqlValue = (attempt: StoredAttempt, field: Field): SqlStorageValue => {
  const value = attempt[field];
  if (field === 'callbacks') return JSON.stringify(value);
  return typeof value === 'boolean' ? Number(value) : (value as SqlStorageValue);
};

/** Fields whose stored form differs from that in `StoredAttempt`. */
type StoredForms = {
  awaitsVerdict: number;
  isAgentConnected: number;
  hasRow: number;
  callbacks: string;
};

/** A row of `attempt` as `selection` reads it, each column under the name of its field. */
type AttemptRow = {
  [Key in keyof StoredAttempt]: Key extends keyof StoredForms ? StoredForms[Key] : StoredAttempt[Key];
};

const selection = fields.map((field) => `${columns[field]} AS ${field}`).join(', ');

const toStoredAttempt = (row: AttemptRow): StoredAttempt => ({
  ...row,
  awaitsVerdict: row.awaitsVerdict === 1,
  isAgentConnected: row.isAgentConnected === 1,
  hasRow: row.hasRow === 1,
  callbacks: JSON.parse(row.callbacks) as StatusCallback[],
});

/** A granted attempt is stored as queued: the grant is in memory, and is made again after a restart of the object. */
const isStoredAsOpen = (attempt: StoredAttempt): boolean => attempt.state !== 'granted' && isOpen(attempt);

/** The `attempt` table: reads and writes rows, without the rules of attempts. */
export class AttemptRows {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  find(key: string): StoredAttempt | null {
    return this.#select('key = ?', key)[0] ?? null;
  }

  insert(attempt: StoredAttempt): void {
    const names = fields.map((field) => columns[field]);
    this.#sql.exec(
      `INSERT INTO attempt (${names.join(', ')}, is_open) VALUES (${names.map(() => '?').join(', ')}, ?)`,
      ...fields.map((field) => toSqlValue(attempt, field)),
      Number(isStoredAsOpen(attempt)),
    );
  }

  /** Writes the columns that differ. */
  update(before: StoredAttempt, after: StoredAttempt): void {
    const changed = fields.filter((field) => before[field] !== after[field]);
    if (!changed.length) return;
    // SQLite writes the index of each column that is set, even if its value stays the same.
    const flags = isStoredAsOpen(before) === isStoredAsOpen(after) ? [] : [Number(isStoredAsOpen(after))];
    const assignments = [...changed.map((field) => columns[field]), ...flags.map(() => 'is_open')].map((column) => `${column} = ?`);
    this.#sql.exec(
      `UPDATE attempt SET ${assignments.join(', ')} WHERE key = ?`,
      ...changed.map((field) => toSqlValue(after, field)),
      ...flags,
      before.key,
    );
  }

  delete(key: string): void {
    this.#sql.exec('DELETE FROM attempt WHERE key = ?', key);
  }

  /** Attempts that need work. */
  listOpen(): StoredAttempt[] {
    return this.#select('is_open = 1');
  }

  hasQueued(): boolean {
    return this.#sql.exec("SELECT 1 FROM attempt WHERE state = 'queued' LIMIT 1").toArray().length > 0;
  }

  /** Lanes with queued attempts. Each is found by a step in the index, however many attempts are queued. */
  listQueuedLanes(): string[] {
    const lanes: string[] = [];
    for (;;) {
      const [row] = this.#sql
        .exec<{ lane: string }>("SELECT lane FROM attempt WHERE state = 'queued' AND lane > ? ORDER BY lane LIMIT 1", lanes.at(-1) ?? '')
        .toArray();
      if (!row) return lanes;
      lanes.push(row.lane);
    }
  }

  /** Queued attempts of a lane after a `seq`, oldest first. */
  listQueued(lane: string, afterSeq: number, limit: number): StoredAttempt[] {
    return this.#select("lane = ? AND state = 'queued' AND seq > ? ORDER BY seq LIMIT ?", lane, afterSeq, limit);
  }

  /** At most `limit` queued attempts of all lanes. */
  listAnyQueued(limit: number): StoredAttempt[] {
    return this.#select("state = 'queued' LIMIT ?", limit);
  }

  countQueued(lane: string, owner: string): number {
    return this.#sql
      .exec<{ total: number }>("SELECT count(*) AS total FROM attempt WHERE lane = ? AND state = 'queued' AND owner = ?", lane, owner)
      .one().total;
  }

  #select(where: string, ...parameters: SqlStorageValue[]): StoredAttempt[] {
    return this.#sql
      .exec<AttemptRow>(`SELECT ${selection} FROM attempt WHERE ${where}`, ...parameters)
      .toArray()
      .map(toStoredAttempt);
  }
}
