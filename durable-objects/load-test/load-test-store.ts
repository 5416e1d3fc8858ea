import type { SessionReport } from '../../src/simtest/contract.ts';
import type { LoadTestFacts } from '../../src/simtest/load-tests/object-store.ts';
import type { CountedSession, LoadTestStatus } from '../../src/simtest/load-tests/statistics.ts';
import type { Ramp } from '../../src/simtest/load-tests/ramp.ts';

/** Moments in epoch ms. */
export interface LoadTest extends Ramp {
  id: number;
  organizationId: number;
  status: LoadTestStatus;
  /** The maximum length of a session's conversation. */
  maxDurationSeconds: number;
  startedAt: number;
  /** When the last session ended; null: sessions are left. */
  completedAt: number | null;
  /** The maximum of sessions that ran at a time. */
  maxRunning: number;
  /** The last request of a person, by which its repetition is known. */
  lastAct: string;
}

export interface SessionReference {
  testIndex: number;
  id: number;
}

const startedCondition = "status IN ('starting', 'running')";
const endedCondition = "status IN ('completed', 'failed', 'stopped')";
const referenceColumns = 'test_index AS testIndex, id';
type StoredRow<Shape> = Shape & Record<string, SqlStorageValue>;

/** A load test and its sessions in the SQLite of its object. There are at most a thousand sessions: reading all costs less than indexes. */
export class LoadTestStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  init({ id, organization_id, concurrency, ramp_seconds, max_duration_seconds, sessions }: LoadTestFacts, now: number): void {
    this.#sql.exec(
      `INSERT INTO load_test (id, organization_id, status, concurrency, ramp_seconds, max_duration_seconds, started_at, most_running, last_act)
       VALUES (?, ?, 'running', ?, ?, ?, ?, 0, '')`,
      id,
      organization_id,
      concurrency,
      ramp_seconds,
      max_duration_seconds,
      now,
    );
    this.#sql.exec(
      `INSERT INTO session (test_index, id, status) SELECT value ->> 'test_index', value ->> 'id', 'pending' FROM json_each(?)`,
      JSON.stringify(sessions),
    );
  }

  read(): LoadTest {
    return this.#sql
      .exec<StoredRow<LoadTest>>(
        `SELECT id, organization_id AS organizationId, status, concurrency, ramp_seconds AS rampSeconds,
           max_duration_seconds AS maxDurationSeconds, started_at AS startedAt, completed_at AS completedAt, most_running AS maxRunning,
           last_act AS lastAct FROM load_test`,
      )
      .one();
  }

  stop(act: string): void {
    this.#sql.exec("UPDATE load_test SET status = 'stopped', last_act = ?", act);
  }

  /** The last session has ended. */
  complete(now: number): void {
    this.#sql.exec("UPDATE load_test SET completed_at = ?, status = CASE status WHEN 'running' THEN 'completed' ELSE status END", now);
  }

  runningCount(): number {
    return this.#count(startedCondition);
  }

  hasPending(): boolean {
    return this.#count("status = 'pending'") > 0;
  }

  haveAllEnded(): boolean {
    return this.#count(`NOT ${endedCondition}`) === 0;
  }

  #count(condition: string): number {
    return this.#sql.exec<{ count: number }>(`SELECT count(*) AS count FROM session WHERE ${condition}`).one().count;
  }

  /** Marks the next `count` pending sessions as starting. */
  markStarting(count: number, now: number): void {
    this.#sql.exec(
      `UPDATE session SET status = 'starting', started_at = ?
       WHERE test_index IN (SELECT test_index FROM session WHERE status = 'pending' ORDER BY test_index LIMIT ?)`,
      now,
      count,
    );
    this.#sql.exec('UPDATE load_test SET most_running = ?1 WHERE most_running < ?1', this.runningCount());
  }

  /** Sessions that are starting: their objects have not answered yet. */
  findStarting = (): SessionReference[] => this.#select("status = 'starting'");

  findStarted = (): SessionReference[] => this.#select(startedCondition);

  /** Sessions that started before a moment and have not ended. */
  findStartedBefore = (moment: number): SessionReference[] => this.#select(`${startedCondition} AND started_at < ?`, moment);

  #select(condition: string, ...values: number[]): SessionReference[] {
    return this.#sql
      .exec<StoredRow<SessionReference>>(`SELECT ${referenceColumns} FROM session WHERE ${condition} ORDER BY test_index`, ...values)
      .toArray();
  }

  /** Marks a starting session as running, unless it has ended meanwhile. */
  markRunning(testIndex: number): void {
    this.#sql.exec("UPDATE session SET status = 'running' WHERE test_index = ? AND status = 'starting'", testIndex);
  }

  /** Records the end of a session. False: it had ended before; its first end counts. */
  recordEnd({ sessionId, testIndex, status, outcome, error, durationMs, latenciesMs }: SessionReport, now: number): boolean {
    return (
      this.#sql
        .exec(
          `UPDATE session SET status = ?, ended_at = ?, outcome = ?, error = ?, duration_ms = ?, latencies = ?
           WHERE test_index = ? AND id = ? AND NOT ${endedCondition} RETURNING id`,
          status,
          now,
          outcome,
          error,
          durationMs,
          JSON.stringify(latenciesMs),
          testIndex,
          sessionId,
        )
        .toArray().length > 0
    );
  }

  /** Records that sessions were stopped before they started. */
  endUnstarted(testIndexes: number[], now: number): void {
    this.#sql.exec(
      `UPDATE session SET status = 'stopped', started_at = NULL, ended_at = ?
       WHERE test_index IN (SELECT value FROM json_each(?)) AND NOT ${endedCondition}`,
      now,
      JSON.stringify(testIndexes),
    );
  }

  /** In the order of their indexes. */
  countedSessions(): CountedSession[] {
    return this.#sql
      .exec<StoredRow<Omit<CountedSession, 'latenciesMs'> & { latencies: string | null }>>(
        `SELECT CASE status WHEN 'starting' THEN 'running' ELSE status END AS status, outcome, error, started_at AS startedAt,
           ended_at AS endedAt, duration_ms AS durationMs, latencies FROM session ORDER BY test_index`,
      )
      .toArray()
      .map((row) => {
        const { status, outcome, error, startedAt, endedAt, durationMs } = row;
        return { status, outcome, error, startedAt, endedAt, durationMs, latenciesMs: JSON.parse(row.latencies ?? '[]') as number[] };
      });
  }
}

/** `session.status` is `starting` from the decision to start a session until its object has answered. */
export const loadTestSchemaSteps = [
  `CREATE TABLE load_test (
     id INTEGER PRIMARY KEY, organization_id INTEGER NOT NULL, status TEXT NOT NULL, concurrency INTEGER NOT NULL, ramp_seconds INTEGER NOT NULL,
     max_duration_seconds INTEGER NOT NULL, started_at INTEGER NOT NULL, completed_at INTEGER, most_running INTEGER NOT NULL,
     last_act TEXT NOT NULL
   );
   CREATE TABLE session (
     test_index INTEGER PRIMARY KEY, id INTEGER NOT NULL, status TEXT NOT NULL, started_at INTEGER, ended_at INTEGER, outcome TEXT, error TEXT,
     duration_ms INTEGER, latencies TEXT
   );`,
] as const;
