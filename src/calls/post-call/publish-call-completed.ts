import type { Context } from '../../context.ts';
import { fireInternalEvent } from '../../automation-workflows/triggers/events/fire-internal-event.ts';
import type { RunCompletion } from '../records/store.ts';
import type { CallSetup } from '../live-call/call-setup.ts';
import { toCallCompletedData } from './run-completion.ts';

/** Fires the triggers on `call.completed`. Repeatable: a trigger's run is keyed by the call. */
export const publishCallCompleted = (context: Context, facts: CallSetup, settlement: RunCompletion): Promise<void> =>
  fireInternalEvent(context, {
    name: 'call.completed',
    key: `call:${facts.runId}`,
    contactId: facts.contactId,
    depth: 1,
    data: toCallCompletedData(facts, settlement),
  });
