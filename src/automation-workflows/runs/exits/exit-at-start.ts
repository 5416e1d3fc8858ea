import type { Context } from '../../../context.ts';
import { findContacts } from '../../../contacts/contacts/find-contacts.ts';
import { matchExitRule } from './exit-rules.ts';
import { toEventCause } from './exit-runs.ts';
import { buildCauseScope } from '../../triggers/match-trigger.ts';
import { findEventsSinceStart } from '../waits/earlier-events.ts';
import type { LoadedRun } from '../engine/load-run.ts';
import type { RunEvent } from '../engine/dependencies.ts';

/**
 * The event that should have ended a run which only now begins: one that was accepted after the run's own event, and handled
 * before the run was there to be found. Null when there is none.
 */
export async function findExitBeforeStart(context: Context, { origin, settings }: LoadedRun): Promise<RunEvent | null> {
  const now = context.clock();
  for (const rule of settings.exit_on) {
    const events = await findEventsSinceStart(context, origin, [rule.event_type], !rule.entry_key);
    for (const event of events) {
      const contact = event.contact_id === null ? null : ((await findContacts(context, [event.contact_id])).get(event.contact_id) ?? null);
      const of = matchExitRule(rule, event, buildCauseScope(context, toEventCause(event, contact), now), now);
      const isMine = of && (of.entry_key === null ? of.contact_id === origin.contactId : of.entry_key === origin.entryKey);
      if (isMine) return event;
    }
  }
  return null;
}
