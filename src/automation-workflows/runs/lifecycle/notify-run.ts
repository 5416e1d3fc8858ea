import type { Context } from '../../../context.ts';
import { recordFailedParts } from '../../../outbox/failed-messages.ts';
import type { FanoutMessage } from '../../../outbox/messages.ts';
import { callRun } from '../../rpc.ts';

type RunNotification = Extract<FanoutMessage, { kind: 'run_told' }>;

/** Tells a run that another run, or a call, which it may be waiting for has ended. It looks for itself. Repeatable. */
export async function notifyRun(
  { bindings, organization }: Context,
  { id, of, ended_id }: Omit<RunNotification, 'v' | 'kind' | 'organization_id'>,
) {
  await callRun(bindings, organization.id, id, (object) => (of === 'run' ? object.childEnded(ended_id) : object.callSettled(ended_id)));
}

/** The same by whoever has other things to do: a run that cannot be reached is told on its own, and at the latest finds out for itself. */
export async function notifyRunOrRecordFailure(context: Context, told: Parameters<typeof notifyRun>[1]): Promise<void> {
  try {
    await notifyRun(context, told);
  } catch (error) {
    const { database, organization, clock, log } = context;
    log.error('a run could not be told of what it may be waiting for', error, told);
    await recordFailedParts(database, [{ message: { v: 1, kind: 'run_told', organization_id: organization.id, ...told }, error }], clock());
  }
}
