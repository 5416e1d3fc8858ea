import { campaignObject } from '../campaigns/campaign-object.ts';
import { overdueCampaigns } from '../campaigns/store.ts';
import { pokeChat } from '../voice-agents/text-chat/poke-chat.ts';
import { overdueChats } from '../voice-agents/text-chat/store.ts';
import { callSlots } from '../voice-agents/dialing/slots.ts';
import { overdueSlots } from '../voice-agents/dialing/slots-row.ts';
import { callRun } from '../automation-workflows/runs/launch.ts';
import { overdueRuns } from '../automation-workflows/runs/store.ts';
import type { Database } from '../database/client.ts';
import type { Logger } from '../library/log.ts';
import { settingsOf } from '../settings.ts';

const pageSize = 500;
const parallel = 10;

/**
 * Starts the objects of runs again that are past their wake-up time: one that never began begins, and one whose alarm is dead
 * sets it. Objects that can't be reached hold up no other.
 */
export async function pokeOverdue(bindings: Env, database: Database, now: number, log: Logger): Promise<void> {
  const before = now - settingsOf(bindings).OVERDUE_AFTER_SECONDS * 1000;
  const waiting = await overdueRuns(database, before, pageSize);
  const worker = async () => {
    for (let run = waiting.shift(); run; run = waiting.shift()) {
      const { id, organization_id } = run;
      try {
        const answer = await callRun(bindings, organization_id, id, (object) => object.start(organization_id, id));
        log.warn('an overdue run was poked', { organization_id, run_id: id, answer });
      } catch (error) {
        log.error('an overdue run cannot be reached', error, { organization_id, run_id: id });
      }
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}

/** The same for the call slots of organizations that have calls queued or live. */
export async function pokeSlots(bindings: Env, database: Database, now: number, log: Logger): Promise<void> {
  const before = now - settingsOf(bindings).OVERDUE_AFTER_SECONDS * 1000;
  for (const organizationId of await overdueSlots(database, before, pageSize)) {
    await callSlots(bindings, organizationId, (slots) => slots.poke()).catch((error: unknown) =>
      log.error('overdue call slots cannot be reached', error, { organization_id: organizationId }),
    );
    log.warn('overdue call slots were poked', { organization_id: organizationId });
  }
}

/** Campaigns that should have done something, and text chats that should have ended. */
export async function pokeObjects(bindings: Env, database: Database, now: number, log: Logger): Promise<void> {
  const before = now - settingsOf(bindings).OVERDUE_AFTER_SECONDS * 1000;
  const campaigns = (await overdueCampaigns(database, before, pageSize)).map(({ id, organization_id }) => ({
    what: { organization_id, campaign_id: id },
    poke: () => campaignObject(bindings, organization_id, id, (object) => object.poke(organization_id, id)),
  }));
  const chats = (await overdueChats(database, before, pageSize)).map(({ id, organization_id }) => ({
    what: { organization_id, run_id: id },
    poke: () => pokeChat(bindings, organization_id, id),
  }));
  const waiting: { what: Record<string, number>; poke: () => Promise<unknown> }[] = [...campaigns, ...chats];
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { what, poke } = next;
      await poke().then(
        () => log.warn('an overdue object was poked', what),
        (error: unknown) => log.error('an overdue object cannot be reached', error, what),
      );
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}
