import type { z } from '@hono/zod-openapi';
import { showPayloads } from '../../../database/payload.ts';
import { nullableTimestamp, toTimestamp } from '../../../library/time/clock.ts';
import { isRecord } from '../../../library/json/json.ts';
import { maskSecrets } from '../../../expressions/secrets/secrets.ts';
import { isLive } from '../../run-states.ts';
import type { RunError, RunRecord } from '../schemas.ts';
import { holdOf, type Progress, currentPlatformRetry } from '../engine/progress.ts';
import { toTroubleRecord } from '../engine/platform-retry.ts';
import type { RunRow } from '../store.ts';
import { initialContextOf } from '../cause.ts';
import type { ContextChanges, LiveRun } from '../../rpc.ts';

/** A run's progress as its record shows it. `now` in epoch ms. */
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

/** The platform retry that the run waits for; null when its next try is due. */
function toCurrentTrouble(progress: Progress, now: number): LiveRun['trouble'] {
  const retry = isLive(progress.state) ? currentPlatformRetry(progress) : undefined;
  return retry && retry.nextTryAt > now ? toTroubleRecord(retry) : null;
}

/** The records of runs from their rows, with payloads from R2. */
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

/** The state of a run from its row, for a run whose object is gone. */
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
