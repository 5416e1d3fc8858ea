import type { Context } from '../../context.ts';
import type { ContactRecord } from '../../contacts/contacts/records.ts';
import { buildCommonRoots, type Origin } from '../runs/engine/common-scope-roots.ts';
import { evaluateCondition, type Condition } from '../../expressions/conditions/condition.ts';
import { renderEntryKey } from '../runs/admission/entry-key.ts';
import type { RunCandidate } from '../runs/admission/candidate.ts';
import type { RunSource } from '../runs/store.ts';
import { yieldAfterWork } from '../../library/limits/yield-to-event-loop.ts';
import { buildScope } from '../../expressions/templates/scope.ts';
import { parseSettings } from '../definitions/settings.ts';
import { EvaluationError, type Scope } from '../../expressions/templates/render.ts';
import { recordTriggerError, type TriggerWithWorkflow } from './store.ts';

/** Something that happened and may set off triggers. */
export interface RunCause extends Origin {
  /** Names it; with the trigger's id it is a run's dedup key. */
  key: string;
  contact: ContactRecord | null;
  source: RunSource;
  sourceId: number | null;
  depth: number;
}

/** A cause that brings its own context: a request, or a moment of a schedule. */
export const causeWithContext = (key: string, contact: ContactRecord | null, initialContext: Record<string, unknown>): RunCause => ({
  key,
  contact,
  event: null,
  webhook: null,
  source: 'run',
  sourceId: null,
  initialContext,
  depth: 0,
});

/** What filters and entry keys of triggers may read: the same names as in a run, as far as they exist before one. */
export const buildCauseScope = (context: Context, cause: Origin & { contact: ContactRecord | null }, now: number): Scope =>
  buildScope(buildCommonRoots(context, cause, cause.contact, now), cause.initialContext);

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
