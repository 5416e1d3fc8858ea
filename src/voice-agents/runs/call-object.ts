import type { CallObject } from '../../../durable-objects/call/call-object.ts';
import { callDurable } from '../../library/call-durable.ts';

/** Calls the object of a voice agent run, again when the call broke: every method of it is repeatable. */
export const callObject = <Answer>(
  bindings: Env,
  organizationId: number,
  runId: number,
  call: (object: DurableObjectStub<CallObject>) => Promise<Answer>,
): Promise<Answer> => callDurable(() => bindings.CALL.getByName(`${organizationId}/${runId}`), call);
