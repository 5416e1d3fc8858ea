import type { Clock } from '../../src/library/time/clock.ts';

const hourMs = 3_600_000;
const attemptRetentionMs = 24 * hourMs;
const dialledRetentionMs = 31 * 24 * hourMs;
const attemptPassEveryMs = hourMs;
const dialledPassEveryMs = 24 * hourMs;
const pageSize = 500;

/** A pass over a table in the order of its keys, page by page. */
interface Pass {
  /** The key up to which it has come. */
  after: string;
  /** When it goes on, or the next one begins, epoch ms. */
  dueAt: number;
  /** The oldest end among the attempts that it has left, epoch ms; Infinity: it has left none. */
  oldest: number;
}

const newPass = (dueAt: number): Pass => ({ after: '', dueAt, oldest: Infinity });

/**
 * Deletes attempts a day after their end, and moments of calls that no rule asks for any more. It reads the tables in passes, since a row
 * read costs a thousandth of the index row that would find old ones.
 */
export class Pruner {
  readonly #sql: SqlStorage;
  readonly #now: Clock;
  #attempts = newPass(0);
  #dialled = newPass(0);

  constructor(sql: SqlStorage, now: Clock) {
    this.#sql = sql;
    this.#now = now;
  }

  /** Reads one page of each table whose pass is due, and answers when attempts are to be pruned again, epoch ms; null: there are none. */
  prune(): number | null {
    const now = this.#now();
    if (this.#dialled.dueAt <= now) this.#dialled = this.#pruneDialled(this.#dialled, now);
    if (this.#attempts.dueAt <= now) this.#attempts = this.#pruneAttempts(this.#attempts, now);
    return this.#attempts.dueAt === Infinity ? null : this.#attempts.dueAt;
  }

  /** An attempt has ended. */
  expectEnded(): void {
    if (this.#attempts.dueAt === Infinity) this.#attempts = newPass(this.#now() + attemptRetentionMs + 1);
  }

  #pruneAttempts(pass: Pass, now: number): Pass {
    const isDone = "state IN ('ended', 'returned') AND is_open = 0";
    const page = this.#sql
      .exec<{ key: string; ended_at: number | null }>(
        `SELECT key, iif(${isDone}, ended_at, NULL) AS ended_at FROM attempt WHERE key > ? ORDER BY key LIMIT ?`,
        pass.after,
        pageSize,
      )
      .toArray();
    const before = now - attemptRetentionMs;
    if (page.some(({ ended_at }) => ended_at !== null && ended_at < before))
      this.#sql.exec(`DELETE FROM attempt WHERE key > ? AND key <= ? AND ${isDone} AND ended_at < ?`, pass.after, page.at(-1)!.key, before);
    // What has no end yet will end later than now.
    const oldest = Math.min(pass.oldest, ...page.map(({ ended_at }) => ended_at ?? now).filter((at) => at >= before));
    if (page.length === pageSize) return { after: page.at(-1)!.key, dueAt: now, oldest };
    return newPass(oldest === Infinity ? Infinity : Math.max(now + attemptPassEveryMs, oldest + attemptRetentionMs + 1));
  }

  #pruneDialled(pass: Pass, now: number): Pass {
    const page = this.#sql
      .exec<{ phone: string; at: number }>('SELECT phone, at FROM dialled WHERE phone > ? ORDER BY phone LIMIT ?', pass.after, pageSize)
      .toArray();
    const before = now - dialledRetentionMs;
    if (page.some(({ at }) => at < before))
      this.#sql.exec('DELETE FROM dialled WHERE phone > ? AND phone <= ? AND at < ?', pass.after, page.at(-1)!.phone, before);
    if (page.length === pageSize) return { after: page.at(-1)!.phone, dueAt: now, oldest: Infinity };
    return newPass(now + dialledPassEveryMs);
  }
}
