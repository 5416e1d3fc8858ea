import type { CallSlotsObject } from '../../../durable-objects/call-slots/call-slots-object.ts';
import { callDurableObject } from '../../library/platform/call-durable-object.ts';

/** Calls the object that holds the organization's call slots, again when the call broke: every method of it is repeatable. */
export const withCallSlots = <Answer>(
  bindings: Env,
  organizationId: number,
  call: (slots: DurableObjectStub<CallSlotsObject>) => Promise<Answer>,
): Promise<Answer> => callDurableObject(() => bindings.CALL_SLOTS.getByName(String(organizationId)), call);
