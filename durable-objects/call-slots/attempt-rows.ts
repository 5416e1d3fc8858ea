import { holdsSlot, type Attempt } from '../../src/calls/attempt/attempt.ts';
import type { RequestedCall, StatusCallback } from '../../src/calls/contract.ts';
import type { SchemaSteps } from '../shared/base-durable-object.ts';

/** Work outside of this object that is still open after an attempt is over. */
type FollowUp =
  /** No work: the attempt is not over yet, or all work is done. */
  | 'none'
  /** The agent did not talk on the call: its row must be completed. */
  | 'silent'
  /** The object of the call must be notified that the line has ended. */
  | 'talk'
  /** The object of the call completes the run; the slots wake it until it reports that the run is finalized. */
  | 'watch';

/** How much of an attempt its owner must know; the highest level that applies. */
export const reportLevels = { none: 0, waiting: 1, dialing: 2, answered: 3, over: 4 } as const;

export interface StoredAttempt extends Attempt {
  seq: number;
  owner: string;
  lane: string;
  epoch: number;
  notBefore: number;
  agentId: number;
  contactId: number | null;
  name: string;
  /** Null once the attempt is over. */
  initialContext: string | null;
  grantedAt: number | null;
  /** When the person was called last before this attempt, epoch ms; null: no such call is remembered. */
  dialledBefore: number | null;
  followUp: FollowUp;
  reportLevel: number;
  reportedLevel: number;
}

export const slotsSchemaSteps: SchemaSteps = [
  `CREATE TABLE about (organization_id INTEGER NOT NULL);
   CREATE TABLE owner (
     name TEXT PRIMARY KEY, kind TEXT NOT NULL, id INTEGER NOT NULL, lane TEXT NOT NULL, epoch INTEGER NOT NULL, max_concurrency INTEGER
   ) WITHOUT ROWID;
   CREATE INDEX owner_lane ON owner (lane);
   CREATE TABLE attempt (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     key TEXT NOT NULL,
     owner TEXT NOT NULL,
     lane TEXT NOT NULL,
     epoch INTEGER NOT NULL,
     phone TEXT NOT NULL,
     state TEXT NOT NULL,
     is_live INTEGER NOT NULL,
     is_engaged INTEGER NOT NULL,
     not_before INTEGER NOT NULL,
     not_after INTEGER,
     agent_id INTEGER NOT NULL,
     contact_id INTEGER,
     name TEXT NOT NULL,
     initial_context TEXT,
     run_id INTEGER,
     config_id INTEGER,
     own_number TEXT,
     call_id TEXT,
     status TEXT,
     answered_by TEXT,
     awaits_verdict INTEGER NOT NULL,
     has_talk INTEGER NOT NULL,
     granted_at INTEGER,
     submitted_at INTEGER,
     answered_at INTEGER,
     ended_at INTEGER,
     duration_seconds INTEGER,
     sip_code INTEGER,
     submission INTEGER NOT NULL,
     requeues INTEGER NOT NULL,
     has_row INTEGER NOT NULL,
     dialled_before INTEGER,
     looks INTEGER NOT NULL,
     check_at INTEGER,
     outcome TEXT,
     returned TEXT,
     returned_until INTEGER,
     detail TEXT,
     retry_after_seconds INTEGER,
     callbacks TEXT NOT NULL,
     settling TEXT NOT NULL,
     level INTEGER NOT NULL,
     told INTEGER NOT NULL
   );
   CREATE UNIQUE INDEX attempt_key ON attempt (key);
   CREATE INDEX attempt_queued ON attempt (lane, seq) WHERE state = 'queued';
   CREATE INDEX attempt_open ON attempt (owner) WHERE state IN ('queued', 'granted');
   CREATE INDEX attempt_live ON attempt (lane) WHERE is_live = 1;
   CREATE INDEX attempt_engaged ON attempt (phone) WHERE is_engaged = 1;
   CREATE UNIQUE INDEX attempt_one_call ON attempt (phone) WHERE is_live = 1 AND lane <> 'inbound';
   CREATE INDEX attempt_call ON attempt (call_id) WHERE call_id IS NOT NULL;
   CREATE INDEX attempt_check ON attempt (check_at) WHERE check_at IS NOT NULL;
   CREATE INDEX attempt_untold ON attempt (owner) WHERE level > told;
   CREATE INDEX attempt_unsettled ON attempt (settling) WHERE settling IN ('silent', 'talk');
   CREATE INDEX attempt_over ON attempt (ended_at) WHERE state IN ('ended', 'returned');
   CREATE TABLE dialled (phone TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
   CREATE INDEX dialled_at ON dialled (at);`,
];

