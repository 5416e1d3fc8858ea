import { randomUUID } from 'node:crypto';
import type { Context } from '../accounts/context.ts';
import { conflict } from '../library/errors.ts';
import { existingSession } from './existing-session.ts';
import { testSessionObject } from './test-session-object.ts';

/** From pending to running. Throws 409 in any other state, for an archived agent, and for a session that its load test starts. */
export async function startSession(context: Context, id: number): Promise<void> {
  const { bindings, organization } = context;
  const { status, load_test_id: loadTestId } = await existingSession(context, id);
  if (status !== 'pending') throw conflict(`The session is ${status}; only a pending one can be started. Create it again to repeat it`);
  if (loadTestId !== null) throw conflict(`The session is one of load test ${loadTestId}, which starts it when its turn comes`);
  const act = randomUUID();
  await testSessionObject(bindings, organization.id, id, (object) => object.start(organization.id, id, act));
}
