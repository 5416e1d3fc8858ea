import { loadCarrier } from '../../telephony-configs/load-carrier.ts';
import { withCallSlots } from '../../calls/rpc.ts';
import { cacheExpiryMs, type DeletionStep } from './step.ts';

/**
 * Calls that wait are dropped, and lines that are up are ended. What is just being dialled, and what a carrier does not end, is looked at
 * again while there is time.
 */
export const endCallsStep: DeletionStep = {
  name: 'calls',
  async runPage(context, asked) {
    const { bindings, organization, log, clock } = context;
    const { calls, unplaced } = await withCallSlots(bindings, organization.id, (slots) => slots.shutDown());
    let ended = 0;
    for (const { configId, callId } of calls) {
      const carrier = await loadCarrier(context, configId);
      const result = await carrier?.telephony.hangUp(callId);
      if (result && 'failure' in result)
        log.error('a call of a deleted organization could not be ended', new Error(result.failure), { call_id: callId });
      else ended++;
    }
    const isOpen = unplaced > 0 || ended < calls.length;
    return { next: isOpen && clock() < asked.requestedAt + cacheExpiryMs ? 'later' : 'done', removed: 0 };
  },
};
