import type { Context } from '../../context.ts';
import { evaluateCondition, type Condition } from '../../expressions/conditions/condition.ts';
import type { RunCandidate, Refusal } from '../runs/admission/candidate.ts';
import { evaluateInTurn } from '../../library/limits/work-turn.ts';
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

/** What a trigger makes of a cause. `failed`: its filter or entry key could not be evaluated. */
export type TriggerDecision = { kind: 'starts'; candidate: RunCandidate } | { kind: 'filtered' } | { kind: 'failed'; message: string };

/** As `evaluateTrigger`, with none or one run. An error is recorded in the trigger's `last_error`; other triggers go on. */
export async function tryEvaluateTrigger(
  context: Context,
  trigger: TriggerWithWorkflow,
  cause: RunCause,
  holds?: FilterCheck,
): Promise<RunCandidate[]> {
  const decision = await decideTrigger(context, trigger, cause, holds);
  return decision.kind === 'starts' ? [decision.candidate] : [];
}

/** As `tryEvaluateTrigger`, with the reason why no run starts. */
export async function decideTrigger(
  context: Context,
  trigger: TriggerWithWorkflow,
  cause: RunCause,
  holds?: FilterCheck,
): Promise<TriggerDecision> {
  try {
    const candidate = await evaluateInTurn(context.turn, () => evaluateTrigger(context, trigger, cause, holds));
    return candidate ? { kind: 'starts', candidate } : { kind: 'filtered' };
  } catch (error) {
    const { message } = error as Error;
    // An evaluation reads nothing outside, so another try would fail in the same way and delay the other journeys.
    if (!(error instanceof EvaluationError))
      context.log.error('a trigger could not be evaluated', { trigger_id: trigger.id, error: message });
    context.defer(recordTriggerError(context.database, context.organization.id, trigger.id, message));
    return { kind: 'failed', message };
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

/** Whether the chain of journeys is too deep for `cause` to start another run. If so, the triggers' `last_error` says that they did not fire. */
export function isTooDeep(context: Context, depth: number, cause: string, triggers: TriggerWithWorkflow[]): boolean {
  if (depthOf(depth) <= maxLineageDepth) return false;
  const message = `Did not fire for ${cause}: journeys may set off each other ${maxLineageDepth} deep`;
  for (const trigger of triggers) context.defer(recordTriggerError(context.database, context.organization.id, trigger.id, message));
  return true;
}

/** Records in the triggers' `last_error` that the plan refused their runs, for causes that have no note of their own. */
export function recordPlanRefusals(context: Context, refused: Refusal[]): void {
  const byTrigger = new Map(
    refused
      .filter(({ rule }) => rule === 'max_live_runs' || rule === 'max_chained_runs')
      .map((refusal) => [refusal.candidate.triggerId, refusal]),
  );
  for (const [triggerId, { message }] of byTrigger)
    if (triggerId !== null) context.defer(recordTriggerError(context.database, context.organization.id, triggerId, message));
}
