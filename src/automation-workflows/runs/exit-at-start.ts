import type { Context } from '../../accounts/context.ts';
import { findContacts } from '../../contacts/find-contacts.ts';
import { exitOf } from '../triggers/exit-rules.ts';
import { causeOf } from '../triggers/exit-runs.ts';
import { triggerScope } from '../triggers/match.ts';
import { eventsSinceStart } from './earlier-events.ts';
import type { LoadedRun } from './load-run.ts';
import type { OfferedEvent } from './surroundings.ts';

/**
 * The event that should have ended a run which only now begins: one that was accepted after the run's own event, and handled
 * before the run was there to be found. Null when there is none.
 */
export async function exitBeforeStart(context: Context, { origin, settings }: LoadedRun): Promise<OfferedEvent | null> {
  const now = context.clock();
  for (const rule of settings.exit_on) {
    const events = await eventsSinceStart(context, origin, [rule.event_type], !rule.entry_key);
    for (const event of events) {
      const contact = event.contact_id === null ? null : ((await findContacts(context, [event.contact_id])).get(event.contact_id) ?? null);
      const of = exitOf(rule, event, triggerScope(context, causeOf(event, contact), now), now);
      const isMine = of && (of.entry_key === null ? of.contact_id === origin.contactId : of.entry_key === origin.entryKey);
      if (isMine) return event;
    }
  }
  return null;
}
