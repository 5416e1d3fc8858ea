import type { Context } from '../../context.ts';
import { conflict } from '../../library/errors.ts';
import { withCallSlots } from '../rpc.ts';

/** Has the organization's call slots read the dialling policy anew. Never throws: they read it anew each minute anyway. */
export async function notifyDialingPolicyChanged({ bindings, organization, log }: Context): Promise<void> {
  try {
    await withCallSlots(bindings, organization.id, (slots) => slots.dialingPolicyChanged());
  } catch (error) {
    log.warn('call slots were not told of changed terms', { error: String(error) });
  }
}

/** Throws 409 while calls of a telephony configuration are live: its carrier could not be asked how they end. Without any, no further call uses it. */
export async function refuseDeletionWithLiveCalls({ bindings, organization }: Context, configId: number): Promise<void> {
  const live = await withCallSlots(bindings, organization.id, (slots) => slots.closeConfig(configId));
  if (live > 0) throw conflict(`The configuration has ${live} live ${live === 1 ? 'call' : 'calls'}; delete it when they have ended`);
}
