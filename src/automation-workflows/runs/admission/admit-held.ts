import type { Context } from '../../../context.ts';
import { admitStatement, maxAdmittedPerStep, admittedStatement } from './store.ts';
import { launchWithinRate } from './launch.ts';

/** Gives runs that wait for their turn theirs, as far as there is room, a page at most. Repeatable. Answers whether there may be more. */
export async function admitHeldRuns(context: Context, workflowId: number): Promise<boolean> {
  const { database, organization } = context;
  const now = context.clock();
  const [admitted] = await database.batchOnce([admitStatement(database, organization.id, workflowId, now)], () =>
    database.batch([admittedStatement(database, organization.id, workflowId, now)]),
  );
  const ids = admitted!.map(({ id }) => id as number);
  await launchWithinRate(context, ids).catch((error: unknown) =>
    context.log.error('a run that was admitted waits for the minute tick', error, { runIds: ids }),
  );
  return admitted!.length === maxAdmittedPerStep;
}