type SqlValue = SqlStorageValue;

const columns = {
  key: 'key',
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
const toSqlValue = (attempt: StoredAttempt, field: Field): SqlValue => {
  const value = attempt[field];
  if (field === 'callbacks') return JSON.stringify(value);
  return typeof value === 'boolean' ? Number(value) : (value as SqlValue);
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

const selection = ['seq', ...fields.map((field) => `${columns[field]} AS ${field}`)].join(', ');

const toStoredAttempt = (row: AttemptRow): StoredAttempt => ({
  ...row,
  awaitsVerdict: row.awaitsVerdict === 1,
  isAgentConnected: row.isAgentConnected === 1,
  hasRow: row.hasRow === 1,
  callbacks: JSON.parse(row.callbacks) as StatusCallback[],
});

/**
 * Whether no other attempt may call the person. The person may have asked for no more calls, so the conversation must be evaluated first.
 */
const isEngaged = (attempt: Pick<StoredAttempt, 'state' | 'followUp'>): boolean =>
  holdsSlot(attempt) || attempt.followUp === 'talk' || attempt.followUp === 'watch';

/** The `attempt` table: reads and writes rows, without the rules of attempts. */
export class AttemptRows {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Attempts by an SQL condition; `where` follows WHERE. */
  select(where: string, ...parameters: SqlValue[]): StoredAttempt[] {
    return this.#sql
      .exec<AttemptRow>(`SELECT ${selection} FROM attempt WHERE ${where}`, ...parameters)
      .toArray()
      .map(toStoredAttempt);
  }

  find(key: string): StoredAttempt | null {
    return this.select('key = ?', key)[0] ?? null;
  }

  insert(attempt: Omit<StoredAttempt, 'seq'>): void {
    const names = fields.map((field) => columns[field]);
    this.#sql.exec(
      `INSERT INTO attempt (${names.join(', ')}, is_live, is_engaged) VALUES (${names.map(() => '?').join(', ')}, ?, ?)`,
      ...fields.map((field) => toSqlValue(attempt as StoredAttempt, field)),
      Number(holdsSlot(attempt)),
      Number(isEngaged(attempt)),
    );
  }

  /** Writes the columns that differ. */
  update(before: StoredAttempt, after: StoredAttempt): void {
    const changed = fields.filter((field) => before[field] !== after[field]);
    if (!changed.length) return;
    // SQLite writes the index of each column that is set, even if its value stays the same.
    const flags = [
      ...(holdsSlot(before) === holdsSlot(after) ? [] : [['is_live', Number(holdsSlot(after))] as const]),
      ...(isEngaged(before) === isEngaged(after) ? [] : [['is_engaged', Number(isEngaged(after))] as const]),
    ];
    const assignments = [...changed.map((field) => columns[field]), ...flags.map(([column]) => column)].map((column) => `${column} = ?`);
    this.#sql.exec(
      `UPDATE attempt SET ${assignments.join(', ')} WHERE seq = ?`,
      ...changed.map((field) => toSqlValue(after, field)),
      ...flags.map(([, value]) => value),
      before.seq,
    );
  }

  delete(seq: number): void {
    this.#sql.exec('DELETE FROM attempt WHERE seq = ?', seq);
  }

  /** Live calls by lane. */
  countLiveByOwnerQueue(): Map<string, number> {
    const rows = this.#sql.exec<{ lane: string; live: number }>(
      'SELECT lane, count(*) AS live FROM attempt WHERE is_live = 1 GROUP BY lane',
    );
    return new Map(rows.toArray().map(({ lane, live }) => [lane, live]));
  }

  /** Lanes with queued attempts, in the order of their oldest attempt. */
  listWaitingOwnerQueues(): string[] {
    return this.#sql
      .exec<{ lane: string }>("SELECT DISTINCT lane FROM attempt WHERE state = 'queued'")
      .toArray()
      .map(({ lane }) => lane);
  }

  /**
   * The oldest queued attempts of a lane that may be dialled at `now`. Persons in another call are left out, as are those whose last call
   * is still being evaluated.
   */
  candidates(lane: string, now: number, limit: number): StoredAttempt[] {
    return this.select(
      `lane = ? AND state = 'queued' AND not_before <= ?
       AND NOT EXISTS (SELECT 1 FROM attempt other WHERE other.phone = attempt.phone AND other.is_engaged = 1) ORDER BY seq LIMIT ?`,
      lane,
      now,
      limit,
    );
  }

  /** Whether one of the queued attempts whose `column` is `value` may be dialled at `now`; if none may, the reasons. */
  getQueueStatus(
    column: 'owner' | 'key',
    value: string,
    now: number,
  ): { isReady: boolean; isPersonInCall: boolean; notBefore: number | null } {
    const queued = `${column} = ? AND state = 'queued'`;
    const engaged = 'EXISTS (SELECT 1 FROM attempt other WHERE other.phone = attempt.phone AND other.is_engaged = 1)';
    const exists = (where: string, ...more: SqlValue[]) =>
      this.#sql.exec(`SELECT 1 FROM attempt WHERE ${queued} AND ${where} LIMIT 1`, value, ...more).toArray().length > 0;
    if (exists(`not_before <= ? AND NOT ${engaged}`, now)) return { isReady: true, isPersonInCall: false, notBefore: null };
    const later = this.#sql
      .exec<{ at: number | null }>(`SELECT min(not_before) AS at FROM attempt WHERE ${queued} AND not_before > ?`, value, now)
      .one();
    return { isReady: false, isPersonInCall: exists(engaged), notBefore: later.at };
  }

  /** Whether this number is in a call, or its last call is still being evaluated. */
  isInCall(phone: string): boolean {
    return this.#sql.exec('SELECT 1 FROM attempt WHERE phone = ? AND is_engaged = 1 LIMIT 1', phone).toArray().length > 0;
  }

  count(where: string, ...parameters: SqlValue[]): number {
    return this.#sql.exec<{ total: number }>(`SELECT count(*) AS total FROM attempt WHERE ${where}`, ...parameters).one().total;
  }
}

/** The row of a new attempt, in state `queued`. */
export const newAttempt = (
  call: RequestedCall,
  of: { owner: string; lane: string; epoch: number; notBefore: number },
): Omit<StoredAttempt, 'seq'> => ({
  ...of,
  key: call.key,
  state: 'queued',
  runId: null,
  configId: null,
  ownNumber: null,
  phone: call.phone,
  notAfter: call.notAfter,
  agentId: call.agentId,
  contactId: call.contactId,
  name: call.name,
  initialContext: call.initialContext,
  callId: null,
  status: null,
  answeredBy: null,
  awaitsVerdict: false,
  isAgentConnected: false,
  grantedAt: null,
  submittedAt: null,
  answeredAt: null,
  endedAt: null,
  durationSeconds: null,
  sipCode: null,
  submission: 0,
  requeues: 0,
  hasRow: false,
  dialledBefore: null,
  failedLookUps: 0,
  checkAt: null,
  outcome: null,
  returned: null,
  returnedUntil: null,
  detail: null,
  retryAfterSeconds: null,
  callbacks: [],
  followUp: 'none',
  reportLevel: reportLevels.none,
  reportedLevel: reportLevels.none,
});
