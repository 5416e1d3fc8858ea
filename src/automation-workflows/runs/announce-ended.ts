import type { Context } from '../../accounts/context.ts';
import { below } from '../../library/lineage.ts';
import type { LoadedRun } from './load-run.ts';
import type { Progress } from './progress.ts';
import { fireInternalEvent } from '../triggers/fire-internal-event.ts';

/** Fires the triggers on `run.completed` or `run.failed`. Repeatable: a trigger's run is keyed by the run that ended. */
export async function announceRunEnded(context: Context, run: LoadedRun, progress: Progress): Promise<void> {
  await fireInternalEvent(context, {
    name: progress.state === 'completed' ? 'run.completed' : 'run.failed',
    cause: progress.retries ? `run:${run.row.id}:retry:${progress.retries}` : `run:${run.row.id}`,
    contactId: run.row.contact_id,
    depth: below(run.row),
    data: {
      run_id: run.row.id,
      automation_workflow_id: run.row.workflow_id,
      workflow_name: run.row.workflow_name,
      state: progress.state,
      outcome: progress.outcome,
      error: progress.error,
    },
  });
}
