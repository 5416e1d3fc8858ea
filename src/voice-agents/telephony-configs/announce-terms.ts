import type { Context } from '../../accounts/context.ts';
import { callSlots } from '../dialing/slots.ts';

/** Tells the organization's call slots that the terms of dialling have changed. They read them anew each minute anyway. */
export async function announceTerms({ bindings, organization, log }: Context): Promise<void> {
  try {
    await callSlots(bindings, organization.id, (slots) => slots.termsChanged());
  } catch (error) {
    log.warn('call slots were not told of changed terms', { error: String(error) });
  }
}
