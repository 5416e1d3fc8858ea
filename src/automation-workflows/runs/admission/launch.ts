import type { Context } from '../../../context.ts';
import { callDurableObject } from '../../../library/platform/call-durable-object.ts';
import { yieldToEventLoop } from '../../../library/limits/yield-to-event-loop.ts';
import { reserveStarts } from './run-rate.ts';
import { rescheduleStarts } from '../store.ts';
import type { AutomationRunObject } from '../../../../durable-objects/automation-run/automation-run-object.ts';

/** What nobody waits for starts fewer at once, and gives way to requests between them. */
const maxConcurrentStarts = { request: 25, background: 8 };

/** Calls a run's object, again when the call broke: every method of it is repeatable. */
export async function callRun<Answer>(
  bindings: Env,
  organizationId: number,
  runId: number,
  call: (object: DurableObjectStub<AutomationRunObject>) => Promise<Answer>,
): Promise<Answer> {
  return callDurableObject(() => bindings.AUTOMATION_RUN.getByName(`${organizationId}/${runId}`), call);
}

/** Starts the objects of recorded runs. Starting one again changes nothing. Throws the first failure once all were tried. */
async function launchRuns(context: Context, runIds: number[], mode: 'request' | 'background'): Promise<void> {
  const { bindings, organization } = context;
  const waiting = [...runIds];
  const failures: unknown[] = [];
  const worker = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const runId = id;
      await callRun(bindings, organization.id, runId, (object) => object.start(organization.id, runId)).catch((error: unknown) =>
        failures.push(error),
      );
      if (mode === 'background' && waiting.length > 0) await yieldToEventLoop();
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxConcurrentStarts[mode], waiting.length) }, worker));
  if (failures.length) throw failures[0];
}

/** Starts as many as the plan's minute has room for, and leaves the others to the minute tick, each in a later minute. Throws as `launchRuns`. */
export async function launchWithinRate(context: Context, runIds: number[]): Promise<void> {
  if (!runIds.length) return;
  const starts = await reserveStarts(context, runIds.length);
  let rest = runIds.slice(starts.now);
  for (const { count, at } of starts.later) {
    await rescheduleStarts(context.database, context.organization.id, rest.slice(0, count), at);
    rest = rest.slice(count);
  }
  if (starts.later.length)
    context.log.warn('runs wait for a later minute', {
      runs: runIds.length - starts.now,
      runs_per_minute: context.organization.plan.runsPerMinute,
    });
  await launchRuns(context, runIds.slice(0, starts.now), 'background');
}

/** For runs whose rows are the answer already: one whose object can't be started now is started by the minute tick. */
export async function tryLaunchRuns(context: Context, runIds: number[]): Promise<void> {
  await launchRuns(context, runIds, 'request').catch((error: unknown) =>
    context.log.error('a recorded run waits for the minute tick', error, { runIds }),
  );
}
