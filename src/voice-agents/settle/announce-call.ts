import type { Context } from '../../accounts/context.ts';
import { fireInternalEvent } from '../../automation-workflows/triggers/fire-internal-event.ts';
import type { Settlement } from '../runs/run-store.ts';
import type { CallFacts } from './call-facts.ts';
import { completedCall } from './settled-call.ts';

/** Fires the triggers on `call.completed`. Repeatable: a trigger's run is keyed by the call. */
export const announceCall = (context: Context, facts: CallFacts, settlement: Settlement): Promise<void> =>
  fireInternalEvent(context, {
    name: 'call.completed',
    cause: `call:${facts.runId}`,
    contactId: facts.contactId,
    depth: 1,
    data: completedCall(facts, settlement),
  });
