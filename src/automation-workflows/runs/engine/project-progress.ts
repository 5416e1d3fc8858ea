import type { Context } from '../../../context.ts';
import { storePayload } from '../../../database/payload.ts';
import { holdOf, type Progress } from './progress.ts';
import { projectRun, type ProjectionResult } from '../store.ts';
import { deleteLeftWaitersStatement } from '../waits/store.ts';

/**
 * Writes a run's progress into its row, and takes out the waiters of waits that it has left. `nextWakeAt` in epoch ms, null for an
 * ended run.
 */
export async function projectProgress(
  { bindings, database, organization }: Context,
  id: number,
  progress: Progress,
  { revision, wakeAt }: { revision: number; wakeAt: number | null },
): Promise<ProjectionResult> {
  const changes = JSON.stringify({ assigned: progress.assigned, outputs: progress.outputs });
  const projection = {
    state: progress.state,
    currentNodeId: progress.nodeId,
    outcome: progress.outcome,
    error: progress.error && JSON.stringify(progress.error),
    contextChanges: await storePayload(bindings.FILES, () => `${organization.id}/runs/${id}-${revision}`, changes),
    hold: holdOf(progress),
    voiceCallRunId: progress.voiceCallRunId ?? null,
    revision,
    wakeAt,
    startedAt: progress.startedAt,
    completedAt: progress.endedAt,
  };
  const { leftWaits = [] } = progress;
  return projectRun(
    database,
    organization.id,
    id,
    projection,
    leftWaits.length ? [deleteLeftWaitersStatement(database, organization.id, id, leftWaits)] : [],
  );
}
