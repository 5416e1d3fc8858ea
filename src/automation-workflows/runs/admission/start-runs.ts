import type { Context } from '../../../context.ts';
import type { RunCandidate, RecordedRuns } from './candidate.ts';
import { launchWithinRate } from './launch.ts';
import { recordRuns } from './record-runs.ts';

/**
 * Writes the runs' rows and starts their objects, except of those that wait for their turn or a later minute. Runs whose context does not fit are
 * recorded as failed. Of objects that could not be started the rows are there: the minute tick starts them, or whoever asks for the same again.
 */
export async function startRuns(context: Context, candidates: RunCandidate[]): Promise<RecordedRuns & { unstarted: unknown[] }> {
  const recorded = await recordRuns(context, candidates);
  const now = context.clock();
  const due = recorded.stored.filter((run) => run.state === 'queued' && run.hold === null && (run.wake_at ?? 0) <= now);
  const ids = due.map((run) => run.id);
  const unstarted = [...recorded.unasked];
  await launchWithinRate(context, ids).catch((error: unknown) => {
    context.log.error('runs that are recorded wait for the minute tick', error, { runIds: ids });
    unstarted.push(error);
  });
  return { ...recorded, unstarted };
}
