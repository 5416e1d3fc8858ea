import { campaignObject } from '../campaigns/campaign-object.ts';
import { overdueCampaigns } from '../campaigns/store.ts';
import { loadTestObject } from '../simtest/load-test-object.ts';
import { overdueLoadTests } from '../simtest/load-test-store.ts';
import { overdueSessions } from '../simtest/store.ts';
import { testSessionObject } from '../simtest/test-session-object.ts';
import { pokeChat } from '../voice-agents/text-chat/poke-chat.ts';
import { overdueChats } from '../voice-agents/text-chat/store.ts';
import { askAgain } from '../voice-agents/dialing/ask-again.ts';
import { overdueCalls } from '../voice-agents/dialing/call-run-store.ts';
import { callSlots } from '../voice-agents/dialing/slots.ts';
import { overdueSlots } from '../voice-agents/dialing/slots-store.ts';
import { callRun } from '../automation-workflows/runs/launch.ts';
import { overdueRuns } from '../automation-workflows/runs/store.ts';
import type { Database } from '../database/client.ts';
import type { Logger } from '../library/log.ts';
import { settingsOf } from '../settings.ts';

const pageSize = 500;
const parallel = 10;
/** Starts that were put off come in numbers; what a tick does not come to keeps its turn for the next. */
const runsAtOnce = 2000;
const runsBudgetMs = 5000;

/**
 * Starts the objects of runs that are past their wake-up time: one that never began begins, and one whose alarm is dead sets it. They
 * have their turns by organization, and what the time does not suffice for is taken by the next tick. Objects that can't be reached
 * hold up no other.
 */
export async function pokeOverdue(bindings: Env, database: Database, now: number, log: Logger): Promise<void> {
  const until = Date.now() + runsBudgetMs;
  const overdue = await overdueRuns(database, { before: overdueBefore(bindings, now), now }, runsAtOnce);
  await each(overdue, async ({ id, organization_id }) => {
    if (Date.now() > until) return;
    try {
      const answer = await callRun(bindings, organization_id, id, (object) => object.start(organization_id, id));
      if (answer !== 'started') log.warn('an overdue run was poked', { organization_id, run_id: id, answer });
    } catch (error) {
      log.error('an overdue run cannot be reached', error, { organization_id, run_id: id });
    }
  });
}

/** The same for the call slots of organizations that have calls queued or live. */
export async function pokeSlots(bindings: Env, database: Database, now: number, log: Logger): Promise<void> {
  for (const organizationId of await overdueSlots(database, overdueBefore(bindings, now), pageSize)) {
    await callSlots(bindings, organizationId, (slots) => slots.poke()).catch((error: unknown) =>
      log.error('overdue call slots cannot be reached', error, { organization_id: organizationId }),
    );
    log.warn('overdue call slots were poked', { organization_id: organizationId });
  }
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
  const campaigns = (await overdueCampaigns(database, before, pageSize)).map(({ id, organization_id }) => ({
    what: { organization_id, campaign_id: id },
    poke: (): Promise<unknown> => campaignObject(bindings, organization_id, id, (object) => object.poke(organization_id, id)),
  }));
  const chats = (await overdueChats(database, before, pageSize)).map(({ id, organization_id }) => ({
    what: { organization_id, run_id: id },
    poke: (): Promise<unknown> => pokeChat(bindings, organization_id, id),
  }));
  const sessions = (await overdueSessions(database, before, pageSize)).map(({ id, organization_id }) => ({
    what: { organization_id, test_session_id: id },
    poke: (): Promise<unknown> => testSessionObject(bindings, organization_id, id, (object) => object.poke(organization_id, id)),
  }));
  const loadTests = (await overdueLoadTests(database, before, pageSize)).map(({ id, organization_id }) => ({
    what: { organization_id, load_test_id: id },
    poke: (): Promise<unknown> => loadTestObject(bindings, organization_id, id, (object) => object.poke(organization_id, id)),
  }));
  await each([...campaigns, ...chats, ...sessions, ...loadTests], ({ what, poke }) =>
    poke().then(
      () => log.warn('an overdue object was poked', what),
      (error: unknown) => log.error('an overdue object cannot be reached', error, what),
    ),
  );
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
