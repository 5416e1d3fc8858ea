import type { z } from '@hono/zod-openapi';
import { showPayloads } from '../../../database/payload.ts';
import { nullableTimestamp, toTimestamp } from '../../../library/time/clock.ts';
import { isRecord } from '../../../library/json/json.ts';
import { maskSecrets } from '../../../expressions/secrets/secrets.ts';
import { isLive } from '../../run-states.ts';
import { type RunError, type RunRecord, type RunInterruption } from '../schemas.ts';
import { holdOf, type Progress } from '../engine/progress.ts';
import { toTroubleRecord, currentPlatformRetry } from '../engine/platform-retry.ts';
import type { RunRow } from '../store.ts';

/** What a webhook delivery keeps: the body as read, what of the request may be shown, and the mapping's extra variables. */
export interface DeliveryPayload {
  body: unknown;
  raw: string | null;
  headers: Record<string, string>;
  query: Record<string, string>;
  variables: Record<string, unknown>;
}

/** The keys that a delivery puts at the top level of a run's context. */
export const toDeliveryVariables = (payload: DeliveryPayload): Record<string, unknown> => ({
  ...(isRecord(payload.body) ? payload.body : {}),
  ...payload.variables,
});

/** The context a run started with, from where its payload is kept. */
export function initialContextOf(row: Pick<RunRow, 'source'>, own: unknown, payload: unknown): Record<string, unknown> {
  if (row.source === 'run') return (own ?? {}) as Record<string, unknown>;
  // One that is cut or gone says so in its place.
  if (row.source === 'delivery' && isRecord(payload))
    return 'body' in payload ? toDeliveryVariables(payload as unknown as DeliveryPayload) : payload;
  return (payload ?? {}) as Record<string, unknown>;
}

/** What steps added, as one JSON value: variables and outputs. */
export interface ContextChanges {
  assigned: Record<string, unknown>;
  outputs: Record<string, unknown>;
}

/** What a live run's object knows better than its row. */
export interface LiveRun {
  state: RunRow['state'];
  currentNodeId: string | null;
  outcome: string | null;
  error: z.infer<typeof RunError> | null;
  /** Why it stands still although it could go on. */
  hold: RunRow['hold'];
  voiceCallRunId: number | null;
  trouble: z.infer<typeof RunInterruption> | null;
  changes: ContextChanges;
  startedAt: number | null;
  endedAt: number | null;
}

/** What a run that lives, or has just ended, says of itself. */
export const toLiveRun = (progress: Progress, now: number): LiveRun => ({
  state: progress.state,
  currentNodeId: progress.nodeId,
  outcome: progress.outcome,
  error: progress.error,
  hold: holdOf(progress),
  voiceCallRunId: progress.voiceCallRunId ?? null,
  trouble: toCurrentTrouble(progress, now),
  changes: { assigned: progress.assigned, outputs: progress.outputs },
  startedAt: progress.startedAt,
  endedAt: progress.endedAt,
});

/** What it waits out at the moment; of trouble that is over, the next step tells nothing any more. */
function toCurrentTrouble(progress: Progress, now: number): LiveRun['trouble'] {
  const trouble = isLive(progress.state) ? currentPlatformRetry(progress) : undefined;
  return trouble && trouble.nextTryAt > now ? toTroubleRecord(trouble) : null;
}

export async function runRecords(bucket: R2Bucket, rows: RunRow[]): Promise<z.infer<typeof RunRecord>[]> {
  const stored = await showPayloads(
    bucket,
    rows.flatMap((row) => [row.initial_context, row.source_payload, row.context_changes]),
  );
  return rows.map((row, index) => {
    const [own, payload, changes] = stored.slice(index * 3, index * 3 + 3);
    return runRecord(row, initialContextOf(row, own, payload), liveRunFromRow(row, changes));
  });
}

/** What the row says, for a run whose object is gone. */
export function liveRunFromRow(row: RunRow, changes: unknown): LiveRun {
  return {
    state: row.state,
    currentNodeId: row.current_node_id,
    outcome: row.outcome,
    error: row.error === null ? null : (JSON.parse(row.error) as z.infer<typeof RunError>),
    hold: row.hold,
    voiceCallRunId: row.voice_call_run_id,
    trouble: null,
    changes: isRecord(changes) && 'assigned' in changes ? (changes as unknown as ContextChanges) : { assigned: {}, outputs: {} },
    startedAt: row.started_at,
    endedAt: row.completed_at,
  };
}

export function runRecord(row: RunRow, initialContext: Record<string, unknown>, live: LiveRun): z.infer<typeof RunRecord> {
  return {
    id: row.id,
    organization_id: row.organization_id,
    automation_workflow_id: row.workflow_id,
    workflow_version: row.workflow_version,
    state: live.state,
    current_node_id: live.currentNodeId,
    context: { ...initialContext, ...live.changes.assigned, steps: maskSecrets(live.changes.outputs) },
    initial_context: initialContext,
    outcome: live.outcome,
    error: live.error,
    hold: live.hold,
    trouble: live.trouble,
    trigger_id: row.trigger_id,
    contact_id: row.contact_id,
    entry_key: row.entry_key,
    voice_call_run_id: live.voiceCallRunId,
    is_test: Boolean(row.is_test),
    started_at: toTimestamp(live.startedAt ?? row.created_at),
    completed_at: isLive(live.state) ? null : nullableTimestamp(live.endedAt),
    created_at: toTimestamp(row.created_at),
  };
}
