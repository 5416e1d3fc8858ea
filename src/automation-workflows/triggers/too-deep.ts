import type { Context } from '../../accounts/context.ts';
import { maximumDepth } from '../../events/accept.ts';
import { noteTriggerError, type ArmedTrigger } from './store.ts';

/** Whether journeys have set each other off too often for `cause` to start another; its triggers then say that they did not fire. */
export function isTooDeep(context: Context, depth: number, cause: string, triggers: ArmedTrigger[]): boolean {
  if (depth <= maximumDepth) return false;
  const message = `Did not fire for ${cause}: journeys may set off each other ${maximumDepth} deep`;
  for (const trigger of triggers) context.defer(noteTriggerError(context.database, context.organization.id, trigger.id, message));
  return true;
}
