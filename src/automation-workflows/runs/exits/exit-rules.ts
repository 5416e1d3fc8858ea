import { evaluateCondition } from '../../../expressions/conditions/condition.ts';
import { renderEntryKey } from '../admission/entry-key.ts';
import type { ExitRule } from '../../definitions/settings.ts';
import { EvaluationError, type Scope } from '../../../expressions/templates/render.ts';

/** Whose runs an event ends by one rule; null when the rule does not hold for it. `scope` is the event's. */
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
    // An event that a rule's template cannot be made of is not the one that the rule means.
    if (error instanceof EvaluationError) return null;
    throw error;
  }
}
