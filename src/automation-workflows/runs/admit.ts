import type { Context } from '../../accounts/context.ts';
import { admitStatement, admittedInOneStep, admittedStatement } from './admission-store.ts';
import { launchInTurn } from './launch.ts';

/** Gives runs that wait for their turn theirs, as far as there is room, a page at most. Repeatable. Answers whether there may be more. */
export async function admitHeld(context: Context, workflowId: number): Promise<boolean> {
  const { database, organization } = context;
  const now = context.clock();
  const [admitted] = await database.once([admitStatement(database, organization.id, workflowId, now)], () =>
    database.batch([admittedStatement(database, organization.id, workflowId, now)]),
  );
  const ids = admitted!.map(({ id }) => id as number);
  await launchInTurn(context, ids).catch((error: unknown) =>
    context.log.error('a run that was admitted waits for the minute tick', error, { runIds: ids }),
  );
  return admitted!.length === admittedInOneStep;
}
