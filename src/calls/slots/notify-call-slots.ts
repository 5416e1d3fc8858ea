import type { Context } from '../../context.ts';
import { conflict } from '../../library/errors.ts';
import { withCallSlots } from '../rpc.ts';

/** Has the organization's call slots read the dialling policy anew. Never throws: the slots read the policy anew each minute anyway. */
export async function notifyDialingPolicyChanged({ bindings, organization, log }: Context): Promise<void> {
  try {
    await withCallSlots(bindings, organization.id, (slots) => slots.dialingPolicyChanged());
  } catch (error) {
    log.warn('the call slots could not be notified of a changed dialling policy', { error: String(error) });
  }
}

/**
 * Throws 409 while a telephony configuration has live calls: after its deletion the carrier could not be asked how they end. Without live
 * calls, no further call uses the configuration.
 */
export async function refuseDeletionWithLiveCalls({ bindings, organization }: Context, configId: number): Promise<void> {
  const live = await withCallSlots(bindings, organization.id, (slots) => slots.closeConfig(configId));
  if (live > 0) throw conflict(`The configuration has ${live} live ${live === 1 ? 'call' : 'calls'}; delete it when they have ended`);
}
