import type { Context } from '../../context.ts';
import { depthOf, maxLineageDepth } from '../../library/lineage.ts';
import type { Refusal } from '../runs/admission/candidate.ts';
import { recordTriggerError, type TriggerWithWorkflow } from './store.ts';

/** Whether journeys have set each other off too often for `cause` to start another; its triggers then say that they did not fire. */
export function isTooDeep(context: Context, depth: number, cause: string, triggers: TriggerWithWorkflow[]): boolean {
  if (depthOf(depth) <= maxLineageDepth) return false;
  const message = `Did not fire for ${cause}: journeys may set off each other ${maxLineageDepth} deep`;
  for (const trigger of triggers) context.defer(recordTriggerError(context.database, context.organization.id, trigger.id, message));
  return true;
}

/** Has triggers say that the plan kept their runs out, where nothing else tells it. */
export function recordPlanRefusals(context: Context, refused: Refusal[]): void {
  const told = new Map(
    refused.filter(({ rule }) => rule === 'max_live_runs' || rule === 'max_chained_runs').map((one) => [one.candidate.triggerId, one]),
  );
  for (const [triggerId, { message }] of told)
    if (triggerId !== null) context.defer(recordTriggerError(context.database, context.organization.id, triggerId, message));
}
