import type { Context } from '../../../context.ts';
import { childLineage } from '../../../library/lineage.ts';
import type { LoadedRun } from '../../runs/engine/load-run.ts';
import type { Progress } from '../../runs/engine/progress.ts';
import { fireInternalEvent } from './fire-internal-event.ts';

/** Fires the triggers on `run.completed` or `run.failed`. Repeatable: a trigger's run is keyed by the run that ended. */
export async function fireRunEnded(context: Context, run: LoadedRun, progress: Progress): Promise<void> {
  await fireInternalEvent(context, {
    name: progress.state === 'completed' ? 'run.completed' : 'run.failed',
    key: progress.retries ? `run:${run.row.id}:retry:${progress.retries}` : `run:${run.row.id}`,
    contactId: run.row.contact_id,
    depth: childLineage(run.row),
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
