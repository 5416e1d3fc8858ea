import type { Context } from '../../accounts/context.ts';
import type { AutomationRunObject } from '../../../durable-objects/automation-run/automation-run-object.ts';

const parallelStarts = 25;

/** The object of a run. */
export function runObject(bindings: Env, organizationId: number, runId: number): DurableObjectStub<AutomationRunObject> {
  const namespace = bindings.AUTOMATION_RUN as DurableObjectNamespace<AutomationRunObject>;
  return namespace.getByName(`${organizationId}/${runId}`);
}

/** Starts the objects of recorded runs. Starting one again changes nothing. Throws the first failure once all were tried. */
export async function launchRuns(context: Context, runIds: number[]): Promise<void> {
  const waiting = [...runIds];
  const failures: unknown[] = [];
  const worker = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift())
      await runObject(context.bindings, context.organization.id, id)
        .start(context.organization.id, id)
        .catch((error: unknown) => failures.push(error));
  };
  await Promise.all(Array.from({ length: Math.min(parallelStarts, waiting.length) }, worker));
  if (failures.length) throw failures[0];
}
