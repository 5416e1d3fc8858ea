import { evaluate } from '../conditions.ts';
import { entryKeyOf } from '../runs/entry-key.ts';
import type { ExitRule } from '../settings.ts';
import { EvaluationError, type Scope } from '../templates.ts';

/** Whose runs an event ends by one rule; null when the rule does not hold for it. `scope` is the event's. */
export function exitOf(
  rule: ExitRule,
  event: { type: string; contact_id: number | null },
  scope: Scope,
  now: number,
): { contact_id: number | null; entry_key: string | null } | null {
  if (rule.event_type !== event.type) return null;
  try {
    if (rule.filter && !evaluate(rule.filter, scope, now)) return null;
    if (!rule.entry_key) return event.contact_id === null ? null : { contact_id: event.contact_id, entry_key: null };
    const key = entryKeyOf(rule.entry_key, scope, null, null);
    return key === null ? null : { contact_id: null, entry_key: key };
  } catch (error) {
    // An event that a rule's template cannot be made of is not the one that the rule means.
    if (error instanceof EvaluationError) return null;
    throw error;
  }
}
