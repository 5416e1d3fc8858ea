import { evaluateCondition } from '../../../expressions/conditions/condition.ts';
import type { ExitRule } from '../../definitions/settings.ts';
import { EvaluationError, type Scope } from '../../../expressions/templates/render.ts';
import { renderEntryKey, type RunEvent, buildCauseScope, toEventCause } from '../cause.ts';
import type { Context } from '../../../context.ts';
import { findContacts } from '../../../contacts/contacts/find-contacts.ts';
import { findEventsSinceStart } from '../waits/earlier-events.ts';
import type { LoadedRun } from '../engine/run-row.ts';

/** The contact or entry key whose runs an event ends by one rule; null when the rule does not match. `scope` is that of the event. */
export function matchExitRule(
  rule: ExitRule,
  event: { type: string; contact_id: number | null },
  scope: Scope,
  now: number,
): { contact_id: number | null; entry_key: string | null } | null {
  if (rule.event_type !== event.type) return null;
  try {
    if (rule.filter && !evaluateCondition(rule.filter, scope, now)) return null;
    if (!rule.entry_key) return event.contact_id === null ? null : { contact_id: event.contact_id, entry_key: null };
    const key = renderEntryKey(rule.entry_key, scope, null, null);
    return key === null ? null : { contact_id: null, entry_key: key };
  } catch (error) {
    // A rule whose template cannot be rendered from the event does not match it.
    if (error instanceof EvaluationError) return null;
    throw error;
  }
}

/**
 * An event that ends a run which is just starting: accepted after the run's start event, and handled before the run was recorded. Null when
 * there is none.
 */
export async function findExitBeforeStart(context: Context, { origin, settings }: LoadedRun): Promise<RunEvent | null> {
  const now = context.clock();
  for (const rule of settings.exit_on) {
    const events = await findEventsSinceStart(context, origin, [rule.event_type], !rule.entry_key);
    for (const event of events) {
      const contact = event.contact_id === null ? null : ((await findContacts(context, [event.contact_id])).get(event.contact_id) ?? null);
      const subject = matchExitRule(rule, event, buildCauseScope(context, toEventCause(event, contact), now), now);
      if (!subject) continue;
      const isMatch = subject.entry_key === null ? subject.contact_id === origin.contactId : subject.entry_key === origin.entryKey;
      if (isMatch) return event;
    }
  }
  return null;
}
