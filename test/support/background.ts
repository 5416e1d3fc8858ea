import { createExecutionContext, createMessageBatch, getQueueResult, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { vi } from 'vitest';
import { tick } from '../../src/cron/tick.ts';
import { runInvocation } from '../../src/database/query-budget.ts';
import { consumeBatch } from '../../src/queues/consume.ts';
import { ownRows } from './own-rows.ts';

/** Has the consumer of `queue` work off `bodies` as one batch, at their n-th attempt, and answers what it did to the messages. */
export async function deliver(queue: string, bodies: unknown[], bindings: Env = env, attempts = 1) {
  const batch = createMessageBatch(
    queue,
    bodies.map((body, index) => ({ id: `m${index}`, timestamp: new Date(), attempts, body })),
  );
  const execution = createExecutionContext();
  await runInvocation(() => consumeBatch(batch, bindings, execution));
  await waitOnExecutionContext(execution);
  return getQueueResult(batch, execution);
}

/**
 * Has the consumer of a dead-letter queue work off `bodies` a first time, and again a day later, when it gives their records up. Of an
 * organization that has no other failures.
 */
export async function deliverDeadLettersForADay(queue: string, organizationId: number, bodies: unknown[]): Promise<void> {
  await deliver(queue, bodies);
  await ownRows
    .prepare('UPDATE failed_message SET first_failed_at = first_failed_at - 86400000 WHERE organization_id = ?')
    .bind(organizationId)
    .run();
  await deliver(queue, bodies);
}

/** One minute tick, as if it came at `now` (epoch ms). */
export async function tickAt(now: number, bindings: Env = env): Promise<void> {
  const execution = createExecutionContext();
  await runInvocation(() => tick(bindings, now, execution));
  await waitOnExecutionContext(execution);
}

/** Loses every message that the service sends from now on, as a crash after the answer does; `restore` ends it. */
export function dropQueueMessages(): { restore(): void } {
  const spies = [env.EVENTS_QUEUE, env.BULK_EVENTS_QUEUE, env.FANOUT_QUEUE].flatMap((queue) => [
    vi.spyOn(queue, 'send').mockResolvedValue(undefined as never),
    vi.spyOn(queue, 'sendBatch').mockResolvedValue(undefined as never),
  ]);
  return { restore: () => spies.forEach((spy) => spy.mockRestore()) };
}

/** Until the consumer has worked off an accepted event. */
export const waitUntilHandled = (eventId: number): Promise<void> =>
  vi.waitFor(
    async () => {
      const row = await ownRows.prepare('SELECT handled_at FROM event WHERE id = ?').bind(eventId).first<{ handled_at: number | null }>();
      if (row?.handled_at == null) throw new Error(`event ${eventId} is not handled yet`);
    },
    { timeout: 10_000, interval: 10 },
  );

/** Does `work` as if the caller crashed after it wrote the rows of runs and before it started their objects. */
export async function crashBeforeStart<Result>(work: () => Promise<Result>): Promise<Result> {
  const lost = vi.spyOn(env.AUTOMATION_RUN, 'getByName').mockImplementation(() => {
    throw new Error('the isolate died');
  });
  try {
    return await work();
  } finally {
    lost.mockRestore();
  }
}
