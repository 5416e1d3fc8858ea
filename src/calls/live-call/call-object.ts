import type { CallObject } from '../../../durable-objects/call/call-object.ts';
import { callDurableObject } from '../../library/platform/call-durable-object.ts';

/** Calls the object of a voice agent run, again when the call broke: every method of it is repeatable. */
export const withCallObject = <Answer>(
  bindings: Env,
  organizationId: number,
  runId: number,
  call: (object: DurableObjectStub<CallObject>) => Promise<Answer>,
): Promise<Answer> => callDurableObject(() => bindings.CALL.getByName(`${organizationId}/${runId}`), call);
