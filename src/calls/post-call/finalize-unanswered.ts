import type { Context } from '../../context.ts';
import { fireInternalEvent, hasInternalEventTrigger } from '../../automation-workflows/triggers/events/fire-internal-event.ts';
import { jsonChunks } from '../../database/json-chunks.ts';
import type { ReturnReason, StatusCallback } from '../contract.ts';
import { completeUnansweredRuns, type CompletedRunRow, type UnansweredEnd } from '../placing/store.ts';
import { callRun } from '../../automation-workflows/rpc.ts';

/** A call that nobody talked on, or that was never dialled. Moments in epoch ms. */
export interface UnansweredCall {
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
const maxParallel = 6;

/**
 * Completes the rows of such calls, and tells triggers and journeys. Repeatable. Answers the keys of those of which all is done, also when
 * they have no row; what failed of the others is logged, and is to be tried again.
 */
export async function finalizeUnanswered(context: Context, calls: UnansweredCall[]): Promise<string[]> {
  const { database, organization, log } = context;
  const waiting: CompletedRunRow[] = [];
  for (const chunk of jsonChunks(calls.map(toUnansweredEnd))) {
    const [, found] = await database.batch(completeUnansweredRuns(database, organization.id, chunk), 'idempotent');
    waiting.push(...(found as unknown as CompletedRunRow[]));
  }
  const byKey = new Map(calls.map((call) => [call.key, call]));
  const wasDialled = ({ attempt_key: key }: CompletedRunRow) => byKey.get(key)?.returned === null;
  // One question whether anybody listens, for all of them: most organizations have no such trigger.
  const isHeard = waiting.some(wasDialled) && (await hasInternalEventTrigger(context, 'call.completed'));
  const undone = new Set<string>();
  const worker = async () => {
    for (let row = waiting.shift(); row; row = waiting.shift()) {
      const { id, attempt_key: key } = row;
      const isTold = isHeard && wasDialled(row);
      const told = await Promise.allSettled([
        isTold && publishUnansweredCompleted(context, row, byKey.get(key)!),
        notifyJourney(context, row),
      ]);
      for (const one of told) {
        if (one.status === 'fulfilled') continue;
        undone.add(key);
        log.error('what follows from a call could not be done', one.reason, { run_id: id });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxParallel, waiting.length) }, worker));
  return calls.map(({ key }) => key).filter((key) => !undone.has(key));
}

async function notifyJourney({ bindings, organization }: Context, { id, automation_run_id: journey }: CompletedRunRow): Promise<void> {
  if (journey !== null) await callRun(bindings, organization.id, journey, (object) => object.callSettled(id));
}

const toUnansweredEnd = (call: UnansweredCall): UnansweredEnd => ({
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

const publishUnansweredCompleted = (context: Context, row: CompletedRunRow, { durationSeconds }: UnansweredCall): Promise<void> =>
  fireInternalEvent(context, {
    name: 'call.completed',
    key: `call:${row.id}`,
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
