import type { Context } from '../../context.ts';
import { evaluateCondition, type Condition } from '../../expressions/conditions/condition.ts';
import type { RunCandidate, Refusal } from '../runs/admission/candidate.ts';
import { yieldAfterWork } from '../../library/limits/yield-to-event-loop.ts';
import { parseSettings } from '../definitions/settings.ts';
import { EvaluationError, type Scope } from '../../expressions/templates/render.ts';
import { recordTriggerError, type TriggerWithWorkflow } from './store.ts';
import { type RunCause, buildCauseScope, renderEntryKey } from '../runs/cause.ts';
import { depthOf, maxLineageDepth } from '../../library/lineage.ts';

interface FilterConfig {
  filter?: Condition | null;
  entry_key?: string | null;
}

type FilterCheck = (config: FilterConfig, scope: Scope, now: number) => boolean;

/** The run that `trigger` starts for `cause`; null when its filter does not hold. Throws EvaluationError. */
export function evaluateTrigger(
  context: Context,
  trigger: TriggerWithWorkflow,
  cause: RunCause,
  holds: FilterCheck = matchesFilter,
): RunCandidate | null {
  const now = context.clock();
  const scope = buildCauseScope(context, cause, now);
  const config = JSON.parse(trigger.config) as FilterConfig;
  return holds(config, scope, now) ? buildCandidate(trigger, config, cause, scope) : null;
}

/** None or one, as `evaluateTrigger`; what can't be evaluated is the trigger's own fault: it is noted there, and other triggers go on. */
export async function tryEvaluateTrigger(
  context: Context,
  trigger: TriggerWithWorkflow,
  cause: RunCause,
  holds?: FilterCheck,
): Promise<RunCandidate[]> {
  await yieldAfterWork();
  try {
    const matching = evaluateTrigger(context, trigger, cause, holds);
    return matching ? [matching] : [];
  } catch (error) {
    const { message } = error as Error;
    // Nothing here asks anybody else, so trying again would end in the same way, and hold up the other journeys.
    if (!(error instanceof EvaluationError))
      context.log.error('a trigger could not be evaluated', { trigger_id: trigger.id, error: message });
    context.defer(recordTriggerError(context.database, context.organization.id, trigger.id, message));
    return [];
  }
}

const matchesFilter = ({ filter }: FilterConfig, scope: Scope, now: number): boolean => !filter || evaluateCondition(filter, scope, now);

function buildCandidate(trigger: TriggerWithWorkflow, config: FilterConfig, cause: RunCause, scope: Scope): RunCandidate {
  const settings = parseSettings(trigger.workflow_settings);
  const template = config.entry_key ?? settings.entry_key;
  return {
    workflow: { id: trigger.workflow_id, version: trigger.workflow_version, contextSchema: trigger.workflow_context_schema, settings },
    triggerId: trigger.id,
    contactId: cause.contact?.id ?? null,
    dedupKey: `${cause.key}:trigger:${trigger.id}`,
    entryKey: renderEntryKey(template, scope, cause.contact?.id ?? null, cause.event?.id ?? null),
    source: cause.source,
    sourceId: cause.sourceId,
    initialContext: cause.initialContext,
    depth: cause.depth,
  };
}

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
