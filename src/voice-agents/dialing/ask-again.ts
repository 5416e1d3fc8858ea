import type { Database } from '../../database/client.ts';
import { singleCalls } from './ask-for-call.ts';
import { forgetWakeUps, openCallRuns, type AskedRun } from './call-run-store.ts';
import { callSlots } from './slots.ts';

/** Their initial contexts are in one message together. */
const callsAtOnce = 100;

/**
 * Asks the call slots again for single calls that may never have come to them. They are asked under the names that their rows have, so that
 * nobody is called twice; from then on they are the slots' care alone. Repeatable.
 */
export async function askAgain(bindings: Env, database: Database, organizationId: number, runIds: number[]): Promise<void> {
  for (let start = 0; start < runIds.length; start += callsAtOnce) {
    const ids = JSON.stringify(runIds.slice(start, start + callsAtOnce));
    const runs = await database.all<AskedRun>(openCallRuns(database, organizationId, ids));
    if (runs.length) await callSlots(bindings, organizationId, (slots) => slots.request(organizationId, singleCalls(runs.map(callOf))));
    await database.all(forgetWakeUps(database, organizationId, ids), 'same values');
  }
}

const callOf = (run: AskedRun) => ({
  key: run.attempt_key,
  phone: run.phone,
  agentId: run.agent_id,
  contactId: run.contact_id,
  initialContext: run.initial_context,
  name: run.name,
  notAfter: null,
});
