import { withCallObject } from '../live-call/call-object.ts';

/** Has a chat go on whose object did not wake by itself. One that never began begins, and ends by its own time. Repeatable. */
export const wakeStalledChat = (bindings: Env, organizationId: number, runId: number): Promise<boolean> =>
  withCallObject(bindings, organizationId, runId, async (object) => {
    await object.begin(organizationId, runId);
    return object.wakeStalled();
  });
