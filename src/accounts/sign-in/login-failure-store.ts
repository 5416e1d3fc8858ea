import { eq } from 'drizzle-orm';
import type { Database, Statement } from '../../database/client.ts';
import { loginFailure } from '../../database/schema/accounts.ts';

export interface LoginFailures {
  subject: string;
  failures: number;
  lastFailedAt: number;
}

/** `window_ends_at` is when a subject is forgotten, which is `failureTtlMs` after its last failure. */
const columns = 'subject, failures, window_ends_at - ?2 AS lastFailedAt';

export const readFailures = (catalog: Database, subjects: string[], now: number, rememberedMs: number): Statement<LoginFailures> =>
  catalog.prepare<LoginFailures>(
    `SELECT ${columns} FROM login_failure WHERE subject IN (SELECT value FROM json_each(?1)) AND window_ends_at > ?3 AND failures > 0`,
    JSON.stringify(subjects),
    rememberedMs,
    now,
  );

const incrementFailures = `ON CONFLICT (subject) DO UPDATE SET
  failures = CASE WHEN window_ends_at > ?3 THEN failures + 1 ELSE 1 END, window_ends_at = excluded.window_ends_at`;

export async function countFailures(catalog: Database, subjects: string[], now: number, rememberedMs: number): Promise<void> {
  await catalog.batchOnce(
    [
      catalog.prepare(
        `INSERT INTO login_failure (subject, failures, window_ends_at) SELECT value, 1, ?3 + ?2 FROM json_each(?1) WHERE true ${incrementFailures}`,
        JSON.stringify(subjects),
        rememberedMs,
        now,
      ),
    ],
    async () => [],
  );
}

/** Counts one for every subject, unless one of them has to wait: then for none, and nothing is answered. */
export async function reserveAttempt(
  catalog: Database,
  counted: { subject: string; free: number }[],
  { firstWaitMs, maxWaitMs, rememberedMs }: { firstWaitMs: number; maxWaitMs: number; rememberedMs: number },
  now: number,
): Promise<unknown[]> {
  const [rows] = await catalog.batchOnce(
    [
      catalog.prepare(
        `INSERT INTO login_failure (subject, failures, window_ends_at) SELECT value ->> 'subject', 1, ?3 + ?2 FROM json_each(?1) WHERE NOT EXISTS (
           SELECT 1 FROM json_each(?1) j CROSS JOIN login_failure f WHERE f.subject = j.value ->> 'subject' AND f.window_ends_at > ?3
             AND f.failures >= (j.value ->> 'free')
             AND f.window_ends_at - ?2 + min(?5, ?4 << min(f.failures - (j.value ->> 'free'), 20)) > ?3)
         ${incrementFailures} RETURNING subject`,
        JSON.stringify(counted),
        rememberedMs,
        now,
        firstWaitMs,
        maxWaitMs,
      ),
    ],
    async () => [counted],
  );
  return rows!;
}

export async function undoFailures(catalog: Database, own: string, others: string[]): Promise<void> {
  await catalog.batchOnce(
    [
      catalog.from(catalog.orm.delete(loginFailure).where(eq(loginFailure.subject, own))),
      catalog.prepare(
        'UPDATE login_failure SET failures = failures - 1 WHERE subject IN (SELECT value FROM json_each(?)) AND failures > 0',
        JSON.stringify(others),
      ),
    ],
    async () => [],
  );
}

// Sign-ups

export interface SignUpAttempts {
  subject: string;
  count: number;
  windowEndsAt: number;
}

/** Counts a sign-up against every subject inside one window, before it is known how it ends. */
export async function countSignUpAttempt(
  catalog: Database,
  subjects: string[],
  now: number,
  windowEndsAt: number,
): Promise<SignUpAttempts[]> {
  const [counted] = await catalog.batchOnce(
    [
      catalog.prepare<SignUpAttempts>(
        `INSERT INTO login_failure (subject, failures, window_ends_at) SELECT value, 1, ?2 FROM json_each(?1) WHERE true
       ON CONFLICT (subject) DO UPDATE SET
         failures = CASE WHEN window_ends_at > ?3 THEN failures + 1 ELSE 1 END,
         window_ends_at = CASE WHEN window_ends_at > ?3 THEN window_ends_at ELSE excluded.window_ends_at END
       RETURNING subject, failures AS count, window_ends_at AS windowEndsAt`,
        JSON.stringify(subjects),
        windowEndsAt,
        now,
      ),
    ],
    () =>
      catalog.batch([
        catalog.prepare<SignUpAttempts>(
          `SELECT subject, failures AS count, window_ends_at AS windowEndsAt FROM login_failure WHERE subject IN (SELECT value FROM json_each(?))`,
          JSON.stringify(subjects),
        ),
      ]),
  );
  return counted;
}
