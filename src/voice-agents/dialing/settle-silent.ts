import type { Context } from '../../accounts/context.ts';
import { fireInternalEvent } from '../../automation-workflows/triggers/fire-internal-event.ts';
import { isListenedTo } from '../../automation-workflows/triggers/is-listened-to.ts';
import { callRun } from '../../automation-workflows/runs/launch.ts';
import { jsonChunks } from '../../contacts/json-chunks.ts';
import type { ReturnReason, StatusCallback } from './contract.ts';
import { completeSilentRuns } from './run-rows.ts';

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

interface CompletedRow {
  id: number;
  attempt_key: string;
  agent_id: number;
  agent_name: string;
  contact_id: number | null;
  campaign_id: number | null;
  automation_run_id: number | null;
  phone: string;
  outcome: string;
  reason: string | null;
}

/** Completes the rows of such calls, and tells triggers and journeys. Repeatable. */
export async function settleSilent(context: Context, calls: SilentCall[]): Promise<void> {
  const { database, organization } = context;
  const byKey = new Map(calls.map((call) => [call.key, call]));
  const rows: CompletedRow[] = [];
  for (const chunk of jsonChunks(calls.map(endOf))) {
    const [, found] = await database.batch(completeSilentRuns(database, organization.id, chunk));
    rows.push(...(found as unknown as CompletedRow[]));
  }
  await fireCompleted(context, rows, byKey);
  for (const { id, automation_run_id: journey } of rows)
    if (journey !== null) await callRun(context.bindings, organization.id, journey, (object) => object.callSettled(id));
}

const endOf = (call: SilentCall) => ({
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

/** One question whether anybody listens, for all of them: most organizations have no such trigger. */
async function fireCompleted(context: Context, rows: CompletedRow[], calls: Map<string, SilentCall>): Promise<void> {
  const dialled = rows.filter(({ attempt_key }) => calls.get(attempt_key)?.returned === null);
  if (!dialled.length || !(await isListenedTo(context, 'call.completed'))) return;
  for (const row of dialled)
    await fireInternalEvent(context, {
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
        duration_seconds: calls.get(row.attempt_key)!.durationSeconds,
      },
    });
}
