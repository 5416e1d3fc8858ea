import type { Context } from '../../accounts/context.ts';
import { admitStatement, admittedInOneStep } from './admission-store.ts';
import { launchInTurn } from './launch.ts';

/** Gives runs that wait for their turn theirs, as far as there is room, a page at most. Repeatable. Answers whether there may be more. */
export async function admitHeld(context: Context, workflowId: number): Promise<boolean> {
  const { database, organization } = context;
  const admitted = await database.all<{ id: number }>(admitStatement(database, organization.id, workflowId, context.clock()));
  const ids = admitted.map(({ id }) => id);
  await launchInTurn(context, ids).catch((error: unknown) =>
    context.log.error('a run that was admitted waits for the minute tick', error, { runIds: ids }),
  );
  return admitted.length === admittedInOneStep;
}
