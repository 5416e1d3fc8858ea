import { randomUUID } from 'node:crypto';
import type { z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import { conflict } from '../../library/errors.ts';
import { existingSession } from './existing-session.ts';
import { sessionRecord } from './records.ts';
import type { TestSessionRecord } from '../schemas.ts';
import { callTestSessionObject } from './test-session-stub.ts';

/** Ends a session that is running, also while it is being judged. Throws 409 in any other state, naming it. */
export async function stopSession(context: Context, id: number): Promise<z.infer<typeof TestSessionRecord>> {
  const { bindings, organization } = context;
  const row = await existingSession(context, id);
  if (row.status !== 'running') throw conflict(`The session is ${row.status}; only a running one can be stopped`);
  const act = randomUUID();
  const live = await callTestSessionObject(bindings, organization.id, id, async (object) => {
    // Its start may have broken off before its object was there.
    if (!(await object.snapshot())) await object.wakeStalled(organization.id, id);
    return object.stop(act);
  });
  return sessionRecord(row, live);
}
