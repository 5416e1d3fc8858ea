import type { Context } from '../context.ts';
import { withCallSlots } from '../calls/slots/call-slots.ts';

/** Tells the organization's call slots that the terms of dialling have changed. They read them anew each minute anyway. */
export async function notifyDialingPolicyChanged({ bindings, organization, log }: Context): Promise<void> {
  try {
    await withCallSlots(bindings, organization.id, (slots) => slots.dialingPolicyChanged());
  } catch (error) {
    log.warn('call slots were not told of changed terms', { error: String(error) });
  }
}
