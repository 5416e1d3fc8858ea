import type { Context } from '../../accounts/context.ts';
import { callDurable } from '../../library/call-durable.ts';
import type { AutomationRunObject } from '../../../durable-objects/automation-run/automation-run-object.ts';

const parallelStarts = 25;

/** Calls a run's object, again when the call broke: every method of it is repeatable. */
export async function callRun<Answer>(
  bindings: Env,
  organizationId: number,
  runId: number,
  call: (object: DurableObjectStub<AutomationRunObject>) => Promise<Answer>,
): Promise<Answer> {
  return callDurable(() => bindings.AUTOMATION_RUN.getByName(`${organizationId}/${runId}`), call);
}

/** Starts the objects of recorded runs. Starting one again changes nothing. Throws the first failure once all were tried. */
export async function launchRuns(context: Context, runIds: number[]): Promise<void> {
  const { bindings, organization } = context;
  const waiting = [...runIds];
  const failures: unknown[] = [];
  const worker = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const runId = id;
      await callRun(bindings, organization.id, runId, (object) => object.start(organization.id, runId)).catch((error: unknown) =>
        failures.push(error),
      );
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallelStarts, waiting.length) }, worker));
  if (failures.length) throw failures[0];
}

/** For runs whose rows are the answer already: one whose object can't be started now is started by the minute tick. */
export async function launchRecorded(context: Context, runIds: number[]): Promise<void> {
  await launchRuns(context, runIds).catch((error: unknown) =>
    context.log.error('a recorded run waits for the minute tick', error, { runIds }),
  );
}
