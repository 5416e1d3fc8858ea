import type { Context } from '../../context.ts';
import pMap from 'p-map';
import { releaseCallsStatement } from '../../contact-policy/release-contacts.ts';
import { isEventNeeded, publish } from '../../outbox/published-events.ts';
import { jsonChunks } from '../../database/json-chunks.ts';
import type { ReturnReason, StatusCallback } from '../contract.ts';
import { selectHasWebhookEndpoint } from '../../webhook-endpoints/has-endpoint.ts';
import { toAnsweredBy } from './answered-by.ts';
import { completeUnansweredRuns, type CompletedRunRow, type UnansweredEnd } from '../placing/store.ts';

/** A call without a conversation, or one that was never dialled. Moments in epoch ms. */
export interface UnansweredCall {
  key: string;
  outcome: 'completed' | 'busy' | 'no_answer' | 'voicemail' | 'failed' | 'cancelled';
  reason: string | null;
  returned: ReturnReason | null;
  returnedUntil: number | null;
  /** The carrier never had the call. */
  neverReachedCarrier: boolean;
  ownNumber: string | null;
  answeredAt: number | null;
  endedAt: number;
  durationSeconds: number;
  statusCallbacks: StatusCallback[];
}

/** Rows whose events are published at a time. */
const maxParallel = 6;

/**
 * Completes the rows of unanswered calls, and publishes `call.completed` and `call.settled` for them. Repeatable. Answers the keys of the
 * calls that are done, rowless ones among them. The failures of the others are logged, and their calls are to be finalized again.
 */
export async function finalizeUnanswered(context: Context, calls: UnansweredCall[]): Promise<string[]> {
  const { database, organization, log } = context;
  const completed: CompletedRunRow[] = [];
  let isListening = false;
  const unreached = calls.filter(({ neverReachedCarrier }) => neverReachedCarrier).map(({ key }) => key);
  for (const chunk of jsonChunks(calls.map(toUnansweredEnd))) {
    const statements = [
      ...completeUnansweredRuns(database, organization.id, chunk),
      selectHasWebhookEndpoint(database, organization.id),
      // Calls that the carrier had need no such statement, and are nearly all.
      ...(unreached.length > 0 ? [releaseCallsStatement(context, unreached)] : []),
    ] as const;
    const [, rows, listening] = await database.batch(statements, 'idempotent');
    completed.push(...rows);
    isListening ||= listening.length > 0;
  }
  if (isListening && calls.some(({ returned }) => returned === null))
    await publish(context, 'webhook_event.recorded', { type: 'call.completed' });
  const callsByKey = new Map(calls.map((call) => [call.key, call]));
  const wasDialled = ({ attempt_key: key }: CompletedRunRow) => callsByKey.get(key)?.returned === null;
  // Checked once for all calls: most organizations have no trigger on `call.completed`.
  const isNeeded = completed.some(wasDialled) && (await isEventNeeded(context, 'call.completed'));
  const failedKeys = new Set<string>();
  await pMap(
    completed,
    async (row) => {
      const results = await Promise.allSettled([
        isNeeded && wasDialled(row) && publishUnansweredCompleted(context, row, callsByKey.get(row.attempt_key)!),
        publishSettled(context, row),
      ]);
      for (const result of results) {
        if (result.status === 'fulfilled') continue;
        failedKeys.add(row.attempt_key);
        log.error('the events of a call could not be published', result.reason, { run_id: row.id });
      }
    },
    { concurrency: maxParallel },
  );
  return calls.map(({ key }) => key).filter((key) => !failedKeys.has(key));
}

async function publishSettled(context: Context, { id, automation_run_id: automationRunId }: CompletedRunRow): Promise<void> {
  if (automationRunId !== null) await publish(context, 'call.settled', { automationRunId, agentRunId: id });
}

const toUnansweredEnd = (call: UnansweredCall): UnansweredEnd => ({
  attempt_key: call.key,
  outcome: call.outcome,
  reason: call.reason,
  own_number: call.ownNumber,
  started_at: call.answeredAt,
  completed_at: call.endedAt,
  result: JSON.stringify({
    answered_by: toAnsweredBy(call.outcome, call.statusCallbacks),
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
    // The row holds these few logs; the logs of a conversation have a file of their own.
    logs: { events: [], status_callbacks: call.statusCallbacks },
  }),
});

const publishUnansweredCompleted = (context: Context, row: CompletedRunRow, { durationSeconds }: UnansweredCall): Promise<void> =>
  publish(context, 'call.completed', {
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
