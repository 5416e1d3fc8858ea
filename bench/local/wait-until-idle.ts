import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from './start.ts';

const limitMs = 60_000;

/** Waits until a query's first column is `wanted`; what was accepted then has had its consequences. */
export async function waitFor(database: Database, wanted: number, sql: string, ...parameters: number[]): Promise<void> {
  const startedAt = Date.now();
  for (;;) {
    const [found] = (
      await database
        .prepare(sql)
        .bind(...parameters)
        .raw<[number]>()
    )[0]!;
    if (found === wanted) return;
    if (Date.now() - startedAt > limitMs) throw new Error(`After ${limitMs / 1000} s it is still ${found} and not ${wanted}: ${sql}`);
    await sleep(25);
  }
}

/** In epoch ms: runs that sleep until then are data, not work. */
export const farAway = 9_000_000_000_000;

/** Waits until every event and delivery is handled and every run that began has ended. */
export async function waitUntilIdle(database: Database): Promise<void> {
  await waitFor(
    database,
    0,
    `SELECT (SELECT count(*) FROM event WHERE handled_at IS NULL)
       + (SELECT count(*) FROM webhook_delivery WHERE handled_at IS NULL)
       + (SELECT count(*) FROM automation_run WHERE state IN ('queued', 'pending', 'running', 'waiting') AND coalesce(wake_at, 0) < ${farAway})`,
  );
  // An ended run still archives its history and deletes itself.
  await sleep(150);
}
