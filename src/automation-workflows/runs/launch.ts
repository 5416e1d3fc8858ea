import type { Context } from '../../accounts/context.ts';
import type { AutomationRunObject } from '../../../durable-objects/automation-run/automation-run-object.ts';

const parallelStarts = 25;
const tries = 3;

/**
 * Calls a run's object. A deploy, a crash or a move breaks the call and the stub it was made on; every method of the object is
 * repeatable, so the call is made again on a new one.
 */
export async function callRun<Answer>(
  bindings: Env,
  organizationId: number,
  runId: number,
  call: (object: DurableObjectStub<AutomationRunObject>) => Promise<Answer>,
): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call(bindings.AUTOMATION_RUN.getByName(`${organizationId}/${runId}`));
    } catch (error) {
      const isOverloaded = (error as { overloaded?: boolean }).overloaded === true;
      if (attempt === tries || isOverloaded) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20 * attempt));
    }
  }
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
