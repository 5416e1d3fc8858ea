import { overdueCampaigns } from '../campaigns/store.ts';
import { overdueLoadTests } from '../simtest/load-test-store.ts';
import { overdueSessions } from '../simtest/store.ts';
import { overdueChats } from '../voice-agents/text-chat/store.ts';
import { askAgain } from '../voice-agents/dialing/ask-again.ts';
import { overdueCalls } from '../voice-agents/dialing/call-run-store.ts';
import { overdueSlots } from '../voice-agents/dialing/slots-store.ts';
import { overdueRuns } from '../automation-workflows/runs/store.ts';
import type { Database } from '../database/client.ts';
import { letOthersRun } from '../library/let-others-run.ts';
import type { Logger } from '../library/log.ts';
import { noteFailedParts, type FailedPart } from '../queues/failed-messages.ts';
import { settingsOf } from '../settings.ts';
import { poke, type Poked } from './poke.ts';

const pageSize = 500;
const parallel = 10;
/** Starts that were put off come in numbers; what a tick does not come to keeps its turn for the next. */
const runsATick = 2000;
const runsBudgetMs = 20_000;

/**
 * Starts the objects of runs that are past their wake-up time: one that never began begins, and one whose alarm is dead sets it. They
 * have their turns by organization, and what the time does not suffice for is taken by the next tick.
 */
export async function pokeOverdue(bindings: Env, database: Database, now: number, log: Logger): Promise<void> {
  const until = Date.now() + runsBudgetMs;
  const overdue = await overdueRuns(database, { before: overdueBefore(bindings, now), now }, runsATick);
  await pokeAll({ bindings, database, now, log }, of('run', overdue), () => Date.now() > until);
}

/** The same for the call slots of organizations that have calls queued or live. */
export async function pokeSlots(bindings: Env, database: Database, now: number, log: Logger): Promise<void> {
  const organizations = await overdueSlots(database, overdueBefore(bindings, now), pageSize);
  const slots = organizations.map((id) => ({ what: 'call_slots' as const, id, organization_id: id }));
  await pokeAll({ bindings, database, now, log }, slots);
}

/** Single calls that may have been lost between their rows and the call slots. Most were not: they only last long, and are asked for in vain. */
export async function askForLostCalls(bindings: Env, database: Database, now: number, log: Logger): Promise<void> {
  const overdue = Map.groupBy(await overdueCalls(database, now, pageSize), (call) => call.organization_id);
  await each([...overdue], async ([organizationId, calls]) => {
    const runIds = calls.map(({ id }) => id);
    await askAgain(bindings, database, organizationId, runIds).catch((error: unknown) =>
      log.error('calls cannot be asked for again', error, { organization_id: organizationId, calls: calls.length }),
    );
  });
}

/** Campaigns, conversation tests and load tests that should have done something, and text chats that should have ended. */
export async function pokeObjects(bindings: Env, database: Database, now: number, log: Logger): Promise<void> {
  const before = overdueBefore(bindings, now);
  await pokeAll({ bindings, database, now, log }, [
    ...of('campaign', await overdueCampaigns(database, before, pageSize)),
    ...of('chat', await overdueChats(database, before, pageSize)),
    ...of('test_session', await overdueSessions(database, before, pageSize)),
    ...of('load_test', await overdueLoadTests(database, before, pageSize)),
  ]);
}

const of = (what: Poked['what'], rows: { id: number; organization_id: number }[]): Poked[] =>
  rows.map(({ id, organization_id }) => ({ what, id, organization_id }));

/** One that cannot be reached holds up no other: from then on it has turns of its own, less and less often. */
async function pokeAll(
  { bindings, database, now, log }: { bindings: Env; database: Database; now: number; log: Logger },
  objects: Poked[],
  isOverTime = () => false,
): Promise<void> {
  const failed: FailedPart[] = [];
  await each(objects, async (object) => {
    await letOthersRun();
    if (isOverTime()) return;
    try {
      const answer = await poke(bindings, object);
      // Starts that were put off are no accident.
      if (answer !== 'started') log.warn('an overdue object was poked', { ...object, answer });
    } catch (error) {
      log.error('an overdue object cannot be reached', error, { ...object });
      failed.push({ message: { v: 1, kind: 'poke', ...object }, error });
    }
  });
  await noteFailedParts(database, failed, now);
}

const overdueBefore = (bindings: Env, now: number): number => now - settingsOf(bindings).OVERDUE_AFTER_SECONDS * 1000;

/** Does `work` for all, ten at a time. */
async function each<Item>(items: Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(parallel, waiting.length) }, worker));
}
