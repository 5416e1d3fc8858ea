import type { Context } from '../../accounts/context.ts';
import type { Candidate, Recorded } from './candidate.ts';
import { launchInTurn } from './launch.ts';
import { recordRuns } from './record.ts';

/**
 * Writes the runs' rows and starts their objects, except of those that wait for their turn or a later minute. Runs whose context does not fit are
 * recorded as failed. Throws when an object could not be started: the caller's cause stays unhandled and is tried again.
 */
export async function startRuns(context: Context, candidates: Candidate[]): Promise<Recorded> {
  const recorded = await recordRuns(context, candidates);
  const now = context.clock();
  const due = recorded.stored.filter((run) => run.state === 'queued' && run.hold === null && (run.wake_at ?? 0) <= now);
  await launchInTurn(
    context,
    due.map((run) => run.id),
  );
  return recorded;
}
