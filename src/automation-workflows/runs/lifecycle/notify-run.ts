import type { Context } from '../../../context.ts';
import { recordFailedParts } from '../../../outbox/failed-messages.ts';
import type { FanoutMessage } from '../../../outbox/messages.ts';
import { callRun } from '../../rpc.ts';

type RunNotification = Extract<FanoutMessage, { kind: 'run_told' }>;

/** Notifies a run that another run, or a call, has ended. The run reads the result itself if it waits for that run or call. Repeatable. */
export async function notifyRun(
  { bindings, organization }: Context,
  { id, of, ended_id }: Omit<RunNotification, 'v' | 'kind' | 'organization_id'>,
) {
  await callRun(bindings, organization.id, id, (run) => (of === 'run' ? run.childEnded(ended_id) : run.callSettled(ended_id)));
}

/** As `notifyRun`, but does not throw: a run that cannot be reached is recorded as a failed part and notified again. */
export async function notifyRunOrRecordFailure(context: Context, notification: Parameters<typeof notifyRun>[1]): Promise<void> {
  try {
    await notifyRun(context, notification);
  } catch (error) {
    const { database, organization, clock, log } = context;
    log.error('a run could not be notified of an end that it may wait for', error, notification);
    await recordFailedParts(
      database,
      [{ message: { v: 1, kind: 'run_told', organization_id: organization.id, ...notification }, error }],
      clock(),
    );
  }
}
