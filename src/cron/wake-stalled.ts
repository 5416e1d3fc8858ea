import pMap from 'p-map';
import { findOverdueCampaigns } from '../campaigns/store.ts';
import { findOverdueLoadTests } from '../simtest/load-tests/store.ts';
import { findOverdueSessions } from '../simtest/sessions/store.ts';
import { findStalledChats } from '../calls/text-chat/store.ts';
import { requestAgain } from '../calls/placing/request-again.ts';
import { findStalledCalls } from '../calls/placing/store.ts';
import { findStalledSlots } from '../calls/slots/store.ts';
import { findDueEndpoints } from '../webhook-endpoints/endpoints/store.ts';
import { findOverdueRuns } from '../automation-workflows/runs/store.ts';
import type { Database } from '../database/client.ts';
import { yieldToEventLoop } from '../library/limits/yield-to-event-loop.ts';
import type { Logger } from '../library/platform/log.ts';
import { recordFailedParts, type FailedPart } from '../outbox/failed-messages.ts';
import { getSettings } from '../settings.ts';
import { wakeObject, type StalledObject } from './wake-object.ts';

const pageSize = 500;
const concurrency = 10;
/** Postponed starts come in large numbers. Runs that a tick does not reach keep their turn for the next tick. */
const runsATick = 2000;
const runsBudgetMs = 20_000;

/**
 * Wakes the objects of runs that are past their wake-up time: a run that never started starts, and a run whose alarm was lost sets it again.
 * Organizations have turns, and the next tick takes the rest.
 */
export async function wakeStalledRuns(bindings: Env, database: Database, now: number, log: Logger): Promise<void> {
  const until = Date.now() + runsBudgetMs;
  const overdue = await findOverdueRuns(database, { before: overdueBefore(bindings, now), now }, runsATick);
  await wakeAll({ bindings, database, now, log }, toStalledObjects('run', overdue), () => Date.now() > until);
}

/** The same for the call slots of organizations that have calls queued or live. */
export async function wakeStalledCallSlots(bindings: Env, database: Database, now: number, log: Logger): Promise<void> {
  const organizations = await findStalledSlots(database, overdueBefore(bindings, now), pageSize);
  const slots = organizations.map((id) => ({ what: 'call_slots' as const, id, organization_id: id }));
  await wakeAll({ bindings, database, now, log }, slots);
}

/** Requests single calls that may have been lost between their rows and the call slots. Most are not lost but long, and nothing happens. */
export async function requestLostCalls(bindings: Env, database: Database, now: number, log: Logger): Promise<void> {
  const overdue = Map.groupBy(await findStalledCalls(database, now, pageSize), (call) => call.organization_id);
  await pMap(
    overdue,
    async ([organizationId, calls]) => {
      const runIds = calls.map(({ id }) => id);
      await requestAgain(bindings, database, organizationId, runIds).catch((error: unknown) =>
        log.error('calls cannot be asked for again', error, { organization_id: organizationId, calls: calls.length }),
      );
    },
    { concurrency },
  );
}

/** Wakes campaigns, conversation tests and load tests that are past their due time, and text chats that should have ended. */
export async function wakeStalledObjects(bindings: Env, database: Database, now: number, log: Logger): Promise<void> {
  const before = overdueBefore(bindings, now);
  await wakeAll({ bindings, database, now, log }, [
    ...toStalledObjects('campaign', await findOverdueCampaigns(database, before, pageSize)),
    ...toStalledObjects('chat', await findStalledChats(database, before, pageSize)),
    ...toStalledObjects('test_session', await findOverdueSessions(database, before, pageSize)),
    ...toStalledObjects('load_test', await findOverdueLoadTests(database, before, pageSize)),
  ]);
}

/** Wakes the objects of webhook endpoints with work: nothing else tells them of events whose announcement was lost. */
export async function wakeDueWebhookEndpoints(bindings: Env, database: Database, now: number, log: Logger): Promise<void> {
  const due = await findDueEndpoints(database, now, pageSize);
  await wakeAll({ bindings, database, now, log, isExpected: true }, toStalledObjects('webhook_endpoint', due));
}

const toStalledObjects = (what: StalledObject['what'], rows: { id: number; organization_id: number }[]): StalledObject[] =>
  rows.map(({ id, organization_id }) => ({ what, id, organization_id }));

/** An object that cannot be reached delays no other: it is recorded as failed, and retried on its own with growing delays. */
async function wakeAll(
  {
    bindings,
    database,
    now,
    log,
    isExpected = false,
  }: { bindings: Env; database: Database; now: number; log: Logger; isExpected?: boolean },
  objects: StalledObject[],
  isOverTime = () => false,
): Promise<void> {
  const failed: FailedPart[] = [];
  await pMap(
    objects,
    async (object) => {
      await yieldToEventLoop();
      if (isOverTime()) return;
      try {
        const answer = await wakeObject(bindings, object);
        // Postponed starts are expected.
        if (!isExpected && answer !== 'started') log.warn('an overdue object was woken', { ...object, answer });
      } catch (error) {
        log.error('an overdue object cannot be reached', error, { ...object });
        failed.push({ message: { v: 1, kind: 'poke', ...object }, error });
      }
    },
    { concurrency },
  );
  await recordFailedParts(database, failed, now);
}

const overdueBefore = (bindings: Env, now: number): number => now - getSettings(bindings).OVERDUE_AFTER_SECONDS * 1000;
