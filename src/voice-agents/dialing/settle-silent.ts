import type { Context } from '../../accounts/context.ts';
import { fireInternalEvent } from '../../automation-workflows/triggers/fire-internal-event.ts';
import { isListenedTo } from '../../automation-workflows/triggers/is-listened-to.ts';
import { callRun } from '../../automation-workflows/runs/launch.ts';
import { jsonChunks } from '../../database/json-chunks.ts';
import type { ReturnReason, StatusCallback } from './contract.ts';
import { completeSilentRuns, type CompletedRun, type SilentEnd } from './call-run-store.ts';

/** A call that nobody talked on, or that was never dialled. Moments in epoch ms. */
export interface SilentCall {
  key: string;
  outcome: 'completed' | 'busy' | 'no_answer' | 'voicemail' | 'failed' | 'cancelled';
  reason: string | null;
  returned: ReturnReason | null;
  returnedUntil: number | null;
  ownNumber: string | null;
  answeredAt: number | null;
  endedAt: number;
  durationSeconds: number;
  statusCallbacks: StatusCallback[];
}

/** Rows whose followers are told at a time. */
const parallel = 6;

/**
 * Completes the rows of such calls, and tells triggers and journeys. Repeatable. Answers the keys of those of which all is done, also when
 * they have no row; what failed of the others is logged, and is to be tried again.
 */
export async function settleSilent(context: Context, calls: SilentCall[]): Promise<string[]> {
  const { database, organization, log } = context;
  const waiting: CompletedRun[] = [];
  for (const chunk of jsonChunks(calls.map(endOf))) {
    const [, found] = await database.batch(completeSilentRuns(database, organization.id, chunk), 'same values');
    waiting.push(...(found as unknown as CompletedRun[]));
  }
  const byKey = new Map(calls.map((call) => [call.key, call]));
  const wasDialled = ({ attempt_key: key }: CompletedRun) => byKey.get(key)?.returned === null;
  // One question whether anybody listens, for all of them: most organizations have no such trigger.
  const isHeard = waiting.some(wasDialled) && (await isListenedTo(context, 'call.completed'));
  const undone = new Set<string>();
  const worker = async () => {
    for (let row = waiting.shift(); row; row = waiting.shift()) {
      const { id, attempt_key: key } = row;
      const isTold = isHeard && wasDialled(row);
      const told = await Promise.allSettled([isTold && fireCompleted(context, row, byKey.get(key)!), tellJourney(context, row)]);
      for (const one of told) {
        if (one.status === 'fulfilled') continue;
        undone.add(key);
        log.error('what follows from a call could not be done', one.reason, { run_id: id });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, waiting.length) }, worker));
  return calls.map(({ key }) => key).filter((key) => !undone.has(key));
}

async function tellJourney({ bindings, organization }: Context, { id, automation_run_id: journey }: CompletedRun): Promise<void> {
  if (journey !== null) await callRun(bindings, organization.id, journey, (object) => object.callSettled(id));
}

const endOf = (call: SilentCall): SilentEnd => ({
  attempt_key: call.key,
  outcome: call.outcome,
  reason: call.reason,
  own_number: call.ownNumber,
  started_at: call.answeredAt,
  completed_at: call.endedAt,
  result: JSON.stringify({
    gathered_context: {
      call_status: call.outcome,
      call_disposition: null,
      call_tags: [],
      nodes_visited: [],
      extracted_variables: {},
      ...(call.returned && { returned: call.returned, returned_until: call.returnedUntil }),
    },
    cost_info: { llm_tokens: { prompt: 0, completion: 0 }, call_duration_seconds: call.durationSeconds, total_cost_usd: 0 },
    annotations: { summary: null, sentiment: null, checks: [] },
    // Few enough to stand in the row; the logs of a talk have a file of their own.
    logs: { events: [], status_callbacks: call.statusCallbacks },
  }),
});

const fireCompleted = (context: Context, row: CompletedRun, { durationSeconds }: SilentCall): Promise<void> =>
  fireInternalEvent(context, {
    name: 'call.completed',
    cause: `call:${row.id}`,
    contactId: row.contact_id,
    depth: 1,
    data: {
      call_run_id: row.id,
      workflow_id: row.agent_id,
      workflow_name: row.agent_name,
      outcome: row.outcome,
      reason: row.reason,
      disposition: null,
      extracted_variables: {},
      summary: null,
      phone: row.phone,
      campaign_id: row.campaign_id,
      automation_run_id: row.automation_run_id,
      duration_seconds: durationSeconds,
    },
  });
