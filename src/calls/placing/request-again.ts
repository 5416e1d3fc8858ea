import type { Database } from '../../database/client.ts';
import { toSingleCallsRequest } from './request-call.ts';
import { clearWakeAt, type OpenCallRun, selectOpenCallRuns } from './store.ts';
import { withCallSlots } from '../rpc.ts';

/** A request holds the initial contexts of all its calls. */
const callsPerRequest = 100;

/**
 * Requests single calls again whose first request may have been lost. Each call keeps the attempt key of its row, so no person is called
 * twice. From then on the call slots are responsible for the calls. Repeatable.
 */
export async function requestAgain(bindings: Env, database: Database, organizationId: number, runIds: number[]): Promise<void> {
  for (let start = 0; start < runIds.length; start += callsPerRequest) {
    const ids = JSON.stringify(runIds.slice(start, start + callsPerRequest));
    const runs = await database.all(selectOpenCallRuns(database, organizationId, ids));
    if (runs.length)
      await withCallSlots(bindings, organizationId, (slots) =>
        slots.request(organizationId, toSingleCallsRequest(runs.map(toRequestedCall))),
      );
    await database.all(clearWakeAt(database, organizationId, ids), 'idempotent');
  }
}

const toRequestedCall = (run: OpenCallRun) => ({
  key: run.attempt_key,
  phone: run.phone,
  agentId: run.agent_id,
  contactId: run.contact_id,
  initialContext: run.initial_context,
  name: run.name,
  notAfter: null,
});
